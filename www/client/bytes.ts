/** Array of bytes in memory of its own. Before version 5.7, TypeScript knows only `Uint8Array`. */
export type Bytes = ReturnType<Uint8ArrayConstructor["of"]>;

/** Concatenates byte arrays. */
export function concatBytes(parts: readonly Uint8Array[]): Bytes {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}

/** Returns a view of an array's bytes, in the platform's byte order. */
export function viewAsBytes({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

/** Returns bytes as text, with two lower-case hexadecimal digits for each byte. */
export function bytesToHex(bytes: Uint8Array): string {
  // Old libraries replace `Array.from` by functions that ignore the second argument.
  let digits = "";
  for (const byte of bytes) {
    digits += byte.toString(16).padStart(2, "0");
  }
  return digits;
}

/** Decodes hexadecimal digits to bytes. Returns no bytes for any other text. */
export function bytesFromHex(digits: string): Bytes {
  const pairs = /^([0-9a-f]{2})+$/.test(digits) ? (digits.match(/../g) ?? []) : [];
  return Uint8Array.from(pairs, (pair) => Number.parseInt(pair, 16));
}
