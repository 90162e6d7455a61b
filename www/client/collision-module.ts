/**
 * Bytes of the WebAssembly module with the mechanism Collision alone, in a separate file. The
 * default entry imports this file with the first report.
 */

export { moduleBytes as bytes } from "./wasm/collision-bytes.js";
