// npm run size: checks that the downloads of a page stay within the size budgets. Run npm run
// build first.
//
// esbuild bundles a page with code splitting. The result is a script that loads first, and chunks
// that a task or a browser may need later.

import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { LAZY_LOADED_FILES } from "./build.mjs";
import { DIST } from "./lib/paths.mjs";
import { bold, ExplainedError, main, print } from "./lib/run.mjs";

/**
 * Maximum size in bytes, compressed by brotli: of a page that asks only for choices, and of the
 * chunk that other tasks load in addition.
 */
const PAGE_BUDGET = 28_400;
const COMPLETE_CHUNK_BUDGET = 21_380;
/** Maximum compressed size of the core in JavaScript, and of the classic script. */
const FALLBACK_BUDGET = 32_200;
const SCRIPT_BUDGET = 29_290;
/** Maximum compressed size of the code that few pages need (extras). */
const EXTRAS_BUDGET = 3_600;
/** Maximum compressed size of the code that reports when a page is left. */
const LEAVING_BUDGET = 2_110;
/**
 * Maximum compressed size of the code that selects the analyser's key, and of the code that seals
 * reports.
 */
const SHUFFLED_BUDGET = 2_120;
const SEALING_BUDGET = 6_700;
/**
 * Maximum compressed size: of the code for sum tasks with its module, of this module alone, and of
 * this core in JavaScript.
 */
const SUMS_BUDGET = 16_560;
const SUMS_MODULE_BUDGET = 10_960;
const SUMS_FALLBACK_BUDGET = 16_840;
/** Maximum compressed size of the code that sends requests through a relay. */
const OBLIVIOUS_BUDGET = 1_300;

/**
 * Returns the sizes of a file, uncompressed and compressed. Files are transferred one by one, so
 * each is compressed separately.
 */
function compressedSizes(bytes) {
  return {
    raw: bytes.length,
    gzip: gzipSync(bytes, { level: 9 }).length,
    // Compressed at quality 11, the highest and the default.
    brotli: brotliCompressSync(bytes).length,
  };
}

/**
 * Bundles a page that imports a few names from an entry of the package.
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
  const isPage = ({ path }) => basename(path) === "stdin.js";
  const [page] = outputFiles.filter(isPage).map(({ contents }) => contents);
  const chunks = outputFiles.filter((file) => !isPage(file)).map(({ contents }) => contents);
  return { page: page ?? new Uint8Array(), chunks };
}

/**
 * Returns a table row with the sizes of each download. If a download is part of the one in the row
 * above, its row is indented.
 *
 * @returns {Promise<readonly (readonly [string, ReturnType<typeof compressedSizes>, number?])[]>} each with
 * its budget, if it has one
 */
async function measureDownloads() {
  const { page, chunks } = await bundle("index.js", "createClient");
  if (chunks.length !== LAZY_LOADED_FILES.length) {
    throw new ExplainedError(
      `expected ${LAZY_LOADED_FILES.length} chunks beside the page, got ${chunks.length}`,
    );
  }
  const slim = compressedSizes((await bundle("slim.js", "createClient, initialize")).page);
  const file = (name) => compressedSizes(readFileSync(join(DIST, name)));
  const wasm = file("collision.wasm");
  const together = {
    raw: slim.raw + wasm.raw,
    gzip: slim.gzip + wasm.gzip,
    brotli: slim.brotli + wasm.brotli,
  };
  return [
    ["hushbin", compressedSizes(page), PAGE_BUDGET],
    ["  complete.js", file("complete.js"), COMPLETE_CHUNK_BUDGET],
    ["  fallback.js", file("fallback.js"), FALLBACK_BUDGET],
    ["  extras.js", file("extras.js"), EXTRAS_BUDGET],
    ["  leaving.js", file("leaving.js"), LEAVING_BUDGET],
    ["hushbin/slim", together, PAGE_BUDGET],
    ["  its page", slim],
    ["  collision.wasm", wasm],
    ["hushbin.script.js", file("hushbin.script.js"), SCRIPT_BUDGET],
    ["shuffled.js", file("shuffled.js"), SHUFFLED_BUDGET],
    ["  sealing.js", file("sealing.js"), SEALING_BUDGET],
    ["  oblivious.js", file("oblivious.js"), OBLIVIOUS_BUDGET],
    ["  x25519.js", file("x25519.js")],
    ["sums.js", file("sums.js"), SUMS_BUDGET],
    ["  sums.wasm", file("sums.wasm"), SUMS_MODULE_BUDGET],
    ["  sums-fallback.js", file("sums-fallback.js"), SUMS_FALLBACK_BUDGET],
  ];
}

const row = (name, columns) => name.padEnd(26) + columns.map((text) => text.padStart(10)).join("");
const number = (value) => value.toLocaleString("en");

export async function size() {
  print(bold(row("bytes", ["raw", "gzip", "brotli", "budget"])));
  const over = [];
  for (const [name, found, budget] of await measureDownloads()) {
    const shown = Object.values(found).map(number);
    print(row(name, budget === undefined ? shown : [...shown, number(budget)]));
    if (budget !== undefined && found.brotli > budget) {
      over.push(`${name} is ${number(found.brotli - budget)} bytes over the budget`);
    }
  }
  if (over.length > 0) {
    throw new ExplainedError(over.join("\n"));
  }
}

if (process.argv[1] === import.meta.filename) {
  await main(size);
}
