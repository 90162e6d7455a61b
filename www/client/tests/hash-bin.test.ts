import { describe, expect, it, vi } from "vitest";
import { createRandomizer, type HashBinMechanism, type Task, TaskError } from "../index.js";
import { PLUGINS, RATINGS, readUpload } from "./harness.js";

const EVENT = {
  name: "hash-bin",
  level: "event",
  hashing: "balanced",
  bins: 3,
  grid: 256,
} as const satisfies HashBinMechanism;
const NEIGHBOURING = {
  ...EVENT,
  level: "neighbouring",
  distance: 1.5,
} as const satisfies HashBinMechanism;
const USER = {
  ...EVENT,
  level: "user",
  clip: 0.75,
  noise: "two-point",
  bins: 1,
} as const satisfies HashBinMechanism;

const LEVELS: [string, HashBinMechanism][] = [
  ["event", EVENT],
  ["neighbouring", NEIGHBOURING],
  ["neighbouring with a δ", { ...NEIGHBOURING, delta: 1e-6 }],
  ["user with Laplace noise", { ...USER, noise: "laplace" }],
  ["user with two points", USER],
];

const taskOf = (mechanism: object): Task => ({ ...RATINGS, mechanism: mechanism as never });

/** Reads the zigzag varints after a report's seed, in steps of 1/`grid`. */
function readBins(report: Uint8Array): number[] {
  const bins: number[] = [];
  let value = 0n;
  let shift = 0n;
  for (const byte of report.subarray(8)) {
    value |= BigInt(byte & 0x7f) << shift;
    shift += 7n;
    if (byte < 0x80) {
      bins.push(Number(value & 1n ? -(value + 1n) / 2n : value / 2n));
      [value, shift] = [0n, 0n];
    }
  }
  // The last varint is complete.
  expect(shift).toBe(0n);
  return bins;
}

