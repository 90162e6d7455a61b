// npm run build: builds the npm package in dist/, and the publishable package in target/package/.
//
// cargo → wasm-bindgen → wasm-opt → esbuild and tsc. Run npm run setup first.

import { readFileSync } from "node:fs";
import { copyFile, cp, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import { pathToFileURL } from "node:url";
import { buildInitPlanner, bundleInit } from "./build-init.mjs";
import { fallbackScript, generateFallbackGlue } from "./lib/fallback.mjs";
import { patchGlue } from "./lib/glue.mjs";
import { integrity } from "./lib/integrity.mjs";
import { internalNamesInReference, SHORTENING_OPTIONS } from "./lib/internal-names.mjs";
import { ENTRIES, FILES_THROWING_PAGE_ERRORS, LAZY_LOADED_FILES } from "./lib/package-files.mjs";
import {
  API_REFERENCE_FILE,
  CLIENT,
  CLIENT_GLUE_DIR,
  DIST,
  NPM_PACKAGE_DIR,
  ROOT,
  TARGET,
} from "./lib/paths.mjs";
import { makeReference } from "./lib/reference.mjs";
import { npmModuleComponents, packages } from "./lib/release/components.mjs";
import { componentLicences, notices } from "./lib/release/licences.mjs";
import { ExplainedError, main, print, run, step } from "./lib/run.mjs";
import {
  compile,
  generateGlue,
  LESS_INLINING_OPTIONS,
  optimise,
  shortenNames,
} from "./lib/wasm.mjs";
import { PACKAGE_MODULES } from "./lib/wasm-modules.mjs";

/**
 * JavaScript files that wasm-bindgen generates around modules (glue). Each has a name, the class
 * that it exports, and the file of the core in JavaScript with the same functions.
 *
 * @type {readonly (readonly [glue: string, made: string, fallback: string])[]}
 */
const GLUE_FILES = [
  ["hushbin", "Randomizer", "fallback"],
  ["sums", "SumRandomizer", "sums-fallback"],
];

/**
 * Characters that encode the bytes of a module: all printable ones except space, "!", quote and
 * backslash.
 */
const BYTE_ENCODING_CHARACTERS = Array.from({ length: 127 - 35 }, (_, at) =>
  String.fromCharCode(35 + at),
)
  .filter((character) => character !== "\\")
  .join("");
/** Number of byte values that take one character each. Larger bytes take two. */
const SINGLE_CHARACTER_VALUE_COUNT = 80;

/**
 * Writes a module into a script, as a text. Small bytes, which are the most frequent, take one
 * character. Larger bytes take two.
 *
 * After compression, the text is 230 bytes shorter than with two characters for every byte. It is 7
 * KB shorter than base64, whose digits are not aligned with bytes.
 */
async function writeModuleAsText(name) {
  const { length } = BYTE_ENCODING_CHARACTERS;
  const characters = Array.from(await readFile(join(CLIENT_GLUE_DIR, `${name}.wasm`)), (byte) => {
    const rest = byte - SINGLE_CHARACTER_VALUE_COUNT;
    return rest < 0
      ? BYTE_ENCODING_CHARACTERS[byte]
      : `${BYTE_ENCODING_CHARACTERS[SINGLE_CHARACTER_VALUE_COUNT + Math.floor(rest / length)]}${BYTE_ENCODING_CHARACTERS[rest % length]}`;
  }).join("");
  await writeFile(
    join(CLIENT_GLUE_DIR, `${name}-bytes.ts`),
    `const characters =
  "${characters}";

/** The module ${name}.wasm: by a loop, which takes a tenth of Uint8Array.from's time. */
export const moduleBytes = (): Uint8Array<ArrayBuffer> => {
  const all = new Uint8Array(characters.length);
  let at = 0;
  let length = 0;
  const next = () => {
    const code = characters.charCodeAt(at++);
    return code - (code > 92 ? 36 : 35);
  };
  while (at < characters.length) {
    const first = next();
    all[length++] = first < ${SINGLE_CHARACTER_VALUE_COUNT} ? first : ${SINGLE_CHARACTER_VALUE_COUNT} + (first - ${SINGLE_CHARACTER_VALUE_COUNT}) * ${length} + next();
  }
  return all.subarray(0, length);
};
`,
  );
}

/**
 * Code that replaces the end of the glue. It starts a compiled module. It can also replace a module
 * that was started before.
 */
const START = `export default async function __wbg_init({ module_or_path: module }) {
    const instance = await WebAssembly.instantiate(module, __wbg_get_imports());
    __wbg_instance_id++;
    return __wbg_finalize_init(instance, module);
}
export const currentInstanceId = () => __wbg_instance_id;
`;
const INSTANCE_ID_DECLARATION = `
/**
 * Which start of a module this is: objects of an earlier one are dead, and must not even
 * be freed.
 */
export function currentInstanceId(): number;
`;

/**
 * Removes from the glue the code that fetches and compiles a module. The client does this itself,
 * and passes a compiled module.
 *
 * @param {string} glue
 * @param {string} made name of the class that the glue exports
 */
function trimGlue(glue, made) {
  const [kept, loader] = glue.split("async function __wbg_load(");
  const expected = "export { initSync, __wbg_init as default };";
  if (!loader?.includes(expected) || !kept?.includes("let __wbg_instance_id = 0;")) {
    throw new ExplainedError("the glue loads its module in another way than is expected");
  }
  return patchGlue(kept, made) + START;
}

const CLASSIC_SCRIPT_NAME = "hushbin.script";

/**
 * Bundles modules of the package in one format.
 *
 * @param {readonly string[]} names
 * @param {object} options of esbuild
 */
async function bundleModules(names, options) {
  const { build } = await import("esbuild");
  return build({
    entryPoints: names.map((name) => join(CLIENT, `${name}.ts`)),
    outdir: DIST,
    bundle: true,
    target: "es2022",
    platform: "browser",
    minifyIdentifiers: true,
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: "none",
    external: ["react"],
    ...SHORTENING_OPTIONS,
    logLevel: "warning",
    ...options,
  });
}

/**
 * Returns a plugin that leaves the imports of these files as they are, so that the files are not
 * bundled.
 *
 * @param {Readonly<Record<string, string>>} files names in `dist`, by the path in the import
 * @returns {import("esbuild").Plugin}
 */
const keepImports = (files) => ({
  name: "beside",
  setup({ onResolve }) {
    onResolve({ filter: /^\.\.?\// }, ({ path, kind }) => {
      const file = kind === "entry-point" ? undefined : files[path.replace(/^\.\./, ".")];
      return file === undefined ? undefined : { path: file, external: true };
    });
  },
});

/**
 * Returns a plugin for a file that is loaded later. It makes the file use the error classes of the
 * page's code, and the file `engine` also its state.
 *
 * @param {string} name
 * @returns {import("esbuild").Plugin}
 */
const sharingPlugin = (name) => ({
  name: "sharing",
  setup({ onResolve }) {
    const [filter, replacement] =
      name === "engine"
        ? [/^\.\.?\/(core-sources|errors|loaders|open-store)\.js$/, "injected-page.ts"]
        : [/^\.\.?\/errors\.js$/, "injected.ts"];
    onResolve({ filter }, ({ importer }) =>
      importer.startsWith(CLIENT) ? { path: join(CLIENT, replacement) } : undefined,
    );
  },
});

/**
 * Bundles a file so that each call of its function `inject` evaluates the file again. Two entries
 * in one page then use separate error classes in this file.
 *
 * @param {string} name
 * @param {Pick<import("esbuild").BuildOptions, "outExtension" | "plugins">} kind
 */
async function bundleAsFactory(name, { outExtension, plugins = [], ...kind }) {
  const { transform } = await import("esbuild");
  const options = {
    format: "esm",
    write: false,
    minifyIdentifiers: false,
    plugins: [...plugins, sharingPlugin(name)],
  };
  const { outputFiles } = await bundleModules([name], options);
  const [body, end] = outputFiles?.[0]?.text.split("export{inject};") ?? [];
  if (end?.trim() !== "") {
    throw new ExplainedError(`${name}.ts exports something else than inject`);
  }
  const repeatable = `export const inject = (...injected) => {${body} return inject(...injected)};`;
  const { code } = await transform(repeatable, { ...kind, minify: true, target: "es2022" });
  await writeFile(join(DIST, `${name}${outExtension?.[".js"] ?? ".js"}`), code);
}

/**
 * Plugin that makes a classic script load further files with script elements, so that the browser
 * checks the hash of each. An import of such a file resolves to the object that the file puts into
 * `hushbin.files`.
 *
 * @type {import("esbuild").Plugin}
 */
const LOAD_BY_SCRIPT_TAG_PLUGIN = {
  name: "by-element",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\.?\// }, ({ path, kind }) =>
      kind === "dynamic-import"
        ? { path: posix.basename(path, ".js"), namespace: "by-element" }
        : undefined,
    );
    onLoad({ filter: /.*/, namespace: "by-element" }, async ({ path: name }) => {
      // The shortest hash of the specification, because it is part of a script that every page
      // loads.
      const hash = integrity(await readFile(join(DIST, scriptOf(name))), "sha256");
      const load = `globalThis.hushbin.load(${JSON.stringify(name)}, ${JSON.stringify(hash)})`;
      return { contents: `export const then = (...told) => ${load}.then(...told);` };
    });
  },
};

