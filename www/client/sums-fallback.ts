/**
 * Core for sum tasks in JavaScript, for browsers where WebAssembly is missing or forbidden. It is
 * compiled from the same code as the WebAssembly module, and imported when needed.
 */

import {
  currentInstanceId,
  digest,
  __wbg_reset_state as restart,
  SumRandomizer,
} from "./wasm/sums-fallback.js";

export const core = { SumRandomizer, digest, currentInstanceId, restart };
