// npm run demo: runs the demo: its pages, a collector, and everything that they need.
//
//   npm run demo -- [--port PORT] [--collector-port PORT] [--data DIR]
//
// The pages and the collector have different ports and thus different origins, as on the web. The
// pages are available while the collector is still being compiled.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { DEMO_DIST } from "./lib/paths.mjs";
import { bold, ExplainedError, main, print, runConcurrently, step } from "./lib/run.mjs";
import { setup } from "./setup.mjs";

/**
 * Seconds that a build from nothing takes on two idle cores. Measured: 67 s for the pages and the
 * tools that build them, and then 50 s for the collector.
 */
const TYPICAL_SECONDS = { pages: 70, collector: 50 };

/**
 * Parses a port.
 *
 * @param {string} name of the option
 * @param {string} text
 */
function portOf(name, text) {
  const port = Number(text);
  if (text.trim() === "" || !Number.isInteger(port) || port < 0 || port > 65535) {
    throw new ExplainedError(
      `--${name} is ${JSON.stringify(text)}, expected 0 to 65535; 0 takes a free port`,
    );
  }
  return port;
}

/**
 * Builds the pages. The modules for that are imported late, because they need packages that the
 * set-up installs.
 */
async function buildPages() {
  await setup({ build: false });
  const { buildWasm } = await import("./build.mjs");
  const { buildDemo, compileAnalysis } = await import("./build-demo.mjs");
  const { bindingsGeneratorTool: binder, installTool } = await import("./lib/tools.mjs");
  const quick = true;
  await runConcurrently(
    () => step("compile: what the pages calculate", () => compileAnalysis({ quick })),
    () => step("set-up: wasm-bindgen", () => installTool(binder())),
  );
  await buildWasm({ quick });
  await buildDemo({ quick });
}

/**
 * Serves the pages. They poll `/config.json` for the collector's address.
 *
 * @param {number} port
 * @param {() => object} config
 */
async function servePages(port, config) {
  const { BOOK_POLICY, serve } = await import("./lib/serve.mjs");
  return serve({
    directories: { "/": DEMO_DIST },
    documents: {
      "/config.json": { type: "application/json", body: () => JSON.stringify(config()) },
    },
    port,
    policies: { "/book/": BOOK_POLICY },
  });
}

/** Build of the collector, which estimates its remaining time. */
class CollectorBuild {
  #begun = performance.now();

  /**
   * Sentence about the remaining time of the build. The time is rounded up to a multiple of ten
   * seconds.
   */
  get remainingTimeText() {
    const left = TYPICAL_SECONDS.collector - (performance.now() - this.#begun) / 1000;
    const when = left > 0 ? `about ${10 * Math.ceil(left / 10)} seconds left` : "longer than usual";
    return `The collector is still compiling: ${when}.`;
  }

  /**
   * Builds the collector's program.
   *
   * @returns {Promise<string>} its path
   */
  async buildProgram() {
    const { buildCollector } = await import("./lib/collector.mjs");
    return step(`compile: collector, about ${TYPICAL_SECONDS.collector} s`, () =>
      buildCollector({ quick: true }),
    );
  }
}

/**
 * Starts the collector on the given data directory, or on a temporary one.
 *
 * @param {string} program
 * @param {{ collectorPort: number, data: string | undefined }} options
 */
async function startDemoCollector(program, { collectorPort, data }) {
  const { startCollector } = await import("./lib/collector.mjs");
  const { demoTaskFiles } = await import("./build-demo.mjs");
  const directory = data ?? mkdtempSync(join(tmpdir(), "hushbin-demo-"));
  const collector = await step("start: collector", () =>
    startCollector({
      program,
      data: resolve(directory),
      tasks: demoTaskFiles(),
      listen: `127.0.0.1:${collectorPort}`,
      verbose: true,
    }),
  );
  return {
    url: collector.url,
    directory,
    async stop() {
      await collector.stop("SIGTERM");
      if (data === undefined) {
        rmSync(directory, { recursive: true, force: true });
      }
    },
  };
}

/** @param {{ port: number, collectorPort: number, data: string | undefined }} options */
async function demo(options) {
  print(
    `From nothing, on two cores: pages after about ${TYPICAL_SECONDS.pages} s, the collector ${TYPICAL_SECONDS.collector} s later, then the book. The next time all take seconds.`,
  );
  await buildPages();
  const compiling = new CollectorBuild();
  /** @type {object} */
  let config = {};
  const page = await servePages(options.port, () =>
    "endpoint" in config ? config : { waiting: compiling.remainingTimeText },
  );
  print(`\n  page       ${bold(page.url)}, which waits for the collector`);
  print(`  planner    ${page.url}/planner.html\n`);
  let collector;
  try {
    collector = await startDemoCollector(await compiling.buildProgram(), options);
  } catch (error) {
    page.close();
    throw error;
  }
  config = { endpoint: collector.url };
  endOnSignal(page, collector);
  print(`\n  page       ${bold(page.url)}`);
  print(`  planner    ${page.url}/planner.html`);
  print(`  collector  ${collector.url}/tasks, its journal in ${collector.directory}`);
  print("  Ctrl-C ends both.\n");
  await buildBookLast();
  print(`\n  book       ${page.url}/book/`);
}

/** Builds the book last, because its tool may have to be compiled. */
async function buildBookLast() {
  const { buildBook } = await import("./build-book.mjs");
  const { buildReference } = await import("./build.mjs");
  const { installTool, mdbook } = await import("./lib/tools.mjs");
  await step("set-up: mdBook", () => installTool(mdbook));
  await step("build: reference", buildReference);
  await buildBook();
}

/**
 * @param {{ close: () => void }} page
 * @param {{ stop: () => Promise<void> }} collector
 */
function endOnSignal(page, collector) {
  let ending = false;
  const end = async () => {
    if (ending) {
      return;
    }
    ending = true;
    print("\nending: page, collector");
    page.close();
    await collector.stop();
    process.exit();
  };
  process.on("SIGINT", end);
  process.on("SIGTERM", end);
}

await main(async () => {
  const { values } = parseArgs({
    options: {
      port: { type: "string", default: "0" },
      "collector-port": { type: "string", default: "0" },
      data: { type: "string" },
    },
  });
  await demo({
    port: portOf("port", values.port),
    collectorPort: portOf("collector-port", values["collector-port"]),
    data: values.data,
  });
});
