// Documentation of Rust's items: every block opens with a summary, and every
// public type of the core shows how it is used.
//
//   node www/scripts/check-docs.mjs
//
// That there is a block at all is the compiler's to say (missing_docs). The
// bindings' examples are JavaScript, in www/client.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "./lib/paths.mjs";
import { Failed, main } from "./lib/run.mjs";
import { tracked } from "./lib/tracked.mjs";

/** A block of `///`, what attributes follow it, and the line that it is about. */
const BLOCK = /((?:^[ \t]*\/\/\/.*\n)+)(?:^[ \t]*#\[[\s\S]*?\]\n)*^[ \t]*(.*)$/gm;

/**
 * @param {string} file
 * @param {string} source
 * @param {boolean} examples whether public types need one
 * @returns {string[]}
 */
export function lacking(file, source, examples) {
  const found = [];
  for (const { 1: block = "", 2: item = "", index } of source.matchAll(BLOCK)) {
    const line = source.slice(0, index).split("\n").length;
    const [first = ""] = block
      .trim()
      .replace(/^\/\/\/ ?/, "")
      .split("\n");
    if (first.trim() === "" || first.startsWith("#") || first.startsWith("```")) {
      found.push(`${file}:${line} opens without a summary: ${item}`);
    }
    // A type without values has no use to show.
    const shown = /^pub (struct|enum|trait|union) /.test(item) && !/^pub enum \w+ \{\}$/.test(item);
    if (examples && shown && !block.includes("/// ```")) {
      found.push(`${file}:${line} shows no example: ${item}`);
    }
  }
  return found;
}

export async function checkDocs() {
  const files = await tracked(
    /^(src|server\/src|server\/analysis\/src|server\/study\/src)\/.*\.rs$/,
  );
  const found = files.flatMap((file) =>
    lacking(file, readFileSync(join(ROOT, file), "utf8"), /^src\/(?!wasm)/.test(file)),
  );
  if (found.length > 0) {
    throw new Failed(found.join("\n"));
  }
}

if (process.argv[1] === import.meta.filename) {
  await main(checkDocs);
}
