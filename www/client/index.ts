/**
 * hushbin: telemetry under local differential privacy.
 *
 * The default entry, which carries the WebAssembly module in itself: nothing
 * to configure, nothing else to serve. Importing it does nothing, anywhere;
 * the module is compiled when the first client is made.
 *
 * @packageDocumentation
 */

import { supplyModule } from "./module.js";
import { digits } from "./wasm/bytes.js";

supplyModule(() =>
  Uint8Array.from({ length: digits.length / 2 }, (_, index) =>
    Number.parseInt(digits.slice(2 * index, 2 * index + 2), 16),
  ),
);

export * from "./exports.js";
