import { describe, expect, it } from "vitest";
import { createRandomizer, type Task } from "../../client/index.js";
import { dissect, hex, reportsIn } from "../story/bytes.js";
import type { Reader } from "../story/mechanism/kind.js";

const task: Task = {
  id: "bytes-test",
  items: ["a", "b", "c"],
  sparsity: 2,
  epsilon: 1,
  value: "sign",
  mechanism: {
    name: "collision",
    rule: "heaviest",
    favoured: 2,
    hashing: "balanced",
    buckets: 300,
  },
};

const bucket = { read: (from: Reader) => [from.varint()] };

describe("an upload taken apart", () => {
  it("is what the real encoder made", async () => {
    const randomizer = await createRandomizer({ task });
    let long = 0;
    for (let draw = 0; draw < 100; draw += 1) {
      const report = randomizer.randomize({ a: 1, c: -1 });
      const upload = randomizer.upload(report, 1);
      const found = dissect(upload, bucket);
      expect(found.version).toBe(1);
      expect(found.fingerprint).toBe(randomizer.fingerprint);
      expect(found.response[0]).toBeLessThan(300);
      expect(found.length).toBe(upload.length);
      const [version, fingerprint, id, count, seed, drawn] = found.parts.map(({ bytes }) => bytes);
      expect(found.parts.map(({ bytes }) => hex(bytes)).join("")).toBe(hex(upload));
      expect([version, fingerprint, id, count, seed].map((part) => part?.length)).toEqual([
        1, 16, 16, 1, 8,
      ]);
      expect(hex(id ?? new Uint8Array())).toBe(found.id);
      expect(`${hex(seed ?? new Uint8Array())}${hex(drawn ?? new Uint8Array())}`).toBe(hex(report));
      const view = new DataView(Uint8Array.from(seed ?? []).buffer);
      expect(found.seed).toBe(view.getBigUint64(0, true));
      long += drawn?.length === 2 ? 1 : 0;
    }
    randomizer.free();
    // Buckets from 128 on take two bytes.
    expect(long).toBeGreaterThan(20);
  });

  it("refuses what does not hold one report", async () => {
    const randomizer = await createRandomizer({ task });
    const reports = randomizer.randomizeMany(
      Uint32Array.of(1, 0),
      Uint32Array.of(0),
      Float64Array.of(1),
    );
    expect(() => dissect(randomizer.upload(reports, 2), bucket)).toThrow(RangeError);
    const upload = randomizer.upload(randomizer.randomize({}), 1);
    randomizer.free();
    expect(() => dissect(upload.subarray(0, -1), bucket)).toThrow(RangeError);
    expect(() => dissect(Uint8Array.of(...upload, 0), bucket)).toThrow(RangeError);
    expect(() => dissect(Uint8Array.of(2, ...upload.subarray(1)), bucket)).toThrow(/format 2/);
    expect(() => dissect(new Uint8Array(), bucket)).toThrow(RangeError);
  });

  it("decodes reports that lie back to back", async () => {
    const randomizer = await createRandomizer({ task });
    const people = 50;
    const packed = randomizer.randomizeMany(
      new Uint32Array(people),
      new Uint32Array(),
      new Float64Array(),
    );
    randomizer.free();
    const reports = [...reportsIn(packed, bucket)];
    expect(reports).toHaveLength(people);
    expect(new Set(reports.map(({ seed }) => seed)).size).toBe(people);
    expect(() => [...reportsIn(packed.subarray(0, -1), bucket)]).toThrow(RangeError);
  });
});
