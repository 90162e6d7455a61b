/** Sources of the core, for entries that load the WebAssembly module from files next to them. */

import { throwMissing } from "./causes.js";
import type { CoreSources } from "./core-sources.js";

export const INLINED_SOURCES: CoreSources = {
  // Without WebAssembly, the module would be downloaded in vain.
  firstModule: async (isWasmAllowed) =>
    isWasmAllowed() ? (await import("./collision-module.js")).bytes() : throwMissing("WebAssembly"),
  completeModule: async () => (await import("./complete.js")).bytes(),
  fallback: async () => (await import("./fallback.js")).fallback,
};