describe("hash-bin", () => {
  it.each(LEVELS)("is parsed as it was written: %s", async (_, mechanism) => {
    const task = taskOf(mechanism);
    const randomizer = await createRandomizer({ task });
    expect(randomizer.task).toEqual(task);
  });

  it("has a fingerprint that depends on every parameter", async () => {
    const delta = { ...NEIGHBOURING, delta: 1e-6 };
    const variants: HashBinMechanism[] = [
      ...LEVELS.map(([, mechanism]) => mechanism),
      { ...EVENT, hashing: "independent" },
      { ...EVENT, bins: 4 },
      { ...EVENT, grid: 512 },
      { ...NEIGHBOURING, distance: 1.25 },
      { ...delta, distance: 1.25 },
      { ...delta, delta: 1e-7 },
      { ...USER, clip: 0.5 },
    ];
    const fingerprints = await Promise.all(
      variants.map(
        async (mechanism) => (await createRandomizer({ task: taskOf(mechanism) })).fingerprint,
      ),
    );
    expect(new Set(fingerprints).size).toBe(variants.length);
  });

  it.each(LEVELS.slice(0, -1))("makes reports of a seed and the bins: %s", async (_, mechanism) => {
    const randomizer = await createRandomizer({ task: taskOf(mechanism) });
    const seeds = new Set<string>();
    for (let round = 0; round < 50; round += 1) {
      const report = randomizer.randomize({ 3: 1, 7: -0.5 });
      expect(readBins(report)).toHaveLength(mechanism.bins);
      seeds.add(Buffer.from(report.subarray(0, 8)).toString("hex"));
    }
    expect(seeds.size).toBe(50);
    const many = randomizer.randomizeMany(
      Uint32Array.of(2, 0, 1),
      Uint32Array.of(7, 39, 0),
      Float64Array.of(1, -0.25, 0.5),
    );
    const { fingerprint, count, reports } = readUpload(randomizer.upload(many, 3));
    expect({ fingerprint, count }).toEqual({ fingerprint: randomizer.fingerprint, count: 3 });
    // The reports are back to back: each begins after the bins of the previous one.
    let rest = reports;
    for (let person = 0; person < 3; person += 1) {
      let end = 8;
      for (let bin = 0; bin < mechanism.bins; bin += 1) {
        while ((rest[end] as number) >= 0x80) {
          end += 1;
        }
        end += 1;
      }
      rest = rest.subarray(end);
    }
    expect(rest).toHaveLength(0);
  });

  it("makes reports of a seed and one sign: user with two points", async () => {
    const randomizer = await createRandomizer({ task: taskOf(USER) });
    const signs = new Set<number>();
    for (let round = 0; round < 100; round += 1) {
      const report = randomizer.randomize({ 3: 1, 7: -0.5 });
      expect(report).toHaveLength(9);
      signs.add(report[8] as number);
    }
    // Both signs are equally likely over the seeds. Only one sign in all reports has a probability
    // of 2⁻⁹⁹.
    expect([...signs].sort()).toEqual([0, 1]);
    const people = Uint32Array.of(1, 0, 1);
    const items = Uint32Array.of(7, 39);
    expect(randomizer.randomizeMany(people, items, Float64Array.of(1, -0.25))).toHaveLength(27);
  });

  it("puts every entry into the bins, on the grid, and samples nothing down", async () => {
    const entries = 30;
    const reports = 400;
    const mechanism = { ...EVENT, bins: 1 };
    const task: Task = { ...taskOf(mechanism), epsilon: 12 };
    vi.spyOn(crypto, "getRandomValues").mockImplementation((array) => {
      (array as unknown as Uint8Array).fill(1);
      return array;
    });
    const randomizer = await createRandomizer({ task });
    const everything = Array.from({ length: entries }, (_, item) => [String(item), 0.5] as const);
    let squares = 0;
    for (let round = 0; round < reports; round += 1) {
      const report = randomizer.randomize(new Map(everything));
      const [bin = Number.NaN] = readBins(report);
      squares += (bin / mechanism.grid) ** 2;
    }
    // Signs are fair, so the sum has the variance 30/4. Laplace noise for a change of 2 has the
    // variance 2·(2/ε)². Six entries alone would give 6/4.
    const expected = entries / 4 + 2 * (2 / task.epsilon) ** 2;
    // A square's variance is less than twice the square of that mean. The bound is 5 standard
    // errors, α below 1e-5. The seed is fixed.
    expect(Math.abs(squares / reports / expected - 1)).toBeLessThan(5 * Math.sqrt(2 / reports));
    const lengths = Uint32Array.of(entries);
    const items = Uint32Array.from(everything.keys());
    randomizer.randomizeMany(lengths, items, new Float64Array(entries).fill(1));
    expect(randomizer.sampledDown).toBe(0);
  });

  it("takes arbitrary names in open tasks", async () => {
    const mechanism = { ...EVENT, hashing: "independent" } as const;
    const randomizer = await createRandomizer({ task: { ...PLUGINS, value: "real", mechanism } });
    const report = randomizer.randomize(new Map([["ad blocker 🧱", 0.5]]));
    expect(readBins(report)).toHaveLength(3);
  });
});

