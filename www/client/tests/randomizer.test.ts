import { readFileSync } from "node:fs";
import { describe, expect, it, vi } from "vitest";
import { CORE_CODES } from "../codes.js";
import {
  ClosedError,
  type CocoMechanism,
  createClient,
  createRandomizer,
  EntropyError,
  OptionError,
  type Task,
  TaskError,
  UnknownItemError,
  ValueRangeError,
  WasmError,
} from "../index.js";
import { PLUGINS, RATINGS, readUpload, SETTINGS } from "./harness.js";

const REPOSITORY = new URL("../../../", import.meta.url);

it("knows the core's error codes", () => {
  const read = (name: string) => readFileSync(new URL(`src/error/${name}.rs`, REPOSITORY), "utf8");
  const variants = [...read("code").matchAll(/^ {4}(\w+) = (\d+),$/gm)];
  const names = new Map(
    [...read("detailed").matchAll(/^ {12}Self::(\w+) => "([\w-]+)",$/gm)].map(
      ([, variant, name]) => [variant, name],
    ),
  );
  const expected = Object.fromEntries(
    variants.map(([, variant, number]) => [number, names.get(variant)]),
  );
  expect(variants.length).toBeGreaterThan(10);
  expect(CORE_CODES).toEqual(expected);
});

describe("a randomiser", () => {
  it("makes reports of eight bytes of seed and a bucket", async () => {
    const randomizer = await createRandomizer({ task: SETTINGS });
    const first = randomizer.randomize({ "dark-mode": 1, autoplay: -1 });
    const second = randomizer.randomize({ "dark-mode": 1, autoplay: -1 });
    for (const report of [first, second]) {
      expect(report).toHaveLength(9);
      expect(report[8]).toBeLessThan(8);
    }
    expect(first).not.toEqual(second);
    randomizer.free();
  });

  it("has a fingerprint that depends on every parameter", async () => {
    const variants: Task[] = [
      SETTINGS,
      { ...SETTINGS, id: "settings-2" },
      { ...SETTINGS, items: ["dark-mode", "autoplay", "captions", "other"] },
      { ...SETTINGS, items: 4 },
      { ...SETTINGS, sparsity: 3 },
      { ...SETTINGS, epsilon: 2.5 },
      { ...SETTINGS, value: "real" },
      { ...SETTINGS, mechanism: { ...SETTINGS.mechanism, favoured: 3 } },
      { ...SETTINGS, mechanism: { ...SETTINGS.mechanism, hashing: "independent" } },
      { ...SETTINGS, mechanism: { ...SETTINGS.mechanism, buckets: 9 } },
    ];
    const fingerprints = new Set<string>();
    for (const task of variants) {
      const randomizer = await createRandomizer({ task });
      expect(randomizer.fingerprint).toMatch(/^[0-9a-f]{32}$/);
      fingerprints.add(randomizer.fingerprint);
      randomizer.free();
    }
    expect(fingerprints.size).toBe(variants.length);
  });

  it("puts its fingerprint and a fresh id into uploads", async () => {
    const randomizer = await createRandomizer({ task: RATINGS });
    const reports = randomizer.randomizeMany(
      Uint32Array.of(2, 0, 1),
      Uint32Array.of(7, 39, 0),
      Float64Array.of(1, -0.25, 0.5),
    );
    expect(reports).toHaveLength(3 * 9);
    const uploads = [1, 2].map(() => readUpload(randomizer.upload(reports, 3)));
    for (const upload of uploads) {
      expect(upload).toMatchObject({ fingerprint: randomizer.fingerprint, count: 3, reports });
    }
    expect(uploads[0]?.id).not.toBe(uploads[1]?.id);
  });

  it("takes up to 4096 reports into an upload", async () => {
    const randomizer = await createRandomizer({ task: SETTINGS });
    const report = randomizer.randomize({});
    const reports = (count: number) => new Uint8Array(count * report.length);
    expect(readUpload(randomizer.upload(reports(4096), 4096)).count).toBe(4096);
    expect(() => randomizer.upload(reports(4097), 4097)).toThrow(OptionError);
    expect(() => randomizer.upload(reports(0), 0)).toThrow(OptionError);
  });

  it("counts inputs that had to be sampled down", async () => {
    const randomizer = await createRandomizer({ task: SETTINGS });
    randomizer.randomize({ "dark-mode": 1, autoplay: 1 });
    expect(randomizer.sampledDown).toBe(0);
    randomizer.randomize({ "dark-mode": 1, autoplay: 1, captions: -1 });
    expect(randomizer.sampledDown).toBe(1);
  });

  it("refuses packed arrays that do not go together", async () => {
    const randomizer = await createRandomizer({ task: RATINGS });
    const pack = (lengths: number[], items: number[], values: number[]) => () =>
      randomizer.randomizeMany(
        Uint32Array.from(lengths),
        Uint32Array.from(items),
        Float64Array.from(values),
      );
    expect(pack([2], [1], [1])).toThrow(OptionError);
    expect(pack([1], [1, 2], [1, 1])).toThrow(OptionError);
    expect(pack([1], [1], [])).toThrow(OptionError);
    expect(pack([1], [40], [1])).toThrow(OptionError);
    expect(pack([1], [1], [1.5])).toThrow(OptionError);
    expect(pack([2], [1, 1], [1, 1])).toThrow(OptionError);
    expect(pack([2_000_000_000, 2_300_000_000], [], [])).toThrow(OptionError);
    // None of these calls trapped: the randomiser still works.
    expect(pack([1], [1], [1])()).toHaveLength(9);
  });

  it("cannot be used when freed", async () => {
    const randomizer = await createRandomizer({ task: SETTINGS });
    randomizer.free();
    randomizer.free();
    expect(() => randomizer.randomize({})).toThrow(ClosedError);
  });
});

