/**
 * WebAssembly module with all mechanisms, in a separate file. The default entry imports it once a
 * task needs it.
 */

export { bytes } from "./wasm/hushbin-bytes.js";
