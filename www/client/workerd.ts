/**
 * Default entry for workerd, which cannot compile a module from bytes at run time. This entry
 * imports a compiled module with all mechanisms.
 *
 * @packageDocumentation
 */

import { bindCoreSources, type CoreSources } from "./core-sources.js";
import { createClient as client, createRandomizer as randomizer } from "./exports.js";
import module from "./wasm/hushbin.wasm";
import sums from "./wasm/sums.wasm";

export * from "./exports.js";

const WORKERD_WASM_MODULES: CoreSources = { firstModule: () => module, sumsModule: sums };

/** @internal */
export const createClient = /* @__PURE__ */ bindCoreSources(WORKERD_WASM_MODULES, client);
/** @internal */
export const createRandomizer = /* @__PURE__ */ bindCoreSources(WORKERD_WASM_MODULES, randomizer);