describe("inputs", () => {
  it("name items that exist", async () => {
    const randomizer = await createRandomizer({ task: SETTINGS });
    expect(randomizer.randomize({ Übersetzung: 1 })).toHaveLength(9);
    for (const name of ["dark mode", "", "0", "__proto__", "constructor", "toString"]) {
      const input = new Map([[name, 0]]);
      expect(() => randomizer.randomize(input)).toThrow(UnknownItemError);
    }
    expect(() => randomizer.randomize({ typo: 0 } as object)).toThrow(
      expect.objectContaining({ code: "unknown-item", item: "typo" }),
    );
  });

  it("name counted items by their decimal index", async () => {
    const randomizer = await createRandomizer({ task: RATINGS });
    expect(randomizer.randomize({ 0: 1, 39: -1 })).toHaveLength(9);
    for (const name of ["40", "-1", "01", "1e0", "1.0", "", " 1", "-0", "NaN", "4294967297"]) {
      expect(() => randomizer.randomize({ [name]: 1 }), name).toThrow(UnknownItemError);
    }
  });

  it("name anything in open tasks", async () => {
    const randomizer = await createRandomizer({ task: PLUGINS });
    const input = new Map([
      ["__proto__", 1],
      ["", -1],
      ["ad blocker 🧱", 1],
    ]);
    expect(randomizer.randomize(input)).toHaveLength(9);
  });

  it("have values that the task takes", async () => {
    const signs = await createRandomizer({ task: SETTINGS });
    for (const value of [1, -1, 0, -0]) {
      signs.randomize({ autoplay: value });
    }
    const wrong: unknown[] = [2, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 1e-300, true, "1", 1n];
    for (const value of [...wrong, null, undefined]) {
      expect(() => signs.randomize({ autoplay: value as number })).toThrow(ValueRangeError);
    }
    const reals = await createRandomizer({ task: RATINGS });
    for (const value of [1, -1, 0, 0.3, -1e-9, 5e-324]) {
      reals.randomize({ 3: value });
    }
    for (const value of [1.0000000000000002, -2, Number.NaN, "0.5", true]) {
      expect(() => reals.randomize({ 3: value as number })).toThrow(ValueRangeError);
    }
  });
});

/** Task with CoCo, otherwise the same. */
const MEANS = {
  ...SETTINGS,
  mechanism: { name: "coco", rule: "strongest", favoured: 2, hashing: "balanced", buckets: 8 },
} as const satisfies Task;

