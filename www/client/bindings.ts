/**
 * Functions of the core, from the implementation in use: the WebAssembly module or the core in
 * JavaScript.
 */

import type { Fallback } from "./fallback.js";
import {
  currentInstance,
  digest,
  Randomizer,
  __wbg_reset_state as restart,
} from "./wasm/hushbin.js";

/**
 * Functions that both implementations export: the generated JavaScript (glue) of the WebAssembly
 * module, and the core in JavaScript.
 */
interface Bindings extends Fallback {
  readonly Randomizer: typeof Randomizer;
  readonly digest: typeof digest;
  readonly currentInstance: typeof currentInstance;
  readonly restart: typeof restart;
}

/** Functions of the implementation in use. Initially that is the WebAssembly module. */
export let bindings: Bindings = { Randomizer, digest, currentInstance, restart };

/**
 * Returns true if a source is the core in JavaScript, and false if it is a source of a WebAssembly
 * module.
 */
export function isFallback(source: object): source is Fallback {
  return "digest" in source;
}

/** Starts the core in JavaScript and routes all later calls to it. */
export function useFallback(fallback: Fallback): void {
  const { restart } = fallback as Bindings;
  restart();
  bindings = fallback as Bindings;
}
