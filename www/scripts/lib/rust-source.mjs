// Measures Rust files: lines, functions, public items, `cfg` attributes and panics.
//
// Code that only tests compile is ignored: items under `#[cfg(test)]` or `#[test]`, and the files
// of modules that are declared with these attributes. The parser recovers from unknown syntax, so
// every file gets figures.

import { posix } from "node:path";
import { parser } from "@lezer/rust";

/**
 * @typedef {{ line: number, text: string }} Place
 * @typedef {object} Measured
 * @property {string} file
 * @property {number} lines number of lines, without tests
 * @property {number} code number of these lines that contain more than a comment
 * @property {readonly { name: string, line: number, code: number }[]} functions
 * @property {readonly Place[]} publics each `pub` without restriction, on an item, a field or a `use`
 * @property {readonly Place[]} cfgs each `#[cfg]`, `#![cfg]` or `#[cfg_attr]`
 * @property {readonly Place[]} panics each `panic!` or `unreachable!`
 * @property {readonly string[]} testModules files or folders, without `.rs`, that only tests
 * compile
 */

const TEST_ATTRIBUTE_PATTERN = /^#\[\s*(?:cfg\s*\((?!.*\bnot\b).*\btest\b.*\)|test)\s*\]$/s;
const COMMENT_OR_STRING_PATTERN = /Comment$|String$|^Char$/;
const PUBLIC = /^[ \t]*pub[ \t](?!\()/gm;
const CFG = /#!?\[\s*cfg(?:_attr)?\b/g;
const PANIC = /\b(?:panic|unreachable)!/g;

/** Returns the path, without `.rs`, of the module that the line `mod name;` in `file` declares. */
function moduleFile(file, name) {
  const { dir, name: stem } = posix.parse(file);
  const folder = ["mod", "lib", "main"].includes(stem) ? dir : posix.join(dir, stem);
  return posix.join(folder, name);
}

/**
 * Returns the attributes of a syntax node. In a list of fields or variants, the attributes are
 * siblings that precede the node.
 */
function attributes(node) {
  const found = /List$/.test(node.name) ? [] : node.getChildren("Attribute");
  if (node.name !== "Attribute" && /List$/.test(node.parent?.name ?? "")) {
    for (let at = node.prevSibling; at?.name === "Attribute"; at = at.prevSibling) {
      found.push(at);
    }
  }
  return found;
}

/**
 * Counts the lines that contain more than a comment. Limits of length count only these lines, so
 * that documentation has no cost.
 *
 * @param {string} source source text of Rust, TypeScript or JavaScript
 */
export const codeLineCount = (source) =>
  source.split("\n").filter((line) => !/^\s*($|\/\/|\/\*|\*(\s|\/|$))/.test(line)).length;

/** Returns a function that converts a position in the text to a line number, from 1. */
function lineFinder(text) {
  const ends = [...text.matchAll(/\n/g)].map(({ index }) => index);
  return (at) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      [low, high] = (ends[middle] ?? 0) < at ? [middle + 1, high] : [low, middle];
    }
    return low + 1;
  };
}

/**
 * Measures one Rust file.
 *
 * @param {string} file
 * @param {string} source
 * @returns {Measured}
 */
export function measureRust(file, source) {
  const functions = [];
  const testModules = [];
  let code = "";
  const hide = ({ from, to }) => {
    const kept = source.slice(code.length, from);
    code += kept + source.slice(code.length + kept.length, to).replace(/[^\n]/g, " ");
  };
  const lineAt = lineFinder(source);
  const textOf = (node) => source.slice(node?.from ?? 0, node?.to ?? 0);
  let lines = lineAt(source.length) - (source.endsWith("\n") ? 1 : 0);
  let ownCode = codeLineCount(source);
  parser.parse(source).iterate({
    enter: ({ name, node }) => {
      if (COMMENT_OR_STRING_PATTERN.test(name)) {
        hide(node);
        return false;
      }
      const own = attributes(node);
      if (own.some((attribute) => TEST_ATTRIBUTE_PATTERN.test(textOf(attribute)))) {
        const from = Math.min(node.from, ...own.map(({ from }) => from));
        hide({ from, to: node.to });
        lines -= lineAt(node.to) - lineAt(from) + 1;
        ownCode -= codeLineCount(source.slice(from, node.to));
        const [, declared] = textOf(node).match(/\bmod\s+(\w+)\s*;$/) ?? [];
        if (declared !== undefined) {
          testModules.push(moduleFile(file, declared));
        }
        return false;
      }
      if (name === "FunctionItem") {
        const called = textOf(node.getChild("BoundIdentifier"));
        functions.push({
          name: called,
          line: lineAt(node.from),
          code: codeLineCount(textOf(node)),
        });
      }
      return true;
    },
  });
  code += source.slice(code.length);
  const text = source.split("\n");
  const places = (pattern) =>
    [...code.matchAll(pattern)].map(({ index, 0: match }) => {
      const line = lineAt(index + match.search(/\S/));
      return { line, text: (text[line - 1] ?? "").trim() };
    });
  return {
    file,
    lines,
    code: ownCode,
    functions,
    publics: places(PUBLIC),
    cfgs: places(CFG),
    panics: places(PANIC),
    testModules,
  };
}

/**
 * Measures all files except those that only tests compile.
 *
 * @param {ReadonlyMap<string, string>} sources each file's text
 * @returns {Measured[]}
 */
export function measureNonTestFiles(sources) {
  const all = [...sources].map(([file, source]) => measureRust(file, source));
  const tests = all.flatMap(({ testModules }) => testModules);
  return all.filter(
    ({ file }) => !tests.some((name) => file === `${name}.rs` || file.startsWith(`${name}/`)),
  );
}
