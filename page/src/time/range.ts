/** The visible range of time, and the instant under the pointer, shared by all panels of a figure. */

type Listener = () => void;

/** A listener for a value that changes often, outside of the page's tree. */
class Listeners {
  #all = new Set<Listener>();

  listen(listener: Listener): () => void {
    this.#all.add(listener);
    return () => this.#all.delete(listener);
  }

  protected tell(): void {
    for (const listener of this.#all) listener();
  }
}

/** In seconds. Never leaves the whole, never narrower than a millionth of it. */
export class TimeRange extends Listeners {
  from: number;
  to: number;

  constructor(readonly whole: readonly [number, number]) {
    super();
    [this.from, this.to] = whole;
  }

  get span(): number {
    return this.to - this.from;
  }

  get isWhole(): boolean {
    return this.from === this.whole[0] && this.to === this.whole[1];
  }

  set(from: number, to: number): void {
    const [first, last] = this.whole;
    const all = last - first;
    const span = Math.min(all, Math.max(Math.abs(to - from), all * 1e-6));
    const start = Math.min(Math.max(Math.min(from, to), first), last - span);
    if (start === this.from && start + span === this.to) return;
    this.from = start;
    this.to = span === all ? last : start + span;
    this.tell();
  }

  /** By a share of the visible range; to the right if positive. */
  pan(share: number): void {
    const by = this.span * share;
    this.set(this.from + by, this.to + by);
  }

  /** So that `factor` times as much is visible; the instant `about` stays in place. */
  zoom(factor: number, about = (this.from + this.to) / 2): void {
    const [first, last] = this.whole;
    const span = Math.min(this.span * factor, last - first);
    const share = (about - this.from) / this.span;
    this.set(about - share * span, about + (1 - share) * span);
  }

  reset(): void {
    this.set(...(this.whole as [number, number]));
  }
}

/** The instant under the pointer, in seconds; null if there is none. */
export class Instant extends Listeners {
  at: number | null = null;

  set(at: number | null): void {
    if (at === this.at) return;
    this.at = at;
    this.tell();
  }
}

/** Handles a key; false if it has no function here. */
export function key(range: TimeRange, pressed: string): boolean {
  if (pressed === "ArrowLeft") range.pan(-0.1);
  else if (pressed === "ArrowRight") range.pan(0.1);
  else if (pressed === "PageUp") range.pan(-0.9);
  else if (pressed === "PageDown") range.pan(0.9);
  else if (pressed === "Home") range.set(range.whole[0], range.whole[0] + range.span);
  else if (pressed === "End") range.set(range.whole[1] - range.span, range.whole[1]);
  else if (pressed === "+" || pressed === "=") range.zoom(0.5);
  else if (pressed === "-") range.zoom(2);
  else if (pressed === "0") range.reset();
  else return false;
  return true;
}

export const KEYS = "Arrow keys pan, plus and minus zoom, 0 shows all.";
