// npm test: sets up the project and runs all tests.
//
//   node www/scripts/test.mjs [STEP...]
//
// With STEP, only the named steps run, and before each the steps that it needs. Code that needs npm
// packages is imported inside a step, because the set-up installs the packages.

import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { buildBook } from "./build-book.mjs";
import { buildAnalysis, buildDemo } from "./build-demo.mjs";
import { formatRust } from "./format.mjs";
import { findChromedriver } from "./lib/browser.mjs";
import { ANALYSIS_GLUE_DIR, CLIENT_GLUE_DIR, INIT_GLUE_DIR, ROOT } from "./lib/paths.mjs";
import {
  bold,
  costTable,
  ExplainedError,
  main,
  print,
  run,
  runConcurrently,
  seconds,
  step,
  withPath,
} from "./lib/run.mjs";
import { INIT_MODULE_CRATE, PACKAGE_MODULES } from "./lib/wasm-modules.mjs";
import { setup } from "./setup.mjs";
import { testToy, unoptimised } from "./test-toy.mjs";

const WASM = ["--target", "wasm32-unknown-unknown"];
const STRICT = ["--", "-D", "warnings"];
/**
 * Options of cargo that optimise the tests of the core. They save time in total only if all of
 * these tests run.
 */
const OPTIMISED = ["--config", "profile.dev.package.hushbin-core-tests.opt-level=3"];

const CHECKED = "www/scripts/tests";

const cargo = (...args) => run("cargo", args);

/**
 * Runs the tests of one project of vitest. The error at the end lists the tests that have failed,
 * because the output of other steps may follow that of the tests.
 *
 * @param {string} project
 */
async function vitest(project) {
  const results = join(ROOT, "target", `vitest-${project}.json`);
  rmSync(results, { force: true });
  try {
    await run("vitest", [
      ...["run", "--project", project, "--reporter=default"],
      ...["--reporter=json", `--outputFile.json=${results}`],
    ]);
  } catch (error) {
    if (!(error instanceof ExplainedError) || !existsSync(results)) {
      throw error;
    }
    /** @type {{ testResults: { assertionResults: { fullName: string, status: string }[] }[] }} */
    const { testResults } = JSON.parse(readFileSync(results, "utf8"));
    const tests = testResults.flatMap(({ assertionResults }) => assertionResults);
    const failed = tests.filter(({ status }) => status === "failed");
    const lines = failed.map(({ fullName }) => `test ${project}: ${fullName} ... FAILED`);
    throw new ExplainedError([...lines, error.message].join("\n"));
  }
}

/**
 * Returns a function that does this work only once, even if several steps call it.
 *
 * @param {() => Promise<void>} work
 * @returns {() => Promise<void>}
 */
function memoize(work) {
  /** @type {Promise<void> | undefined} */
  let done;
  return () => {
    done ??= work();
    return done;
  };
}

const build = memoize(async () => {
  const { buildPackage } = await import("./build.mjs");
  await buildPackage();
});

const demo = memoize(async () => {
  await build();
  await buildDemo();
  await buildBook();
});

/** Builds the generated files that type checks and tests of pages import, unless they exist. */
const glue = memoize(async () => {
  const made = [join(CLIENT_GLUE_DIR, "sums-bytes.ts"), join(INIT_GLUE_DIR, "planner.d.ts")];
  if (!made.every((file) => existsSync(file))) {
    await build();
  }
  if (!existsSync(join(ANALYSIS_GLUE_DIR, "analysis.d.ts"))) {
    await buildAnalysis();
  }
});

