/**
 * hushbin without the WebAssembly module in it: for pages that serve
 * `hushbin/hushbin.wasm` themselves, or `hushbin/collision.wasm`, which has that mechanism
 * alone: a little smaller once compressed, and compiled while it downloads.
 *
 * @packageDocumentation
 */

import { loadModule, supply, type WasmSource } from "./module.js";

export * from "./exports.js";
export type { Fallback } from "./fallback.js";
export type { WasmSource } from "./module.js";

/**
 * Says where the module is, and loads it; where WebAssembly is missing or forbidden, the
 * core in JavaScript instead. Once it is loaded, further calls do nothing.
 *
 * @example
 * ```ts
 * import { createClient, initialize } from "hushbin/slim";
 * import url from "hushbin/hushbin.wasm?url"; // Vite's spelling
 *
 * await initialize(url);
 * ```
 *
 * @param source a URL, a response, the bytes, a compiled module, or what
 * `hushbin/fallback` exports
 * @param complete where `hushbin.wasm` is, if `source` is the smaller one; loaded when
 * the first task needs it
 * @throws WasmError when it cannot be loaded; call again to try again
 */
export async function initialize(
  source: WasmSource | Promise<WasmSource>,
  complete?: WasmSource | Promise<WasmSource>,
): Promise<void> {
  supply({
    module: () => source,
    complete: complete === undefined ? undefined : () => complete,
    fallback: async () => (await import("./fallback.js")).fallback,
  });
  await loadModule();
}
