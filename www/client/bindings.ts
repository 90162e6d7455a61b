/** Functions of the core in use: of the WebAssembly module, or of the core in JavaScript. */

import type { Fallback } from "./fallback.js";
import {
  currentInstance,
  digest,
  Randomizer,
  __wbg_reset_state as restart,
} from "./wasm/hushbin.js";

/** Functions that both the module's glue and the core in JavaScript export. */
interface Bindings extends Fallback {
  readonly Randomizer: typeof Randomizer;
  readonly digest: typeof digest;
  readonly currentInstance: typeof currentInstance;
  readonly restart: typeof restart;
}

/** Functions in use. They start as those of the WebAssembly module. */
export let bindings: Bindings = { Randomizer, digest, currentInstance, restart };

/** Returns whether a source is the core in JavaScript rather than a source of a module. */
export function isFallback(source: object): source is Fallback {
  return "digest" in source;
}

/** Starts the core in JavaScript and routes all later calls to it. */
export function fallBack(fallback: Fallback): void {
  const { restart } = fallback as Bindings;
  restart();
  bindings = fallback as Bindings;
}
