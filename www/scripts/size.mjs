// npm run size: checks that the downloads of a page stay within the size budgets. Run npm run
// build first.
//
// esbuild bundles a page with code splitting. The result is a script that loads first, and chunks
// that a task or a browser may need later.

import { readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { LAZY_LOADED_FILES } from "./lib/package-files.mjs";
import { DIST } from "./lib/paths.mjs";
import { bold, ExplainedError, main, print } from "./lib/run.mjs";

/**
 * Maximum size in bytes, compressed by brotli: of the file that every page loads, and of all files
 * together that a page loads for a report of choices.
 */
const FIRST_FILE_BUDGET = 7_135;
const REPORT_BUDGET = 30_640;
/** Maximum compressed size of the chunk that other tasks load in addition. */
const COMPLETE_CHUNK_BUDGET = 21_500;
/** Maximum compressed size of the core in JavaScript, and of the classic script. */
const FALLBACK_BUDGET = 32_260;
const SCRIPT_BUDGET = 8_085;
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
const SUMS_MODULE_BUDGET = 10_950;
const SUMS_FALLBACK_BUDGET = 16_765;
/** Maximum compressed size of all adapters for consent managers together. */
const CONSENT_BUDGET = 700;
/** Maximum compressed size of the adapter for web vitals, with its task. */
const WEB_VITALS_BUDGET = 480;
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

const sum = (numbers) => numbers.reduce((total, own) => total + own, 0);

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
  const first = compressedSizes(page);
  const slim = compressedSizes((await bundle("slim.js", "createClient, initialize")).page);
  const consent = await bundle(
    "consent.js",
    "followTcf, followConsentMode, followCookieConsent, followTarteaucitron, followKlaro",
  );
  const vitals = await bundle("web-vitals.js", "reportWebVitals, webVitalsTask");
  const file = (name) => compressedSizes(readFileSync(join(DIST, name)));
  const wasm = file("collision.wasm");
  const engine = file("engine.js");
  const module = file("collision-module.js");
  const together = (...parts) => ({
    raw: sum(parts.map(({ raw }) => raw)),
    gzip: sum(parts.map(({ gzip }) => gzip)),
    brotli: sum(parts.map(({ brotli }) => brotli)),
  });
  return [
    ["hushbin", first, FIRST_FILE_BUDGET],
    ["  engine.js", engine],
    ["  collision-module.js", module],
    ["  for a report of choices", together(first, engine, module), REPORT_BUDGET],
    ["  complete.js", file("complete.js"), COMPLETE_CHUNK_BUDGET],
    ["  fallback.js", file("fallback.js"), FALLBACK_BUDGET],
    ["  extras.js", file("extras.js"), EXTRAS_BUDGET],
    ["  leaving.js", file("leaving.js"), LEAVING_BUDGET],
    ["hushbin/slim", together(slim, engine, wasm), REPORT_BUDGET],
    ["  collision.wasm", wasm],
    ["hushbin.script.js", file("hushbin.script.js"), SCRIPT_BUDGET],
    ["hushbin/consent", compressedSizes(consent.page), CONSENT_BUDGET],
    ["hushbin/web-vitals", compressedSizes(vitals.page), WEB_VITALS_BUDGET],
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
