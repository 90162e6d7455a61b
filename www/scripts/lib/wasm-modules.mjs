// The WebAssembly modules of pages and of the package's command, with the options of cargo.

/**
 * Modules of the package: the complete module, the smaller module that pages load first, and the
 * module of sum tasks. The first two have the same glue.
 *
 * @type {readonly (readonly [name: string, glue: string, features: readonly string[]])[]}
 */
export const PACKAGE_MODULES = [
  ["hushbin", "hushbin", ["--no-default-features", "--features", "complete,wasm-module"]],
  ["collision", "hushbin", ["--no-default-features", "--features", "wasm-module"]],
  ["sums", "sums", ["--no-default-features", "--features", "wasm-sums-module"]],
];

/** Module of the demo's pages, which is not part of the package. */
export const DEMO_MODULE_CARGO_ARGS = ["--package", "hushbin-demo"];

/** Crate of the module that the package's command loads, and no page. */
export const INIT_MODULE_CRATE = "hushbin-init";
