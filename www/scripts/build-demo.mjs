// npm run build:demo: builds the demo's pages in demo-dist/. Run npm run build first.

import { readdirSync } from "node:fs";
import { copyFile, cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { ANALYSIS_GLUE_DIR, CLIENT, DEMO, DEMO_DIST, DIST } from "./lib/paths.mjs";
import { main, step } from "./lib/run.mjs";
import { compile, generateGlue, optimise } from "./lib/wasm.mjs";

/** Returns the paths of the demo's task files, which its collector loads. */
export function demoTaskFiles() {
  const directory = join(DEMO, "story/tasks");
  return readdirSync(directory).map((name) => join(directory, name));
}

/**
 * @typedef {object} Options options of a build
 * @property {boolean} [quick] builds a demo quickly, without optimising downloads
 */

/** @param {Options} [options] */
export const compileAnalysis = ({ quick = false } = {}) =>
  compile("hushbin-demo", [], quick ? "demo" : "wasm");

/**
 * Builds the analysis module in WebAssembly, and the JavaScript around it (glue). The type check of
 * the pages needs both.
 *
 * @param {Options} [options]
 */
export async function buildAnalysis({ quick = false } = {}) {
  const compiled = await step("build: analysis to WebAssembly", () => compileAnalysis({ quick }));
  await step("build: analysis' bindings", () =>
    generateGlue(compiled, ANALYSIS_GLUE_DIR, "analysis"),
  );
  await step("build: analysis' wasm-opt", () =>
    optimise(ANALYSIS_GLUE_DIR, "analysis", quick ? "none" : "speed"),
  );
}

/**
 * Returns the esbuild options that select the package for the pages. Pages get the published
 * package or, in a quick build, its sources without the core in JavaScript.
 *
 * @param {boolean} quick
 */
const packageAliasOptions = (quick) =>
  quick
    ? {
        alias: { hushbin: join(CLIENT, "index.ts") },
        // A library imports Node's module only if there is no global one.
        external: ["*fallback.js", "crypto"],
      }
    : { alias: { hushbin: join(DIST, "index.js") } };

/** @param {boolean} quick */
async function bundlePages(quick) {
  const { build } = await import("esbuild");
  await rm(DEMO_DIST, { recursive: true, force: true });
  const unseen = [ANALYSIS_GLUE_DIR, join(DEMO, "wasm"), join(DEMO, "tests")];
  const shown = (file) => !file.endsWith(".ts") && !unseen.includes(file);
  await cp(DEMO, DEMO_DIST, { recursive: true, filter: shown });
  await build({
    entryPoints: ["story/main", "planner/main", "planner/worker"].map((name) =>
      join(DEMO, `${name}.ts`),
    ),
    outdir: DEMO_DIST,
    bundle: true,
    // Splitting lets the planner load its plots only when there is something to plot.
    splitting: true,
    chunkNames: "parts/[name]-[hash]",
    format: "esm",
    target: "es2022",
    ...packageAliasOptions(quick),
    // With source maps, visitors can read the page's code.
    sourcemap: true,
    logLevel: "warning",
  });
  await copyFile(join(ANALYSIS_GLUE_DIR, "analysis.wasm"), join(DEMO_DIST, "shared/analysis.wasm"));
}

/** @param {Options} [options] */
export async function buildDemo({ quick = false } = {}) {
  await buildAnalysis({ quick });
  await step("build: demo pages", () => bundlePages(quick));
}

if (process.argv[1] === import.meta.filename) {
  await main(() => buildDemo());
}
