/**
 * hushbin without the WebAssembly module in it: for pages that serve
 * `hushbin/hushbin.wasm` themselves, or `hushbin/collision.wasm`, which has that mechanism
 * alone: a little smaller once compressed, and compiled while it downloads.
 *
 * @packageDocumentation
 */

import { loadModule, supplyModule, type WasmSource } from "./module.js";

export * from "./exports.js";
export type { WasmSource } from "./module.js";

/**
 * Says where the module is, and loads it. Once it is loaded, further calls do
 * nothing.
 *
 * @example
 * ```ts
 * import { createClient, initialize } from "hushbin/slim";
 * import url from "hushbin/hushbin.wasm?url"; // Vite's spelling
 *
 * await initialize(url);
 * ```
 *
 * @param source a URL, a response, the bytes, or a compiled module
 * @param complete where `hushbin.wasm` is, if `source` is the smaller one; loaded when
 * the first task needs it
 * @throws WasmError when it cannot be loaded; call again to try again
 */
export async function initialize(
  source: WasmSource | Promise<WasmSource>,
  complete?: WasmSource | Promise<WasmSource>,
): Promise<void> {
  supplyModule(() => source, complete === undefined ? undefined : () => complete);
  await loadModule();
}
