// npm run build:dashboard: builds the collector's web page from www/dashboard into
// server/dashboard, which cargo includes. The result is under version control, so that cargo needs
// no Node.
//
//   node www/scripts/build-dashboard.mjs [--check]

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DASHBOARD, DASHBOARD_DIST, ROOT } from "./lib/paths.mjs";
import { ExplainedError, main, step } from "./lib/run.mjs";

/** Files that are served unchanged. */
const COPIED = ["index.html", "icon.svg"];

/**
 * Builds the page in memory.
 *
 * @returns {Promise<Map<string, string>>} texts by file name
 */
async function renderedFiles() {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: { dashboard: join(DASHBOARD, "main.ts") },
    outdir: DASHBOARD_DIST,
    absWorkingDir: ROOT,
    bundle: true,
    format: "esm",
    target: "es2022",
    // Not minified: operators can read the code that gets a token, and reviewers see each change.
    minify: false,
    // Keep the page's characters as they are.
    charset: "utf8",
    write: false,
    logLevel: "warning",
  });
  const style = await build({
    entryPoints: { dashboard: join(DASHBOARD, "style.css") },
    outdir: DASHBOARD_DIST,
    absWorkingDir: ROOT,
    bundle: true,
    target: "es2022",
    charset: "utf8",
    write: false,
    logLevel: "warning",
  });
  const bundles = [...outputFiles, ...style.outputFiles].map(
    ({ path, text }) => /** @type {const} */ ([path.replace(/^.*\//, ""), text]),
  );
  const plain = COPIED.map(
    async (name) => /** @type {const} */ ([name, await readFile(join(DASHBOARD, name), "utf8")]),
  );
  return new Map([...bundles, ...(await Promise.all(plain))]);
}

export async function buildDashboard() {
  await mkdir(DASHBOARD_DIST, { recursive: true });
  for (const [name, text] of await renderedFiles()) {
    await writeFile(join(DASHBOARD_DIST, name), text);
  }
}

/**
 * Checks that the built page under version control matches its sources.
 *
 * @throws Failed if a file differs
 */
export async function checkDashboardIsCurrent() {
  for (const [name, text] of await renderedFiles()) {
    const file = join(DASHBOARD_DIST, name);
    const there = await readFile(file, "utf8").catch(() => undefined);
    if (there !== text) {
      throw new ExplainedError(
        `server/dashboard/${name} is not what www/dashboard gives; write it: npm run build:dashboard`,
      );
    }
  }
}

if (process.argv[1] === import.meta.filename) {
  const check = process.argv.includes("--check");
  await main(() =>
    check
      ? checkDashboardIsCurrent()
      : step("build: dashboard, into server/dashboard", buildDashboard),
  );
}
