/** Drawings are made when the reader gets close to them, and all of them before the page is printed. */
import { type ComponentChildren, Fragment, h } from "preact";
import { useEffect, useErrorBoundary, useLayoutEffect, useRef, useState } from "preact/hooks";

const waiting = new Set<() => void>();

/** Draws everything that is not drawn yet. */
export function drawAll() {
  for (const draw of [...waiting]) draw();
}

if (typeof window !== "undefined") window.addEventListener("beforeprint", drawAll);

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
  useEffect(() => {
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
  useEffect(() => {
    let wanted = true;
    make().then(
      (value) => wanted && setLoaded({ state: "ready", value }),
      (error: unknown) => wanted && setLoaded({ state: "failed", error }),
    );
    return () => {
      wanted = false;
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
