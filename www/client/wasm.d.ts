/** A module imported as the file that it is, as workerd and its bundlers do. */
declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}
