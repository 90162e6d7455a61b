import { readFile } from "node:fs/promises";
import { describe, expect, it, vi } from "vitest";
import type { Task } from "../index.js";
import { RATINGS, SETTINGS } from "./harness.js";

const MODULE = new URL("../wasm/hushbin.wasm", import.meta.url);
const SMALLER = new URL("../wasm/collision.wasm", import.meta.url);

const EVENTS = {
  ...RATINGS,
  id: "events",
  mechanism: { name: "hash-bin", level: "event", hashing: "balanced", bins: 3, grid: 256 },
} satisfies Task;

/** Imports the slim entry as if for the first time. */
async function slim() {
  vi.resetModules();
  return import("../slim.js");
}

it("says that it was not told where the module is, and recovers", async () => {
  const { createRandomizer, initialize } = await slim();
  await expect(createRandomizer({ task: SETTINGS })).rejects.toMatchObject({ code: "wasm" });
  await initialize(await readFile(MODULE));
  expect((await createRandomizer({ task: SETTINGS })).randomize({})).toHaveLength(9);
});

it.each<[string, () => unknown]>([
  ["bytes", () => readFile(MODULE)],
  ["a compiled module", async () => WebAssembly.compile(await readFile(MODULE))],
  [
    "a response",
    async () =>
      new Response(await readFile(MODULE), { headers: { "content-type": "application/wasm" } }),
  ],
  ["a response of another type", async () => new Response(await readFile(MODULE))],
])("loads the module from %s", async (_, source) => {
  const { createRandomizer, initialize } = await slim();
  await initialize(source() as Promise<Response>);
  expect((await createRandomizer({ task: SETTINGS })).randomize({})).toHaveLength(9);
});

it.each<[string, () => unknown]>([
  ["bytes that are no module", () => Uint8Array.of(1, 2, 3)],
  ["an answer that is an error", () => new Response("", { status: 404 })],
  ["a promise that fails", () => Promise.reject(new TypeError("offline"))],
])("names what is wrong with %s, and can be tried again", async (_, source) => {
  const { createRandomizer, initialize } = await slim();
  const failed = initialize(source() as Promise<Response>);
  await expect(failed).rejects.toMatchObject({ name: "WasmError", code: "wasm" });
  await initialize(await readFile(MODULE));
  expect(await createRandomizer({ task: SETTINGS })).toBeDefined();
});

it("compiles the module once for clients made at once", async () => {
  vi.resetModules();
  const compile = vi.spyOn(WebAssembly, "compile");
  const { createRandomizer } = await import("../index.js");
  expect(compile).not.toHaveBeenCalled();
  await Promise.all([1, 2, 3].map(() => createRandomizer({ task: SETTINGS })));
  expect(compile).toHaveBeenCalledOnce();
});

