/** The canonical bytes of a task, which its fingerprint is the hash of. */

import { bytesOf, joined } from "./bytes.js";

/** As TextEncoder has it, which Jest's jsdom lacks: halves of surrogate pairs are replaced. */
export const utf8 = (text: string) =>
  Uint8Array.from(
    encodeURIComponent(text.replace(/\p{Cs}/gu, "\uFFFD")).replace(/%(..)/g, (_, hex) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    ),
    (character) => character.charCodeAt(0),
  );

/** Numbers of eight bytes, little endian, and texts preceded by their length. */
export class CanonicalBytes {
  readonly #chunks: Uint8Array[] = [];

  /** Appends a whole number below 2³², or by two words of these one below 2⁶⁴. */
  number(value: number, high = 0): void {
    // WebAssembly's order of bytes is the platform's, wherever there is one.
    this.#append(Uint32Array.of(value, high));
  }

  /** Appends such numbers, preceded by how many there are. */
  list(values: readonly number[]): void {
    for (const value of [values.length, ...values]) this.number(value);
  }

  /** Appends a number as it is represented in 64 bits. */
  float(value: number): void {
    this.#append(Float64Array.of(value));
  }

  /** Appends a text as UTF-8. */
  text(value: string): void {
    const bytes = utf8(value);
    this.number(bytes.length);
    this.#append(bytes);
  }

  #append(numbers: ArrayBufferView): void {
    this.#chunks.push(bytesOf(numbers));
  }

  /** What was appended. */
  toBytes(): Uint8Array {
    return joined(this.#chunks);
  }
}
