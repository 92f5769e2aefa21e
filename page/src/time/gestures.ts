/**
 * Panning and zooming a panel by hand: shift-drag, the wheel, and one or two fingers. Dragging without shift
 * selects a range, which the plot handles itself. A plain vertical wheel is left to the page, which could not
 * be scrolled otherwise.
 */
import type { TimeRange } from "./range";

/** Listens on `area`, whose width is the range; returns a function that stops it. */
export function gestures(area: HTMLElement, range: TimeRange): () => void {
  const fingers = new Map<number, number>();
  let panning: number | null = null;
  const share = (x: number) => x / Math.max(1, area.clientWidth);
  const timeAt = (clientX: number) =>
    range.from + share(clientX - area.getBoundingClientRect().left) * range.span;

  const down = (event: PointerEvent) => {
    if (event.pointerType === "touch") fingers.set(event.pointerId, event.clientX);
    else if (event.shiftKey && event.button === 0) {
      panning = event.clientX;
      event.preventDefault();
    } else return;
    area.setPointerCapture(event.pointerId);
  };
  const move = (event: PointerEvent) => {
    if (panning !== null) {
      range.pan(-share(event.clientX - panning));
      panning = event.clientX;
      return;
    }
    const before = fingers.get(event.pointerId);
    if (before === undefined) return;
    const other = [...fingers].find(([id]) => id !== event.pointerId)?.[1];
    if (other === undefined) range.pan(-share(event.clientX - before));
    else pinch(other, before, event.clientX);
    fingers.set(event.pointerId, event.clientX);
  };
  const pinch = (still: number, before: number, now: number) => {
    const apart = Math.abs(now - still);
    if (apart > 10) range.zoom(Math.abs(before - still) / apart, timeAt(still));
  };
  const up = (event: PointerEvent) => {
    panning = null;
    fingers.delete(event.pointerId);
  };
  const wheel = (event: WheelEvent) => {
    const sideways = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
    if (event.ctrlKey || event.metaKey) range.zoom(Math.exp(event.deltaY * 0.002), timeAt(event.clientX));
    else if (Math.abs(sideways) > Math.abs(event.deltaY) || event.shiftKey) range.pan(share(sideways));
    else return;
    event.preventDefault();
  };

  area.style.touchAction = "pan-y";
  area.addEventListener("pointerdown", down);
  area.addEventListener("pointermove", move);
  area.addEventListener("pointerup", up);
  area.addEventListener("pointercancel", up);
  area.addEventListener("wheel", wheel, { passive: false });
  return () => {
    area.removeEventListener("pointerdown", down);
    area.removeEventListener("pointermove", move);
    area.removeEventListener("pointerup", up);
    area.removeEventListener("pointercancel", up);
    area.removeEventListener("wheel", wheel);
  };
}
