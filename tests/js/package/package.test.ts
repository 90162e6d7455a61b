/** The package as npm would publish it: packed, installed, loaded, bundled and type-checked. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type BuildOptions, build, transform } from "esbuild";
import { publint } from "publint";
import { formatMessage } from "publint/utils";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launchChromium } from "../../../www/scripts/lib/browser.mjs";
import { LAZY_LOADED_FILES } from "../../../www/scripts/lib/package-files.mjs";
import {
  CLIENT_GLUE_DIR,
  NPM_BIN_DIR,
  NPM_PACKAGE_DIR,
  ROOT,
} from "../../../www/scripts/lib/paths.mjs";
import { serve } from "../../../www/scripts/lib/serve.mjs";
import { FEATURES } from "../../../www/scripts/lib/wasm.mjs";

let project: string;
let tarball: string;

const run = (program: string, args: readonly string[], cwd = project) =>
  execFileSync(program, args, { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

/** Short names that modules and the glue use. */
const namesOf = (glue: string): Readonly<Record<string, string>> =>
  JSON.parse(readFileSync(join(CLIENT_GLUE_DIR, `${glue}-names.json`), "utf8"));

const installed = (file: string) => join(project, "node_modules/hushbin", file);

const TASK = JSON.stringify({
  id: "settings",
  items: ["dark-mode", "autoplay"],
  sparsity: 1,
  epsilon: 2,
  value: "sign",
  mechanism: { name: "collision", rule: "heaviest", favoured: 1, hashing: "balanced", buckets: 8 },
});

const CLIPPED = JSON.stringify({
  name: "hash-bin",
  level: "user",
  clip: 0.5,
  noise: "two-point",
  hashing: "balanced",
  bins: 1,
  grid: 256,
});

const SUMS = JSON.stringify({
  id: "timings",
  trust: "shuffler",
  epsilon: 1,
  delta: 1e-6,
  people: 1000,
  numbers: [{ name: "load", min: 0, max: 10 }],
  messages: { levels: 8, drawn: 1, trials: 1, threshold: "4611686018427387904", noise: 2 },
});

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), "hushbin-package-"));
  const [packed] = JSON.parse(
    run(
      "npm",
      ["pack", "--json", "--ignore-scripts", "--pack-destination", project],
      NPM_PACKAGE_DIR,
    ),
  );
  tarball = join(project, packed.filename);
  writeFileSync(
    join(project, "package.json"),
    JSON.stringify({ name: "consumer", private: true, type: "module" }),
  );
  run("npm", ["install", "--offline", "--no-audit", "--no-fund", tarball]);
});

afterAll(() => rmSync(project, { recursive: true, force: true }));

