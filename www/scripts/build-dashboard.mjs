// npm run build:dashboard: the collector's page, of www/dashboard, into server/dashboard, where
// cargo finds it. What is written is under version control, so that cargo needs no Node.
//
//   node www/scripts/build-dashboard.mjs [--check]

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DASHBOARD, DASHBOARD_DIST, ROOT } from "./lib/paths.mjs";
import { Failed, main, step } from "./lib/run.mjs";

/** What is served as it is written. */
const PLAIN = ["index.html", "icon.svg"];

/** @returns {Promise<Map<string, string>>} what the sources give, by name */
async function made() {
  const { build } = await import("esbuild");
  const { outputFiles } = await build({
    entryPoints: { dashboard: join(DASHBOARD, "main.ts") },
    outdir: DASHBOARD_DIST,
    absWorkingDir: ROOT,
    bundle: true,
    format: "esm",
    target: "es2022",
    // Whoever signs in can read what gets the token, and whoever reviews a change what changes.
    minify: false,
    // Words of the page as they are.
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
  const plain = PLAIN.map(
    async (name) => /** @type {const} */ ([name, await readFile(join(DASHBOARD, name), "utf8")]),
  );
  return new Map([...bundles, ...(await Promise.all(plain))]);
}

export async function buildDashboard() {
  await mkdir(DASHBOARD_DIST, { recursive: true });
  for (const [name, text] of await made()) {
    await writeFile(join(DASHBOARD_DIST, name), text);
  }
}

/** @throws Failed where what is under version control is not what the sources give */
export async function checkDashboard() {
  for (const [name, text] of await made()) {
    const file = join(DASHBOARD_DIST, name);
    const there = await readFile(file, "utf8").catch(() => undefined);
    if (there !== text) {
      throw new Failed(
        `server/dashboard/${name} is not what www/dashboard gives; write it: npm run build:dashboard`,
      );
    }
  }
}

if (process.argv[1] === import.meta.filename) {
  const check = process.argv.includes("--check");
  await main(() =>
    check ? checkDashboard() : step("build: dashboard, into server/dashboard", buildDashboard),
  );
}
