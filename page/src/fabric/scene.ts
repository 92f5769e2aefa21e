/** The positions of a network's parts in the drawing, and the part under the pointer. */
import type { Network } from "../data/contract";
import type { Brush } from "./brush";
import type { Layout } from "./layout";

export interface View {
  /** As in d3-zoom: a position x in the layout is at `k * x + x0` on the screen. */
  k: number;
  x: number;
  y: number;
}

/** A highlighted path through the network. */
export interface Way {
  ports: readonly number[];
  colour: string;
}

export interface Look {
  /** From 0 to 1 for each port; NaN if unknown. */
  shares: Float64Array;
  colourOf: (share: number) => string;
  /** Ports in the order in which they are drawn: the greatest last. */
  order: Uint32Array;
  ways: readonly Way[];
  /** A port. */
  selected: number | null;
  hovered: Hit | null;
  theme: { text: string; muted: string; line: string; surface: string; subtle: string; accent: string };
}

export type Hit = { kind: "port"; port: number } | { kind: "node"; node: number };

/** How close the pointer must be, in pixels. */
const REACH = 7;

export class Scene {
  /** The minimum distance between nodes of each level in the layout. */
  readonly #gap: Float64Array;
  readonly #rowOf: readonly { name: string }[];
  /** The length of the longest name of each level. */
  readonly #longest: number[] = [];

  constructor(
    readonly network: Network,
    readonly layout: Layout,
  ) {
    const { level, name } = network.nodes;
    level.forEach((of, node) => {
      this.#longest[of] = Math.max(this.#longest[of] ?? 0, name[node]?.length ?? 0);
    });
    const rows = layout.rows.length;
    this.#rowOf = [...layout.rows].reverse();
    this.#gap = new Float64Array(Math.max(1, rows)).fill(layout.width);
    if (rows === 0) return;
    for (let of = 0; of < rows; of++) {
      const xs = level
        .flatMap((one, node) => (one === of ? [layout.x[node] ?? 0] : []))
        .sort((a, b) => a - b);
      for (let i = 1; i < xs.length; i++) {
        this.#gap[of] = Math.min(this.#gap[of] ?? 0, (xs[i] ?? 0) - (xs[i - 1] ?? 0));
      }
    }
  }

  gapOf(node: number): number {
    return this.#rowOf.length > 0 ? (this.#gap[this.network.nodes.level[node] ?? 0] ?? 60) : 60;
  }

  /** Thinner if there are many links, thicker when zoomed in. */
  width(view: View): number {
    const links = this.network.ports.from.length / 2;
    return Math.min(3, Math.max(0.5, 2.4 * Math.min(1, (120 / links) ** 0.45)) * Math.sqrt(view.k));
  }

  /** Each direction is drawn on its right side, so that both are visible. */
  ends(port: number, view: View, offset: number): [number, number, number, number] {
    const { from, to } = this.network.ports;
    const [a, b] = [from[port] ?? 0, to[port] ?? 0];
    const [x0, y0, x1, y1] = [this.#x(a, view), this.#y(a, view), this.#x(b, view), this.#y(b, view)];
    const length = Math.hypot(x1 - x0, y1 - y0) || 1;
    const [dx, dy] = [(-(y1 - y0) / length) * offset, ((x1 - x0) / length) * offset];
    return [x0 + dx, y0 + dy, x1 + dx, y1 + dy];
  }

  #x(node: number, view: View): number {
    return (this.layout.x[node] ?? 0) * view.k + view.x;
  }

