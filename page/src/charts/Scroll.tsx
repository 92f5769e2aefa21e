import type { ComponentChildren } from "preact";

/** A table that may be wider than the page. Readers without a pointer scroll it with keys, so it takes the focus. */
export function Scroll({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls has to be reached by keys
    <section class="scroll" tabIndex={0} aria-label={label}>
      {children}
    </section>
  );
}
