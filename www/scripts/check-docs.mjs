// Checks the documentation comments of Rust items: every comment starts with a summary, and every
// public type of the core has an example.
//
//   node www/scripts/check-docs.mjs
//
// The compiler checks that the comments exist (lint missing_docs). Examples for the bindings are in
// JavaScript, in www/client.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./lib/paths.mjs";
import { ExplainedError, main } from "./lib/run.mjs";
import { nonIgnoredFiles } from "./lib/tracked-files.mjs";

/**
 * Pattern of a block of `///` lines, of the attributes after it, and of the line that it documents.
 */
const DOC_BLOCK = /((?:^[ \t]*\/\/\/.*\n)+)(?:^[ \t]*#\[[\s\S]*?\]\n)*^[ \t]*(.*)$/gm;

/**
 * Returns complaints about the documentation comments of a file.
 *
 * @param {string} file
 * @param {string} source
 * @param {boolean} examples whether public types need an example
 * @returns {string[]}
 */
export function docViolations(file, source, examples) {
  const found = [];
  for (const { 1: block = "", 2: item = "", index } of source.matchAll(DOC_BLOCK)) {
    const line = source.slice(0, index).split("\n").length;
    const [first = ""] = block
      .trim()
      .replace(/^\/\/\/ ?/, "")
      .split("\n");
    if (first.trim() === "" || first.startsWith("#") || first.startsWith("```")) {
      found.push(`${file}:${line} opens without a summary: ${item}`);
    }
    // A type without values cannot have an example.
    const shown = /^pub (struct|enum|trait|union) /.test(item) && !/^pub enum \w+ \{\}$/.test(item);
    if (examples && shown && !block.includes("/// ```")) {
      found.push(`${file}:${line} shows no example: ${item}`);
    }
  }
  return found;
}

export async function checkRustDocComments() {
  const files = await nonIgnoredFiles(
    /^(src|server\/src|server\/analysis\/src|server\/study\/src)\/.*\.rs$/,
  );
  const found = files.flatMap((file) =>
    docViolations(file, readFileSync(join(ROOT, file), "utf8"), /^src\/(?!wasm)/.test(file)),
  );
  if (found.length > 0) {
    throw new ExplainedError(found.join("\n"));
  }
}

if (process.argv[1] === import.meta.filename) {
  await main(checkRustDocComments);
}
