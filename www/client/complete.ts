/**
 * Bytes of the WebAssembly module with all mechanisms, in a separate file. The default entry
 * imports this file when a task first needs it.
 */

export { moduleBytes as bytes } from "./wasm/hushbin-bytes.js";
