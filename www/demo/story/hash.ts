// Which bucket an element falls into and which sign it has, for showing it on
// the page and for measuring. The core does this in Rust; the port here is held
// to the same vectors by its test.

const WORD = (1n << 64n) - 1n;

/** How a task hashes its elements. */
export interface Hash {
  readonly hashing: "balanced" | "independent";
  readonly buckets: number;
  /** Number of elements, paddings included. */
  readonly elements: number;
}

/** The hash functions that one seed fixes. */
export interface Hashes {
  /** The bucket of an element. Only the independent hash takes 64-bit keys. */
  bucket(element: number | bigint): number;
  /** The fair sign of an element of a closed domain. */
  sign(element: number): 1 | -1;
}

/** Slots per bucket of the balanced hash. */
export function slotsPerBucket(hash: Hash): number {
  return Math.ceil(hash.elements / hash.buckets);
}

/** The hash functions of a report. */
export function hashesOf(hash: Hash, seed: bigint): Hashes {
  const output = (i: number) => mix64((seed + BigInt(i) * 0x9e3779b97f4a7c15n) & WORD);
  const signKey = output(4);
  // One mix gives the signs of 64 consecutive elements.
  let word = -1;
  let signs = 0n;
  const sign = (element: number): 1 | -1 => {
    const wanted = Math.floor(element / 64);
    if (wanted !== word) {
      word = wanted;
      signs = mix64(BigInt(wanted) ^ signKey);
    }
    return (signs >> BigInt(element % 64)) & 1n ? 1 : -1;
  };
  const t = hash.buckets;
  if (hash.hashing === "independent") {
    const key = output(1);
    return { sign, bucket: (element) => Number((mix64(BigInt(element) ^ key) * BigInt(t)) >> 64n) };
  }
  const m = slotsPerBucket(hash);
  // The fourth output is the sign hash's.
  const outputs = m > 1 && m < 8 ? [1, 2, 3, 5, 6, 7, 8, 9, 10, 11, 12] : [1, 2, 3];
  const keys = outputs.map(output).flatMap((mixed) => [low(mixed), high(mixed)]);
  keys.splice(5, 1);
  const bucket = (element: number | bigint) => {
    let w = Math.floor(Number(element) / t);
    let z = Number(element) % t;
    for (const [round, key] of keys.entries()) {
      if (round % 2 === 0) {
        z = (z + scaled(w, key, t)) % t;
      } else {
        w = (w + scaled(z, key, m)) % m;
      }
    }
    return z;
  };
  return { sign, bucket };
}

function low(word: bigint): number {
  return Number(word & 0xffffffffn);
}

function high(word: bigint): number {
  return Number(word >> 32n);
}

/** The splitmix64 finaliser. */
function mix64(word: bigint): bigint {
  let x = word;
  x = ((x ^ (x >> 30n)) * 0xbf58476d1ce4e5b9n) & WORD;
  x = ((x ^ (x >> 27n)) * 0x94d049bb133111ebn) & WORD;
  return x ^ (x >> 31n);
}

function mix32(word: number): number {
  let h = word;
  h = Math.imul(h ^ (h >>> 16), 0x21f0aaad);
  h = Math.imul(h ^ (h >>> 15), 0x735a2d97);
  return (h ^ (h >>> 15)) >>> 0;
}

/** A keyed function of x below `range`: exact, as the product is below 2⁵³. */
function scaled(x: number, key: number, range: number): number {
  return Math.floor((mix32(x ^ key) * range) / 2 ** 32);
}
