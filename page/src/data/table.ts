/** Tables as charts use them: whole columns as typed arrays. */
import { type Data, DataType, type Field, tableFromIPC, type Vector } from "apache-arrow";

export type Numbers = Float64Array | Float32Array | Uint32Array;

export interface Words {
  /** Indices in `words`; {@link MISSING} if there is none. */
  codes: Int32Array;
  words: string[];
}

/** The code of a missing text. */
export const MISSING = -1;

export interface TableData {
  readonly rows: number;
  has(column: string): boolean;
  /** NaN for missing values; columns of differences are restored. Read-only. */
  number(column: string): Numbers;
  text(column: string): Words;
}

function isSet(bitmap: Uint8Array, bit: number): boolean {
  return (((bitmap[bit >> 3] ?? 0) >> (bit & 7)) & 1) === 1;
}

/** Whether row `i` of a chunk has a value. */
function missingRows(chunk: Data): (i: number) => boolean {
  const bitmap = chunk.nullBitmap;
  if (chunk.nullCount === 0 || !bitmap || bitmap.length === 0) return () => false;
  return (i) => !isSet(bitmap, chunk.offset + i);
}

function numbersOf(vector: Vector, field: Field): Numbers {
  const { type } = field;
  const plain = DataType.isFloat(type) || DataType.isInt(type);
  if (!plain) throw new Error(`column ${field.name} has no numbers; its type is ${type}`);
  const chunks = vector.data;
  const [first] = chunks;
  const delta = field.metadata.get("delta") === "1";
  const whole = chunks.length === 1 && first?.nullCount === 0 && !delta;
  if (whole && (first.values instanceof Float64Array || first.values instanceof Uint32Array)) {
    return first.values.subarray(0, first.length);
  }
  const all = new Float64Array(vector.length);
  let at = 0;
  for (const chunk of chunks) {
    const values = chunk.values as ArrayLike<number | bigint>;
    if (values instanceof BigInt64Array || values instanceof BigUint64Array) {
      for (let i = 0; i < chunk.length; i++) all[at + i] = Number(values[i]);
    } else {
      all.set((values as Float64Array).subarray(0, chunk.length), at);
    }
    if (chunk.nullCount > 0) {
      const missing = missingRows(chunk);
      for (let i = 0; i < chunk.length; i++) if (missing(i)) all[at + i] = Number.NaN;
    }
    at += chunk.length;
  }
  if (delta) restore(all);
  return all;
}

/** Values from their differences; a missing one leaves the sum unchanged. */
function restore(values: Float64Array) {
  let sum = 0;
  for (let i = 0; i < values.length; i++) {
    const difference = values[i] as number;
    if (Number.isNaN(difference)) continue;
    sum += difference;
    values[i] = sum;
  }
}

function textOf(vector: Vector): Words {
  const words: string[] = [];
  const codeOf = new Map<string, number>();
  const code = (word: string) => {
    const known = codeOf.get(word);
    if (known !== undefined) return known;
    codeOf.set(word, words.length);
    return words.push(word) - 1;
  };
  const codes = new Int32Array(vector.length);
  let at = 0;
  for (const chunk of vector.data) {
    const missing = missingRows(chunk);
    const dictionary = chunk.dictionary;
    if (dictionary) {
      const own = Array.from(dictionary, (word) => code(String(word)));
      const places = chunk.values as ArrayLike<number | bigint>;
      for (let i = 0; i < chunk.length; i++) {
        codes[at + i] = missing(i) ? MISSING : (own[Number(places[i])] ?? MISSING);
      }
    } else {
      for (let i = 0; i < chunk.length; i++) {
        const word: unknown = vector.get(at + i);
        codes[at + i] = word === null ? MISSING : code(String(word));
      }
    }
    at += chunk.length;
  }
  return { codes, words };
}

/** An Arrow IPC stream as a table. Columns are unpacked at the first request. */
export function decodeTable(bytes: Uint8Array): TableData {
  const table = tableFromIPC(bytes);
  // Data that is not a stream at all is read as a stream without columns.
  if (table.schema.fields.length === 0) throw new Error("it is not an Arrow stream");
  const fields = new Map(table.schema.fields.map((field) => [field.name, field]));
  const numbers = new Map<string, Numbers>();
  const texts = new Map<string, Words>();
  const column = (name: string): [Vector, Field] => {
    const vector = table.getChild(name);
    const field = fields.get(name);
    if (!vector || !field) throw new Error(`there is no column ${name}`);
    return [vector, field];
  };
  const once = <T>(kept: Map<string, T>, name: string, make: (vector: Vector, field: Field) => T): T => {
    const known = kept.get(name);
    if (known !== undefined) return known;
    const made = make(...column(name));
    kept.set(name, made);
    return made;
  };
  return {
    rows: table.numRows,
    has: (name) => fields.has(name),
    number: (name) => once(numbers, name, numbersOf),
    text: (name) => once(texts, name, textOf),
  };
}
