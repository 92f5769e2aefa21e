/** The current section, and links to the others. */
import { useEffect, useState } from "preact/hooks";
import { allDrawn } from "../charts/Lazy";
import { ThemeToggle } from "./theme";

export interface NavItem {
  id: string;
  title: string;
}

/** The current section: the last one whose heading is above the end of the upper third of the window. */
function useCurrent(items: NavItem[]): string {
  const [current, setCurrent] = useState(items[0]?.id ?? "");
  const ids = items.map((item) => item.id).join();
  useEffect(() => {
    let asked = 0;
    const look = () => {
      asked = 0;
      const passed = ids
        .split(",")
        .filter((id) => (document.getElementById(id)?.getBoundingClientRect().top ?? 1e9) < innerHeight / 3);
      setCurrent(passed.at(-1) ?? ids.split(",")[0] ?? "");
    };
    const onScroll = () => {
      asked ||= requestAnimationFrame(look);
    };
    look();
    addEventListener("scroll", onScroll, { passive: true });
    return () => {
      removeEventListener("scroll", onScroll);
      cancelAnimationFrame(asked);
    };
  }, [ids]);
  return current;
}

/** Goes to a section without changing the address, which in `tresse view` names the runs. */
export function goTo(id: string, event: Event) {
  event.preventDefault();
  const section = document.getElementById(id);
  section?.scrollIntoView();
  if (section?.tabIndex === -1) section.focus({ preventScroll: true });
}

/** Draws everything first, so that it is printed. */
async function print() {
  await allDrawn();
  window.print();
}

export function Nav({ items, live }: { items: NavItem[]; live: boolean }) {
  const current = useCurrent(items);
  return (
    <nav class="nav" aria-label="Sections" data-no-print>
      <div class="nav-row">
        {live && (
          <a class="all-runs" href="#/">
            ← All runs
          </a>
        )}
        <ul>
          {items.map(({ id, title }) => (
            <li key={id}>
              <a
                href={`#${id}`}
                aria-current={current === id ? "location" : undefined}
                onClick={live ? (event) => goTo(id, event) : undefined}
              >
                {title}
              </a>
            </li>
          ))}
        </ul>
        <div class="nav-tools">
          <button type="button" class="quiet" onClick={print}>
            Print
          </button>
          <ThemeToggle />
        </div>
      </div>
    </nav>
  );
}
