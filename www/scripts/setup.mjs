// npm run setup: installs once everything that building and testing need.
//
//   node www/scripts/setup.mjs [--no-tests]
//
// The script uses only Node's own modules, because it also installs the npm packages.

import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { installNotebookTools } from "./lib/notebook-tools.mjs";
import { ROOT } from "./lib/paths.mjs";
import { captureOutput, ExplainedError, main, print, run, step } from "./lib/run.mjs";
import { setupBrowser } from "./lib/setup-browser.mjs";
import { setupDatabase } from "./lib/setup-database.mjs";
import { setupProxies } from "./lib/setup-proxies.mjs";
import { installBundlersAndRuntimes } from "./lib/stack-tools.mjs";
import {
  bindingsGeneratorTool,
  cargoDeny,
  geckodriver,
  installTool,
  mdbook,
  wasmBindgenTestRunner,
  wasmPack,
} from "./lib/tools.mjs";

async function installRustToolchain() {
  if ((await captureOutput("rustup", ["--version"])) === undefined) {
    const cargo = await captureOutput("cargo", ["--version"]);
    if (cargo === undefined) {
      throw new ExplainedError("Rust is missing; install it from https://rustup.rs");
    }
    print(`  ${cargo}, without rustup: it must have the targets of rust-toolchain.toml`);
    return;
  }
  // rust-toolchain.toml names the toolchain, its components and its targets.
  await run("rustup", ["toolchain", "install"], { quiet: true });
  print(`  ${await captureOutput("cargo", ["--version"])}`);
}

/**
 * Returns whether the installed npm packages are older than the lock file. npm writes
 * `.package-lock.json` last, so its time is the time of the installation.
 */
function packagesAreStale() {
  const installed = join(ROOT, "node_modules/.package-lock.json");
  return (
    !existsSync(installed) ||
    statSync(installed).mtimeMs < statSync(join(ROOT, "package-lock.json")).mtimeMs
  );
}

async function packages() {
  if (packagesAreStale()) {
    await run("npm", ["ci", "--no-fund", "--no-audit"]);
  } else {
    print("  node_modules: up to date");
  }
}

/**
 * Installs the parts for the chosen purposes.
 *
 * @param {{ build?: boolean, book?: boolean, browser?: boolean, tests?: boolean, checks?: boolean,
 * stacks?: boolean, pack?: boolean }} options checks: also tools that check sources; stacks: also
 * all browsers, and the bundlers and runtimes that pages use; pack: also wasm-pack
 */
export async function setup({
  build = true,
  book = false,
  browser = false,
  tests = false,
  checks = false,
  stacks = false,
  pack = false,
}) {
  await step("set-up: Rust toolchain and targets", installRustToolchain);
  await step("set-up: npm packages", packages);
  if (build) {
    await step("set-up: wasm-bindgen", () => installTool(bindingsGeneratorTool()));
  }
  if (pack) {
    await step("set-up: wasm-pack", () => installTool(wasmPack));
  }
  if (book) {
    await step("set-up: mdBook", () => installTool(mdbook));
  }
  if (checks) {
    await step("set-up: cargo-deny", () => installTool(cargoDeny));
  }
  if (tests || browser) {
    await step("set-up: browsers", () => setupBrowser({ all: stacks }));
  }
  if (tests) {
    await step("set-up: wasm-bindgen's runner of tests", () =>
      installTool(wasmBindgenTestRunner()),
    );
    await step("set-up: PostgreSQL", setupDatabase);
    await step("set-up: nginx and Caddy", setupProxies);
  }
  if (stacks) {
    await step("set-up: geckodriver", () => installTool(geckodriver));
    await step("set-up: bundlers and runtimes", installBundlersAndRuntimes);
    await step("set-up: Python's packages for the notebook", installNotebookTools);
  }
}

if (process.argv[1] === import.meta.filename) {
  const tests = !process.argv.includes("--no-tests");
  await main(() => setup({ book: tests, tests, checks: tests, stacks: tests }));
}