describe("the tarball", () => {
  it("holds what is published and nothing else", () => {
    const files = run("tar", ["-tzf", tarball]).trim().split("\n").sort();
    const code = files.filter((file) => !/^package\/(API|README|LICENSE|CHANGELOG)/.test(file));
    const declared = [
      ...[
        "budget",
        "bytes",
        "consent",
        "client-interface",
        "consent-state",
        "core-sources",
        "create-client",
        "engine-loader",
        "errors",
        "exports",
        "fallback",
      ],
      ...["history", "history/client-texts", "history/facts", "history/words"],
      ...["index", "input", "loaders"],
      ...["mechanism/coco", "mechanism/collision", "mechanism/hash-bin", "mechanism/index"],
      ...["mechanism/pattern", "mechanism/window", "options", "question"],
      ...["randomizer", "react", "receipt", "results", "slim"],
      ...["store/store", "sums/input", "sums/privacy", "sums/randomizer", "sums/task", "task"],
      ...["task-log", "testing", "web-vitals", "web-vitals-thresholds"],
    ];
    const entries = [
      ...["consent", "history", "index", "react", "slim", "task-log", "testing", "web-vitals"],
    ];
    const lazy = LAZY_LOADED_FILES;
    const bundled = [...entries, ...lazy];
    const mapped = [...entries.flatMap((name) => [`${name}.cjs`, `${name}.js`]), "workerd.js"];
    const scripts = ["hushbin.script.js", ...lazy.map((name) => `hushbin.script.${name}.js`)];
    const expected = [
      ...declared.flatMap((name) => [`dist/${name}.d.cts`, `dist/${name}.d.ts`]),
      ...bundled.flatMap((name) => [`dist/${name}.cjs`, `dist/${name}.js`]),
      ...["dist/workerd.js", ...mapped.map((name) => `dist/${name}.map`)],
      ...[...scripts, "integrity.json", "web-vitals.json"].map((name) => `dist/${name}`),
      ...["dist/hushbin.wasm", "dist/collision.wasm", "dist/sums.wasm", "package.json"],
      // The command, which no page loads.
      ...["dist/init.js", "dist/planner.wasm"],
    ];
    expect(code).toEqual(expected.map((file) => `package/${file}`).sort());
  });

  it("says whose code is bundled, under which licence", () => {
    const text = readFileSync(installed("LICENSE-THIRD-PARTY"), "utf8");
    for (const part of ["@hpke/core", "Ajitomi Daisuke", "Paul Miller", "MIT License"]) {
      expect(text).toContain(part);
    }
  });

  it("names no module of Node's in what seals, which bundlers of pages do not find", () => {
    const lazy = ["shuffled", "sealing", "x25519", "oblivious", "sums"];
    for (const name of lazy.flatMap((own) => [`${own}.js`, `${own}.cjs`])) {
      const text = readFileSync(installed(`dist/${name}`), "utf8");
      const imported = [...text.matchAll(/(?:import|require)\("([^"]+)"\)/g)].map(
        (found) => found[1],
      );
      expect(
        imported.filter((path) => !path?.startsWith("./")),
        name,
      ).toEqual([]);
    }
    const text = (name: string) => readFileSync(installed(`dist/${name}.js`), "utf8");
    expect(text("index")).toContain('import("./shuffled.js")');
    expect(text("shuffled")).toContain('import("./sealing.js")');
    expect(text("shuffled")).toContain('import("./sums.js")');
    // Ciphers occur in one file only, also for requests through a relay.
    expect(text("oblivious")).not.toContain("AES-GCM-");
    // Errors do, too, so that `instanceof` works.
    for (const name of LAZY_LOADED_FILES) {
      expect(text(name), name).not.toContain('"SealingError"');
    }
  });

  it("has no syntax that the oldest stated browsers lack", async () => {
    const reference = readFileSync(join(ROOT, "www/docs/src/page/stacks.md"), "utf8");
    const [, ...versions] =
      /Browsers are Chrome (\d+), Firefox (\d+), Safari (\d+) or later/.exec(reference) ?? [];
    const target = ["chrome", "firefox", "safari"].map((name, at) => `${name}${versions[at]}`);
    const files = readdirSync(installed("dist")).filter((file) => file.endsWith(".js"));
    const old = [];
    for (const file of files) {
      const text = readFileSync(installed(`dist/${file}`), "utf8");
      const [own, all] = await Promise.all(
        [target, "esnext"].map((each) =>
          transform(text, {
            target: each,
            // All of them have these. The tables of esbuild name no version.
            supported: { "regexp-unicode-property-escapes": true },
          }),
        ),
      );
      if (own?.code !== all?.code) {
        old.push(file);
      }
    }
    expect(files.length).toBeGreaterThan(10);
    expect(old).toEqual([]);
  });

  it("has no dependencies", () => {
    const { dependencies, optionalDependencies, ...peer } = JSON.parse(
      readFileSync(installed("package.json"), "utf8"),
    );
    expect({ dependencies, optionalDependencies }).toEqual({});
    // Only `hushbin/react` needs React.
    expect(peer.peerDependencies).toEqual({ react: ">=18" });
    expect(peer.peerDependenciesMeta).toEqual({ react: { optional: true } });
  });

  it("satisfies publint", async () => {
    const bytes = readFileSync(tarball);
    const { messages, pkg } = await publint({
      pack: { tarball: bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) },
      strict: true,
    });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  });

  it("has types that every resolution finds", () => {
    // Wasm has no types. The oldest resolution knows only `main` and `types`.
    const modules = ["hushbin.wasm", "collision.wasm"];
    const args = ["--profile", "node16", "--exclude-entrypoints", ...modules];
    run(join(NPM_BIN_DIR, "attw"), [tarball, ...args], ROOT);
  });
});

const OF_REPORTS = [
  "__wbg_randomizer_free",
  "digest",
  "randomizer_draw_memo",
  "randomizer_new",
  "randomizer_randomize",
  "randomizer_randomize_memo",
  "randomizer_sampled_down",
  "randomizer_upload_header",
];
const OF_SUMS = [
  "__wbg_sumrandomizer_free",
  "digest",
  "sumrandomizer_clipped",
  "sumrandomizer_left",
  "sumrandomizer_new",
  "sumrandomizer_randomize",
  "sumrandomizer_upload_header",
];

