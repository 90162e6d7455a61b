// npm run size: what a page downloads, against the budget. Run npm run build first.
//
// The page is bundled by esbuild with code splitting: what it begins with, and beside
// it the chunks: the complete module, which a task may need, and the core in JavaScript.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { DIST } from "./lib/paths.mjs";
import { bold, Failed, main, say } from "./lib/run.mjs";

/** Bytes, compressed by brotli: of a page that asks only choices, and of the chunk. */
const BUDGET = 26_520;
const CHUNK_BUDGET = 21_250;
/** Of the core in JavaScript, and of the classic script. */
const FALLBACK_BUDGET = 32_300;
const SCRIPT_BUDGET = 27_040;
/** Of a page that seals, and of what seals. */
const SEALED_BUDGET = 27_460;
const SEALING_BUDGET = 6_700;
/** Of a page of sums, of its module as a file, and of the same core in JavaScript. */
const SUMS_BUDGET = 23_800;
const SUMS_MODULE_BUDGET = 10_000;
const SUMS_FALLBACK_BUDGET = 15_800;
/** Of what sends through a relay. */
const OBLIVIOUS_BUDGET = 1_500;

/** Files are transferred one by one, so they are compressed one by one. */
function sizes(bytes) {
  return {
    raw: bytes.length,
    gzip: gzipSync(bytes, { level: 9 }).length,
    // By the highest quality, 11.
    brotli: brotliCompressSync(bytes).length,
  };
}

/**
 * Bundles a page that uses a few names of an entry.
 *
 * @param {string} entry
 * @param {string} names
 * @returns {Promise<{ page: Uint8Array, chunks: readonly Uint8Array[] }>}
 */
async function bundle(entry, names) {
  const { build } = await import("esbuild");
  const contents = `import { ${names} } from "./${entry}"; Object.assign(globalThis, { ${names} });`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: DIST },
    outdir: "page",
    bundle: true,
    splitting: true,
    minify: true,
    format: "esm",
    target: "es2022",
    write: false,
    logLevel: "warning",
  });
  const [first, ...others] = outputFiles.map((file) => file.contents);
  return { page: first ?? new Uint8Array(), chunks: others };
}

/**
 * What is downloaded, in rows: parts of the one before are indented.
 *
 * @returns {Promise<readonly (readonly [string, ReturnType<typeof sizes>, number?])[]>} each
 * with its budget, where it has one
 */
async function measured() {
  const { page, chunks } = await bundle("index.js", "createClient");
  if (chunks.length !== 2) {
    throw new Failed(
      `expected two chunks beside the page, the complete module and the core in JavaScript; got ${chunks.length}`,
    );
  }
  const slim = sizes((await bundle("slim.js", "createClient, initialize")).page);
  const sealed = (await bundle("sealed.js", "createClient")).page;
  const sums = (await bundle("sums.js", "createClient")).page;
  const file = (name) => sizes(readFileSync(join(DIST, name)));
  const wasm = file("collision.wasm");
  const together = {
    raw: slim.raw + wasm.raw,
    gzip: slim.gzip + wasm.gzip,
    brotli: slim.brotli + wasm.brotli,
  };
  return [
    ["hushbin", sizes(page), BUDGET],
    ["  complete.js", file("complete.js"), CHUNK_BUDGET],
    ["  fallback.js", file("fallback.js"), FALLBACK_BUDGET],
    ["hushbin/slim", together, BUDGET],
    ["  its page", slim],
    ["  collision.wasm", wasm],
    ["hushbin.script.js", file("hushbin.script.js"), SCRIPT_BUDGET],
    ["hushbin/sealed", sizes(sealed), SEALED_BUDGET],
    ["  sealing.js", file("sealing.js"), SEALING_BUDGET],
    ["  oblivious.js", file("oblivious.js"), OBLIVIOUS_BUDGET],
    ["  x25519.js", file("x25519.js")],
    ["hushbin/sums", sizes(sums), SUMS_BUDGET],
    ["  sums.wasm", file("sums.wasm"), SUMS_MODULE_BUDGET],
    ["  sums-fallback.js", file("sums-fallback.js"), SUMS_FALLBACK_BUDGET],
  ];
}

const row = (name, columns) => name.padEnd(26) + columns.map((text) => text.padStart(10)).join("");
const number = (value) => value.toLocaleString("en");

export async function size() {
  say(bold(row("bytes", ["raw", "gzip", "brotli", "budget"])));
  const over = [];
  for (const [name, found, budget] of await measured()) {
    const shown = Object.values(found).map(number);
    say(row(name, budget === undefined ? shown : [...shown, number(budget)]));
    if (budget !== undefined && found.brotli > budget) {
      over.push(`${name} is ${number(found.brotli - budget)} bytes over the budget`);
    }
  }
  if (over.length > 0) {
    throw new Failed(over.join("\n"));
  }
}

if (process.argv[1] === import.meta.filename) {
  await main(size);
}
