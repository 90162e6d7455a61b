/** A header and `length` bytes of parts behind it, back to back. */
export function joined(
  header: Uint8Array,
  parts: Iterable<Uint8Array>,
  length: number,
): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(header.length + length);
  bytes.set(header);
  let offset = header.length;
  for (const part of parts) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}

/** Two digits of each byte. */
export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
