/** Sources of the core, for entries that contain the WebAssembly module. */

import type { CoreSources } from "./module.js";
import { moduleBytes } from "./wasm/collision-bytes.js";

export const INLINED_SOURCES: CoreSources = {
  firstModule: moduleBytes,
  completeModule: async () => (await import("./complete.js")).bytes(),
  fallback: async () => (await import("./fallback.js")).fallback,
};
