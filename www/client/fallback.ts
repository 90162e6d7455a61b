/**
 * Core in JavaScript, for browsers where WebAssembly is missing or forbidden. It is compiled from
 * the same code, so the same input and randomness yield the same bytes.
 *
 * Both entries import it when they need it. Code that cannot import then, such as a service worker,
 * can pass it to `initialize` of `hushbin/slim`.
 *
 * @packageDocumentation
 */

import {
  currentInstance,
  digest,
  Randomizer,
  __wbg_reset_state as restart,
} from "./wasm/fallback.js";

/** Core in JavaScript. Its members are internal: pass the object on as it is. */
export interface Fallback {
  /** Internal; distinguishes the core in JavaScript from sources of a module. */
  readonly digest: (bytes: Uint8Array) => Uint8Array;
}

/** Core in JavaScript, with all mechanisms. */
export const fallback = { Randomizer, digest, currentInstance, restart } as Fallback;
