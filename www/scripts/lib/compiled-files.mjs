// Finds the files of a Rust crate that a build compiles, and counts the lines.
//
// It follows `mod name;` from lib.rs, and evaluates `cfg` attributes. If a macro declares `mod
// $module;`, it takes the modules from the list in `macro_rules! mechanisms`, each with the
// attributes of its line. Only whole files are excluded: code inside a file counts even if an
// attribute excludes it. Items under `#[cfg(test)]` do not count.

import { skipBrackets, skipItem, tokenize } from "./rust-imports.mjs";

/** @typedef {import("./rust-imports.mjs").Token} Token */
/** @typedef {{ file: string, lines: number, code: number }} Compiled */

const tokenTextAt = (list, at) => list[at]?.text ?? "";

/**
 * Returns the names of the features that a build enables, including those that other features
 * enable in turn.
 *
 * @param {string} manifest a Cargo.toml
 * @param {readonly string[]} options of cargo
 * @returns {Set<string>}
 */
export function enabledFeatures(manifest, options) {
  const [, section = ""] = manifest.match(/^\[features\]\n([\s\S]*?)(?=^\[|(?![\s\S]))/m) ?? [];
  const listed = new Map(
    [...section.matchAll(/^([\w-]+) = \[([^\]]*)\]/gm)].map(([, name = "", brought = ""]) => [
      name,
      [...brought.matchAll(/"([^"]+)"/g)].map(([, feature = ""]) => feature),
    ]),
  );
  const named = options.filter((option) => !option.startsWith("--"));
  const wanted = named.flatMap((features) => features.split(","));
  const found = new Set();
  const enable = (name) => {
    if (!found.has(name)) {
      found.add(name);
      listed.get(name)?.forEach(enable);
    }
  };
  wanted.forEach(enable);
  if (!options.includes("--no-default-features")) {
    enable("default");
  }
  return found;
}

/**
 * Evaluates the predicate of a `cfg(…)` attribute for a build.
 *
 * @param {Token[]} list
 * @param {number} at position of the predicate's name
 * @param {ReadonlySet<string>} features
 * @returns {[boolean, number]} the value, and the position after it
 */
function evaluateCfg(list, at, features) {
  const name = tokenTextAt(list, at);
  if (tokenTextAt(list, at + 1) === "=") {
    const value = tokenTextAt(list, at + 2).slice(1, -1);
    const known = { feature: features.has(value), target_arch: value === "wasm32" };
    return [known[name] ?? false, at + 3];
  }
  if (tokenTextAt(list, at + 1) !== "(") {
    // `test` and `doc` are false in every build.
    return [false, at + 1];
  }
  const end = skipBrackets(list, at + 1);
  const all = [];
  for (let next = at + 2; next < end - 1; ) {
    const [held, after] = evaluateCfg(list, next, features);
    all.push(held);
    next = tokenTextAt(list, after) === "," ? after + 1 : after;
  }
  const joined = { not: !all[0], any: all.includes(true), all: !all.includes(false) };
  return [joined[name] ?? all[0] ?? false, end];
}

/**
 * Returns the modules that a file declares, and the ranges of lines that contain its tests.
 *
 * @param {Token[]} list
 * @param {ReadonlySet<string>} features
 */
function declaredModules(list, features) {
  const modules = [];
  const macros = new Set();
  const called = [];
  /** @type {[number, number][]} */
  const tests = [];
  for (let at = 0; at < list.length; ) {
    const first = at;
    let kept = true;
    let isTest = false;
    while (tokenTextAt(list, at) === "#" && tokenTextAt(list, at + 1) === "[") {
      if (tokenTextAt(list, at + 2) === "cfg") {
        isTest ||= tokenTextAt(list, at + 4) === "test";
        kept &&= evaluateCfg(list, at + 2, features)[0];
      }
      at = skipBrackets(list, at + 1);
    }
    if (tokenTextAt(list, at) === "pub") {
      at = tokenTextAt(list, at + 1) === "(" ? skipBrackets(list, at + 1) : at + 1;
    }
    const name = tokenTextAt(list, at + 1);
    if (isTest) {
      at = skipItem(list, at);
      tests.push([list[first]?.line ?? 0, list[at - 1]?.line ?? 0]);
    } else if (tokenTextAt(list, at) === "mod" && tokenTextAt(list, at + 2) === ";") {
      modules.push(...(kept ? [name] : []));
      at += 3;
    } else if (tokenTextAt(list, at) === "macro_rules") {
      const end = skipBrackets(list, at + 3);
      const words = list.slice(at, end).map(({ text }) => text);
      if (words.some((word, index) => word === "mod" && words[index + 1]?.startsWith("$"))) {
        macros.add(tokenTextAt(list, at + 2));
      }
      at = end;
    } else if (tokenTextAt(list, at) === "mechanisms" && name === "!") {
      const end = skipBrackets(list, at + 2);
      called.push(...list.slice(at + 3, end).map(({ text }) => text));
      at = end;
    } else {
      at += 1;
    }
  }
  return { modules, tests, lists: called.some((macro) => macros.has(macro)) };
}

/**
 * Returns the modules of the mechanisms that a build includes, from the macro that lists all
 * mechanisms.
 *
 * @param {Iterable<Token[]>} files
 * @param {ReadonlySet<string>} features
 * @returns {string[]}
 */
function includedMechanisms(files, features) {
  const found = [];
  for (const list of files) {
    const begin = list.findIndex(
      ({ text }, at) => text === "macro_rules" && tokenTextAt(list, at + 2) === "mechanisms",
    );
    let kept = true;
    for (let at = begin < 0 ? list.length : begin; at < skipBrackets(list, begin + 3); at += 1) {
      if (tokenTextAt(list, at) === "#" && tokenTextAt(list, at + 2) === "cfg") {
        kept &&= evaluateCfg(list, at + 2, features)[0];
        at = skipBrackets(list, at + 1) - 1;
      } else if (tokenTextAt(list, at) === ":" && tokenTextAt(list, at + 2) === ",") {
        const name = tokenTextAt(list, at - 1);
        found.push(...(kept && !name.startsWith("$") ? [name] : []));
        kept = true;
      }
    }
  }
  return found;
}

/**
 * Returns the files that a build compiles, in the order in which modules are declared.
 *
 * @param {string} root the crate's `src`
 * @param {ReadonlyMap<string, string>} sources each file's text
 * @param {ReadonlySet<string>} features
 * @returns {Compiled[]}
 */
export function compiledFiles(root, sources, features) {
  const read = new Map([...sources].map(([file, text]) => [file, tokenize(text)]));
  const listed = includedMechanisms(read.values(), features);
  /** @type {Compiled[]} */
  const found = [];
  const follow = (file, folder) => {
    const list = read.get(file);
    if (list === undefined) {
      throw new Error(`${file} is declared and not there`);
    }
    const { modules, tests, lists } = declaredModules(list, features);
    const inTests = (line) => tests.some(([first, last]) => first <= line && line <= last);
    const all = (sources.get(file) ?? "").trimEnd().split("\n");
    const code = new Set(list.map(({ line }) => line).filter((line) => !inTests(line)));
    found.push({
      file,
      lines: all.filter((_, index) => !inTests(index + 1)).length,
      code: code.size,
    });
    for (const name of [...modules, ...(lists ? listed : [])]) {
      const alone = `${folder}/${name}.rs`;
      follow(sources.has(alone) ? alone : `${folder}/${name}/mod.rs`, `${folder}/${name}`);
    }
  };
  follow(`${root}/lib.rs`, root);
  return found;
}
