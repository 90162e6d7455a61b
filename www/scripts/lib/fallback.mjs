// Build of the core in JavaScript, for browsers without WebAssembly. It starts from the module that
// cargo has compiled, with separate glue: wasm-bindgen → wasm-opt → wasm2js.

import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { patchGlue, replaceOnce } from "./glue.mjs";
import { run } from "./run.mjs";
import { FEATURES, generateGlue } from "./wasm.mjs";

/**
 * Names of WebAssembly features without a counterpart in JavaScript. They are removed from the
 * module's list of features, so that the glue does not use them.
 */
const UNSUPPORTED_FEATURES = ["reference-types", "multivalue"];

/** Passes of wasm-opt that replace the instructions which wasm2js does not support. */
const LOWERING_PASSES = [
  "--signext-lowering",
  "--llvm-memory-copy-fill-lowering",
  "--llvm-nontrapping-fptoint-lowering",
];

/**
 * Removes the unsupported features from the module's list of features. The code of the module uses
 * none of them. wasm-bindgen reads the list to find out which features the glue may use.
 *
 * @param {Buffer} module
 */
function unlistUnsupportedFeatures(module) {
  // In the custom section "target_features", an entry is "+" or "-", the name's length, and the
  // name.
  const named = (sign, name) => sign + String.fromCharCode(name.length) + name;
  const less = UNSUPPORTED_FEATURES.reduce(
    (text, name) => replaceOnce(text, named("+", name), named("-", name)),
    module.toString("latin1"),
  );
  return Buffer.from(less, "latin1");
}

/** Returns the core without the code around it, as a function from its imports to its exports. */
export function coreAsFunction(script) {
  const [core = ""] = script.split("\nvar retasmFunc = asmFunc(");
  return replaceOnce(core, "function asmFunc(imports)", "function instantiate(imports)").replaceAll(
    /^import .*\n/gm,
    "",
  );
}

/** Returns the glue, in which the core in JavaScript replaces the WebAssembly module. */
export function withGlue(core, glue, made) {
  const [kept = ""] = patchGlue(glue, made).split("let wasmModule, wasmInstance, wasm;");
  const edits = [
    ['import * as import1 from "__wbindgen_externref_xform__"\n', ""],
    // The glue keeps these references, and they are never dropped.
    [": import1,", ": { __wbindgen_externref_statics_end: () => 0 },"],
    ["    wasmInstance = new WebAssembly.Instance(wasmModule, __wbg_get_imports());\n", ""],
    ["    wasm.__wbindgen_start();\n", ""],
    ["wasm = wasmInstance.exports;", "wasm = instantiate(__wbg_get_imports());"],
  ];
  const glued = edits.reduce((text, [from = "", to = ""]) => replaceOnce(text, from, to), kept);
  return `${core}
let wasm;
${glued}
export const currentInstanceId = () => __wbg_instance_id;
`;
}

/**
 * Generates the glue and the module that belongs to it.
 *
 * @param {string} compiled the module from cargo
 * @param {string} directory an otherwise empty directory for glue and module
 */
export async function generateFallbackGlue(compiled, directory) {
  const plain = `${compiled}.plain`;
  await writeFile(plain, unlistUnsupportedFeatures(await readFile(compiled)));
  await generateGlue(plain, directory, "hushbin");
}

/**
 * Converts the output of {@link generateFallbackGlue} to JavaScript.
 *
 * @param {string} directory
 * @param {string} made name of the class that the glue exports
 */
export async function fallbackScript(directory, made) {
  const bound = join(directory, "hushbin_bg.wasm");
  const lowered = join(directory, "lowered.wasm");
  const script = join(directory, "core.js");
  const features = FEATURES.filter((feature) => !UNSUPPORTED_FEATURES.includes(feature));
  await run("wasm-opt", [
    ...["--mvp-features", ...features.map((feature) => `--enable-${feature}`)],
    ...["-Os", ...LOWERING_PASSES],
    ...[bound, "-o", lowered],
  ]);
  await run("wasm2js", ["--mvp-features", "-Os", lowered, "-o", script]);
  const glue = await readFile(join(directory, "hushbin.js"), "utf8");
  return withGlue(coreAsFunction(await readFile(script, "utf8")), glue, made);
}
