import { readFile } from "node:fs/promises";
import { expect, it, vi } from "vitest";
import { SETTINGS } from "./harness.js";

const MODULE = new URL("../wasm/hushbin.wasm", import.meta.url);

/** The slim entry, as if imported for the first time. */
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