/** Runs the checks that need no compiler. They take only seconds, so they run first. */
async function checkSources() {
  const { checkDashboardIsCurrent } = await import("./build-dashboard.mjs");
  const { checkImports } = await import("./check-imports.mjs");
  const { checkDependencies } = await import("./check-dependencies.mjs");
  const { checkRustDocComments } = await import("./check-docs.mjs");
  const { checkFacts } = await import("./check-facts.mjs");
  const { checkLimits } = await import("./check-limits.mjs");
  await step("format: Rust", () => formatRust({ check: true }));
  await step("format and lint: TypeScript, JSON, CSS", () =>
    run("biome", ["check", "--error-on-warnings"]),
  );
  await step("test: the checks that follow", () => {
    const files = readdirSync(join(ROOT, CHECKED)).filter((name) => name.endsWith(".test.mjs"));
    return run("node", ["--test", ...files.map((name) => `${CHECKED}/${name}`)], { quiet: true });
  });
  await step("dashboard: built of its sources", checkDashboardIsCurrent);
  await step("imports: one way", checkImports);
  await step("limits: numbers that may only fall", checkLimits);
  await step("documentation: summaries, examples", checkRustDocComments);
  await step("facts: stated alike, and there", checkFacts);
  await step("dependencies: licences, sources, advisories", checkDependencies);
}

async function lintRust() {
  await step("lint: Rust", () => cargo("clippy", "--workspace", "--all-targets", ...STRICT));
  await step("lint: collector without features", () =>
    cargo("clippy", "--package", "hushbin-server", "--bins", "--no-default-features", ...STRICT),
  );
  await step("lint: bindings", async () => {
    for (const [, , features] of PACKAGE_MODULES) {
      await cargo("clippy", "--lib", ...features, ...WASM, ...STRICT);
    }
    const others = ["--package=hushbin", "--package=hushbin-analysis", "--package=hushbin-demo"];
    await cargo("clippy", ...others, "--lib", "--test", "web", ...WASM, ...STRICT);
    await cargo("clippy", "--package", INIT_MODULE_CRATE, "--lib", ...WASM, ...STRICT);
  });
}

async function types() {
  await glue();
  await step("types: client", () => run("tsc", ["-p", "tsconfig.client.json", "--noEmit"]));
  await step("types: tests and demo", () => run("tsc", ["-p", "tsconfig.json"]));
  await step("types: scripts", () => run("tsc", ["-p", "tsconfig.scripts.json"]));
}

async function lint() {
  await lintRust();
  await types();
}

/**
 * Builds the collector that other tests run, and its own tests. All members of the workspace are
 * named, so that the crates have the same features as in the build of all tests.
 */
const buildCollector = memoize(() =>
  step("build: collector", () =>
    cargo("test", "--workspace", "--no-run", "--test", "collector", ...OPTIMISED),
  ),
);

async function rust() {
  await buildCollector();
  await step("build: tests of Rust", () => cargo("test", "--workspace", "--no-run", ...OPTIMISED));
  await step("test: Rust", () => cargo("test", "--workspace", ...OPTIMISED));
}

const bareMetal = () =>
  step("build: core without an operating system", () =>
    cargo("build", "--lib", ...unoptimised("hushbin"), "--target", "thumbv7em-none-eabihf"),
  );

const docs = () =>
  step("build: documentation", () =>
    run("cargo", ["doc", "--workspace", "--no-deps", "--quiet"], {
      env: { ...withPath(), RUSTDOCFLAGS: "-D warnings" },
    }),
  );

/**
 * Tests the bindings of the core in a browser.
 *
 * @param {string} browser
 * @param {NodeJS.ProcessEnv} driver environment variable with the browser's driver
 */
async function bindings(browser, driver) {
  const { requiredToolEnv, wasmBindgenTestRunner } = await import("./lib/tools.mjs");
  const env = {
    ...(await requiredToolEnv(wasmBindgenTestRunner())),
    ...driver,
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER: "wasm-bindgen-test-runner",
    // Timeout in seconds, large enough for slow machines.
    WASM_BINDGEN_TEST_TIMEOUT: "600",
  };
  await step(`test: bindings in headless ${browser}`, () =>
    run("cargo", ["test", ...unoptimised("hushbin", "hushbin-tests"), "--test", "web", ...WASM], {
      env,
    }),
  );
}

