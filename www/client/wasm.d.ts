/** WebAssembly module that workerd and its bundlers import as a file. */
declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}
