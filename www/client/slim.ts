/**
 * hushbin without the WebAssembly module in it: for pages that serve
 * `hushbin/hushbin.wasm` themselves, which is a little smaller once compressed
 * and compiles while it downloads.
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
 * @throws WasmError when it cannot be loaded; call again to try again
 */
export async function initialize(source: WasmSource | Promise<WasmSource>): Promise<void> {
  supplyModule(() => source);
  await loadModule();
}
