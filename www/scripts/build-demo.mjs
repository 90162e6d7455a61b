// npm run build:demo: the demo's pages, in demo-dist/. Run npm run build first.

import { readdirSync } from "node:fs";
import { copyFile, cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { ANALYSIS_GLUE, DEMO, DEMO_DIST, DIST } from "./lib/paths.mjs";
import { main, step } from "./lib/run.mjs";
import { bind, compile, optimise } from "./lib/wasm.mjs";

/** The tasks that the page is about, as files for the collector. */
export function demoTasks() {
  const directory = join(DEMO, "story/tasks");
  return readdirSync(directory).map((name) => join(directory, name));
}

/** The analysis module and its glue, which checking the pages' sources needs too. */
export async function buildAnalysis() {
  const compiled = await step("build: analysis to WebAssembly", () => compile("hushbin-demo", []));
  await step("build: analysis' bindings", () => bind(compiled, ANALYSIS_GLUE, "analysis"));
  await step("build: analysis' wasm-opt", () => optimise(ANALYSIS_GLUE, "analysis", "speed"));
}

async function bundle() {
  const { build } = await import("esbuild");
  await rm(DEMO_DIST, { recursive: true, force: true });
  const unseen = [ANALYSIS_GLUE, join(DEMO, "wasm"), join(DEMO, "tests")];
  const shown = (file) => !file.endsWith(".ts") && !unseen.includes(file);
  await cp(DEMO, DEMO_DIST, { recursive: true, filter: shown });
  await build({
    entryPoints: ["story/main", "planner/main", "planner/worker"].map((name) =>
      join(DEMO, `${name}.ts`),
    ),
    outdir: DEMO_DIST,
    bundle: true,
    // The planner's plots are loaded when there is something to plot.
    splitting: true,
    chunkNames: "parts/[name]-[hash]",
    format: "esm",
    target: "es2022",
    // The package as it is published, not its sources.
    alias: { hushbin: join(DIST, "index.js") },
    // A page that tells what it does can be read.
    sourcemap: true,
    logLevel: "warning",
  });
  await copyFile(join(ANALYSIS_GLUE, "analysis.wasm"), join(DEMO_DIST, "shared/analysis.wasm"));
}

export async function buildDemo() {
  await buildAnalysis();
  await step("build: demo pages", bundle);
}

if (process.argv[1] === import.meta.filename) {
  await main(buildDemo);
}
