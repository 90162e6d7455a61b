// Tests that each figure of words counts the right passages, and nothing else.

import assert from "node:assert/strict";
import { test } from "node:test";
import { commentFigures, fileWordingFigures, paragraphs, proseFigures } from "../lib/words.mjs";

const counts = (figures) =>
  Object.fromEntries(Object.entries(figures).map(([name, { found }]) => [name, found.length]));

test("a doc comment opens with a noun or a verb", () => {
  const openers = (text) => commentFigures("a.rs", text).openers;
  for (const opening of ["What is kept.", "Of both.", "The same of a sum.", "Whether it holds."]) {
    assert.equal(openers(`/// ${opening}\nfn f() {}\n`).found.length, 1, opening);
    assert.equal(openers(`//! ${opening}\n`).found.length, 1, opening);
  }
  for (const opening of ["Location of the journal.", "Returns what is kept.", "Notes."]) {
    assert.deepEqual(openers(`/// ${opening}\nfn f() {}\n`), { found: [], of: 1 }, opening);
  }
  const [found] = openers(
    "fn f() {}\n\n    /// By\n    /// lines.\n    ///\n    /// Of two.\n",
  ).found;
  assert.deepEqual(found, { line: 3, text: "By lines." });
  const script =
    "/**\n * What is kept.\n *\n * @returns {string}\n */\n/** Returns it. */\n/** @type {A} */\n";
  const { found: places, of } = commentFigures("a.ts", script).openers;
  assert.deepEqual([places, of], [[{ line: 1, text: "What is kept." }], 2]);
});

test("a symbol alone says nothing", () => {
  const symbols = (text) => commentFigures("a.rs", `/// ${text}\n`).symbols.found.length;
  for (const text of ["q.", "`ε`", "$`p₁`$", "n"]) {
    assert.equal(symbols(text), 1, text);
  }
  assert.equal(symbols("Noise probability q, in (0, 1)."), 0);
});

test("words of the dialect are counted in comments, not in code", () => {
  const { found, of } = commentFigures("a.rs", "// So many of theirs.\nlet told = 1;\n")[
    "dialect-words"
  ];
  assert.deepEqual([found.length, of], [3, 4]);
  assert.equal(
    commentFigures("a.ts", "/**\n * Nobody\n * whom.\n */\n")["dialect-words"].found.length,
    2,
  );
});

test("sentences that have to be read twice are counted", () => {
  const plain = "A report reveals one prefix of the text. Its length is chosen at random.";
  assert.deepEqual(counts(proseFigures(plain)), {
    "long-sentences": 0,
    "nested-sentences": 0,
    "inverted-sentences": 0,
    walls: 0,
    "dialect-phrases": 0,
  });
  const one = (text, figure) => assert.equal(counts(proseFigures(text))[figure], 1, text);
  one(`It has ${"more ".repeat(23)}words.`, "long-sentences");
  one("It says that people who know what helps are few.", "nested-sentences");
  one("Of a text a report reveals one prefix.", "inverted-sentences");
  one("Whoever sees it learns little.", "inverted-sentences");
  one("word ".repeat(91), "walls");
  one("It runs in a terminal of its own.".replace("in a terminal ", ""), "dialect-phrases");
});

test("prose is what people read as sentences", () => {
  const text = `# What a title says

What a **first** [link](a.md) says
goes on. What \`code\` says is

- What an item says
- 2nd item

\`\`\`sh
What code says does not count
\`\`\`

| What a table says |
<!-- What a comment
says -->
> What a quotation says
`;
  assert.deepEqual(
    paragraphs(text).filter(({ text }) => text !== ""),
    [
      { line: 3, text: "What a first link says goes on. What code says is" },
      { line: 6, text: "What an item says" },
      { line: 7, text: "2nd item" },
      { line: 14, text: "What a quotation says" },
    ],
  );
});

test("tests, lists of changes and generated pages are not measured", () => {
  for (const file of ["tests/a.rs", "src/tests.rs", "www/a.test.ts", "CHANGELOG.md", "a.json"]) {
    assert.equal(fileWordingFigures(file, "/// Of both.\n"), undefined, file);
  }
  assert.notEqual(fileWordingFigures("src/a.rs", "/// Of both.\n"), undefined);
});
