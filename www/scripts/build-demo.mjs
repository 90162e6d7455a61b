// npm run build:demo: the demo's pages, in demo-dist/. Run npm run build first.

import { readdirSync } from "node:fs";
import { copyFile, cp, rm } from "node:fs/promises";
import { join } from "node:path";
import { DEMO, DEMO_DIST, DIST, PLANNER_GLUE } from "./lib/paths.mjs";
import { main, step } from "./lib/run.mjs";
import { bind, compile, optimise } from "./lib/wasm.mjs";

/** What makes a module of the analysis crate. */
export const PLANNER = ["--features", "wasm"];

/** The tasks that the page is about, as files for the collector. */
export function demoTasks() {
  const directory = join(DEMO, "story/tasks");
  return readdirSync(directory).map((name) => join(directory, name));
}

/** The planner's module and its glue, which checking the page's sources needs too. */
export async function buildPlanner() {
  const compiled = await step("build: planner to WebAssembly", () =>
    compile("hushbin-analysis", PLANNER),
  );
  await step("build: planner's bindings", () => bind(compiled, PLANNER_GLUE, "planner"));
  await step("build: planner's wasm-opt", () => optimise(PLANNER_GLUE, "planner", "-O3"));
}

async function bundle() {
  const { build } = await import("esbuild");
  await rm(DEMO_DIST, { recursive: true, force: true });
  const shown = (file) => !file.endsWith(".ts") && !file.startsWith(PLANNER_GLUE);
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
  await copyFile(join(PLANNER_GLUE, "planner.wasm"), join(DEMO_DIST, "planner/planner.wasm"));
}

export async function buildDemo() {
  await buildPlanner();
  await step("build: demo pages", bundle);
}

if (process.argv[1] === import.meta.filename) {
  await main(buildDemo);
}
