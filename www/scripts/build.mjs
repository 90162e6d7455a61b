// npm run build: the npm package, in dist/.
//
// cargo → wasm-bindgen → wasm-opt → esbuild and tsc. Run npm run setup first.

import { copyFile, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import { CLIENT, DIST, GLUE, ROOT, TARGET } from "./lib/paths.mjs";
import { Failed, main, run, say, step } from "./lib/run.mjs";
import { bind, compile, optimise } from "./lib/wasm.mjs";

/** "a" and "A", the letters of halves that are 0. */
const LOW = 97;
const HIGH = 65;

/**
 * The module as letters, for the entry that carries it along: two of each byte, its low
 * half from "a" and then its high half from "A". Compressed these are 600 bytes less
 * than hexadecimal digits, which are the same for either half, and 7 KB less than
 * base64, whose digits do not end where bytes do.
 */
async function embed(module) {
  const letters = Array.from(await readFile(module), (byte) =>
    String.fromCharCode(LOW + (byte & 15), HIGH + (byte >> 4)),
  ).join("");
  await writeFile(
    join(GLUE, "bytes.ts"),
    `/** The module hushbin.wasm, in letters: two of each byte, low half first. */
export const letters: string =
  "${letters}";
/** The letters of halves that are 0. */
export const LOW = ${LOW};
export const HIGH = ${HIGH};
`,
  );
}

/**
 * Leaves out of the glue what fetches and compiles a module: the client does, and
 * hands a compiled one over.
 */
async function trim() {
  const file = join(GLUE, "hushbin.js");
  const [kept, loader] = (await readFile(file, "utf8")).split("async function __wbg_load(");
  if (!loader?.includes("export { initSync, __wbg_init as default };")) {
    throw new Failed("the glue loads its module in another way than is expected");
  }
  const start = `export default async function __wbg_init({ module_or_path: module }) {
    const instance = await WebAssembly.instantiate(module, __wbg_get_imports());
    return __wbg_finalize_init(instance, module);
}
`;
  await writeFile(file, kept + start);
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
    for (const [, imported] of text.matchAll(/(?:from|import)\s*\(?"(\.[^"]+)\.js"/g)) {
      const file = posix.join(posix.dirname(name), `${imported}.d.ts`);
      if (!wanted.includes(file)) {
        wanted.push(file);
      }
    }
    await mkdir(dirname(join(DIST, name)), { recursive: true });
    await writeFile(join(DIST, name), text);
  }
}

/** The module and its glue, which checking and testing the sources needs too. */
export async function buildWasm() {
  const compiled = await step("build: core to WebAssembly", () =>
    compile("hushbin", ["--features", "wasm-module"]),
  );
  await step("build: bindings", () => bind(compiled, GLUE, "hushbin"));
  await step("build: glue", trim);
  await step("build: wasm-opt", async () => embed(await optimise(GLUE, "hushbin", "size")));
}

export async function buildPackage() {
  await buildWasm();
  await step("build: bundles", bundle);
  await step("build: declarations", declare);
  const files = (await readdir(DIST)).sort().join(" ");
  say(`  ${DIST.slice(ROOT.length + 1)}/: ${files}`);
}

if (process.argv[1] === import.meta.filename) {
  await main(buildPackage);
}
