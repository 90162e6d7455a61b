/**
 * Default entry in workerd, which compiles no bytes at run time. It imports a compiled module with
 * all mechanisms.
 *
 * @packageDocumentation
 */

import { createClient as client, createRandomizer as randomizer } from "./exports.js";
import { type CoreSources, withSources } from "./module.js";
import module from "./wasm/hushbin.wasm";
import sums from "./wasm/sums.wasm";

export * from "./exports.js";

const FILE: CoreSources = { module: () => module, sums };

/** @internal */
export const createClient = /* @__PURE__ */ withSources(FILE, client);
/** @internal */
export const createRandomizer = /* @__PURE__ */ withSources(FILE, randomizer);
