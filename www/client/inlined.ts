/** Where the core comes from, of entries that carry a module in themselves. */

import type { Suppliers } from "./module.js";
import { bytes } from "./wasm/collision-bytes.js";

export const INLINED: Suppliers = {
  module: bytes,
  complete: async () => (await import("./complete.js")).bytes(),
  fallback: async () => (await import("./fallback.js")).fallback,
};