async function web() {
  // wasm-bindgen's test runner takes the Chromium that this file names, and no other.
  const { binary } = JSON.parse(readFileSync(join(ROOT, "webdriver.json"), "utf8"))[
    "goog:chromeOptions"
  ];
  if (!existsSync(binary)) {
    throw new ExplainedError(
      `webdriver.json names ${binary}, which is not there; link your Chromium to it`,
    );
  }
  await bindings("Chromium", { CHROMEDRIVER: findChromedriver() });
}

/**
 * Runs the tests of the bindings with the plain command `wasm-pack test --headless --chrome`, from
 * the root of the project and without settings.
 */
async function wasmPackTest() {
  const { requiredToolEnv, wasmBindgenTestRunner, wasmPack } = await import("./lib/tools.mjs");
  const { PATH } = await requiredToolEnv(wasmBindgenTestRunner());
  const env = { ...(await requiredToolEnv(wasmPack)) };
  env.PATH = [env.PATH, PATH].join(delimiter);
  await step("test: bindings, by wasm-pack in headless Chromium", () =>
    run("wasm-pack", ["test", "--headless", "--chrome"], { env }),
  );
}

async function client() {
  await build();
  await glue();
  await step("test: client", () => vitest("client"));
}

async function packageTests() {
  await build();
  await step("test: package as it is published", () => vitest("package"));
  const { size } = await import("./size.mjs");
  await step("size", size);
}

async function endToEnd() {
  await demo();
  await buildCollector();
  await step("test: end to end in headless Chromium", () => vitest("e2e"));
}

async function stacks() {
  await build();
  await buildCollector();
  const { geckodriver, toolPath } = await import("./lib/tools.mjs");
  await bindings("Firefox", { GECKODRIVER: toolPath(geckodriver) });
  await step("test: every stack, in three engines", () => vitest("stacks"));
}

async function examples() {
  await build();
  await buildCollector();
  await step("test: examples, as their READMEs say", () => vitest("examples"));
}

/** @type {Readonly<Record<string, () => Promise<void>>>} */
const STEPS = {
  sources: checkSources,
  build,
  lint,
  rust,
  toy: testToy,
  "bare-metal": bareMetal,
  docs,
  web,
  client,
  package: packageTests,
  e2e: endToEnd,
  stacks,
  examples,
  "wasm-pack": wasmPackTest,
};

/** Steps that run only if they are named on the command line, because other steps cover them. */
const ONLY_IF_NAMED = ["wasm-pack"];

/** @param {readonly (() => Promise<void>)[]} steps */
const inSequence =
  (...steps) =>
  async () => {
    for (const work of steps) {
      await work();
    }
  };

/**
 * Runs all steps in two sequences at the same time: native builds and tests of cargo, and builds
 * and tests of the pages. The second one also has the short builds of cargo, so that both take about
 * the same time. Neither keeps two cores busy alone.
 */
async function everything() {
  await checkSources();
  await runConcurrently(
    inSequence(lintRust, rust),
    inSequence(
      ...[build, demo, types, client, packageTests, endToEnd, stacks, examples],
      ...[testToy, bareMetal, docs, web],
    ),
  );
}

await main(async () => {
  const names = process.argv.slice(2);
  const unknown = names.find((name) => !(name in STEPS));
  if (unknown !== undefined) {
    throw new ExplainedError(`no step ${unknown}; there are ${Object.keys(STEPS).join(", ")}`);
  }
  const begun = performance.now();
  const all = Object.keys(STEPS).filter((name) => !ONLY_IF_NAMED.includes(name));
  const chosen = names.length > 0 ? names : all;
  const compiles = chosen.some((name) => name !== "sources");
  await setup({
    build: compiles,
    book: compiles,
    tests: compiles,
    checks: chosen.includes("sources"),
    stacks: ["stacks", "examples"].some((name) => chosen.includes(name)),
    pack: chosen.includes("wasm-pack"),
  });
  const named = Object.entries(STEPS).filter(([name]) => names.includes(name));
  const work = names.length > 0 ? inSequence(...named.map(([, work]) => work)) : everything;
  await work();
  print(`\n${costTable().join("\n")}`);
  print(bold(`\nall passed in ${seconds(performance.now() - begun)}`));
});