describe("a task of hash-bin", () => {
  /** Imports the default entry as if for the first time. */
  async function fresh() {
    vi.resetModules();
    return import("../index.js");
  }

  it("has the complete module compiled, once, and nothing after", async () => {
    const compile = vi.spyOn(WebAssembly, "compile");
    const { createRandomizer } = await fresh();
    const lengths = () => compile.mock.calls.map(([bytes]) => bytes.byteLength);
    await createRandomizer({ task: SETTINGS });
    const { length: smaller } = await readFile(SMALLER);
    expect(lengths()).toEqual([smaller]);
    await Promise.all([1, 2, 3].map(() => createRandomizer({ task: EVENTS })));
    const { length: complete } = await readFile(MODULE);
    expect(lengths()).toEqual([smaller, complete]);
    await createRandomizer({ task: SETTINGS });
    await createRandomizer({ task: EVENTS });
    expect(compile).toHaveBeenCalledTimes(2);
  });

  it("leaves other randomizers at work, before, during and after", async () => {
    const { createRandomizer } = await fresh();
    const other = await createRandomizer({ task: SETTINGS });
    const everything = { "dark-mode": 1, autoplay: 1, captions: -1 };
    let reports = 0;
    const report = () => {
      expect(other.randomize(everything)).toHaveLength(9);
      reports += 1;
    };
    const { instantiate } = WebAssembly;
    let reporting: Promise<void> | undefined;
    vi.spyOn(WebAssembly, "instantiate").mockImplementation((async (
      module: WebAssembly.Module,
      imports: WebAssembly.Imports,
    ) => {
      const instance = await instantiate(module, imports);
      // Report between any two steps of the replacement.
      reporting = (async () => {
        for (let step = 0; step < 50; step += 1) {
          report();
          await undefined;
        }
      })();
      return instance;
    }) as never);
    report();
    const events = await createRandomizer({ task: EVENTS });
    await reporting;
    report();
    expect([other.sampledDown, reports]).toEqual([52, 52]);
    expect(events.randomize({ 3: 1 }).length).toBeGreaterThan(10);
    // A handle from before the replacement can be freed, and frees nothing else.
    other.free();
    expect(events.randomize({ 3: 1 }).length).toBeGreaterThan(10);
  });

  it("starts the complete module afresh after a trap", async () => {
    const { createRandomizer } = await fresh();
    const other = await createRandomizer({ task: RATINGS });
    const events = await createRandomizer({ task: EVENTS });
    const endless = { length: 2 ** 30 } as Float64Array;
    const trap = () => events.randomizeMany(Uint32Array.of(1), Uint32Array.of(1), endless);
    expect(trap).toThrow(expect.objectContaining({ code: "wasm" }));
    expect(events.randomize({ 3: 1 }).length).toBeGreaterThan(10);
    expect(other.randomize({ 3: 1 })).toHaveLength(9);
    expect(await createRandomizer({ task: EVENTS })).toBeDefined();
  });

  it("has what is wrong with it named by the complete module", async () => {
    const { createRandomizer } = await fresh();
    const wrong = { ...EVENTS, mechanism: { ...EVENTS.mechanism, bins: 41 } };
    await expect(createRandomizer({ task: wrong })).rejects.toMatchObject({
      code: "invalid-task",
      message: expect.stringContaining("out of range"),
    });
  });

  it("takes the complete module from where a slim page said, when it is needed", async () => {
    const bytes = await readFile(MODULE);
    const fetch = vi.fn(async () => new Response(bytes));
    vi.stubGlobal("fetch", fetch);
    const { createRandomizer, initialize } = await slim();
    await initialize(await readFile(SMALLER), "/hushbin.wasm");
    await createRandomizer({ task: SETTINGS });
    expect(fetch).not.toHaveBeenCalled();
    fetch.mockRejectedValueOnce(new TypeError("offline"));
    const failed = createRandomizer({ task: EVENTS });
    await expect(failed).rejects.toMatchObject({ code: "wasm" });
    expect((await createRandomizer({ task: EVENTS })).randomize({ 3: 1 })).toBeDefined();
    expect(fetch.mock.calls).toEqual([["/hushbin.wasm"], ["/hushbin.wasm"]]);
  });

  it("is no task of a slim page that has only the smaller module", async () => {
    const { createRandomizer, initialize } = await slim();
    await initialize(await readFile(SMALLER));
    const lacking = { code: "wasm", message: expect.stringContaining("hushbin.wasm") };
    await expect(createRandomizer({ task: EVENTS })).rejects.toMatchObject(lacking);
    expect((await createRandomizer({ task: SETTINGS })).randomize({})).toHaveLength(9);
  });

  it("is none either where the complete module is no such thing", async () => {
    const { createRandomizer, initialize } = await slim();
    const smaller = await readFile(SMALLER);
    await initialize(smaller, smaller);
    const lacking = {
      code: "invalid-task",
      message: expect.stringContaining("lacks the mechanism"),
    };
    await expect(createRandomizer({ task: EVENTS })).rejects.toMatchObject(lacking);
  });
});
