/**
 * hushbin: telemetry under local differential privacy.
 *
 * This default entry contains the WebAssembly module and needs no configuration. Importing it has
 * no effect. The module is compiled when the first client is made.
 *
 * The first module has only the mechanism Collision. Tasks with other mechanisms, and questions
 * that ask for several things at once, use a second module. Browsers without WebAssembly use the
 * core in JavaScript. The second module and the core in JavaScript are separate files, which are
 * imported when needed.
 *
 * @packageDocumentation
 */

import { bindCoreSources } from "./core-sources.js";
import { createClient as client, createRandomizer as randomizer } from "./exports.js";
import { INLINED_SOURCES } from "./inlined.js";

export * from "./exports.js";

// These names hide those of `exports.ts`. Only these two functions mention the module, so a bundle
// that imports neither does not contain it. The declarations leave them out and show the originals
// of `exports.ts`, with all comments.
/** @internal */
export const createClient = /* @__PURE__ */ bindCoreSources(INLINED_SOURCES, client);
/** @internal */
export const createRandomizer = /* @__PURE__ */ bindCoreSources(INLINED_SOURCES, randomizer);
