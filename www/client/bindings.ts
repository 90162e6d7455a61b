/** What the core is called by: the module's glue, or that of the core in JavaScript. */

import type { Fallback } from "./fallback.js";
import {
  currentInstance,
  digest,
  Randomizer,
  __wbg_reset_state as restart,
} from "./wasm/hushbin.js";

/** Either glue. */
interface Bindings extends Fallback {
  readonly Randomizer: typeof Randomizer;
  readonly digest: typeof digest;
  readonly currentInstance: typeof currentInstance;
  readonly restart: typeof restart;
}

/** Those in use. */
export let bindings: Bindings = { Randomizer, digest, currentInstance, restart };

/** Whether it is the core in JavaScript, and not what a module is made from. */
export function isFallback(source: object): source is Fallback {
  return "digest" in source;
}

/** Starts the core in JavaScript, and has it called from now on. */
export function fallBack(fallback: Fallback): void {
  const { restart } = fallback as Bindings;
  restart();
  bindings = fallback as Bindings;
}
