/** Figures as files: a standalone drawing, a picture, the data. */

/** The styles that a drawing needs to look the same without the style sheet. */
const PROPERTIES = [
  "fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-opacity", "stroke-linejoin",
  "stroke-linecap", "opacity", "font-family", "font-size", "font-weight", "font-style", "font-variant-numeric",
  "text-anchor", "dominant-baseline", "paint-order", "visibility", "display", "letter-spacing",
] as const; // biome-ignore format: a list

const SVG = "http://www.w3.org/2000/svg";
const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";
const PADDING = 16;
/** The width of a letter in a title, rather overestimated: the reader's fonts are not known here. */
const TITLE_LETTER = 9.4;

/** The drawings in `root` as one, on white, in the light theme's colours: every style is on its element. */
export function standalone(root: HTMLElement, title: string, description: string): SVGSVGElement {
  const width = Math.ceil(root.getBoundingClientRect().width);
  const stage = document.createElement("div");
  stage.dataset.theme = "light";
  stage.className = "export-stage";
  stage.style.width = `${width}px`;
  stage.setAttribute("aria-hidden", "true");
  const copy = root.cloneNode(true) as HTMLElement;
  for (const extra of copy.querySelectorAll("[data-no-export]")) extra.remove();
  stage.append(copy);
  document.body.append(stage);
  try {
    return drawn(copy, width, title, description);
  } finally {
    stage.remove();
  }
}

function drawn(root: HTMLElement, width: number, title: string, description: string): SVGSVGElement {
  const origin = root.getBoundingClientRect();
  const out = document.createElementNS(SVG, "svg");
  const used = usedWidth(root, width, title);
  const titles = wrapped(title, Math.floor(used / TITLE_LETTER));
  const titleHeight = titles.length > 0 ? 14 + 20 * titles.length : 0;
  const height = Math.ceil(origin.height) + titleHeight;
  const [wide, high] = [used + 2 * PADDING, height + 2 * PADDING];
  out.setAttribute("xmlns", SVG);
  out.setAttribute("width", String(wide));
  out.setAttribute("height", String(high));
  out.setAttribute("viewBox", `0 0 ${wide} ${high}`);
  out.setAttribute("font-family", FONT);
  out.append(text("title", title), text("desc", description));
  const paper = document.createElementNS(SVG, "rect");
  for (const [name, value] of Object.entries({ width: wide, height: high, fill: "#ffffff" })) {
    paper.setAttribute(name, String(value));
  }
  out.append(paper);
  titles.forEach((line, i) => {
    const head = text("text", line);
    for (const [name, value] of Object.entries({ x: PADDING, y: PADDING + 15 + 20 * i, fill: "#16181d" })) {
      head.setAttribute(name, String(value));
    }
    head.setAttribute("font-size", "16");
    head.setAttribute("font-weight", "650");
    out.append(head);
  });
  const place = (rect: DOMRect) => [
    rect.left - origin.left + PADDING,
    rect.top - origin.top + PADDING + titleHeight,
  ];
  for (const svg of root.querySelectorAll("svg")) {
    if (svg.parentElement?.closest("svg")) continue;
    const rect = svg.getBoundingClientRect();
    if (rect.width === 0) continue;
    const [x, y] = place(rect);
    const own = inlined(svg) as SVGSVGElement;
    for (const [name, value] of Object.entries({ x, y, width: rect.width, height: rect.height })) {
      own.setAttribute(name, String(value));
    }
    out.append(own);
  }
  for (const line of textLines(root)) {
    const [x, y] = place(line.rect);
    const words = text("text", line.text);
    const style = getComputedStyle(line.parent);
    words.setAttribute("x", String(x));
    words.setAttribute("y", String((y ?? 0) + line.rect.height / 2));
    words.setAttribute("dominant-baseline", "central");
    words.setAttribute("font-size", style.fontSize);
    words.setAttribute("font-weight", style.fontWeight);
    words.setAttribute("fill", style.color);
    out.append(words);
  }
  return out;
}

/** The lines of a title, with at most this many letters if its words allow. */
function wrapped(title: string, most: number): string[] {
  const lines: string[] = [];
  for (const word of title.split(" ").filter(Boolean)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= most)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** How much of the width is used: a figure with few bars is narrower than the page. */
function usedWidth(root: HTMLElement, width: number, title: string): number {
  const left = root.getBoundingClientRect().left;
  const drawings = [...root.querySelectorAll("svg, canvas")].map((one) => one.getBoundingClientRect());
  const ends = [...drawings, ...textLines(root).map((line) => line.rect)].map((rect) => rect.right - left);
  return Math.ceil(Math.min(width, Math.max(TITLE_LETTER * title.length, 320, ...ends)));
}

function text(name: "title" | "desc" | "text", content: string): SVGElement {
  const element = document.createElementNS(SVG, name);
  element.textContent = content;
  return element;
}

/** The texts outside of drawings (legends, the titles of panels), and their positions. */
function textLines(root: HTMLElement): { text: string; rect: DOMRect; parent: Element }[] {
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const lines: { text: string; rect: DOMRect; parent: Element }[] = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    const words = node.textContent?.trim();
    if (!parent || !words || parent.closest("svg, button, select, .visually-hidden")) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const rect = range.getBoundingClientRect();
    if (rect.width > 0) lines.push({ text: words, rect, parent });
  }
  return lines;
}

/** A copy of a drawing with all its styles on the elements, except inherited ones. */
function inlined(element: Element): Element {
  const copy = element.cloneNode(false) as Element;
  const own = getComputedStyle(element);
  const above = element.parentElement?.closest("svg") ? getComputedStyle(element.parentElement) : null;
  for (const name of PROPERTIES) {
    const value = own.getPropertyValue(name);
    if (name === "display" && value !== "none") continue;
    const inherited =
      above && name !== "opacity" && name !== "display" && above.getPropertyValue(name) === value;
    if (value && !inherited) copy.setAttribute(name, value);
    else copy.removeAttribute(name);
  }
  // A tenth of a pixel is invisible, and digits make up most of a long curve.
  const path = copy.getAttribute("d");
  if (path)
    copy.setAttribute(
      "d",
      path.replace(/-?\d+\.\d\d+/g, (value) => String(+Number(value).toFixed(1))),
    );
  copy.removeAttribute("style");
  copy.removeAttribute("class");
  for (const child of element.childNodes) {
    if (child instanceof SVGElement) {
      if (child.tagName !== "style") copy.append(inlined(child));
    } else if (child.nodeType === Node.TEXT_NODE) copy.append(child.cloneNode());
  }
  return copy;
}

export function xml(svg: SVGSVGElement): string {
  return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(svg)}\n`;
}

/** A drawing as a picture at twice its size. */
export async function png(svg: SVGSVGElement, times = 2): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(xml(svg))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = Number(svg.getAttribute("width")) * times;
  canvas.height = Number(svg.getAttribute("height")) * times;
  const context = canvas.getContext("2d");
  if (!context) throw new Error("the browser has no canvas");
  context.drawImage(image, 0, 0, canvas.width, canvas.height);
  return await new Promise((done, fail) =>
    canvas.toBlob((blob) => (blob ? done(blob) : fail(new Error("the picture is too large"))), "image/png"),
  );
}

/** Downloads a file. */
export function save(name: string, content: Blob | string, type = "text/plain") {
  const blob = typeof content === "string" ? new Blob([content], { type: `${type};charset=utf-8` }) : content;
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