describe.each([
  ["hushbin.wasm", "hushbin", OF_REPORTS],
  ["collision.wasm", "hushbin", OF_REPORTS],
  ["sums.wasm", "sums", OF_SUMS],
] as const)("the module %s", (name, glue, bindings) => {
  const wasm = () => new WebAssembly.Module(readFileSync(installed(`dist/${name}`)));
  const names = namesOf(glue);

  it("exports the bindings, and no way to hand a seed in", () => {
    const exported = WebAssembly.Module.exports(wasm())
      .filter(({ kind }) => kind === "function")
      .map(({ name }) => names[name] ?? name)
      .filter((name) => !/^__(wbindgen|externref_table)_/.test(name));
    expect(exported.sort()).toEqual(bindings);
  });

  it("imports randomness and nothing else of the world", () => {
    const imported = WebAssembly.Module.imports(wasm()).map(({ name }) => names[name] ?? name);
    const worldly = imported.filter((name) => !/^__wbindgen_|^__wbg___wbindgen_throw_/.test(name));
    expect(worldly).toHaveLength(1);
    expect(worldly[0]).toMatch(/^__wbg_getRandomValues_/);
  });

  it("uses only what the stated browsers have", () => {
    // wasm-opt refuses a module that uses any other feature.
    const features = FEATURES.map((feature) => `--enable-${feature}`);
    const args = [installed(`dist/${name}`), "--mvp-features", ...features];
    run(join(NPM_BIN_DIR, "wasm-opt"), [...args, "-o", join(project, "checked.wasm")]);
  });
});

describe("in Node, by require", () => {
  const evaluate = (script: string) =>
    run(process.execPath, ["--input-type=commonjs", "--eval", script]).trim();

  it("is loaded where there is neither TextDecoder nor WebAssembly, as in Jest", () => {
    const script = `
      for (const name of ["TextDecoder", "TextEncoder", "WebAssembly", "fetch", "crypto"]) {
        Reflect.deleteProperty(globalThis, name);
      }
      const names = () => Reflect.ownKeys(globalThis).map(String).sort().join();
      const before = names();
      const { createClient } = require("hushbin");
      const { initialize } = require("hushbin/slim");
      console.log(typeof createClient, typeof initialize, before === names());`;
    expect(evaluate(script)).toBe("function function true");
  });

  it.each(["", "TextDecoder", "TextEncoder", "WebAssembly"])("works without: %s", (missing) => {
    const script = `
      Reflect.deleteProperty(globalThis, "${missing}");
      const { createRandomizer } = require("hushbin");
      (async () => {
        for (const mechanism of [${TASK}.mechanism, ${CLIPPED}]) {
          const randomizer = await createRandomizer({ task: { ...${TASK}, mechanism } });
          console.log(randomizer.randomize({ "dark-mode": 1 }).length);
        }
        const plain = { ...${TASK}, mechanism: { ...${TASK}.mechanism, hashing: "independent" } };
        const open = await createRandomizer({ task: { ...plain, items: "open" } });
        console.log(open.randomize({ "Ü\u{1f600}": 1 }).length);
      })();`;
    expect(evaluate(script)).toBe("9\n9\n9");
  });

  it("works beside the module that import gives", () => {
    const script = `
      const required = require("hushbin");
      import("hushbin").then(async (imported) => {
        const makers = [required, imported];
        const both = await Promise.all(makers.map((each) => each.createRandomizer({ task: ${TASK} })));
        for (let round = 0; round < 3; round += 1) {
          console.log(both.map((each) => each.randomize({ autoplay: 1 }).length).join());
        }
        const code = (each) => each.createRandomizer({ task: {} }).catch(({ code }) => code);
        console.log((await Promise.all(makers.map(code))).join());
      });`;
    expect(evaluate(script)).toBe("9,9\n9,9\n9,9\ninvalid-task,invalid-task");
  });
});

