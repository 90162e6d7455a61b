/**
 * hushbin: telemetry under local differential privacy.
 *
 * The default entry, which carries the WebAssembly module in itself: nothing
 * to configure. Importing it does nothing, anywhere; the module is compiled when
 * the first client is made. A task of the mechanism hash-bin takes another module,
 * which is then imported from a file of its own.
 *
 * @packageDocumentation
 */

import { supplyModule } from "./module.js";
import { bytes } from "./wasm/without-hash-bin-bytes.js";

supplyModule(bytes, async () => (await import("./with-hash-bin.js")).bytes());

export * from "./exports.js";
