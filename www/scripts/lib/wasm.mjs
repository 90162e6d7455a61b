// A crate of the workspace as a module for web pages, with its glue:
// cargo → wasm-bindgen → wasm-opt.

import { rm } from "node:fs/promises";
import { join } from "node:path";
import { TARGET } from "./paths.mjs";
import { run, withPath } from "./run.mjs";
import { requireTool, wasmBindgen } from "./tools.mjs";

/** SHA-256 hashes a task once; unrolled it would be 8 KB of the download. */
const RUSTFLAGS = '--cfg sha2_backend_soft="compact"';

/**
 * What rustc's wasm32 target uses, which wasm-opt must know and may use, and
 * nothing newer: Chrome 96, Firefox 89, Safari 15.
 */
export const FEATURES = [
  "bulk-memory",
  "bulk-memory-opt",
  "call-indirect-overlong",
  "multivalue",
  "mutable-globals",
  "nontrapping-float-to-int",
  "reference-types",
  "sign-ext",
];

/**
 * What makes the smallest download: `-Os` is 20 bytes longer than `-Oz` but 500
 * shorter once it is compressed, and flat code is folded once more. Repeating it all,
 * dropping arguments, and numbering variables by what compresses well, takes off another
 * 330.
 */
const SMALL = [
  ...["--flatten", "--rereloop", "-Os", "-Os", "--converge", "--dae-optimizing", "-Os"],
  ...["--coalesce-locals-learning", "--reorder-locals"],
];

/**
 * Compiles a crate's library.
 *
 * @param {string} crate as cargo knows it
 * @param {readonly string[]} features as options of cargo
 * @returns {Promise<string>} the module as it is compiled
 */
export async function compile(crate, features) {
  const target = "wasm32-unknown-unknown";
  await run(
    "cargo",
    [
      ...["rustc", "--package", crate, "--lib", "--crate-type", "cdylib", ...features],
      ...["--profile", "wasm", "--target", target],
    ],
    { env: { ...withPath(), RUSTFLAGS } },
  );
  return join(TARGET, target, "wasm", `${crate.replaceAll("-", "_")}.wasm`);
}

/**
 * Generates glue and module.
 *
 * @param {string} compiled
 * @param {string} directory that is theirs alone
 * @param {string} name of both, and of the module with `_bg` added
 */
export async function bind(compiled, directory, name) {
  await rm(directory, { recursive: true, force: true });
  await run(
    "wasm-bindgen",
    [
      compiled,
      ...["--target", "web", "--out-dir", directory, "--out-name", name],
      // No `new URL(…, import.meta.url)`, which bundlers would chase.
      "--omit-default-module-path",
      "--experimental-reset-state-function",
      ...["--remove-name-section", "--remove-producers-section"],
    ],
    { env: await requireTool(wasmBindgen()) },
  );
}

/**
 * Optimises the module, which loses its `_bg`.
 *
 * @param {string} directory
 * @param {string} name
 * @param {"size" | "speed"} goal
 * @returns {Promise<string>} the module
 */
export async function optimise(directory, name, goal) {
  const bound = join(directory, `${name}_bg.wasm`);
  const module = join(directory, `${name}.wasm`);
  const features = FEATURES.map((feature) => `--enable-${feature}`);
  const passes = goal === "size" ? SMALL : ["-O3"];
  await run("wasm-opt", [
    ...["--mvp-features", ...features, ...passes],
    ...["--strip-debug", "--strip-producers", "--strip-target-features"],
    ...[bound, "-o", module],
  ]);
  await rm(bound);
  await rm(`${bound}.d.ts`);
  return module;
}
