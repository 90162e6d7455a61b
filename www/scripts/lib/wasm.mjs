// A crate of the workspace as a module for web pages, with its glue:
// cargo → wasm-bindgen → wasm-opt.

import { readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { once } from "./glue.mjs";
import { TARGET } from "./paths.mjs";
import { capture, Failed, run, withPath } from "./run.mjs";
import { binder, requireTool } from "./tools.mjs";

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
 * 330, and 70 to leave out how addresses are aligned, which engines do not go by.
 */
const SMALL = [
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

/** Keeps the compiler from copying larger functions into their callers. Reports' modules shrink. */
export const INLINE_LESS = ["-C", "llvm-args=-inline-threshold=25"];

/**
 * Compiles a crate's library.
 *
 * @param {string} crate as cargo knows it
 * @param {readonly string[]} features as options of cargo
 * @param {"wasm" | "demo"} profile
 * @param {readonly string[]} options of the compiler
 * @returns {Promise<string>} the module as it is compiled
 */
export async function compile(crate, features, profile = "wasm", options = []) {
  const target = "wasm32-unknown-unknown";
  await run(
    "cargo",
    [
      ...["rustc", "--package", crate, "--lib", "--crate-type", "cdylib", ...features],
      ...["--profile", profile, "--target", target, "--", ...options],
    ],
    { env: { ...withPath(), RUSTFLAGS } },
  );
  return join(TARGET, target, profile, `${crate.replaceAll("-", "_")}.wasm`);
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
  const env = await requireTool(binder());
  await run("hushbin-bind", [compiled, directory, name], { env });
}

const ENABLED = ["--mvp-features", ...FEATURES.map((feature) => `--enable-${feature}`)];

/**
 * Gives letters to whatever module and glue call each other by, which takes 400 bytes off
 * the download. Before the module is {@link optimise}d.
 *
 * @param {string} directory
 * @param {string} name
 * @returns {Promise<Readonly<Record<string, string>>>} the name that each letter stands for
 */
export async function abbreviate(directory, name) {
  const module = join(directory, `${name}_bg.wasm`);
  const glue = join(directory, `${name}.js`);
  const renaming = [...ENABLED, "--minify-imports-and-exports-and-modules"];
  const printed = await capture("wasm-opt", [...renaming, module, "-o", module]);
  if (printed === undefined) {
    throw new Failed(`wasm-opt could not rename what ${module} imports and exports`);
  }
  const { imports, exports } = JSON.parse(printed);
  const letters = Object.fromEntries(exports);
  let text = await readFile(glue, "utf8");
  for (const [from, long, letter] of imports) {
    text = once(text, `        ${long}: function(`, `        ${letter}: function(`).replace(
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
 * Optimises the module, which loses its `_bg`.
 *
 * @param {string} directory
 * @param {string} name
 * @param {"size" | "speed" | "none"} goal none: it is left as it is, which takes no time
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
    ...[...ENABLED, ...(goal === "size" ? SMALL : ["-O3"])],
    ...["--strip-debug", "--strip-producers", "--strip-target-features"],
    ...[bound, "-o", module],
  ]);
  await rm(bound);
}
