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
import { HIGH, LOW, letters } from "./wasm/bytes.js";

supplyModule(() =>
  Uint8Array.from(
    { length: letters.length / 2 },
    (_, index) =>
      (letters.charCodeAt(2 * index) - LOW) | ((letters.charCodeAt(2 * index + 1) - HIGH) << 4),
  ),
);

export * from "./exports.js";
