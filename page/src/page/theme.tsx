/** Light and dark: as set in the system, or as the reader chose. */
import { options } from "preact";
import { useEffect, useState } from "preact/hooks";

export type Theme = "system" | "light" | "dark";
const KEY = "tresse-theme";

/** Storage may be forbidden, as in a page opened from disk. */
function stored(): Theme {
  try {
    const theme = localStorage.getItem(KEY);
    return theme === "light" || theme === "dark" ? theme : "system";
  } catch {
    return "system";
  }
}

function keep(theme: Theme) {
  try {
    if (theme === "system") localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, theme);
  } catch {
    // It is then forgotten when the page is closed.
  }
}

const dark = () => matchMedia("(prefers-color-scheme: dark)");

/** Sets the theme of the page, which the style sheet reads; paper is always light. */
export function applyTheme(theme: Theme = stored()) {
  const now = theme === "system" ? (dark().matches ? "dark" : "light") : theme;
  if (document.documentElement.dataset.theme === now) return;
  document.documentElement.dataset.theme = now;
  // At once: what is about to be printed is not drawn again after this.
  const before = options.debounceRendering;
  options.debounceRendering = (render) => render();
  window.dispatchEvent(new CustomEvent("tresse:theme", { detail: now }));
  if (before) options.debounceRendering = before;
  else delete options.debounceRendering;
}

export function ThemeToggle() {
  const [theme, setTheme] = useState<Theme>(stored);
  useEffect(() => {
    applyTheme(theme);
    const follow = () => applyTheme(theme);
    const toPaper = () => applyTheme("light");
    dark().addEventListener("change", follow);
    window.addEventListener("beforeprint", toPaper);
    window.addEventListener("afterprint", follow);
    return () => {
      dark().removeEventListener("change", follow);
      window.removeEventListener("beforeprint", toPaper);
      window.removeEventListener("afterprint", follow);
    };
  }, [theme]);
  const choose = (next: Theme) => {
    keep(next);
    applyTheme(next);
    setTheme(next);
  };
  return (
    <label class="theme">
      <span class="visually-hidden">Theme</span>
      <select value={theme} onChange={(event) => choose(event.currentTarget.value as Theme)}>
        <option value="system">Auto</option>
        <option value="light">Light</option>
        <option value="dark">Dark</option>
      </select>
    </label>
  );
}
