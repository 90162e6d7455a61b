// Tests which imports the check of import directions sees, and that it would notice reversed
// imports in the core.

import assert from "node:assert/strict";
import { test } from "node:test";
import { coreSources, coreViolations } from "../check-imports.mjs";
import { importCycles, layerViolations } from "../lib/import-graph.mjs";
import { findRustImports } from "../lib/rust-imports.mjs";
import { findScriptImports } from "../lib/script-imports.mjs";

const crate = (files) =>
  new Map(Object.entries(files).map(([name, text]) => [`src/${name}.rs`, text]));
const drawn = (files) =>
  findRustImports("src", crate(files)).map(
    ({ from, to }) => `${from.slice(4, -3)} → ${to.slice(4, -3)}`,
  );

const A = "pub struct A; pub fn make() {}";

test("an import is an arrow to the file that defines the name", () => {
  const files = { lib: "mod a; mod b; pub use a::A;", a: A };
  for (const text of [
    "use crate::a::A;",
    "use crate::A;",
    "use super::a::{self, A as Other};",
    "use crate::{\n  a::{A},\n};",
    "fn f() { use crate::a::A; }",
    "fn f() { crate::a::make() }",
    "use crate::a; fn f() { a::make() }",
    "fn f() -> Option<super::a::A> { None }",
    "use crate::a::*;",
    '#[serde(with = "crate::a::A")] struct S;',
    "macro_rules! m { () => { $crate::a::make() } }",
    '#[cfg(feature = "x")] use crate::a::A;',
  ]) {
    assert.deepEqual(drawn({ ...files, b: text }), ["b → a"], text);
  }
});

test("comments, strings, tests and documentation are no arrows", () => {
  const files = { lib: "mod a; mod b;", a: A };
  for (const text of [
    "// use crate::a::A;",
    "/* /* crate::a::A */ crate::a::A */",
    "/// [`A`](crate::a::A)",
    'const S: &str = "crate::a::A";',
    'const S: &str = r#"" crate::a::A"#;',
    "const C: char = '\"'; // crate::a::A \"",
    "#[cfg(test)] mod tests { use crate::a::A; }",
    "#[cfg(test)] use crate::a::A;",
    "#[cfg(test)] #[allow(unused)] fn f() -> [u8; 2] { crate::a::make() }",
    "#[cfg(doc)] use crate::a::A;",
  ]) {
    assert.deepEqual(drawn({ ...files, b: text }), [], text);
  }
  const after = "#[cfg(test)] mod tests { fn f() {} } use crate::a::A;";
  assert.deepEqual(drawn({ ...files, b: after }), ["b → a"]);
});

test("a module that gathers names points at their files only when it uses them", () => {
  const files = { "a/mod": "mod inner; pub use inner::A;", "a/inner": A };
  assert.deepEqual(drawn({ ...files, b: "use crate::a::A;" }), ["b → a/inner"]);
  const using = "mod inner; pub use inner::A; struct B(A);";
  assert.deepEqual(drawn({ "a/mod": using, "a/inner": A }), ["a/mod → a/inner"]);
});

test("a macro that lists modules draws arrows to those of whoever calls it", () => {
  const list = "macro_rules! all { ($m:ident) => { $m! { one: One, } } } all!(register);";
  const files = { "a/mod": list, "a/one": "", "b/mod": "crate::all!(register);", "b/one": "" };
  assert.deepEqual(drawn(files).sort(), ["a/mod → a/one", "b/mod → a/mod", "b/mod → b/one"]);
  assert.deepEqual(drawn({ a: "fn f() { g != h }", "a/g": "" }), []);
});

test("a cycle shows in the folder that holds all of it", () => {
  const arrows = (files) => importCycles("src", findRustImports("src", crate(files)));
  const files = {
    "a/mod": "",
    "b/mod": "",
    "a/x": "use crate::b::y::Y; pub struct X;",
    "b/y": "pub struct Y;",
  };
  assert.deepEqual(arrows(files), []);
  const [found = "", ...more] = arrows({ ...files, "b/z": "use crate::a::x::X;" });
  assert.match(found, /^cycle in src: a → b → a\n/);
  assert.deepEqual(more, []);
  assert.match(
    arrows({
      "a/mod": "",
      "a/x": "use super::y::Y; pub struct X;",
      "a/y": "use super::x::X; pub struct Y;",
    })[0] ?? "",
    /^cycle in src\/a: x → y → x\n/,
  );
});

test("an arrow from a lower layer to a higher one is refused, and so is a file without layer", () => {
  const files = crate({ low: "use crate::high::H;", high: "pub struct H;", new: "" });
  const found = layerViolations(
    "src",
    [["low"], ["high"]],
    files.keys(),
    findRustImports("src", files),
  );
  assert.equal(found.length, 2);
  assert.match(found[0] ?? "", /^src\/new is in no layer/);
  assert.match(found[1] ?? "", /^points up: src\/low.rs:1 → src\/high.rs/);
});

test("TypeScript's imports, re-exports, dynamic imports and workers are arrows", () => {
  for (const text of [
    'import { a } from "./a.js";',
    'import type { A } from "./a.js";',
    'import {\n  a,\n  b,\n} from "./a.js";',
    'export * from "./a.js";',
    'import "./a.js";',
    'const a = await import("./a.js");',
    'new Worker(new URL("./a.js", import.meta.url));',
    'import { a } from "named";',
  ]) {
    const files = new Map([
      ["w/b.ts", text],
      ["w/a.ts", ""],
    ]);
    const found = findScriptImports(files, { named: "w/a.ts" });
    assert.deepEqual(
      found.map(({ from, to }) => [from, to]),
      [["w/b.ts", "w/a.ts"]],
      text,
    );
  }
  assert.deepEqual(
    findScriptImports(
      new Map([
        ["b.ts", '// import "./a.js"'],
        ["a.ts", ""],
      ]),
    ),
    [],
  );
});

/** Imports that would close a cycle in the core. Each existed once. */
const TURNED = /** @type {const} */ ([
  ["src/error/mod.rs", "use crate::task::Task;"],
  ["src/domain.rs", "use crate::task::Task;"],
  ["src/mechanism/collision/mod.rs", "use crate::task::Task;"],
  ["src/mechanism/collision/mod.rs", "use crate::upload::Upload;"],
  ["src/mechanism/mod.rs", "use crate::randomizer::Randomizer;"],
  ["src/mechanism/coco/mod.rs", "use crate::mechanism::Mechanism;"],
]);

const core = await coreSources();

test("the core's imports point one way", () => assert.deepEqual(coreViolations(core), []));

for (const [file, line] of TURNED) {
  test(`turned back: ${line} in ${file}`, () => {
    const files = new Map(core);
    files.set(file, `${files.get(file) ?? assert.fail(`no ${file}`)}\n${line}\n`);
    assert.notDeepEqual(coreViolations(files), []);
  });
}
