// Tests that two things are noticed: documents that name missing files, and missing documentation.

import assert from "node:assert/strict";
import { test } from "node:test";
import { docViolations } from "../check-docs.mjs";
import { missingFiles, undefinedNames } from "../check-facts.mjs";
import { makeReference } from "../lib/reference.mjs";

test("links and paths lead to files", () => {
  const there = new Set(["src/a.rs", "src/docs/b.md", "server/src/cli", "README.md"]);
  const found = (text, file = "src/docs/b.md") =>
    missingFiles(file, text, (path) => there.has(path));
  assert.deepEqual(found("[a](../a.rs#L3) [c](https://c.d) [e](#e) [f](crate::F) `src/a.rs`"), []);
  assert.deepEqual(found("`src/cli` is found from where it stands", "server/README.md"), []);
  assert.deepEqual(found("`src/…` `src/*.rs`\n```sh\ncat src/none.rs\n```\n"), []);
  for (const text of ["[a](a.rs)", "see `src/none.rs`", "`server/src/none`"]) {
    assert.equal(found(text).length, 1, text);
  }
});

test("functions are in the files that they are linked to", () => {
  const source = (path) => (path === "src/a.rs" ? "pub const fn gap() {}\nstruct Law;\n" : "");
  const found = (text) => undefinedNames("www/docs/a.md", text, source);
  assert.deepEqual(
    found("[`gap`](../../src/a.rs), [`Law`](../../src/a.rs) [`a.b`](../../src/a.rs)"),
    [],
  );
  for (const text of ["[`ga`](../../src/a.rs)", "[`gap`](../../src/b.rs)"]) {
    assert.equal(found(text).length, 1, text);
  }
});

test("documentation opens with a summary, and public types show an example", () => {
  const example = "/// ```\n/// use it;\n/// ```\n";
  for (const text of [
    `/// A thing.\n///\n${example}pub struct A;\n`,
    `/// A thing.\n///\n${example}#[derive(\n    Debug,\n)]\n#[must_use]\npub enum A {}\n`,
    "/// A thing.\npub fn a() {}\n",
    "/// A thing.\npub(crate) struct A;\n",
    "/// No thing.\npub enum A {}\n",
  ]) {
    assert.deepEqual(docViolations("a.rs", text, true), [], text);
  }
  for (const text of [
    "/// # Errors\n/// Some.\npub fn a() {}\n",
    "    ///\n    /// A thing.\n    fn a() {}\n",
    `${example}pub struct A;\n`,
    "/// A thing.\n#[derive(Debug)]\npub struct A;\n",
  ]) {
    assert.equal(docViolations("a.rs", text, true).length, 1, text);
  }
  assert.deepEqual(docViolations("a.rs", "/// A thing.\npub struct A;\n", false), []);
});

test("what is exported has comments, member by member, and is told once", () => {
  const files = {
    index: 'export * from "./exports.js";\n',
    exports:
      'export { type A, b, type E } from "./folder/own.js";\nexport type { C } from "./missing.js";\n',
    "folder/own": `/** A. */
export interface A {
    readonly kind: "a";
    /** A number. */
    readonly documented: number;
    readonly bare: number;
}
export declare function b(): void;
/** By kind. */
export type E<Q> = Q extends {
    readonly kind: "e";
} ? number : never;
/** Not exported by the entry. */
export declare const d: number;
`,
    missing: "",
  };
  const { text, lacking } = makeReference(
    { index: "package", exports: "again" },
    (file) => files[file],
  );
  assert.deepEqual(lacking, ["folder/own: A.bare", "missing: C", "folder/own: b"]);
  assert.deepEqual(text.match(/^#+ .*/gm), [
    "# Reference",
    "## `package`",
    "### A",
    "### C",
    "### E",
    "### b",
    "## `again`",
  ]);
  // Complete declarations, to the end of each.
  assert.match(text, /readonly bare: number;\n\}\n/);
  assert.match(text, /kind: "e";\n\} \? number : never;\n/);
});
