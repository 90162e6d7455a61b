// Builds the command `npx hushbin init` of the npm package, with its planner in WebAssembly. No
// page loads either.

import { copyFile } from "node:fs/promises";
import { join } from "node:path";
import { DIST, INIT, INIT_GLUE_DIR, ROOT } from "./lib/paths.mjs";
import { pathRemapOptions } from "./lib/release/source.mjs";
import { step, withPath } from "./lib/run.mjs";
import { compile, generateGlue, optimise } from "./lib/wasm.mjs";
import { INIT_MODULE_CRATE } from "./lib/wasm-modules.mjs";

/** Builds the planner, and the JavaScript around it (glue). Type checks of the command need both. */
export async function buildInitPlanner() {
  const compiled = await step("build: planner of init to WebAssembly", async () => {
    // Messages of panics contain paths, which must be the same on every machine.
    const remapping = await pathRemapOptions(ROOT, withPath());
    return compile(INIT_MODULE_CRATE, [], "wasm-size", [], remapping);
  });
  await step("build: planner of init, bindings and wasm-opt", async () => {
    await generateGlue(compiled, INIT_GLUE_DIR, "planner");
    // The passes for size would take a minute, and save less than one per cent.
    await optimise(INIT_GLUE_DIR, "planner", "speed");
  });
}

/** Bundles the command into `dist`, together with its planner. */
export async function bundleInit() {
  const { build } = await import("esbuild");
  await build({
    entryPoints: { init: join(INIT, "main.ts") },
    outdir: DIST,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "es2022",
    logLevel: "warning",
  });
  await copyFile(join(INIT_GLUE_DIR, "planner.wasm"), join(DIST, "planner.wasm"));
}
