/**
 * hushbin: telemetry under local differential privacy.
 *
 * The default entry, which carries the WebAssembly module in itself: nothing
 * to configure. Importing it does nothing, anywhere; the module is compiled when
 * the first client is made. It has the mechanism Collision; tasks of others, or that ask
 * several things as one question, take another module, which is then imported from a file
 * of its own.
 *
 * @packageDocumentation
 */

import { supplyModule } from "./module.js";
import { bytes } from "./wasm/collision-bytes.js";

supplyModule(bytes, async () => (await import("./complete.js")).bytes());

export * from "./exports.js";
