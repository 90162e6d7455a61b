/**
 * hushbin without the WebAssembly module, for pages that serve the module as a file.
 *
 * `hushbin/hushbin.wasm` has all mechanisms. `hushbin/collision.wasm` has only the mechanism
 * Collision, and is a little smaller after compression. Browsers compile both during the download.
 *
 * @packageDocumentation
 */

import { setCoreSources, type WasmSource } from "./core-sources.js";
import * as engine from "./engine.js";
import { loadEngine } from "./engine-loader.js";

export type { WasmSource } from "./core-sources.js";
export * from "./exports.js";
export type { Fallback } from "./fallback.js";

/**
 * Sets the source of the module, and loads it. If WebAssembly is missing or forbidden, loads the
 * core in JavaScript instead. After a success, further calls do nothing.
 *
 * @example
 * ```ts
 * import { createClient, initialize } from "hushbin/slim";
 * import url from "hushbin/hushbin.wasm?url"; // Vite's spelling
 *
 * await initialize(url);
 * ```
 *
 * @param source a URL, a response, the bytes, a compiled module, or the export of
 * `hushbin/fallback`
 * @param complete location of `hushbin.wasm` if `source` is the smaller module; loaded when the
 * first task needs it
 * @throws WasmError if loading fails; a further call tries again
 */
export async function initialize(
  source: WasmSource | Promise<WasmSource>,
  complete?: WasmSource | Promise<WasmSource>,
): Promise<void> {
  setCoreSources({
    firstModule: () => source,
    completeModule: complete === undefined ? undefined : () => complete,
    fallback: async () => (await import("./fallback.js")).fallback,
    engine,
  });
  await (await loadEngine()).loadModule();
}