describe("in workerd", () => {
  it("imports its module as a file, and compiles no bytes", async () => {
    const { metafile, outputFiles } = await build({
      stdin: {
        contents: `import { createRandomizer } from "hushbin"; export default createRandomizer;`,
        resolveDir: project,
      },
      bundle: true,
      write: false,
      minify: true,
      format: "esm",
      conditions: ["workerd", "worker", "browser"],
      external: ["*.wasm"],
      metafile: true,
    });
    const [{ imports = [] } = {}] = Object.values(metafile.outputs);
    expect(imports.map(({ path }) => path)).toEqual(["./hushbin.wasm", "./sums.wasm"]);
    // Runs as in workerd: with the compiled module, and without any other compilation.
    const name = join(project, "worker.mjs");
    const text = outputFiles[0]?.text ?? "";
    writeFileSync(
      name,
      // Short names of the bundler may contain "$".
      text.replace(/import ?([\w$]+) ?from ?"\.\/(\w+)\.wasm";/g, "const $1=globalThis.files.$2;"),
    );
    const script = `
      import { readFileSync } from "node:fs";
      const read = (name) => readFileSync(${JSON.stringify(installed("dist/"))} + name + ".wasm");
      const [hushbin, sums] = ["hushbin", "sums"].map((name) => new WebAssembly.Module(read(name)));
      globalThis.files = { hushbin, sums };
      WebAssembly.compile = () => { throw new Error("no bytes at run time"); };
      const { default: createRandomizer } = await import(${JSON.stringify(name)});
      for (const mechanism of [${TASK}.mechanism, ${CLIPPED}]) {
        const randomizer = await createRandomizer({ task: { ...${TASK}, mechanism } });
        console.log(randomizer.randomize({ autoplay: 1 }).length);
      }
      const randomizer = await createRandomizer({ task: ${SUMS} });
      console.log(randomizer.randomize({ load: 5 }).length);`;
    expect(run(process.execPath, ["--input-type=module", "--eval", script]).trim()).toBe(
      "9\n9\n10",
    );
  });
});