/** @param {string} name of a file that the classic script loads */
const scriptOf = (name) => `${CLASSIC_SCRIPT_NAME}.${name}.js`;

/**
 * Plugin that leaves out Node's module `crypto`. A library imports it if there is no global
 * `crypto`. Bundlers of pages do not find the module, and every supported Node has the global
 * object.
 *
 * @type {import("esbuild").Plugin}
 */
const OMIT_NODE_CRYPTO_PLUGIN = {
  name: "without-node",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^crypto$/ }, () => ({ path: "crypto", namespace: "without-node" }));
    onLoad({ filter: /.*/, namespace: "without-node" }, () => ({
      contents: "export const webcrypto = undefined;",
    }));
  },
};

/**
 * Builds the classic scripts: the script that pages include, and the files that it loads. Each file
 * contains the hashes of the files that it loads. Also writes the hashes of all files.
 */
async function buildScripts() {
  const plugins = [OMIT_NODE_CRYPTO_PLUGIN, LOAD_BY_SCRIPT_TAG_PLUGIN];
  for (const name of LAZY_LOADED_FILES) {
    await bundleModules([name], {
      format: "iife",
      globalName: `hushbin.files["${name}"]`,
      entryNames: `${CLASSIC_SCRIPT_NAME}.${name}`,
      plugins: [...plugins, sharingPlugin(name)],
    });
  }
  await bundleModules(["script"], { format: "iife", entryNames: CLASSIC_SCRIPT_NAME, plugins });
  const all = {};
  for (const file of [`${CLASSIC_SCRIPT_NAME}.js`, ...LAZY_LOADED_FILES.map(scriptOf)]) {
    all[file] = integrity(await readFile(join(DIST, file)));
  }
  await writeFile(join(DIST, "integrity.json"), `${JSON.stringify(all, undefined, 2)}\n`);
}

