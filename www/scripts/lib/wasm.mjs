// Builds a crate of the workspace as a WebAssembly module for web pages, with the JavaScript around
// it (glue): cargo → wasm-bindgen → wasm-opt.

import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { replaceOnce } from "./glue.mjs";
import { TARGET } from "./paths.mjs";
import { captureOutput, ExplainedError, run, withPath } from "./run.mjs";
import { bindingsGeneratorTool, requiredToolEnv } from "./tools.mjs";

/**
 * Options of rustc that select compact code for SHA-256, which hashes each task only once. Unrolled
 * code would add 8 KB to the download.
 */
const RUSTFLAGS = '--cfg sha2_backend_soft="compact"';

/**
 * WebAssembly features of rustc's wasm32 target, which wasm-opt has to know and may use. Newer ones
 * are excluded. The oldest browsers with all of these features are:
 * Chrome 96, Firefox 90, Safari 15.
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
 * Passes of wasm-opt that yield the smallest compressed download.
 *
 * The module is 20 bytes longer with `-Os` than with `-Oz`, but 500 bytes shorter once compressed.
 * Flattened code allows more merging. Repeating all passes, dropping arguments, and renumbering
 * variables for compression save another 330 bytes. Leaving out alignment hints, which engines
 * ignore, saves 70.
 */
const SIZE_OPTIONS = [
  ...[
    "--flatten",
    "--rereloop",
    "--merge-similar-functions",
    "-Os",
    "-Os",
    "--converge",
    "--dae-optimizing",
    "-Os",
  ],
  ...["--reorder-locals", "--dealign"],
];

/**
 * Option of the compiler that prevents inlining of larger functions. It makes the modules of
 * reports smaller.
 */
export const LESS_INLINING_OPTIONS = ["-C", "llvm-args=-inline-threshold=25"];

/**
 * Compiles a crate's library.
 *
 * @param {string} crate as cargo knows it
 * @param {readonly string[]} features as options of cargo
 * @param {"wasm" | "wasm-size" | "demo"} profile
 * @param {readonly string[]} options of the compiler, for this crate only
 * @param {readonly string[]} flags of the compiler, for all crates
 * @returns {Promise<string>} path of the compiled module
 */
export async function compile(crate, features, profile = "wasm", options = [], flags = []) {
  const target = "wasm32-unknown-unknown";
  await run(
    "cargo",
    [
      ...["rustc", "--package", crate, "--lib", "--crate-type", "cdylib", ...features],
      ...["--profile", profile, "--target", target, "--", ...options],
    ],
    { env: { ...withPath(), RUSTFLAGS: [RUSTFLAGS, ...flags].join(" ") } },
  );
  return join(TARGET, target, profile, `${crate.replaceAll("-", "_")}.wasm`);
}

/**
 * Generates the JavaScript around a compiled module (glue), and the module that belongs to it.
 *
 * @param {string} compiled
 * @param {string} directory an otherwise empty directory for glue and module
 * @param {string} name name of glue and module; `_bg` is added to the module's name
 */
export async function generateGlue(compiled, directory, name) {
  await rm(directory, { recursive: true, force: true });
  const env = await requiredToolEnv(bindingsGeneratorTool());
  await run("hushbin-bind", [compiled, directory, name], { env });
}

const WASM_FEATURE_OPTIONS = [
  "--mvp-features",
  ...FEATURES.map((feature) => `--enable-${feature}`),
];

/**
 * Replaces the names of imports and exports between module and glue with letters, which saves 400
 * bytes of the download. Call this before {@link optimise}.
 *
 * @param {string} directory
 * @param {string} name
 * @returns {Promise<Readonly<Record<string, string>>>} the original name of each letter
 */
export async function shortenNames(directory, name) {
  const module = join(directory, `${name}_bg.wasm`);
  const glue = join(directory, `${name}.js`);
  const renaming = [...WASM_FEATURE_OPTIONS, "--minify-imports-and-exports-and-modules"];
  const printed = await captureOutput("wasm-opt", [...renaming, module, "-o", module]);
  if (printed === undefined) {
    throw new ExplainedError(`wasm-opt could not rename what ${module} imports and exports`);
  }
  const { imports, exports } = JSON.parse(printed);
  const letters = Object.fromEntries(exports);
  let text = await readFile(glue, "utf8");
  for (const [from, long, letter] of imports) {
    text = replaceOnce(text, `        ${long}: function(`, `        ${letter}: function(`).replace(
      `"${from}": import0`,
      "a: import0",
    );
  }
  text = text.replaceAll(/\bwasm\.(\w+)/g, (_, long) => `wasm.${letters[long]}`);
  await writeFile(glue, text);
  const all = [...imports.map(([, long, letter]) => [long, letter]), ...exports];
  return Object.fromEntries(all.map(([long, letter]) => [letter, long]));
}

/**
 * Optimises the module that {@link generateGlue} has made, and removes `_bg` from its file name.
 *
 * @param {string} directory
 * @param {string} name
 * @param {"size" | "speed" | "none"} goal none: the module is not optimised, which takes no time
 */
export async function optimise(directory, name, goal) {
  const bound = join(directory, `${name}_bg.wasm`);
  const module = join(directory, `${name}.wasm`);
  await rm(`${bound}.d.ts`);
  if (goal === "none") {
    await rename(bound, module);
    return;
  }
  await run("wasm-opt", [
    ...[...WASM_FEATURE_OPTIONS, ...(goal === "size" ? SIZE_OPTIONS : ["-O3"])],
    ...["--strip-debug", "--strip-producers", "--strip-target-features"],
    ...[bound, "-o", module],
  ]);
  await rm(bound);
}