describe("in Node", () => {
  const evaluate = (script: string) =>
    run(process.execPath, ["--input-type=module", "--eval", script]).trim();

  it("is imported without effects", () => {
    const script = `
      const names = () => Reflect.ownKeys(globalThis).map(String).sort().join();
      const before = names();
      WebAssembly.compile = WebAssembly.Module = fetch = () => { throw new Error("too early"); };
      await import("hushbin");
      await import("hushbin/slim");
      await import("hushbin/history");
      console.log(before === names());`;
    expect(evaluate(script)).toBe("true");
  });

  it("works", () => {
    const script = `
      import { createRandomizer, UnknownItemError } from "hushbin";
      const randomizer = await createRandomizer({ task: ${TASK} });
      console.log(randomizer.randomize({ "dark-mode": 1 }).length);
      try { randomizer.randomize({ typo: 1 }); }
      catch (error) { console.log(error instanceof UnknownItemError, error.name); }`;
    expect(evaluate(script)).toBe("9\ntrue UnknownItemError");
  });

  it("works without buckets too", () => {
    const script = `
      import { createRandomizer } from "hushbin";
      const task = { ...${TASK}, mechanism: ${CLIPPED} };
      const randomizer = await createRandomizer({ task });
      const report = randomizer.randomize({ "dark-mode": 1, autoplay: -1 });
      console.log(report.length, report[8] <= 1, randomizer.sampledDown);
      const wrong = { ...task, mechanism: { ...task.mechanism, clip: 0.3 } };
      await createRandomizer({ task: wrong }).catch(({ code }) => console.log(code));`;
    expect(evaluate(script)).toBe("9 true 0\ninvalid-task");
  });

  it("sums, by import and by require, and without WebAssembly", () => {
    const made = `(await createRandomizer({ task: ${SUMS} })).randomize({ load: 5 }).length`;
    const imported = `import { createRandomizer } from "hushbin";`;
    expect(evaluate(`${imported} console.log(${made});`)).toBe("10");
    const required = `import { createRequire } from "node:module";
      const { createRandomizer } = createRequire(import.meta.url)("hushbin");`;
    expect(evaluate(`${required} console.log(${made});`)).toBe("10");
    const slim = `import { createRandomizer } from "hushbin/slim";`;
    expect(evaluate(`${slim} console.log(${made});`)).toBe("10");
    const without = `Reflect.deleteProperty(globalThis, "WebAssembly");`;
    expect(evaluate(`${imported} ${without} console.log(${made});`)).toBe("10");
  });

  it.each([
    ["import", `import * as hushbin from "hushbin";`],
    ["import, slim", `import * as hushbin from "hushbin/slim";`],
    [
      "require",
      `import { createRequire } from "node:module";
       const hushbin = createRequire(import.meta.url)("hushbin");`,
    ],
  ])("has one class of each error, whichever file throws it: by %s", (_, loaded) => {
    const script = `${loaded}
      const { createClient, createRandomizer, HushbinError } = hushbin;
      const sums = ${SUMS};
      const name = async (work) => {
        const error = await Promise.resolve().then(work).catch((error) => error);
        return error instanceof HushbinError && error instanceof hushbin[error.name]
          ? error.name : String(error);
      };
      const made = (options) => createClient({
        endpoint: "https://shuffler.example", task: sums, trust: "shuffler", consent: true,
        analyser: ["0".repeat(32)], fetch: async () => Response.json({ keys: [] }), ...options,
      });
      const randomizer = await createRandomizer({ task: sums });
      console.log((await Promise.all([
        name(() => createRandomizer({ task: { ...sums, people: "many" } })),
        name(() => createRandomizer({ task: { ...sums, people: 2 } })),
        name(() => randomizer.randomize({ load: "1" })),
        name(() => randomizer.randomize({ laod: 1 })),
        name(() => made({}).ready()),
        name(() => made({ analyser: [] }).ready()),
        name(() => made({ relay: { url: "x", gateway: "y" } }).ready()),
        name(() => made({ maxCentralEpsilon: 0.5 }).ready()),
        name(() => made({ storage: "memory", fetch: async () => new Response("", { status: 500 }) }).flush()),
        name(() => { randomizer.free(); randomizer.randomize({ load: 1 }); }),
      ])).join());
      process.exit();`;
    expect(evaluate(script)).toBe(
      "TaskError,TaskError,AnswerError,UnknownItemError,SealingError,OptionError,OptionError," +
        "TaskError,NetworkError,ClosedError",
    );
  });

  it.each([
    ["import", `import * as hushbin from "hushbin"; import * as slim from "hushbin/slim";`],
    [
      "require",
      `import { createRequire } from "node:module";
       const require = createRequire(import.meta.url);
       const [hushbin, slim] = [require("hushbin"), require("hushbin/slim")];`,
    ],
  ])("throws each entry's own errors where both are loaded: by %s", (_, loaded) => {
    const script = `${loaded}
      const sums = ${SUMS};
      const entries = [hushbin, slim, hushbin];
      const randomizers = [];
      for (const { createRandomizer } of entries) {
        randomizers.push(await createRandomizer({ task: sums }));
      }
      const name = (own) => (error) => error instanceof own.HushbinError
        && error instanceof own[error.name] ? error.name : String(error);
      const made = ({ createClient }) => createClient({
        endpoint: "https://shuffler.example", task: sums, trust: "shuffler", consent: true,
        analyser: ["0".repeat(32)], fetch: async () => Response.json({ keys: [] }),
      });
      const told = entries.map((own, at) => {
        try { randomizers[at].randomize({ load: "1" }); } catch (error) { return name(own)(error); }
      });
      told.push(...await Promise.all(entries.map((own) => made(own).ready().catch(name(own)))));
      console.log(told.join());
      process.exit();`;
    expect(evaluate(script)).toBe(
      "AnswerError,AnswerError,AnswerError,SealingError,SealingError,SealingError",
    );
  });

  it("works slim, with the module from the package", () => {
    const script = `
      import { readFile } from "node:fs/promises";
      import { createRandomizer, initialize } from "hushbin/slim";
      await initialize(await readFile(new URL(import.meta.resolve("hushbin/hushbin.wasm"))));
      const randomizer = await createRandomizer({ task: ${TASK} });
      console.log(randomizer.fingerprint.length);`;
    expect(evaluate(script)).toBe("32");
  });

  it("works slim with hash-bin, from the module that has it", () => {
    const script = (...modules: string[]) => `
      import { readFile } from "node:fs/promises";
      import { createRandomizer, initialize } from "hushbin/slim";
      const read = (name) => readFile(new URL(import.meta.resolve("hushbin/" + name)));
      await initialize(...${JSON.stringify(modules)}.map(read));
      const task = { ...${TASK}, mechanism: ${CLIPPED} };
      const made = createRandomizer({ task });
      console.log(await made.then((r) => r.randomize({ autoplay: 1 }).length, (e) => e.message));`;
    expect(evaluate(script("hushbin.wasm"))).toBe("9");
    expect(evaluate(script("collision.wasm", "hushbin.wasm"))).toBe("9");
    expect(evaluate(script("collision.wasm"))).toContain("hushbin.wasm");
  });

  it("lets the process end while reports wait", () => {
    const script = `
      import { createClient } from "hushbin";
      const task = ${TASK};
      const client = createClient({
        endpoint: "http://127.0.0.1:9", task, consent: true, storage: "spend-again",
      });
      await client.report({ autoplay: 1 });
      await client.flush().catch(({ code }) => console.log(code));
      console.log((await client.report({ autoplay: 1 })).reason, client.pending);`;
    expect(evaluate(script)).toBe("network\nover-budget 1");
  });

  it("fails what waits for a task when the process would end without it", () => {
    const script = `
      import { createClient } from "hushbin";
      const client = createClient({
        endpoint: "http://127.0.0.1:9", task: "settings", consent: true, storage: "spend-again",
      });
      const codes = [client.ready(), client.report({ autoplay: 1 })].map((each) =>
        each.then(() => "done", ({ code }) => code));
      console.log(...(await Promise.all(codes)));`;
    expect(evaluate(script)).toBe("network network");
  });
});

