/** The drawing interface of a network: the same strokes on a canvas and in an SVG. */

export interface Brush {
  line(x0: number, y0: number, x1: number, y1: number, colour: string, width: number, alpha: number): void;
  disc(x: number, y: number, radius: number, fill: string, edge: string, alpha: number): void;
  box(x: number, y: number, width: number, height: number, fill: string, edge: string, alpha: number): void;
  /** With a halo in the background colour, so that it is readable on lines; no halo if the colour is empty. */
  text(x: number, y: number, words: string, style: TextStyle): void;
}

export interface TextStyle {
  colour: string;
  halo: string;
  size: number;
  anchor: "start" | "middle";
}

export class CanvasBrush implements Brush {
  constructor(
    readonly ctx: CanvasRenderingContext2D,
    readonly font: string,
  ) {
    ctx.lineCap = "round";
  }

  line(x0: number, y0: number, x1: number, y1: number, colour: string, width: number, alpha: number): void {
    const { ctx } = this;
    ctx.globalAlpha = alpha;
    ctx.strokeStyle = colour;
    ctx.lineWidth = width;
    ctx.beginPath();
    ctx.moveTo(x0, y0);
    ctx.lineTo(x1, y1);
    ctx.stroke();
  }

  disc(x: number, y: number, radius: number, fill: string, edge: string, alpha: number): void {
    const { ctx } = this;
    ctx.globalAlpha = alpha;
    ctx.beginPath();
    ctx.arc(x, y, radius, 0, 2 * Math.PI);
    this.#filled(fill, edge);
  }

  box(x: number, y: number, width: number, height: number, fill: string, edge: string, alpha: number): void {
    const { ctx } = this;
    ctx.globalAlpha = alpha;
    ctx.beginPath();
    ctx.roundRect(x, y, width, height, Math.min(3, width / 4));
    this.#filled(fill, edge);
  }

  text(x: number, y: number, words: string, { colour, halo, size, anchor }: TextStyle): void {
    const { ctx } = this;
    ctx.globalAlpha = 1;
    ctx.font = `${size}px ${this.font}`;
    ctx.textAlign = anchor === "middle" ? "center" : "start";
    ctx.textBaseline = "middle";
    if (halo) {
      ctx.strokeStyle = halo;
      ctx.lineWidth = 3;
      ctx.lineJoin = "round";
      ctx.strokeText(words, x, y);
    }
    ctx.fillStyle = colour;
    ctx.fillText(words, x, y);
  }

  #filled(fill: string, edge: string): void {
    this.ctx.fillStyle = fill;
    this.ctx.fill();
    if (edge === "none") return;
    this.ctx.strokeStyle = edge;
    this.ctx.lineWidth = 1;
    this.ctx.stroke();
  }
}

const SVG = "http://www.w3.org/2000/svg";

/** Rounded, so that a file of thousands of lines has no needless digits. */
const round = (value: number) => Math.round(value * 100) / 100;

export class SvgBrush implements Brush {
  constructor(readonly root: SVGElement) {}

  #add(name: string, attributes: Record<string, string | number>): SVGElement {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) {
      element.setAttribute(key, typeof value === "number" ? String(round(value)) : value);
    }
    this.root.append(element);
    return element;
  }

  line(x0: number, y0: number, x1: number, y1: number, colour: string, width: number, alpha: number): void {
    const own = {
      x1: x0,
      y1: y0,
      x2: x1,
      y2: y1,
      stroke: colour,
      "stroke-width": width,
      "stroke-opacity": alpha,
    };
    this.#add("line", { ...own, "stroke-linecap": "round" });
  }

  disc(x: number, y: number, radius: number, fill: string, edge: string, alpha: number): void {
    this.#add("circle", { cx: x, cy: y, r: radius, fill, stroke: edge, opacity: alpha });
  }

  box(x: number, y: number, width: number, height: number, fill: string, edge: string, alpha: number): void {
    this.#add("rect", {
      x,
      y,
      width,
      height,
      rx: Math.min(3, width / 4),
      fill,
      stroke: edge,
      opacity: alpha,
    });
  }

  text(x: number, y: number, words: string, { colour, halo, size, anchor }: TextStyle): void {
    const own = {
      x,
      y,
      fill: colour,
      "font-size": size,
      "text-anchor": anchor,
      "dominant-baseline": "central",
    };
    const edge: Record<string, string | number> = halo
      ? { stroke: halo, "stroke-width": 3, "paint-order": "stroke" }
      : {};
    this.#add("text", { ...own, ...edge }).textContent = words;
  }
}
