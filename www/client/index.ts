/**
 * hushbin: telemetry under local differential privacy.
 *
 * The default entry, which carries the WebAssembly module in itself: nothing
 * to configure. Importing it does nothing, anywhere; the module is compiled when
 * the first client is made. It has the mechanism Collision; tasks of others, or that ask
 * several things as one question, take another module, and a browser without WebAssembly
 * the core in JavaScript; either is then imported from a file of its own.
 *
 * @packageDocumentation
 */

import { createClient as client, createRandomizer as randomizer } from "./exports.js";
import { INLINED } from "./inlined.js";
import { supplied } from "./module.js";

export * from "./exports.js";

// These names go before those of `exports.ts`. Who imports others has no module in the
// bundle: nothing but these functions mentions it. Declared are those of `exports.ts`, with
// what is written there.
/** @internal */
export const createClient = /* @__PURE__ */ supplied(INLINED, client);
/** @internal */
export const createRandomizer = /* @__PURE__ */ supplied(INLINED, randomizer);
