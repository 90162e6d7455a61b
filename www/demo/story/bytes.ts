// Takes an upload apart for display. Only the page uses this; the collector
// has the real decoder, in Rust, and refuses what is not canonical.

import type { Explained, Reader, Report } from "./mechanism/kind.js";

/** One labelled stretch of an upload. */
export interface Part {
  readonly name: "version" | "task" | "id" | "count" | "seed" | "response";
  readonly bytes: Uint8Array;
}

/** An upload with a single report. */
export interface Dissected extends Report {
  readonly parts: readonly Part[];
  readonly length: number;
  readonly version: number;
  readonly fingerprint: string;
  readonly id: string;
}

/** How the mechanism's part of a report is read. */
type Reading = Pick<Explained, "read">;

/** Reads bytes from the front. */
class Cursor implements Reader {
  readonly #bytes: Uint8Array;
  at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  get ended(): boolean {
    return this.at === this.#bytes.length;
  }

  take(length: number): Uint8Array {
    if (this.at + length > this.#bytes.length) throw new RangeError("The bytes end too early.");
    this.at += length;
    return this.#bytes.subarray(this.at - length, this.at);
  }

  /** What `read` takes, as bytes and decoded. */
  span<T>(read: () => T): { bytes: Uint8Array; value: T } {
    const start = this.at;
    const value = read();
    return { bytes: this.#bytes.subarray(start, this.at), value };
  }

  byte(): number {
    return this.take(1)[0] ?? 0;
  }

  varint(): number {
    let value = 0;
    for (let place = 1, length = 1; ; place *= 128, length++) {
      const byte = this.byte();
      value += (byte & 127) * place;
      if (byte < 128) return value;
      if (length === 5) throw new RangeError("A number in the upload is too long.");
    }
  }

  seed(): bigint {
    return this.take(8).reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n);
  }
}

/** Splits an upload that holds one report into its parts. */
export function dissect(upload: Uint8Array, mechanism: Reading): Dissected {
  const cursor = new Cursor(upload);
  const version = cursor.take(1);
  const fingerprint = cursor.take(16);
  const id = cursor.take(16);
  const count = cursor.span(() => cursor.varint());
  const seed = cursor.span(() => cursor.seed());
  const response = cursor.span(() => mechanism.read(cursor));
  if (version[0] !== 1) throw new RangeError(`Upload format ${version[0]} is not known here.`);
  if (count.value !== 1 || !cursor.ended) {
    throw new RangeError("The upload does not hold exactly one report.");
  }
  return {
    parts: [
      { name: "version", bytes: version },
      { name: "task", bytes: fingerprint },
      { name: "id", bytes: id },
      { name: "count", bytes: count.bytes },
      { name: "seed", bytes: seed.bytes },
      { name: "response", bytes: response.bytes },
    ],
    length: upload.length,
    version: 1,
    fingerprint: hex(fingerprint),
    id: hex(id),
    seed: seed.value,
    response: response.value,
  };
}

/** Decodes reports that lie back to back. */
export function* reportsIn(packed: Uint8Array, mechanism: Reading): Generator<Report> {
  const cursor = new Cursor(packed);
  while (!cursor.ended) yield { seed: cursor.seed(), response: mechanism.read(cursor) };
}

/** Lower-case hexadecimal digits, two for each byte. */
export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, hexByte).join("");
}

/** Two hexadecimal digits. */
export function hexByte(byte: number): string {
  return byte.toString(16).padStart(2, "0");
}
