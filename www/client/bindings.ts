/**
 * Access to the functions of the core, in the implementation that is in use: the WebAssembly module
 * or the core in JavaScript.
 */

import type { Fallback } from "./fallback.js";
import {
  currentInstanceId,
  digest,
  Randomizer,
  __wbg_reset_state as restart,
} from "./wasm/hushbin.js";

/**
 * Functions that both implementations export. They are in the generated JavaScript (glue) of the
 * WebAssembly module, and in the core in JavaScript.
 */
interface Bindings extends Fallback {
  readonly Randomizer: typeof Randomizer;
  readonly digest: typeof digest;
  readonly currentInstanceId: typeof currentInstanceId;
  readonly restart: typeof restart;
}

/** Functions of the implementation in use, which is the WebAssembly module at first. */
export let bindings: Bindings = { Randomizer, digest, currentInstanceId, restart };

/**
 * Returns true if `source` is the core in JavaScript, and false if a WebAssembly module can be
 * loaded from it.
 */
export function isFallbackSource(source: object): source is Fallback {
  return "digest" in source;
}

/** Starts the core in JavaScript. All later calls use it. */
export function switchToFallback(fallback: Fallback): void {
  const { restart } = fallback as Bindings;
  restart();
  bindings = fallback as Bindings;
}
