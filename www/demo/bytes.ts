// Takes an upload apart for display. Only the page uses this; the collector
// has the real decoder, in Rust, and refuses what is not canonical.

/** One labelled stretch of an upload. */
export interface Part {
  readonly name: "version" | "task" | "id" | "count" | "seed" | "bucket";
  readonly bytes: Uint8Array;
}

/** An upload with a single Collision report. */
export interface Dissected {
  readonly parts: readonly Part[];
  readonly length: number;
  readonly version: number;
  readonly fingerprint: string;
  readonly id: string;
  readonly seed: bigint;
  readonly bucket: number;
}

/** Splits an upload that holds one Collision report into its parts. */
export function dissect(upload: Uint8Array): Dissected {
  let at = 0;
  const take = (length: number): Uint8Array => {
    if (at + length > upload.length) throw new RangeError("The upload ends too early.");
    at += length;
    return upload.subarray(at - length, at);
  };
  const takeVarint = (): { bytes: Uint8Array; value: number } => {
    const start = at;
    let value = 0;
    for (let place = 1; ; place *= 128) {
      const byte = take(1)[0] ?? 0;
      value += (byte & 127) * place;
      if (byte < 128) return { bytes: upload.subarray(start, at), value };
      if (at - start === 5) throw new RangeError("A number in the upload is too long.");
    }
  };

  const version = take(1);
  const fingerprint = take(16);
  const id = take(16);
  const count = takeVarint();
  const seed = take(8);
  const bucket = takeVarint();
  if (version[0] !== 1) throw new RangeError(`Upload format ${version[0]} is not known here.`);
  if (count.value !== 1 || at !== upload.length) {
    throw new RangeError("The upload does not hold exactly one report.");
  }
  return {
    parts: [
      { name: "version", bytes: version },
      { name: "task", bytes: fingerprint },
      { name: "id", bytes: id },
      { name: "count", bytes: count.bytes },
      { name: "seed", bytes: seed },
      { name: "bucket", bytes: bucket.bytes },
    ],
    length: upload.length,
    version: 1,
    fingerprint: hex(fingerprint),
    id: hex(id),
    seed: seed.reduceRight((value, byte) => (value << 8n) | BigInt(byte), 0n),
    bucket: bucket.value,
  };
}

/** Lower-case hexadecimal digits, two for each byte. */
export function hex(bytes: Uint8Array): string {
  return Array.from(bytes, hexByte).join("");
}

/** Two hexadecimal digits. */
export function hexByte(byte: number): string {
  return byte.toString(16).padStart(2, "0");
}
