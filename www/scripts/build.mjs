// npm run build: the npm package, in dist/.
//
// cargo → wasm-bindgen → wasm-opt → esbuild and tsc. Run npm run setup first.

import { copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CLIENT, DIST, GLUE, ROOT, TARGET } from "./lib/paths.mjs";
import { main, run, step, withPath } from "./lib/run.mjs";
import { requireTool, wasmBindgen } from "./lib/tools.mjs";

/** SHA-256 hashes a task once; unrolled it would be 8 KB of the download. */
const RUSTFLAGS = '--cfg sha2_backend_soft="compact"';

/**
 * What rustc's wasm32 target uses, which wasm-opt must know and may use, and
 * nothing newer: Chrome 96, Firefox 89, Safari 15.
 */
export const FEATURES = [
  "bulk-memory",
  "bulk-memory-opt",
  "call-indirect-overlong",
  "multivalue",
  "mutable-globals",
  "nontrapping-float-to-int",
  "reference-types",
  "sign-ext",
];

async function compile() {
  const target = "wasm32-unknown-unknown";
  await run(
    "cargo",
    [
      ...["rustc", "--lib", "--crate-type", "cdylib", "--features", "wasm-module"],
      ...["--profile", "wasm", "--target", target],
    ],
    { env: { ...withPath(), RUSTFLAGS } },
  );
  return join(TARGET, target, "wasm/hushbin.wasm");
}

/** Generates the glue and the module into the client's sources. */
async function bind(compiled) {
  await rm(GLUE, { recursive: true, force: true });
  await run(
    "wasm-bindgen",
    [
      compiled,
      ...["--target", "web", "--out-dir", GLUE, "--out-name", "hushbin"],
      // No `new URL(…, import.meta.url)`, which bundlers would chase.
      "--omit-default-module-path",
      "--experimental-reset-state-function",
      ...["--remove-name-section", "--remove-producers-section"],
    ],
    { env: await requireTool(wasmBindgen()) },
  );
}

async function optimise() {
  const bound = join(GLUE, "hushbin_bg.wasm");
  const module = join(GLUE, "hushbin.wasm");
  const features = FEATURES.map((feature) => `--enable-${feature}`);
  await run("wasm-opt", [
    ...["-Oz", "--mvp-features", ...features],
    ...["--strip-debug", "--strip-producers", "--strip-target-features"],
    ...[bound, "-o", module],
  ]);
  await rm(bound);
  await rm(`${bound}.d.ts`);
  const base64 = (await readFile(module)).toString("base64");
  await writeFile(
    join(GLUE, "bytes.ts"),
    `/** The module hushbin.wasm, in base64. */\nexport const bytes: string =\n  "${base64}";\n`,
  );
}

async function bundle() {
  const { build } = await import("esbuild");
  await rm(DIST, { recursive: true, force: true });
  await build({
    entryPoints: ["index", "slim"].map((name) => join(CLIENT, `${name}.ts`)),
    outdir: DIST,
    bundle: true,
    format: "esm",
    target: "es2022",
    platform: "browser",
    minify: true,
    sourcemap: true,
    legalComments: "none",
    logLevel: "warning",
  });
  await copyFile(join(GLUE, "hushbin.wasm"), join(DIST, "hushbin.wasm"));
}

/** Declarations, of the modules that the entries' declarations reach. */
async function declare() {
  const all = join(TARGET, "declarations");
  await rm(all, { recursive: true, force: true });
  await run("tsc", ["-p", "tsconfig.client.json", "--outDir", all]);
  const wanted = ["index.d.ts", "slim.d.ts"];
  for (const name of wanted) {
    const text = await readFile(join(all, name), "utf8");
    for (const [, imported] of text.matchAll(/(?:from|import)\s*\(?"\.\/([^"]+)\.js"/g)) {
      const file = `${imported}.d.ts`;
      if (!wanted.includes(file)) {
        wanted.push(file);
      }
    }
    await mkdir(DIST, { recursive: true });
    await writeFile(join(DIST, name), text);
  }
}

/** The module and its glue, which checking and testing the sources needs too. */
export async function buildWasm() {
  const compiled = await step("build: core to WebAssembly", compile);
  await step("build: bindings", () => bind(compiled));
  await step("build: wasm-opt", optimise);
}

export async function buildPackage() {
  await buildWasm();
  await step("build: bundles", bundle);
  await step("build: declarations", declare);
  const files = (await readdir(DIST)).sort().join(" ");
  console.log(`  ${DIST.slice(ROOT.length + 1)}/: ${files}`);
}

if (process.argv[1] === import.meta.filename) {
  await main(buildPackage);
}
