/** Encoder of a task's canonical bytes, whose hash is the task's fingerprint. */

import { concatBytes, viewAsBytes } from "./bytes.js";

/**
 * Encodes text as UTF-8. Lone surrogates become U+FFFD. This function is used instead of
 * TextEncoder, which Jest's jsdom lacks.
 */
export const encodeUtf8 = (text: string) =>
  Uint8Array.from(
    // encodeURIComponent throws on lone surrogates, so they are replaced first.
    encodeURIComponent(text.replace(/\p{Cs}/gu, "\uFFFD")).replace(/%(..)/g, (_, hex) =>
      String.fromCharCode(Number.parseInt(hex, 16)),
    ),
    (character) => character.charCodeAt(0),
  );

/**
 * Builder of canonical bytes. Each integer has 8 bytes, in little-endian order. Each text is
 * preceded by its length.
 */
export class CanonicalBytesBuilder {
  readonly #chunks: Uint8Array[] = [];

  /** Appends an integer below 2³². With `high`, the number is `value` + 2³²·`high`. */
  appendInteger(value: number, high = 0): void {
    // Every platform with WebAssembly is little-endian, so its byte order is the required one.
    this.#append(Uint32Array.of(value, high));
  }

  /** Appends a list of integers, preceded by its length. */
  appendIntegerList(values: readonly number[]): void {
    for (const value of [values.length, ...values]) this.appendInteger(value);
  }

  /** Appends a number as a 64-bit float. */
  appendFloat(value: number): void {
    this.#append(Float64Array.of(value));
  }

  /** Appends a text as UTF-8, preceded by its length in bytes. */
  appendText(value: string): void {
    const bytes = encodeUtf8(value);
    this.appendInteger(bytes.length);
    this.#append(bytes);
  }

  #append(numbers: ArrayBufferView): void {
    this.#chunks.push(viewAsBytes(numbers));
  }

  /** Returns all bytes appended so far. */
  toBytes(): Uint8Array {
    return concatBytes(this.#chunks);
  }
}