const lazyFilesByImportPath = (extension) =>
  Object.fromEntries(LAZY_LOADED_FILES.map((name) => [`./${name}.js`, `./${name}${extension}`]));

async function buildBundles() {
  await rm(DIST, { recursive: true, force: true });
  const esm = {
    format: "esm",
    plugins: [
      OMIT_NODE_CRYPTO_PLUGIN,
      keepImports({
        ...lazyFilesByImportPath(".js"),
        // Tests must use the same module as the tested code.
        "./index.js": "./index.js",
        "./wasm/hushbin.wasm": "./hushbin.wasm",
        "./wasm/sums.wasm": "./sums.wasm",
      }),
    ],
  };
  const cjs = {
    format: "cjs",
    outExtension: { ".js": ".cjs" },
    plugins: [
      OMIT_NODE_CRYPTO_PLUGIN,
      keepImports({ ...lazyFilesByImportPath(".cjs"), "./index.js": "./index.cjs" }),
    ],
    // Hosts that have only `require`, such as Jest, have no `import()`.
    supported: { "dynamic-import": false },
  };
  // Keep white space. Minifying it also removes the comments by which bundlers recognise calls
  // without side effects.
  const readable = { minifyWhitespace: false, sourcemap: true };
  await bundleModules([...ENTRIES, "workerd"], { ...esm, ...readable });
  await bundleModules(ENTRIES, { ...cjs, ...readable });
  for (const kind of [esm, cjs]) {
    const others = LAZY_LOADED_FILES.filter((name) => !FILES_THROWING_PAGE_ERRORS.includes(name));
    await bundleModules(others, kind);
    for (const name of FILES_THROWING_PAGE_ERRORS) {
      await bundleAsFactory(name, kind);
    }
  }
  await buildScripts();
  const { webVitalsTask } = await import(pathToFileURL(join(DIST, "web-vitals.js")).href);
  await writeFile(
    join(DIST, "web-vitals.json"),
    `${JSON.stringify(webVitalsTask, undefined, 2)}\n`,
  );
  for (const [name] of PACKAGE_MODULES) {
    await copyFile(join(CLIENT_GLUE_DIR, `${name}.wasm`), join(DIST, `${name}.wasm`));
  }
}

