// The modules that pages download, and what cargo is told of each.

/**
 * The complete module, the one that pages begin with, whose glue is the same, and that of sums.
 *
 * @type {readonly (readonly [name: string, glue: string, features: readonly string[]])[]}
 */
export const MODULES = [
  ["hushbin", "hushbin", ["--no-default-features", "--features", "complete,wasm-module"]],
  ["collision", "hushbin", ["--no-default-features", "--features", "wasm-module"]],
  ["sums", "sums", ["--no-default-features", "--features", "wasm-sums-module"]],
];

/** The module of the demo's pages, which the package does not have. */
export const DEMO_MODULE = ["--package", "hushbin-demo"];
