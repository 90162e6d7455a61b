/**
 * Core in JavaScript, for browsers where WebAssembly is missing or forbidden. It is compiled from
 * the same code as the WebAssembly module, so the same input and randomness yield the same bytes.
 *
 * Both entries import this file when they need it. Code that cannot import at that time, such as a
 * service worker, can pass the export to `initialize` of `hushbin/slim`.
 *
 * @packageDocumentation
 */

import {
  currentInstanceId,
  digest,
  Randomizer,
  __wbg_reset_state as restart,
} from "./wasm/fallback.js";

/** Core in JavaScript. Its members are internal: pass the object on without using them. */
export interface Fallback {
  /** Internal. Distinguishes the core in JavaScript from a source of the WebAssembly module. */
  readonly digest: (bytes: Uint8Array) => Uint8Array;
}

/** Core in JavaScript, with all mechanisms. */
export const fallback = { Randomizer, digest, currentInstanceId, restart } as Fallback;
