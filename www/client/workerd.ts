/**
 * Default entry for workerd, which cannot compile a module from bytes at run time. This entry
 * imports a compiled module with all mechanisms.
 *
 * @packageDocumentation
 */

import { createClient as client, createRandomizer as randomizer } from "./exports.js";
import { type CoreSources, withCoreSources } from "./module.js";
import module from "./wasm/hushbin.wasm";
import sums from "./wasm/sums.wasm";

export * from "./exports.js";

const WORKERD_SOURCES: CoreSources = { firstModule: () => module, sumsModule: sums };

/** @internal */
export const createClient = /* @__PURE__ */ withCoreSources(WORKERD_SOURCES, client);
/** @internal */
export const createRandomizer = /* @__PURE__ */ withCoreSources(WORKERD_SOURCES, randomizer);