/** Interface of the bundled page. */
interface Page {
  lengthOrCode(task: unknown, input: unknown): Promise<number | string>;
}

/** Returns the modules embedded in a script as strings. */
const modulesIn = (file: string) => readFileSync(file, "utf8").match(/"[#-[\]-~]{10000,}"/g) ?? [];

/** Bundlers of `page.ts`, for an `index.html`. */
const BUNDLERS: [string, (to: string) => unknown][] = [
  [
    "esbuild",
    async (to) => {
      await build({
        entryPoints: [join(project, "page.ts")],
        outdir: join(project, to),
        bundle: true,
        splitting: true,
        minify: true,
        format: "esm",
        logLevel: "warning",
      });
      const html = '<!doctype html><script type="module" src="/page.js"></script>';
      writeFileSync(join(project, to, "index.html"), html);
    },
  ],
  ["Vite", (to) => run(join(NPM_BIN_DIR, "vite"), ["build", "--outDir", to, "--logLevel", "warn"])],
];

describe.each(BUNDLERS)("split into chunks by %s", (name, bundle) => {
  const to = `split-${name}`;
  const scripts = () =>
    readdirSync(join(project, to), { recursive: true, encoding: "utf8" })
      .filter((file) => file.endsWith(".js"))
      .map((file) => join(project, to, file));
  const isChunk = (file: string) => basename(file).startsWith("complete");

  beforeAll(async () => {
    const page = `
      import { createClient, createRandomizer } from "hushbin";
      const lengthOrCode = (task, input) => createRandomizer({ task })
        .then((randomizer) => randomizer.randomize(input).length, ({ code }) => code);
      Object.assign(globalThis, { createClient, lengthOrCode });`;
    writeFileSync(join(project, "page.ts"), page);
    const html = '<!doctype html><script type="module" src="/page.ts"></script>';
    writeFileSync(join(project, "index.html"), html);
    await bundle(to);
  });

  it("has the complete module in a chunk of its own", () => {
    expect(modulesIn(installed("dist/index.js"))).toEqual([]);
    const collision = modulesIn(installed("dist/collision-module.js"));
    const complete = modulesIn(installed("dist/complete.js"));
    const lengths = [collision.length, complete.length];
    expect([...lengths, collision[0] === complete[0]]).toEqual([1, 1, false]);
    const sums = modulesIn(installed("dist/sums.js"));
    expect(sums).toHaveLength(1);
    // The page and a chunk for each file. Vite adds files for preloading.
    const split = scripts().filter((file) => !/^preload|^rolldown/.test(basename(file)));
    expect(split).toHaveLength(1 + LAZY_LOADED_FILES.length);
    const carried = { collision, complete, sums } as const;
    for (const file of split) {
      const [, name = ""] = /^([a-z]+(?:-fallback)?)/.exec(basename(file)) ?? [];
      const expected = carried[name as keyof typeof carried] ?? [];
      // The comparison is outside of `expect`, which would print the long strings.
      expect(modulesIn(file).join() === expected.join(), file).toBe(true);
    }
  });

  it("reports in a browser, where hash-bin and sums alone load their chunks", async () => {
    const site = await serve({ directories: { "/": `${join(project, to)}/` } });
    const browser = await launchChromium();
    try {
      const page = await browser.newPage();
      const loaded: string[] = [];
      page.on("request", (request) => loaded.push(basename(request.url())));
      await page.goto(site.url);
      await page.waitForFunction(() => "lengthOrCode" in globalThis);
      const made = (task: unknown, input: unknown = { autoplay: 1 }) =>
        page.evaluate(
          ({ task, input }) => (globalThis as never as Page).lengthOrCode(task, input),
          { task, input },
        );
      const choices = JSON.parse(TASK);
      const clipped = { ...choices, mechanism: JSON.parse(CLIPPED) };
      expect(await made(choices)).toBe(9);
      expect(loaded.filter(isChunk)).toEqual([]);
      await page.route(/complete/, (route) => route.abort());
      expect([await made(clipped), await made(choices)]).toEqual(["wasm", 9]);
      await page.unroute(/complete/);
      expect([await made(clipped), await made(choices)]).toEqual([9, 9]);
      expect(loaded.filter(isChunk)).toHaveLength(2);
      const ofSums = () => loaded.filter((file) => /^(shuffled|sums)/.test(file));
      expect(ofSums()).toEqual([]);
      const sums = JSON.parse(SUMS);
      await page.route(/sums/, (route) => route.abort());
      expect(await made(sums, { load: 5 })).toBe("wasm");
      await page.unroute(/sums/);
      expect(await made(sums, { load: 5 })).toBe(10);
      expect(ofSums().length).toBe(3);
    } finally {
      await browser.close();
      site.close();
    }
  });
});

