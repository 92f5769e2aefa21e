/** Where the page's data come from: the page itself, or `tresse view`. */
import type { Network, PageHead } from "./contract";
import type { TableData } from "./table";
import { decodeTable } from "./table";

export type { TableData } from "./table";

export interface Source {
  /** Whether a program serves the page, so that runs in progress grow. */
  readonly live: boolean;
  head(): Promise<PageHead>;
  /** Null if the run has no such table. Rejects with a sentence if it cannot be read. */
  table(run: number, name: string): Promise<TableData | null>;
  network(run: number, i: number): Promise<Network>;
}

/** A read error, in words for the reader of the page. */
export class Unreadable extends Error {
  constructor(what: string, cause: unknown) {
    super(`${what} cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`);
    this.name = "Unreadable";
  }
}

/** Keeps each promise, so that data for two figures is read once; a failure is not kept. */
function kept<T>(): (key: string, make: () => Promise<T>) => Promise<T> {
  const all = new Map<string, Promise<T>>();
  return (key, make) => {
    const known = all.get(key);
    if (known) return known;
    const made = make();
    all.set(key, made);
    made.catch(() => all.delete(key));
    return made;
  };
}

function withoutBlanks(text: string): string {
  return /\s/.test(text) ? text.replace(/\s+/g, "") : text;
}

export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(withoutBlanks(text));
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

export async function gunzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** The page's own data; `text` gives the content of an element, null if there is none. */
export function embeddedSource(text: (id: string) => string | null): Source {
  const tables = kept<TableData | null>();
  const networks = kept<Network>();
  const heads = kept<PageHead>();
  const unpacked = async (id: string) => {
    const packed = text(id);
    return packed === null ? null : await gunzip(fromBase64(packed));
  };
  return {
    live: false,
    head: () =>
      heads("", async () => {
        try {
          return JSON.parse(text("tresse-head") ?? "") as PageHead;
        } catch (cause) {
          throw new Unreadable("The head of this page", cause);
        }
      }),
    table: (run, name) =>
      tables(`${run}-${name}`, async () => {
        try {
          const bytes = await unpacked(`tresse-${run}-${name}`);
          return bytes && decodeTable(bytes);
        } catch (cause) {
          throw new Unreadable(`The table ${name}`, cause);
        }
      }),
    network: (run, i) =>
      networks(`${run}-${i}`, async () => {
        try {
          const bytes = await unpacked(`tresse-${run}-network-${i}`);
          if (!bytes) throw new Error("it is not in the page");
          return JSON.parse(new TextDecoder().decode(bytes)) as Network;
        } catch (cause) {
          throw new Unreadable(`Network ${i}`, cause);
        }
      }),
  };
}

async function got(address: string): Promise<Response> {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${answer.status} ${(await answer.text()).trim() || answer.statusText}`);
  return answer;
}

/** The data of these runs as `tresse view` serves them. */
export function servedSource(runs: string[]): Source {
  const tables = kept<TableData | null>();
  const networks = kept<Network>();
  const heads = kept<PageHead>();
  // The tables of a page belong together: a run in progress is read in the state that it had when its head was read.
  const of = async (run: number, table: string) => {
    const query = new URLSearchParams({ run: runs[run] ?? "", table });
    const snapshot = (await head()).runs[run]?.snapshot;
    if (snapshot) query.set("snapshot", snapshot);
    return `api/table?${query}`;
  };
  const head = () =>
    heads("", async () => {
      try {
        const query = runs.map((run) => `run=${encodeURIComponent(run)}`).join("&");
        return (await (await got(`api/page?${query}`)).json()) as PageHead;
      } catch (cause) {
        throw new Unreadable("The run", cause);
      }
    });
  return {
    live: true,
    head,
    table: (run, name) =>
      tables(`${run}-${name}`, async () => {
        if (!(await head()).runs[run]?.tables[name]) return null;
        try {
          return decodeTable(new Uint8Array(await (await got(await of(run, name))).arrayBuffer()));
        } catch (cause) {
          throw new Unreadable(`The table ${name}`, cause);
        }
      }),
    network: (run, i) =>
      networks(`${run}-${i}`, async () => {
        try {
          return (await (await got(await of(run, `network-${i}`))).json()) as Network;
        } catch (cause) {
          throw new Unreadable(`Network ${i}`, cause);
        }
      }),
  };
}

/** Whether the page holds its data itself; otherwise `tresse view` serves them. */
export function isEmbedded(): boolean {
  return document.getElementById("tresse-head") !== null;
}

export function pageSource(): Source {
  return embeddedSource((id) => document.getElementById(id)?.textContent ?? null);
}
