// Tests limits that may only fall: how they are exceeded and lowered, and the counters of the
// figures.

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  commandsFlagsAndExports,
  malformedChangelogEntries,
  packagesInCargoTree,
} from "../lib/figures.mjs";
import { importsOfParents } from "../lib/import-graph.mjs";
import { exceededAreas, limitFromFigure, loweredLimits } from "../lib/limits.mjs";
import { findRustImports } from "../lib/rust-imports.mjs";
import { measureNonTestFiles, measureRust } from "../lib/rust-source.mjs";

test("a number that rises exceeds its limit", () => {
  assert.deepEqual(exceededAreas({ all: 3 }, { all: 3 }), []);
  assert.deepEqual(exceededAreas({ all: 2 }, { all: 3 }), []);
  assert.deepEqual(exceededAreas({ all: 4 }, { all: 3 }), ["all"]);
  assert.deepEqual(exceededAreas({ all: 1 }, {}), ["all"]);
});

test("a rate exceeds its limit only when the number rises with it", () => {
  const limits = { core: [40, 20] };
  assert.deepEqual(exceededAreas({ core: [40, 25] }, limits), [], "other lines were removed");
  assert.deepEqual(exceededAreas({ core: [50, 19] }, limits), [], "many lines were added");
  assert.deepEqual(exceededAreas({ core: [41, 20.1] }, limits), ["core"]);
  assert.deepEqual(exceededAreas({ core: [40, 20], study: [1, 1] }, limits), ["study"]);
});

test("what moves between areas exceeds nothing", () => {
  const limits = { analysis: [40, 20], server: [10, 5] };
  assert.deepEqual(exceededAreas({ analysis: [30, 18], study: [20, 50] }, limits), []);
  assert.deepEqual(exceededAreas({ analysis: [30, 18], study: [21, 50] }, limits), ["study"]);
});

test("limits are lowered and never raised", () => {
  assert.deepEqual(loweredLimits({ all: 2 }, { all: 3 }), { all: 2 });
  assert.deepEqual(loweredLimits({ all: 4 }, { all: 3 }), { all: 3 });
  assert.deepEqual(loweredLimits({ core: [30, 25] }, { core: [40, 20] }), { core: [30, 20] });
  assert.deepEqual(loweredLimits({ core: [50, 19] }, { core: [40, 20] }), { core: [40, 19] });
  const moved = loweredLimits({ core: [30, 18], study: [9, 50] }, { core: [40, 20] });
  assert.deepEqual(moved, { core: [30, 18], study: [9, 50] });
});

test("a limit is written so that the same figure does not exceed it", () => {
  const found = Array(421).fill({ place: "", text: "" });
  assert.deepEqual(limitFromFigure({ what: "", per: 100 }, { found, of: 1599 }), [421, 26.4]);
  assert.equal(limitFromFigure({ what: "" }, { found }), 421);
  assert.equal(limitFromFigure({ what: "", step: 500 }, { found: [], count: 82_124 }), 82_500);
});

const measured = (source) => measureRust("src/a.rs", source);

test("public items are counted, and neither restricted ones nor those of tests", () => {
  const publics = (source) => measured(source).publics.length;
  for (const text of [
    "pub fn f() {}",
    "pub struct S;",
    "struct S {\n    pub field: u8,\n}",
    "pub use other::{a, b};",
    "macro_rules! m {\n    () => {\n        pub fn f() {}\n    };\n}",
  ]) {
    assert.equal(publics(text), 1, text);
  }
  for (const text of [
    "pub(crate) fn f() {}",
    "fn f() {}",
    "/*\npub fn f() {}\n*/",
    'const S: &str = "\npub fn f() {}";',
    "#[cfg(test)]\nmod tests {\n    pub fn f() {}\n}",
  ]) {
    assert.equal(publics(text), 0, text);
  }
});

test("lines and functions are counted without those of tests", () => {
  const body = "    g();\n".repeat(59);
  const long = `/// Does.\nfn f() {\n${body}}\n`;
  const { lines, code, functions } = measured(long);
  assert.deepEqual([lines, code, functions], [62, 61, [{ name: "f", line: 2, code: 61 }]]);
  const argued = long.replace("{\n", "{\n    // A remark.\n\n    /* Another. */\n");
  assert.deepEqual(measured(argued).functions, [{ name: "f", line: 2, code: 61 }]);
  const tests = `#[cfg(test)]\nmod tests {\n${long}}\n`;
  assert.deepEqual([measured(tests).code, measured(tests).functions], [0, []]);
  const method = measured(
    "impl A {\n    #[inline]\n    pub const fn g(&self) -> u8 {\n        1\n    }\n}\n",
  );
  assert.deepEqual(method.functions, [{ name: "g", line: 3, code: 3 }]);
  assert.equal(measured("fn f() {}\n#[test]\nfn g() {\n}\n").code, 1);
  assert.equal(
    measured('#[cfg(not(test))]\nfn f() {}\n#[cfg(feature = "a")]\nfn g() {}\n').code,
    4,
  );
});

