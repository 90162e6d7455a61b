// Checks the directions of imports. The import graph of a folder must have no cycle. In the core,
// no import may lead from a lower layer to a higher one.
//
//   node www/scripts/check-imports.mjs [--draw FOLDER]
//
// The nodes of a folder's graph are its files and folders. An edge (arrow) represents a name that
// one node takes from another. The head of lib/rust-imports.mjs describes how Rust is read, and
// the limits of that. --draw lists the arrows of a folder.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { importCycles, importsOfParents, layerViolations } from "./lib/import-graph.mjs";
import { ROOT } from "./lib/paths.mjs";
import { ExplainedError, main, print } from "./lib/run.mjs";
import { findRustImports, rustMacros } from "./lib/rust-imports.mjs";
import { findScriptImports } from "./lib/script-imports.mjs";
import { nonIgnoredFiles } from "./lib/tracked-files.mjs";

/**
 * Layers of the core, from the lowest to the highest. An import (arrow) may lead to the same layer
 * or to a lower one.
 */
export const CORE_LAYERS = [
  ["error", "bounds", "canonical", "fingerprint", "codec", "mix", "sort", "solve", "sample"],
  ["domain"],
  ["hash"],
  ["mechanism"],
  ["task"],
  ["upload", "sealed", "randomizer", "sums", "wasm"],
  ["choose"],
  ["lib", "docs"],
];

const RUST_ROOTS = [
  "src",
  "server/src",
  "server/analysis/src",
  "server/study/src",
  "www/demo/wasm/src",
  "www/init/wasm/src",
];
const SCRIPT_ROOTS = ["www/client", "www/demo", "www/dashboard", "www/init"];
/** Entry files of the package, by the names with which pages and the demo import them. */
const PACKAGE_ENTRIES = {
  hushbin: "www/client/index.ts",
  "hushbin/slim": "www/client/slim.ts",
  "hushbin/history": "www/client/history.ts",
};

/**
 * Reads the files in some folders.
 *
 * @param {readonly string[]} roots
 * @param {RegExp} pattern
 * @returns {Promise<Map<string, string>>} each file's text
 */
async function readSourceFiles(roots, pattern) {
  const files = (await nonIgnoredFiles(pattern)).filter((file) =>
    roots.some((root) => file.startsWith(`${root}/`)),
  );
  return new Map(files.map((file) => [file, readFileSync(join(ROOT, file), "utf8")]));
}

const rustSources = async (root) => {
  const others = RUST_ROOTS.filter((other) => other.startsWith(`${root}/`));
  const texts = await readSourceFiles([root], /\.rs$/);
  for (const file of texts.keys()) {
    if (others.some((other) => file.startsWith(`${other}/`))) {
      texts.delete(file);
    }
  }
  return texts;
};

/**
 * Returns complaints about imports of the core that form a cycle or lead to a higher layer.
 *
 * @param {ReadonlyMap<string, string>} core the core's files
 */
export function coreViolations(core) {
  const arrows = findRustImports("src", core);
  return [
    ...importCycles("src", arrows),
    ...layerViolations("src", CORE_LAYERS, core.keys(), arrows),
  ];
}

export const coreSources = () => rustSources("src");

/**
 * Finds cycles and wrong directions of imports in all folders.
 *
 * @returns {Promise<string[]>} complaints about all folders
 */
export async function cycleAndLayerViolations() {
  const core = await coreSources();
  const macros = rustMacros("src", core);
  const found = coreViolations(core);
  for (const root of RUST_ROOTS.slice(1)) {
    found.push(...importCycles(root, findRustImports(root, await rustSources(root), macros)));
  }
  const scripts = await readSourceFiles(SCRIPT_ROOTS, /\.ts$/);
  for (const file of scripts.keys()) {
    if (file.includes("/tests/")) {
      scripts.delete(file);
    }
  }
  found.push(...importCycles("www", findScriptImports(scripts, PACKAGE_ENTRIES)));
  return found;
}

/**
 * Returns the imports that lead upwards, for all crates: to a higher layer of the core, or to the
 * `mod.rs` or `lib.rs` of an enclosing folder.
 *
 * @param {(file: string) => boolean} counts returns whether the imports of a file are included
 * @returns {Promise<import("./lib/rust-imports.mjs").Arrow[]>}
 */
export async function parentModuleImports(counts) {
  const macros = rustMacros("src", await coreSources());
  const found = [];
  for (const root of RUST_ROOTS) {
    const texts = await rustSources(root);
    found.push(
      ...importsOfParents(findRustImports(root, texts, root === "src" ? undefined : macros)),
    );
  }
  return found.filter(({ from }) => counts(from));
}

export async function checkImports() {
  const found = await cycleAndLayerViolations();
  if (found.length > 0) {
    throw new ExplainedError(found.join("\n"));
  }
}

/** @param {string} folder */
async function printImports(folder) {
  const root = [...RUST_ROOTS]
    .reverse()
    .find((name) => folder === name || folder.startsWith(`${name}/`));
  const arrows =
    root === undefined
      ? findScriptImports(await readSourceFiles(SCRIPT_ROOTS, /\.ts$/), PACKAGE_ENTRIES)
      : findRustImports(root, await rustSources(root), rustMacros("src", await coreSources()));
  for (const { from, to, line, name } of arrows) {
    if (from.startsWith(`${folder}/`)) {
      print(`${from}:${line} → ${to} (${name})`);
    }
  }
}

if (import.meta.filename === process.argv[1]) {
  await main(async () => {
    const [option, folder] = process.argv.slice(2);
    if (option === "--draw" && folder !== undefined) {
      return printImports(folder);
    }
    return checkImports();
  });
}
