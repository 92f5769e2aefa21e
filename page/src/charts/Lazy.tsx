/**
 * Drawings are made when the reader gets close to them, and then all others in turn while nothing else happens: a
 * browser that prints, or takes a picture of the page, waits for none of them.
 */
import { type ComponentChildren, Fragment, h } from "preact";
import { useErrorBoundary, useLayoutEffect, useRef, useState } from "preact/hooks";

const waiting = new Set<() => void>();

/** Draws everything that is not drawn yet. */
export function drawAll() {
  for (const draw of [...waiting]) draw();
}

if (typeof window !== "undefined") window.addEventListener("beforeprint", drawAll);

/** How many tables and networks are being read. */
let reading = 0;

/** How often in succession there must be nothing to do, so that nothing follows from what was done last. */
const QUIET = 6;

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

/** The next time at which the reader is not kept waiting. */
const idle = () =>
  new Promise<unknown>((done) =>
    typeof requestIdleCallback === "function"
      ? requestIdleCallback(done, { timeout: 300 })
      : setTimeout(done, 20),
  );

/** Makes all drawings, one after another, and returns when they are complete. */
export async function allDrawn(): Promise<void> {
  for (let quiet = 0; quiet < QUIET; quiet++) {
    const [next] = waiting;
    if (next || reading > 0) quiet = 0;
    next?.();
    await (next ? idle() : pause(20));
  }
}

/**
 * The page counts as loaded when it is complete. `--screenshot` and `--print-to-pdf` take it as it is then. A document
 * that is open in a frame holds the page's own end of loading.
 */
export function loadedWhenDrawn(): void {
  if (document.readyState === "complete") return;
  const frame = document.createElement("iframe");
  frame.hidden = true;
  frame.title = "";
  document.body.append(frame);
  frame.contentDocument?.open();
  void allDrawn().then(() => {
    frame.contentDocument?.close();
    frame.remove();
  });
}

/** The replacement for something that failed. */
export function Guard({ what, children }: { what: string; children: ComponentChildren }) {
  const [error] = useErrorBoundary((cause: unknown) => console.warn(what, cause));
  if (!error) return h(Fragment, null, children);
  return <Message error={error} what={what} />;
}

export function Message({ error, what }: { error: unknown; what?: string }) {
  const words = error instanceof Error ? error.message : String(error);
  return (
    <p class="message error" role="alert">
      {what && <strong>{what}: </strong>}
      {words}
    </p>
  );
}

export interface LazyProps {
  /** The name of the drawing, for the message if it fails. */
  what: string;
  /** About how high it will be, so that the page does not jump. */
  height: number;
  children: () => ComponentChildren;
}

export function Lazy({ what, height, children }: LazyProps) {
  const place = useRef<HTMLDivElement>(null);
  const [near, setNear] = useState(false);
  useLayoutEffect(() => {
    const draw = () => {
      waiting.delete(draw);
      observer.disconnect();
      setNear(true);
    };
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) draw();
      },
      { rootMargin: "600px" },
    );
    waiting.add(draw);
    if (place.current) observer.observe(place.current);
    return () => {
      waiting.delete(draw);
      observer.disconnect();
    };
  }, []);
  if (!near) return <div ref={place} class="placeholder" style={{ minHeight: `${height}px` }} />;
  return (
    <Guard what={what}>
      <Now>{children}</Now>
    </Guard>
  );
}

/** Calls its child inside the guard, which catches its errors. */
function Now({ children }: { children: () => ComponentChildren }) {
  return h(Fragment, null, children());
}

export type Loaded<T> =
  | { state: "loading" }
  | { state: "failed"; error: unknown }
  | { state: "ready"; value: T };

/** The result of a promise, which is created again when `inputs` change. */
export function useLoaded<T>(make: () => Promise<T>, inputs: unknown[]): Loaded<T> {
  const [loaded, setLoaded] = useState<Loaded<T>>({ state: "loading" });
  useLayoutEffect(() => {
    let wanted = true;
    reading++;
    const done = () => {
      if (wanted) reading--;
      wanted = false;
    };
    // What says that it is being read is shown first.
    const start = setTimeout(() => {
      make()
        .then(
          (value) => wanted && setLoaded({ state: "ready", value }),
          (error: unknown) => wanted && setLoaded({ state: "failed", error }),
        )
        .finally(done);
    });
    return () => {
      clearTimeout(start);
      done();
    };
  }, inputs);
  return loaded;
}

/** The width of an element, now and whenever it changes. */
export function useWidth<E extends HTMLElement>(): [{ current: E | null }, number] {
  const element = useRef<E>(null);
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const own = element.current;
    if (!own) return;
    setWidth(own.clientWidth);
    const observer = new ResizeObserver(() => setWidth(own.clientWidth));
    observer.observe(own);
    return () => observer.disconnect();
  }, []);
  return [element, width];
}