test("files that only tests compile are left out", () => {
  const files = measureNonTestFiles(
    new Map([
      ["src/lib.rs", "mod a;\n#[cfg(test)]\nmod tests;\n"],
      ["src/tests.rs", "pub fn f() {}\n"],
      ["src/tests/deep.rs", "pub fn f() {}\n"],
      ["src/a.rs", "#[cfg(test)]\nmod checks;\n"],
      ["src/a/checks.rs", "pub fn f() {}\n"],
      ["src/a/more.rs", "pub fn f() {}\n"],
    ]),
  );
  assert.deepEqual(
    files.map(({ file }) => file),
    ["src/lib.rs", "src/a.rs", "src/a/more.rs"],
  );
});

test("attributes of conditions and panics are counted", () => {
  const source = `#![cfg(feature = "a")]
#[cfg(feature = "a")]
fn f() {
    // panic!() and #[cfg(x)]
    assert!(match a { _ => unreachable!("no #[cfg(x)]") });
    #[cfg_attr(feature = "a", inline)]
    panic!("panic!");
}
#[cfg(test)]
mod tests {
    fn f() { panic!() }
}
`;
  const { cfgs, panics } = measured(source);
  assert.deepEqual(
    cfgs.map(({ line }) => line),
    [1, 2, 6],
  );
  assert.deepEqual(
    panics.map(({ line }) => line),
    [5, 7],
  );
});

test("a name taken from the file of a folder around is an arrow up", () => {
  const up = (files) => {
    const sources = new Map(Object.entries(files).map(([name, text]) => [`src/${name}.rs`, text]));
    return importsOfParents(findRustImports("src", sources)).map(({ from }) => from);
  };
  const parent = "mod x; mod y; pub use y::B; pub struct A;";
  for (const text of [
    "use super::A;",
    "use crate::a::A;",
    "use super::B;",
    "fn f() -> super::A {}",
  ]) {
    const files = { "a/mod": parent, "a/x": text, "a/y": "pub struct B;" };
    assert.deepEqual(up(files), ["src/a/x.rs"], text);
  }
  for (const text of ["use super::y::B;", "use crate::b::C;", "#[cfg(test)] use super::A;"]) {
    const files = { "a/mod": parent, "a/x": text, "a/y": "pub struct B;", b: "pub struct C;" };
    assert.deepEqual(up(files), [], text);
  }
});

test("crates, commands, flags and entries are counted once each", () => {
  const tree = "a v1.0.0 (/home)\nb v1.0.0\nb v2.0.0\nb v1.0.0 (*)";
  assert.deepEqual(packagesInCargoTree(tree), ["a v1.0.0", "b v1.0.0", "b v2.0.0"]);
  const page = `## \`hushbin plan\`
| \`-n, --reports <N>\` | See --json. |
| \`--json\` | Print JSON. |
## \`hushbin serve\`
### \`hushbin serve again\`
| \`--json\` | Print JSON. |
`;
  const exports = { ".": {}, "./slim": {}, "./a.wasm": "", "./package.json": "" };
  assert.deepEqual(commandsFlagsAndExports(page, exports), {
    commands: ["plan", "serve"],
    flags: ["--json", "--reports"],
    "npm-entries": [".", "./slim"],
  });
});

test("an entry of the changelog is one line that opens with its kind of change", () => {
  const places = (entries) =>
    malformedChangelogEntries(
      `# Changelog\n\n## Unreleased\n\n${entries}\n## 0.1.0\n\n- Old.\n`,
    ).map(({ place }) => place);
  assert.deepEqual(places("- **added**: plans.\n- **security** Keys.\n"), []);
  assert.deepEqual(places("- **added**: plans.\n- Plans.\n"), ["CHANGELOG.md:6"]);
  for (const entry of ["- added: plans.", "- **new**: plans.", "- **fixed**: a plan\n  of two."]) {
    assert.deepEqual(places(`${entry}\n`), ["CHANGELOG.md:5"], entry);
  }
});
