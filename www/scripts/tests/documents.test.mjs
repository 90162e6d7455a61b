// That documents which name what is not there, and documentation that says
// nothing, are noticed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { lacking } from "../check-docs.mjs";
import { missing } from "../check-facts.mjs";

test("links and paths lead to files", () => {
  const there = new Set(["src/a.rs", "src/docs/b.md", "server/src/cli", "README.md"]);
  const found = (text, file = "src/docs/b.md") => missing(file, text, (path) => there.has(path));
  assert.deepEqual(found("[a](../a.rs#L3) [c](https://c.d) [e](#e) [f](crate::F) `src/a.rs`"), []);
  assert.deepEqual(found("`src/cli` is found from where it stands", "server/README.md"), []);
  assert.deepEqual(found("`src/…` `src/*.rs`\n```sh\ncat src/none.rs\n```\n"), []);
  for (const text of ["[a](a.rs)", "see `src/none.rs`", "`server/src/none`"]) {
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
  ]) {
    assert.deepEqual(lacking("a.rs", text, true), [], text);
  }
  for (const text of [
    "/// # Errors\n/// Some.\npub fn a() {}\n",
    "    ///\n    /// A thing.\n    fn a() {}\n",
    `${example}pub struct A;\n`,
    "/// A thing.\n#[derive(Debug)]\npub struct A;\n",
  ]) {
    assert.equal(lacking("a.rs", text, true).length, 1, text);
  }
  assert.deepEqual(lacking("a.rs", "/// A thing.\npub struct A;\n", false), []);
});