describe("bundled by esbuild", () => {
  async function bundle(source: string, options: BuildOptions = {}) {
    const result = await build({
      stdin: { contents: source, resolveDir: project, loader: "ts" },
      bundle: true,
      write: false,
      minify: true,
      format: "esm",
      logLevel: "silent",
      ...options,
    });
    return { text: result.outputFiles?.[0]?.text ?? "", warnings: result.warnings };
  }

  it("is one file that loads nothing", async () => {
    const { text, warnings } = await bundle(
      `import { createClient } from "hushbin"; console.log(createClient);`,
    );
    expect(warnings).toEqual([]);
    // The text is long, so only the result of the test is printed.
    expect(/import\.meta|^import |^await /m.test(text)).toBe(false);
  });

  it.each(["NetworkError", "HushbinError, TaskError"])(
    "is small where a page only tells errors apart: %s",
    async (names) => {
      const used = `import { ${names} } from "hushbin"; console.log(${names});`;
      expect((await bundle(used)).text.length).toBeLessThan(3000);
    },
  );

  it("disappears when it is not used", async () => {
    const { text } = await bundle(`import "hushbin"; import "hushbin/slim"; console.log(1);`);
    expect(text.length).toBeLessThan(100);
  });

  it("stays small when slim", async () => {
    const { text } = await bundle(
      `import { createClient, initialize } from "hushbin/slim"; console.log(createClient, initialize);`,
      { external: ["./fallback.js", "./shuffled.js"] },
    );
    expect(text.length).toBeLessThan(60_000);
    expect(/import\.meta/.test(text)).toBe(false);
  });

  it("runs", async () => {
    const { text } = await bundle(
      `import { createRandomizer } from "hushbin";
       for (const mechanism of [${TASK}.mechanism, ${CLIPPED}]) {
         const { fingerprint } = await createRandomizer({ task: { ...${TASK}, mechanism } as never });
         console.log(fingerprint.length);
       }`,
      { platform: "node" },
    );
    writeFileSync(join(project, "bundle.mjs"), text);
    expect(run(process.execPath, ["bundle.mjs"]).trim()).toBe("32\n32");
  });
});

