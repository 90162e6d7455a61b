/**
 * The core of sums in JavaScript, for where there is no WebAssembly or it is forbidden: the
 * same compiled code. imported when it is needed.
 */

import {
  currentInstance,
  digest,
  __wbg_reset_state as restart,
  SumRandomizer,
} from "./wasm/sums-fallback.js";

export const core = { SumRandomizer, digest, currentInstance, restart };
