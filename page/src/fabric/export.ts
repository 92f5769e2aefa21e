/** The network as a file: its drawing, and the rows behind it. */
import type { Rows } from "../charts/rows";
import { resolvedColour } from "../data/colour";
import type { Network } from "../data/contract";
import { portName } from "../time/model";
import { SvgBrush } from "./brush";
import { layerOf } from "./Details";
import { themeOf } from "./Drawing";
import type { Shown } from "./model";
import { colourOf } from "./scale";
import type { Look, Scene, View } from "./scene";
import type { Totals } from "./values";

/** A row for each port, the greatest first. */
export function fabricRows(network: Network, shown: Shown, totals: readonly (Totals | null)[]): Rows {
  const { rate_bps, delay_ps, queue } = network.ports;
  const name =
    shown.metric === "utilisation" ? "shown_ratio" : shown.metric === "queue" ? "shown_pkts" : "shown";
  const order = [...shown.order].reverse();
  return {
    columns: [
      "port", "name", "layer", "rate_bps", "delay_ps", "queue", name,
      "carried_bytes", "utilisation_ratio", "drops", "lost", "marks",
    ], // biome-ignore format: a list
    rows: order.map((port) => {
      const own = totals[port];
      const value = shown.values[port] ?? Number.NaN;
      return [
        port,
        portName(network, port, ""),
        layerOf(network, port),
        rate_bps[port] ?? null,
        delay_ps[port] ?? null,
        queue[port] ?? null,
        Number.isNaN(value) ? null : value,
        own?.carried_bytes ?? null,
        own?.utilisation_ratio ?? null,
        own?.drops ?? null,
        own?.lost ?? null,
        own?.marks ?? null,
      ];
    }),
  };
}

export interface Paper {
  width: number;
  height: number;
  title: string;
  caption: string;
  metric: string;
  least: string;
  most: string;
}

const HEAD = 56;
const SVG = "http://www.w3.org/2000/svg";

/** All of the network in the light theme's colours, with its scale. */
export function fabricSvg(
  scene: Scene,
  look: Omit<Look, "theme" | "hovered">,
  view: View,
  paper: Paper,
): SVGSVGElement {
  const stage = document.createElement("div");
  stage.dataset.theme = "light";
  stage.className = "export-stage";
  document.body.append(stage);
  try {
    const { width, height } = paper;
    const svg = document.createElementNS(SVG, "svg");
    const own = { xmlns: SVG, width, height: height + HEAD, viewBox: `0 0 ${width} ${height + HEAD}` };
    for (const [key, value] of Object.entries(own)) svg.setAttribute(key, String(value));
    svg.setAttribute("font-family", "system-ui, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif");
    const words = (name: "title" | "desc", text: string) => {
      const element = document.createElementNS(SVG, name);
      element.textContent = text;
      svg.append(element);
    };
    words("title", paper.title);
    words("desc", paper.caption);
    const theme = themeOf(stage);
    const head = new SvgBrush(svg);
    head.box(0, 0, width, height + HEAD, "#ffffff", "none", 1);
    const quiet = { colour: theme.muted, halo: "", size: 11, anchor: "start" } as const;
    head.text(16, 20, paper.title, { ...quiet, colour: theme.text, size: 16 });
    head.text(16, 42, `${paper.metric}: ${paper.least}`, quiet);
    for (let i = 0; i < 60; i++) head.box(110 + i * 3, 37, 3.2, 10, colourOf(i / 59, false), "none", 1);
    head.text(300, 42, paper.most, quiet);
    const group = document.createElementNS(SVG, "g");
    group.setAttribute("transform", `translate(0 ${HEAD})`);
    svg.append(group);
    const ways = look.ways.map((way) => ({ ...way, colour: resolvedColour(way.colour, stage) }));
    const light = {
      ...look,
      ways,
      theme,
      hovered: null,
      colourOf: (share: number) => colourOf(share, false),
    };
    scene.paint(new SvgBrush(group), view, light, width, height);
    return svg;
  } finally {
    stage.remove();
  }
}
