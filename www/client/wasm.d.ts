/** Module that is imported as a file, by workerd and its bundlers. */
declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}