const IMPORT_PATH = /(?:from|import)\s*\(?"(\.[^"]+)\.js"/g;

const DECLARATIONS_DIR = join(TARGET, "declarations");

/**
 * Builds the reference of the package's exports, for the package and the book. It needs the types
 * that {@link buildWasm} generates.
 */
export async function buildReference() {
  await rm(DECLARATIONS_DIR, { recursive: true, force: true });
  await run("tsc", ["-p", "tsconfig.client.json", "--outDir", DECLARATIONS_DIR]);
  await writeFile(API_REFERENCE_FILE, referenceText());
}

/**
 * Writes the TypeScript declarations of the entries, and of all modules that these declarations
 * import, for both module formats.
 */
async function writeDeclarations() {
  const wanted = [...ENTRIES, "fallback"].map((name) => `${name}.d.ts`);
  for (const name of wanted) {
    const text = await readFile(join(DECLARATIONS_DIR, name), "utf8");
    for (const [, imported] of text.matchAll(IMPORT_PATH)) {
      const file = posix.join(posix.dirname(name), `${imported}.d.ts`);
      if (!wanted.includes(file)) {
        wanted.push(file);
      }
    }
    await mkdir(dirname(join(DIST, name)), { recursive: true });
    await writeFile(join(DIST, name), text);
    const cjs = text.replace(IMPORT_PATH, (found) => found.replace(/\.js"$/, '.cjs"'));
    await writeFile(join(DIST, name.replace(/\.d\.ts$/, ".d.cts")), cjs);
  }
}

/**
 * Returns the text of the reference of the package's exports.
 *
 * @throws Failed if an export has no comment
 */
function referenceText() {
  const entries = Object.fromEntries(
    [...ENTRIES, "fallback"].map((name) => [
      name,
      name === "index" ? "hushbin" : `hushbin/${name}`,
    ]),
  );
  const { text, lacking } = makeReference(entries, (file) =>
    readFileSync(join(DECLARATIONS_DIR, `${file}.d.ts`), "utf8"),
  );
  if (lacking.length > 0) {
    throw new ExplainedError(`exported without a comment:\n${lacking.join("\n")}`);
  }
  const internal = internalNamesInReference(text);
  if (internal.length > 0) {
    throw new ExplainedError(`exported, but shortened by the build: ${internal.join(", ")}`);
  }
  return text;
}

/** Third-party packages that are bundled into the files `sealing` and `x25519`. */
export const BUNDLED_NPM_PACKAGES = ["@hpke/core", "@hpke/common", "@hpke/dhkem-x25519"];

/** Returns the licences of the bundled packages, and of the crates in the modules. */
async function thirdPartyLicences() {
  const modules = join(ROOT, "node_modules");
  const licences = BUNDLED_NPM_PACKAGES.map(async (name) => {
    const text = await readFile(join(modules, name, "LICENSE"), "utf8");
    return `${name}\n\n${text.trim()}\n`;
  });
  const checkout = { folder: ROOT };
  const { thirdParty } = await npmModuleComponents(checkout);
  const { folders } = await packages(checkout);
  return `dist/sealing.*, dist/x25519.* and their kin of hushbin.script hold code of others.

${(await Promise.all(licences)).join("\n\n")}

Parts of these are based on noble-curves and noble-hashes, MIT License (c) 2022 Paul Miller
(paulmillr.com), whose terms are the same.

${notices(
  `The modules, as files, as characters and in JavaScript, are compiled of these crates, and of core and
alloc, which are Rust's own, MIT or Apache-2.0.`,
  componentLicences(thirdParty, folders),
)}`;
}

/**
 * Writes the publishable package into a separate folder. It has the README for users instead of the
 * one of this repository. Fields of package.json that only this repository needs are left out.
 */
async function assemblePublishablePackage() {
  await rm(NPM_PACKAGE_DIR, { recursive: true, force: true });
  await cp(DIST, join(NPM_PACKAGE_DIR, "dist"), { recursive: true });
  const licences = (await readdir(ROOT)).filter((name) => name.startsWith("LICENSE-"));
  for (const name of ["CHANGELOG.md", ...licences]) {
    await copyFile(join(ROOT, name), join(NPM_PACKAGE_DIR, name));
  }
  await copyFile(join(CLIENT, "README.md"), join(NPM_PACKAGE_DIR, "README.md"));
  await writeFile(join(NPM_PACKAGE_DIR, "LICENSE-THIRD-PARTY"), await thirdPartyLicences());
  await copyFile(API_REFERENCE_FILE, join(NPM_PACKAGE_DIR, "API.md"));
  const manifest = JSON.parse(await readFile(join(ROOT, "package.json"), "utf8"));
  for (const own of ["private", "scripts", "devDependencies", "overrides", "allowScripts"]) {
    delete manifest[own];
  }
  await writeFile(join(NPM_PACKAGE_DIR, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Returns the temporary folder in which a module and the JavaScript around it (glue) are made. */
const glueFolder = (name) => join(TARGET, "glue", name);

/**
 * Writes the JavaScript around the modules (glue). Modules that share a glue must yield the same
 * text. The end of this text is replaced by the code that the client expects. The original names of
 * shortened imports and exports are stored for tests.
 *
 * @param {ReadonlyMap<string, object>} names by module
 */
async function writeGlue(names) {
  await rm(CLIENT_GLUE_DIR, { recursive: true, force: true });
  await mkdir(CLIENT_GLUE_DIR, { recursive: true });
  for (const [own, made, fallback] of GLUE_FILES) {
    const modules = PACKAGE_MODULES.filter(([, glue]) => glue === own).map(([name]) => name);
    const files = modules.map((name) => readFile(join(glueFolder(name), "hushbin.js"), "utf8"));
    const [first = "", ...others] = await Promise.all(files);
    if (others.some((other) => other !== first)) {
      throw new ExplainedError("the modules differ in their glue");
    }
    await writeFile(join(CLIENT_GLUE_DIR, `${own}.js`), trimGlue(first, made));
    await writeFile(join(CLIENT_GLUE_DIR, `${own}-names.json`), JSON.stringify(names.get(own)));
    const types = await readFile(join(glueFolder(own), "hushbin.d.ts"), "utf8");
    for (const name of [own, fallback]) {
      await writeFile(join(CLIENT_GLUE_DIR, `${name}.d.ts`), types + INSTANCE_ID_DECLARATION);
    }
  }
}

/**
 * Builds the WebAssembly modules and the JavaScript around them (glue). Type checks and tests of
 * the sources need both too.
 *
 * @param {{ quick?: boolean }} [options] quick: for the demo; not optimised, and without the core
 * in JavaScript
 */
export async function buildWasm({ quick = false } = {}) {
  for (const [name, , features] of PACKAGE_MODULES) {
    const compiled = await step(`build: core to WebAssembly, ${name}`, () =>
      compile(
        "hushbin",
        features,
        quick ? "demo" : "wasm",
        name === "sums" ? [] : LESS_INLINING_OPTIONS,
      ),
    );
    await step(`build: bindings, ${name}`, async () => {
      await generateGlue(compiled, glueFolder(name), "hushbin");
      const [, , fallback] = GLUE_FILES.find(([own]) => own === name) ?? [];
      if (fallback !== undefined && !quick) {
        await generateFallbackGlue(compiled, glueFolder(fallback));
      }
    });
  }
  const names = await step("build: wasm-opt", () =>
    Promise.all(
      PACKAGE_MODULES.map(async ([name]) => {
        const names = await shortenNames(glueFolder(name), "hushbin");
        await optimise(glueFolder(name), "hushbin", quick ? "none" : "size");
        return /** @type {const} */ ([name, names]);
      }),
    ),
  );
  await step("build: glue", () => writeGlue(new Map(names)));
  for (const [name] of PACKAGE_MODULES) {
    await copyFile(join(glueFolder(name), "hushbin.wasm"), join(CLIENT_GLUE_DIR, `${name}.wasm`));
    await writeModuleAsText(name);
  }
  if (quick) {
    return;
  }
  await step("build: the core in JavaScript", async () => {
    for (const [, made, fallback] of GLUE_FILES) {
      const script = await fallbackScript(glueFolder(fallback), made);
      await writeFile(join(CLIENT_GLUE_DIR, `${fallback}.js`), script);
    }
  });
}

/**
 * Builds the published files from the sources, and from the modules that {@link buildWasm} has
 * made.
 */
export async function buildFiles() {
  await step("build: bundles", buildBundles);
  await step("build: command", bundleInit);
  await step("build: reference", buildReference);
  await step("build: declarations", writeDeclarations);
  await step("build: package", assemblePublishablePackage);
}

export async function buildPackage() {
  await buildWasm();
  await buildInitPlanner();
  await buildFiles();
  const files = (await readdir(DIST)).sort().join(" ");
  print(`  ${DIST.slice(ROOT.length + 1)}/: ${files}`);
}

if (process.argv[1] === import.meta.filename) {
  await main(buildPackage);
}