describe("CoCo", () => {
  it.each<[string, CocoMechanism]>([
    ["strongest", MEANS.mechanism],
    ["overwrite", { name: "coco", rule: "overwrite", hashing: "independent", buckets: 20 }],
  ])("makes reports under the rule %s", async (_, mechanism) => {
    const randomizer = await createRandomizer({ task: { ...SETTINGS, mechanism } });
    const buckets = new Set<number>();
    for (let round = 0; round < 400; round++) {
      const report = randomizer.randomize({ "dark-mode": 1, autoplay: -1 });
      expect(report).toHaveLength(9);
      buckets.add(report[8] as number);
    }
    // At ε = 2, 400 draws miss one of at most 20 buckets with a probability below 1e-3. No bucket
    // is out of range.
    expect(Math.max(...buckets)).toBeLessThan(mechanism.buckets);
    expect(buckets.size).toBeGreaterThan(mechanism.buckets / 2);
    randomizer.free();
  });

  it("has fingerprints of its own", async () => {
    const of = async (task: Task) => (await createRandomizer({ task })).fingerprint;
    const { favoured: _, ...rest } = MEANS.mechanism;
    const overwrite: CocoMechanism = { ...rest, rule: "overwrite", buckets: 20 };
    const found = await Promise.all([
      of(SETTINGS),
      of(MEANS),
      of({ ...MEANS, mechanism: overwrite }),
    ]);
    expect(new Set(found).size).toBe(3);
  });
});

describe("tasks", () => {
  const mechanism = SETTINGS.mechanism;
  it.each<[string, unknown]>([
    ["null", null],
    ["a list", []],
    ["an unknown field", { ...SETTINGS, extra: 1 }],
    ["no mechanism", { ...SETTINGS, mechanism: undefined }],
    ["an unknown mechanism", { ...SETTINGS, mechanism: { ...mechanism, name: "coin" } }],
    ["an unknown rule", { ...SETTINGS, mechanism: { ...mechanism, rule: "lightest" } }],
    ["favoured missing", { ...SETTINGS, mechanism: { ...mechanism, favoured: undefined } }],
    ["favoured too many", { ...SETTINGS, mechanism: { ...mechanism, favoured: 8 } }],
    ["favoured where none is", { ...SETTINGS, mechanism: { ...mechanism, rule: "occupied" } }],
    ["another mechanism's rule", { ...SETTINGS, mechanism: { ...mechanism, rule: "strongest" } }],
    ["buckets that do not pair", { ...MEANS, mechanism: { ...MEANS.mechanism, buckets: 7 } }],
    ["favoured beyond the pairs", { ...MEANS, mechanism: { ...MEANS.mechanism, favoured: 5 } }],
    ["buckets that wrap to 8", { ...SETTINGS, mechanism: { ...mechanism, buckets: 2 ** 32 + 8 } }],
    ["a fraction of a bucket", { ...SETTINGS, mechanism: { ...mechanism, buckets: 8.5 } }],
    ["sparsity 0", { ...SETTINGS, sparsity: 0 }],
    ["sparsity above the items", { ...SETTINGS, sparsity: 5 }],
    ["ε 0", { ...SETTINGS, epsilon: 0 }],
    ["ε infinite", { ...SETTINGS, epsilon: Number.POSITIVE_INFINITY }],
    ["ε as text", { ...SETTINGS, epsilon: "2" }],
    ["no items", { ...SETTINGS, items: [] }],
    ["0 items", { ...SETTINGS, items: 0 }],
    ["an item without name", { ...SETTINGS, items: ["a", ""] }],
    ["items that would come apart", { ...SETTINGS, items: ["a\nb", "c"] }],
    ["a control character", { ...SETTINGS, items: ["a\tb", "c"] }],
    ["items twice", { ...SETTINGS, items: ["a", "b", "a"] }],
    ["a value of no kind", { ...SETTINGS, value: "boolean" }],
    ["no slug", { ...SETTINGS, id: "Settings!" }],
    ["an open task that is balanced", { ...PLUGINS, mechanism }],
  ])("are refused with %s", async (_, task) => {
    const made = createRandomizer({ task: task as Task });
    await expect(made).rejects.toThrow(TaskError);
    await expect(made).rejects.toMatchObject({ code: "invalid-task", name: "TaskError" });
  });
});

