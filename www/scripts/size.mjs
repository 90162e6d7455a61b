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

const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);

/** Files are transferred one by one, so they are compressed one by one. */
function sizes(file) {
  const bytes = readFileSync(join(DIST, file));
  return {
    raw: bytes.length,
    gzip: gzipSync(bytes, { level: 9 }).length,
    brotli: brotliCompressSync(bytes).length,
  };
}

const row = (name, columns) => name.padEnd(24) + columns.map((text) => text.padStart(10)).join("");
const number = (value) => value.toLocaleString("en");

export function size() {
  say(bold(row("bytes", ["raw", "gzip", "brotli"])));
  const over = [];
  for (const [name, files] of WAYS) {
    const parts = files.map(sizes);
    const total = {
      raw: sum(parts.map(({ raw }) => raw)),
      gzip: sum(parts.map(({ gzip }) => gzip)),
      brotli: sum(parts.map(({ brotli }) => brotli)),
    };
    say(row(name, Object.values(total).map(number)));
    if (files.length > 1) {
      for (const [index, file] of files.entries()) {
        say(row(`  ${file}`, Object.values(parts[index] ?? {}).map(number)));
      }
    }
    if (total.brotli > BUDGET) {
      over.push(`${name} is ${number(total.brotli - BUDGET)} bytes over the budget`);
    }
  }
  say(`budget: ${number(BUDGET)} bytes brotli each`);
  if (over.length > 0) {
    throw new Failed(over.join("\n"));
  }
}

if (process.argv[1] === import.meta.filename) {
  await main(async () => size());
}
