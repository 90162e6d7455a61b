/**
 * The WebAssembly module that is complete, in a file of its own that the default
 * entry imports once a task needs it.
 */

export { bytes } from "./wasm/hushbin-bytes.js";
