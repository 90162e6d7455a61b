import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { createRandomizer, type Task } from "../../client/index.js";
import { dissect } from "../story/bytes.js";
import { type Hash, hashesOf } from "../story/hash.js";

interface Row {
  readonly seed: string;
  readonly t: number;
  readonly m?: number;
  readonly slots?: readonly number[];
  readonly buckets?: readonly number[];
  readonly keys?: readonly string[];
  readonly independent?: readonly number[];
  readonly elements?: readonly number[];
  readonly closed_signs?: readonly number[];
}

function reference(name: string): readonly Row[] {
  const file = new URL(`../../../tests/reference/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, "utf8"));
}

describe("the page's hash", () => {
  it("matches the reference numbers", () => {
    const rows = [...reference("hash"), ...reference("hash-few-slots")];
    let balanced = 0;
    let independent = 0;
    let signed = 0;
    for (const row of rows) {
      const { seed, t, m, slots, buckets, keys, independent: expected } = row;
      if (m !== undefined && slots && buckets) {
        const hash: Hash = { hashing: "balanced", buckets: t, elements: m * t };
        expect(slots.map((slot) => hashesOf(hash, BigInt(seed)).bucket(slot))).toEqual(buckets);
        balanced += 1;
      }
      if (keys && expected) {
        const hash: Hash = { hashing: "independent", buckets: t, elements: 0 };
        const found = keys.map((key) => hashesOf(hash, BigInt(seed)).bucket(BigInt(key)));
        expect(found).toEqual(expected);
        independent += 1;
      }
      if (row.elements && row.closed_signs) {
        const { sign } = hashesOf({ hashing: "balanced", buckets: t, elements: t }, BigInt(seed));
        expect(row.elements.map(sign)).toEqual(row.closed_signs);
        // Out of order too: signs come in words of 64.
        expect([...row.elements].reverse().map(sign).reverse()).toEqual(row.closed_signs);
        signed += 1;
      }
    }
    expect([balanced, independent, signed]).toEqual([70, 10, 10]);
  });

  // At ε = 12 with one favoured bucket, the report is the bucket of the only
  // element but for one draw in thousands: the real randomiser as reference.
  it.each([
    { hashing: "balanced", buckets: 7 },
    { hashing: "balanced", buckets: 60 },
    { hashing: "balanced", buckets: 300 },
    { hashing: "independent", buckets: 19 },
  ] as const)("agrees with the real randomiser ($hashing, $buckets)", async (mechanism) => {
    const items = Array.from({ length: 100 }, (_, index) => `item-${index}`);
    const task: Task = {
      id: "hash-test",
      items,
      sparsity: 1,
      epsilon: 12,
      value: "sign",
      mechanism: { name: "collision", rule: "heaviest", favoured: 1, ...mechanism },
    };
    const randomizer = await createRandomizer({ task });
    const hash: Hash = { ...mechanism, elements: 2 * items.length + 1 };
    let agree = 0;
    const draws = 400;
    for (let draw = 0; draw < draws; draw += 1) {
      const index = draw % items.length;
      const sign = draw % 3 === 0 ? -1 : 1;
      const upload = randomizer.upload(randomizer.randomize({ [`item-${index}`]: sign }), 1);
      const { seed, response } = dissect(upload, { read: (from) => [from.varint()] });
      const element = 2 * index + (sign < 0 ? 1 : 0);
      agree += hashesOf(hash, seed).bucket(element) === response[0] ? 1 : 0;
    }
    randomizer.free();
    // Expected misses: below one. Ten are a matter of 10⁻⁹.
    expect(agree).toBeGreaterThan(draws - 10);
  });
});
