// The core in JavaScript, for browsers without WebAssembly: of the very module that cargo
// has compiled, with glue of its own. wasm-bindgen → wasm-opt → wasm2js.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { once, patched } from "./glue.mjs";
import { run } from "./run.mjs";
import { bind, FEATURES } from "./wasm.mjs";

/** What JavaScript has no counterpart of; the glue then does without. */
const WITHOUT = ["reference-types", "multivalue"];

/** What wasm2js does not know, in terms of what it does. */
const LOWERED = [
  "--signext-lowering",
  "--llvm-memory-copy-fill-lowering",
  "--llvm-nontrapping-fptoint-lowering",
];

/**
 * The module, saying that it was not compiled for some features. It uses none of them
 * itself: they are for the glue to use, which reads there what it may.
 *
 * @param {Buffer} module
 */
function withoutFeatures(module) {
  // In the custom section "target_features": "+" or "-", and the name with its length.
  const named = (sign, name) => sign + String.fromCharCode(name.length) + name;
  const less = WITHOUT.reduce(
    (text, name) => once(text, named("+", name), named("-", name)),
    module.toString("latin1"),
  );
  return Buffer.from(less, "latin1");
}

/** The core alone: a function from what it imports to what it exports. */
export function instantiable(script) {
  const [core = ""] = script.split("\nvar retasmFunc = asmFunc(");
  return once(core, "function asmFunc(imports)", "function instantiate(imports)").replaceAll(
    /^import .*\n/gm,
    "",
  );
}

/** The glue of what makes something, with the core instead of a module. */
export function gluedTo(core, glue, made) {
  const [kept = ""] = patched(glue, made).split("let wasmModule, wasmInstance, wasm;");
  const edits = [
    ['import * as import1 from "__wbindgen_externref_xform__"\n', ""],
    // The glue itself keeps what is never dropped.
    [": import1,", ": { __wbindgen_externref_statics_end: () => 0 },"],
    ["    wasmInstance = new WebAssembly.Instance(wasmModule, __wbg_get_imports());\n", ""],
    ["    wasm.__wbindgen_start();\n", ""],
    ["wasm = wasmInstance.exports;", "wasm = instantiate(__wbg_get_imports());"],
  ];
  const glued = edits.reduce((text, [from = "", to = ""]) => once(text, from, to), kept);
  return `${core}
let wasm;
${glued}
export const currentInstance = () => __wbg_instance_id;
`;
}

/**
 * Generates glue, and the module that it takes.
 *
 * @param {string} compiled the module, as cargo leaves it
 * @param {string} directory that is theirs alone
 */
export async function bindFallback(compiled, directory) {
  const plain = `${compiled}.plain`;
  await writeFile(plain, withoutFeatures(await readFile(compiled)));
  await bind(plain, directory, "hushbin");
}

/**
 * Makes JavaScript of what {@link bindFallback} has made.
 *
 * @param {string} directory
 * @param {string} made the class of what it makes
 */
export async function fallbackScript(directory, made) {
  const bound = join(directory, "hushbin_bg.wasm");
  const lowered = join(directory, "lowered.wasm");
  const script = join(directory, "core.js");
  const features = FEATURES.filter((feature) => !WITHOUT.includes(feature));
  await run("wasm-opt", [
    ...["--mvp-features", ...features.map((feature) => `--enable-${feature}`)],
    ...["-Os", ...LOWERED],
    ...[bound, "-o", lowered],
  ]);
  await run("wasm2js", ["--mvp-features", "-Os", lowered, "-o", script]);
  const glue = await readFile(join(directory, "hushbin.js"), "utf8");
  return gluedTo(instantiable(await readFile(script, "utf8")), glue, made);
}
