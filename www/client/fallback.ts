/**
 * The core in JavaScript, for where there is no WebAssembly or it is forbidden: the same
 * compiled code, so that the same input and randomness give the same bytes. Both entries
 * import it when they need it. What cannot import anything then, as a service worker, can
 * hand it to `initialize` of `hushbin/slim`.
 *
 * @packageDocumentation
 */

import {
  currentInstance,
  digest,
  Randomizer,
  __wbg_reset_state as restart,
} from "./wasm/fallback.js";

/** The core in JavaScript. Nothing of it is for others to call. */
export interface Fallback {
  /** Tells it from what a module is made from. */
  readonly digest: (bytes: Uint8Array) => Uint8Array;
}

/** The core in JavaScript, with all mechanisms. */
export const fallback = { Randomizer, digest, currentInstance, restart } as Fallback;
