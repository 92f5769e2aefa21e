import { render } from "preact";
import { loadedWhenDrawn } from "./charts/Lazy";
import { isEmbedded } from "./data/load";
import { App } from "./page/App";
import { applyTheme } from "./page/theme";
import "uplot/dist/uPlot.min.css";
import "./styles/base.css";
import "./styles/figure.css";
import "./styles/results.css";
import "./styles/page.css";
import "./styles/print.css";

window.tresse ??= { figures: {} };
applyTheme();
const root = document.getElementById("page");
if (root) {
  root.replaceChildren();
  render(<App />, root);
  if (isEmbedded()) loadedWhenDrawn();
}