  #y(node: number, view: View): number {
    return (this.layout.y[node] ?? 0) * view.k + view.y;
  }

  paint(brush: Brush, view: View, look: Look, width: number, height: number): void {
    this.#paintPods(brush, view, look);
    const thick = this.width(view);
    const offset = thick / 2 + Math.min(0.6, thick * 0.25);
    const faded = look.ways.length > 0 ? 0.18 : 1;
    for (const port of look.order) {
      const [x0, y0, x1, y1] = this.ends(port, view, offset);
      if (
        Math.max(x0, x1) < 0 ||
        Math.min(x0, x1) > width ||
        Math.max(y0, y1) < 0 ||
        Math.min(y0, y1) > height
      )
        continue;
      const share = look.shares[port] ?? Number.NaN;
      brush.line(x0, y0, x1, y1, look.colourOf(share), thick, faded);
    }
    this.#paintWays(brush, view, look, thick);
    for (const port of [look.selected, look.hovered?.kind === "port" ? look.hovered.port : null]) {
      if (port === null) continue;
      const ends = this.ends(port, view, offset);
      brush.line(...ends, look.theme.text, thick + 4, 0.85);
      brush.line(...ends, look.colourOf(look.shares[port] ?? Number.NaN), thick + 1.5, 1);
    }
    this.#paintNodes(brush, view, look, width, height);
    for (const row of this.layout.rows) {
      const style = {
        colour: look.theme.muted,
        halo: look.theme.surface,
        size: 11,
        anchor: "start",
      } as const;
      // Next to the row, or above it if there is no room.
      const above = view.k < 0.8 ? 18 : 0;
      if (row.name) brush.text(2, row.y * view.k + view.y - above, row.name, style);
    }
  }

  /** Paths that share a link are drawn next to each other. */
  #paintWays(brush: Brush, view: View, look: Look, thick: number): void {
    const lanes = new Map<number, number>();
    const wide = Math.max(2.5, thick);
    for (const way of look.ways) {
      for (const port of way.ports) {
        const lane = lanes.get(port) ?? 0;
        lanes.set(port, lane + 1);
        brush.line(...this.ends(port, view, thick / 2 + lane * (wide + 0.8)), way.colour, wide, 1);
      }
    }
  }

  #paintPods(brush: Brush, view: View, look: Look): void {
    const base = this.layout.rows[this.layout.rows.length - 1]?.y ?? 0;
    const pad = Math.min(8, (this.#gap[0] ?? 8) * 0.45);
    for (const pod of this.layout.pods) {
      const x = (pod.from - pad) * view.k + view.x;
      const wide = (pod.to - pod.from + 2 * pad) * view.k;
      const y = base * view.k + view.y - 9;
      brush.box(x, y, wide, 30, look.theme.subtle, "none", 1);
      if (wide > 38) {
        const style = { colour: look.theme.muted, halo: "", size: 10, anchor: "middle" } as const;
        brush.text(x + wide / 2, y + 22, pod.name, style);
      }
    }
  }

  #paintNodes(brush: Brush, view: View, look: Look, width: number, height: number): void {
    const { name, level } = this.network.nodes;
    const flat = this.layout.rows.length === 0;
    for (let node = 0; node < level.length; node++) {
      const [x, y] = [this.#x(node, view), this.#y(node, view)];
      if (x < -40 || x > width + 40 || y < -40 || y > height + 40) continue;
      const gap = this.gapOf(node) * view.k;
      const hot = look.hovered?.kind === "node" && look.hovered.node === node;
      const size = Math.min(5, Math.max(0.6, gap * 0.32)) * (hot ? 1.5 : 1);
      const edge = hot ? look.theme.text : size > 2 ? look.theme.muted : "none";
      if (level[node] === 0)
        brush.disc(x, y, size * 0.85, size > 2 ? look.theme.surface : look.theme.muted, edge, 1);
      else brush.box(x - size * 1.3, y - size, size * 2.6, size * 2, look.theme.text, "none", 1);
      const words = label(name[node] ?? "", gap, this.#longest[flat ? 0 : (level[node] ?? 0)] ?? 0, flat);
      if (!words) continue;
      const style = {
        colour: look.theme.muted,
        halo: look.theme.surface,
        size: 10,
        anchor: "middle",
      } as const;
      const host = level[node] === 0;
      if (host && this.layout.pods.length > 0) {
        if (gap > 26) brush.text(x, y + 32, words, { ...style, halo: "" });
      } else brush.text(x, y + (flat || host ? 16 : -13), words, style);
    }
  }

  /** A node, otherwise the nearest direction of a link. */
  hit(px: number, py: number, view: View): Hit | null {
    let best: Hit | null = null;
    let least = REACH;
    for (let node = 0; node < this.network.nodes.level.length; node++) {
      const reach = Math.min(REACH, Math.max(2, this.gapOf(node) * view.k * 0.5));
      const apart = Math.hypot(px - this.#x(node, view), py - this.#y(node, view));
      if (apart < reach && apart < least) {
        least = apart;
        best = { kind: "node", node };
      }
    }
    if (best) return best;
    const offset = this.width(view) / 2 + 0.5;
    for (let port = 0; port < this.network.ports.from.length; port++) {
      const apart = distance(px, py, ...this.ends(port, view, offset));
      if (apart < least) {
        least = apart;
        best = { kind: "port", port };
      }
    }
    return best;
  }
}

/** As much of the names of a row as fits for all of them: whole names, their numbers, or nothing. */
export function label(name: string, room: number, longest: number, whole: boolean): string {
  if (whole || longest * 5.6 + 6 < room) return name;
  const number = /\d[\d.]*$/.exec(name)?.[0] ?? "";
  return number.length * 6 + 4 < room ? number : "";
}

export function distance(px: number, py: number, x0: number, y0: number, x1: number, y1: number): number {
  const [dx, dy] = [x1 - x0, y1 - y0];
  const length = dx * dx + dy * dy;
  const t = length > 0 ? Math.min(1, Math.max(0, ((px - x0) * dx + (py - y0) * dy) / length)) : 0;
  return Math.hypot(px - x0 - t * dx, py - y0 - t * dy);
}