describe("tasks of hash-bin", () => {
  const without = (mechanism: object, field: string) =>
    Object.fromEntries(Object.entries(mechanism).filter(([key]) => key !== field));

  it.each<[string, object, string]>([
    ["no level", without(EVENT, "level"), "level is undefined"],
    ["an unknown level", { ...EVENT, level: "person" }, 'level is "person", expected event or'],
    ["no hashing", without(EVENT, "hashing"), "hashing is undefined"],
    ["an unknown hashing", { ...EVENT, hashing: "md5" }, 'hashing is "md5", expected balanced or'],
    ["no bins", without(EVENT, "bins"), "bins is not a number"],
    ["a fraction of a bin", { ...EVENT, bins: 1.5 }, "bins is 1.5, expected a whole number"],
    ["bins that wrap to 3", { ...EVENT, bins: 2 ** 32 + 3 }, "bins is 4294967299"],
    ["no grid", without(EVENT, "grid"), "grid is not a number"],
    ["a grid as text", { ...EVENT, grid: "256" }, "grid is not a number"],
    ["a grid that wraps to 256", { ...EVENT, grid: 2 ** 32 + 256 }, "grid is 4294967552"],
    ["no distance", without(NEIGHBOURING, "distance"), "distance is not a number"],
    ["a distance as text", { ...NEIGHBOURING, distance: "1" }, "distance is not a number"],
    ["an endless distance", { ...NEIGHBOURING, distance: 1 / 0 }, "distance is not a number"],
    ["δ as text", { ...NEIGHBOURING, delta: "1e-6" }, "delta is not a number"],
    ["δ null", { ...NEIGHBOURING, delta: null }, "delta is not a number"],
    ["no clip", without(USER, "clip"), "clip is not a number"],
    ["a clip that is no number", { ...USER, clip: Number.NaN }, "clip is not a number"],
    ["no noise", without(USER, "noise"), "noise is undefined, expected two-point or laplace"],
    ["an unknown noise", { ...USER, noise: "gauss" }, 'noise is "gauss", expected two-point or'],
    ["an unknown field", { ...EVENT, extra: 1 }, 'unknown field "extra"'],
    ["buckets", { ...EVENT, buckets: 8 }, 'unknown field "buckets"'],
    ["a distance of events", { ...EVENT, distance: 1 }, 'unknown field "distance"'],
    ["δ of events", { ...EVENT, delta: 1e-6 }, 'unknown field "delta"'],
    ["a clip of events", { ...EVENT, clip: 1 }, 'unknown field "clip"'],
    ["noise of events", { ...EVENT, noise: "laplace" }, 'unknown field "noise"'],
    ["a clip of neighbours", { ...NEIGHBOURING, clip: 1 }, 'unknown field "clip"'],
    ["noise of neighbours", { ...NEIGHBOURING, noise: "laplace" }, 'unknown field "noise"'],
    ["a distance of users", { ...USER, distance: 1 }, 'unknown field "distance"'],
    ["δ of users", { ...USER, delta: 1e-6 }, 'unknown field "delta"'],
    // Refused by the core.
    ["no bin", { ...EVENT, bins: 0 }, "out of range"],
    ["more bins than items", { ...EVENT, bins: 41 }, "out of range"],
    ["grid 0", { ...EVENT, grid: 0 }, "out of range"],
    ["too fine a grid", { ...EVENT, grid: 131_072 }, "out of range"],
    ["a grid of no power of two", { ...EVENT, grid: 100 }, "out of range"],
    ["distance 0", { ...NEIGHBOURING, distance: 0 }, "out of range"],
    ["too great a distance", { ...NEIGHBOURING, distance: 2049 }, "out of range"],
    ["δ 0", { ...NEIGHBOURING, delta: 0 }, "out of range"],
    ["δ below 0", { ...NEIGHBOURING, delta: -1e-6 }, "out of range"],
    ["too great a δ", { ...NEIGHBOURING, delta: 0.5 }, "out of range"],
    ["clip 0", { ...USER, clip: 0 }, "out of range"],
    ["a clip below 0", { ...USER, clip: -1 }, "out of range"],
    ["too great a clip", { ...USER, clip: 1025 }, "out of range"],
    ["a clip off the grid", { ...USER, clip: 0.7 }, "do not go together"],
    ["two bins of users", { ...USER, bins: 2 }, "do not go together"],
  ])("are refused with %s", async (_, mechanism, said) => {
    const made = createRandomizer({ task: taskOf(mechanism) });
    await expect(made).rejects.toThrow(TaskError);
    await expect(made).rejects.toMatchObject({
      code: "invalid-task",
      message: expect.stringContaining(said),
    });
  });

  it("are refused with balanced bins where items are open", async () => {
    const made = createRandomizer({ task: { ...PLUGINS, mechanism: EVENT } });
    await expect(made).rejects.toMatchObject({ name: "TaskError", code: "invalid-task" });
  });
});