describe("without randomness", () => {
  it.each([
    [
      "fails",
      () => {
        throw new DOMException("no", "QuotaExceededError");
      },
    ],
    ["does nothing", <T>(array: T) => array],
  ])("nothing is made when getRandomValues %s", async (_, replacement) => {
    vi.spyOn(crypto, "getRandomValues").mockImplementation(replacement);
    const fetch = vi.fn();
    await expect(createRandomizer({ task: SETTINGS })).rejects.toThrow(EntropyError);
    const client = createClient({
      endpoint: "https://collector.example",
      task: SETTINGS,
      fetch,
      consent: true,
      storage: "memory",
    });
    await expect(client.report({})).rejects.toMatchObject({ code: "no-entropy" });
    expect(fetch).not.toHaveBeenCalled();
    vi.restoreAllMocks();
    expect(await createRandomizer({ task: SETTINGS })).toBeDefined();
    expect(await client.report({})).toMatchObject({ sent: true });
    client.destroy();
  });

  it("asks the browser for 32 bytes, once", async () => {
    const random = vi.spyOn(crypto, "getRandomValues");
    const randomizer = await createRandomizer({ task: SETTINGS });
    for (let i = 0; i < 100; i += 1) {
      randomizer.upload(randomizer.randomize({ autoplay: 1 }), 1);
    }
    expect(random.mock.calls.map(([array]) => array?.byteLength)).toEqual([32]);
  });
});

describe("a trap", () => {
  /** Larger than the memory of WebAssembly. */
  const endless = { length: 2 ** 30 } as Float64Array;

  it("is an error, and the next call starts afresh", async () => {
    const broken = await createRandomizer({ task: RATINGS });
    const bystander = await createRandomizer({ task: SETTINGS });
    bystander.randomize({ "dark-mode": 1, autoplay: 1, captions: -1 });
    const { fingerprint } = broken;
    for (let times = 0; times < 3; times += 1) {
      expect(() => broken.randomizeMany(Uint32Array.of(1), Uint32Array.of(1), endless)).toThrow(
        WasmError,
      );
      expect(broken.randomize({ 3: 1 })).toHaveLength(9);
      expect(bystander.randomize({ autoplay: 1 })).toHaveLength(9);
    }
    expect(readUpload(broken.upload(broken.randomize({}), 1)).fingerprint).toBe(fingerprint);
    expect(bystander.sampledDown).toBe(1);
    broken.free();
    bystander.free();
  });

  it("restarts the module, once, when it is used again", async () => {
    const randomizer = await createRandomizer({ task: RATINGS });
    let starts = 0;
    class Counted extends WebAssembly.Instance {
      constructor(...args: ConstructorParameters<typeof WebAssembly.Instance>) {
        super(...args);
        starts += 1;
      }
    }
    vi.stubGlobal("WebAssembly", Object.create(WebAssembly, { Instance: { value: Counted } }));
    expect(() => randomizer.randomizeMany(Uint32Array.of(1), Uint32Array.of(1), endless)).toThrow(
      WasmError,
    );
    expect(starts).toBe(0);
    randomizer.randomize({});
    randomizer.randomize({});
    expect(starts).toBe(1);
  });

  it("leaves no handle that could be freed twice", async () => {
    const other = await createRandomizer({ task: RATINGS });
    const trap = () =>
      expect(() => other.randomizeMany(Uint32Array.of(1), Uint32Array.of(1), endless)).toThrow(
        WasmError,
      );
    // The first handle of this instance and that of the next one have the same address.
    trap();
    const stale = await createRandomizer({ task: SETTINGS });
    trap();
    const fresh = await createRandomizer({ task: SETTINGS });
    stale.free();
    // Would reuse the freed address.
    await createRandomizer({ task: PLUGINS });
    const { fingerprint } = readUpload(fresh.upload(fresh.randomize({ autoplay: 1 }), 1));
    expect(fingerprint).toBe(fresh.fingerprint);
  });
});
