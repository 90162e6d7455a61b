// npm run size: what a page downloads, against the budget. Run npm run build first.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { DIST } from "./lib/paths.mjs";
import { bold, Failed, main, say } from "./lib/run.mjs";

/** Bytes, compressed by brotli, for each way to load the package. */
const BUDGET = 30_000;

/** @type {readonly (readonly [string, readonly string[]])[]} */
const WAYS = [
  ["hushbin", ["index.js"]],
  ["hushbin/slim", ["slim.js", "hushbin.wasm"]],
];

/** Files are transferred one by one, so they are compressed one by one. */
function sizes(file) {
  const bytes = readFileSync(join(DIST, file));
  return [bytes.length, gzipSync(bytes, { level: 9 }).length, brotliCompressSync(bytes).length];
}

const row = (name, numbers) =>
  name.padEnd(24) + numbers.map((number) => number.toLocaleString("en").padStart(10)).join("");

export function size() {
  say(bold(row("bytes", []) + ["raw", "gzip", "brotli"].map((head) => head.padStart(10)).join("")));
  const over = [];
  for (const [name, files] of WAYS) {
    const total = [0, 0, 0];
    for (const file of files) {
      const part = sizes(file);
      part.forEach((bytes, index) => {
        total[index] += bytes;
      });
      if (files.length > 1) {
        say(row(`  ${file}`, part));
      }
    }
    say(row(name, total));
    if (total[2] > BUDGET) {
      over.push(`${name} is ${total[2] - BUDGET} bytes over the budget`);
    }
  }
  say(`budget: ${BUDGET.toLocaleString("en")} bytes brotli each`);
  if (over.length > 0) {
    throw new Failed(over.join("\n"));
  }
}

if (process.argv[1] === import.meta.filename) {
  await main(async () => size());
}