describe("typed", () => {
  const OPTIONS = {
    noEmit: true,
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    target: "es2022",
    lib: ["es2022", "dom"],
    types: [],
  };

  const check = (source: string, options: object) => {
    writeFileSync(join(project, "use.ts"), source);
    const config = { compilerOptions: { ...OPTIONS, ...options }, files: ["use.ts"] };
    writeFileSync(join(project, "tsconfig.json"), JSON.stringify(config));
    try {
      run(join(NPM_BIN_DIR, "tsc"), ["-p", "tsconfig.json"]);
      return "";
    } catch (error) {
      return String((error as { stdout: string }).stdout);
    }
  };

  it.each([
    { module: "nodenext", moduleResolution: "nodenext" },
    { module: "esnext", moduleResolution: "bundler" },
  ])("with $moduleResolution", (resolution) => {
    const use = `
      import { type Client, createClient, NetworkError, type Receipt, type Task } from "hushbin";
      import { initialize } from "hushbin/slim";
      const task: Task = ${TASK};
      const client: Client = createClient({ endpoint: "/telemetry", task });
      client.grant();
      const { reason }: Receipt = await client.report({ "dark-mode": 1, autoplay: -1 });
      if (reason === "over-budget") { client.record(new Map([["autoplay", 1]])); }
      await client.flush().catch((error: unknown) => {
        if (error instanceof NetworkError) { const wait: number | undefined = error.retryAfterMs; console.log(wait); }
      });
      await initialize(fetch("/hushbin.wasm"));
      export { client };`;
    expect(check(use, resolution)).toBe("");
    const mechanisms = `
      import type { CocoMechanism, CollisionMechanism, HashBinMechanism, Mechanism, PatternMechanism, WindowMechanism } from "hushbin";
      const clipped: HashBinMechanism = ${CLIPPED};
      export const width = (mechanism: Mechanism): number => {
        if (mechanism.name === "hash-bin") {
          return mechanism.bins * (mechanism.clip ?? mechanism.distance ?? clipped.grid);
        }
        if (mechanism.name === "window") {
          const window: WindowMechanism = mechanism;
          return window.values.length;
        }
        if (mechanism.name === "pattern") {
          const pattern: PatternMechanism = mechanism;
          return pattern.outputs - pattern.favoured.length;
        }
        const bucketed: CollisionMechanism | CocoMechanism = mechanism;
        return bucketed.buckets;
      };`;
    expect(check(mechanisms, resolution)).toBe("");
    const level = check(mechanisms.replace('"user"', '"person"'), resolution);
    expect(level).toMatch(/TS2322.*"person"/);
    expect(check(mechanisms.replace('"bins":1,', ""), resolution)).toMatch(/TS2741.*'bins'/);
    const misuse = (line: string) =>
      check(`import { createClient } from "hushbin"; ${line} export {};`, resolution);
    expect(misuse(`createClient({ endpoint: "/" });`)).toMatch(/TS2345.*[\s\S]*'task' is missing/);
    expect(
      misuse(
        `const c = createClient({ endpoint: "/", task: "t" }); await c.report({ a: Symbol() });`,
      ),
    ).toContain("TS2322");
    const asked = (answers: string) => {
      const { mechanism } = JSON.parse(TASK);
      const theme = { name: "theme", kind: "choice", options: ["dark", "light"] };
      const plan = { name: "plan", kind: "choice", options: ["free", "pro"] };
      const load = { name: "loadMs", kind: "number", min: 0, max: 10_000, levels: 4 };
      const questions = [
        { ...theme, mechanism },
        { name: "loadByPlan", kind: "cross", of: [plan, load], mechanism },
        { name: "query", kind: "text", prefixes: [2, 4], mechanism },
      ];
      const task = JSON.stringify({ id: "asked", epsilon: 2, questions });
      return misuse(
        `const c = createClient({ endpoint: "/", task: ${task} }); await c.report(${answers});`,
      );
    };
    const right = {
      theme: `"dark"`,
      loadByPlan: `{ plan: "pro", loadMs: 1830 }`,
      query: `"cats"`,
    };
    for (const [changed, expected] of [
      [{}, /^$/],
      [{ theme: `"drak"` }, /TS2820|TS2322/],
      [{ themes: `"dark"` }, /TS2561|TS2353/],
      [{ loadByPlan: `{ plan: "team", loadMs: 1830 }` }, /TS2820|TS2322/],
      [{ loadByPlan: `{ plan: "pro", loadMs: "1830" }` }, /TS2322/],
      [{ loadByPlan: `{ plan: "pro" }` }, /TS2322.*\n.*'loadMs' is missing/],
      [{ query: `["cats"]` }, /TS2322/],
    ] as const) {
      const fields = Object.entries({ ...right, ...changed });
      const answers = fields.map(([name, answer]) => `${name}: ${answer}`);
      expect(asked(`{ ${answers.join()} }`), answers.join()).toMatch(expected);
    }
    expect(
      misuse(`const c = createClient({ endpoint: "/", task: "t" }); c.pending = 1;`),
    ).toContain("TS2540");
  });
});
