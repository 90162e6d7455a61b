// Tests which files are counted as the core of a page, and that a missing attribute is noticed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { compiledFiles, enabledFeatures } from "../lib/compiled-files.mjs";

const crate = (files) =>
  new Map(Object.entries(files).map(([name, text]) => [`src/${name}.rs`, text]));
const names = (files, ...features) =>
  compiledFiles("src", crate(files), new Set(features)).map(({ file }) => file.slice(4, -3));

test("a module counts by the attributes in front of it", () => {
  for (const [attribute, holds] of [
    ["", true],
    ['#[cfg(feature = "a")]', true],
    ['#[cfg(feature = "b")]', false],
    ['#[cfg(not(feature = "b"))]', true],
    ['#[cfg(any(feature = "b", feature = "a"))]', true],
    ['#[cfg(all(feature = "b", feature = "a"))]', false],
    ['#[cfg(all(not(feature = "b"), target_arch = "wasm32"))] #[doc(hidden)]', true],
    ['#[doc(hidden)] #[cfg(feature = "b")]', false],
    ['#[cfg(feature = "a")] #[cfg(feature = "b")]', false],
    ["#[cfg(test)]", false],
  ]) {
    const files = { lib: `${attribute} pub(crate) mod m; mod n;`, m: "", n: "" };
    assert.deepEqual(
      names(files, "a"),
      holds ? ["lib", "m", "n"] : ["lib", "n"],
      String(attribute),
    );
  }
});

test("what a module leaves out has nothing of its own that counts", () => {
  const files = {
    lib: 'mod a; #[cfg(feature = "b")] mod b;',
    "a/mod": "mod c;",
    "a/c": "",
    "b/mod": "mod d;",
    "b/d": "",
  };
  assert.deepEqual(names(files), ["lib", "a/mod", "a/c"]);
  assert.deepEqual(names(files, "b"), ["lib", "a/mod", "a/c", "b/mod", "b/d"]);
});

test("mechanisms count by the attributes of their lines", () => {
  const files = {
    lib: "mod mechanism;",
    "mechanism/mod": `
      macro_rules! mechanisms { ([$callback:ident]) => { $callback! {
        one: One,
        #[cfg(feature = "b")]
        two: Two,
        three: Three,
      } };
      (@bare $($(#[$cfg:meta])? $module:ident: $Name:ident,)+) => { bare! { $($module: $Name,)+ } }; }
      macro_rules! register { ($($(#[$cfg:meta])* $module:ident: $Name:ident,)+) => {
        $($(#[$cfg])* pub mod $module;)+
      }; }
      mechanisms!([register]);`,
    "mechanism/one": "",
    "mechanism/two/mod": "",
    "mechanism/three": "",
  };
  const short = (...features) => names(files, ...features).slice(2);
  assert.deepEqual(short(), ["mechanism/one", "mechanism/three"]);
  assert.deepEqual(short("b"), ["mechanism/one", "mechanism/two/mod", "mechanism/three"]);
});

test("lines are counted, of code alone those that have any, and none of tests", () => {
  const text = `//! Comment.

/* block
*/
fn f() {
    a
    // no code
}

#[cfg(test)]
mod tests {
    fn g() {}
}
`;
  const [lib] = compiledFiles("src", crate({ lib: text }), new Set());
  assert.deepEqual([lib?.lines, lib?.code], [9, 3]);
});

test("features bring others along, and the default ones unless they are turned off", () => {
  const manifest = `
[features]
default = ["a"]
a = []
b = ["a", "dep:other"]
c = ["b"]

[dependencies]
d = { features = ["e"] }
`;
  const of = (...options) => [...enabledFeatures(manifest, options)].sort();
  assert.deepEqual(of(), ["a", "default"]);
  assert.deepEqual(of("--features", "b"), ["a", "b", "default", "dep:other"]);
  assert.deepEqual(of("--no-default-features", "--features", "c"), ["a", "b", "c", "dep:other"]);
  assert.deepEqual(of("--no-default-features", "--features", "a,b"), ["a", "b", "dep:other"]);
});
