/** Code of the package's README, compiled and run as by its readers. */

import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type BuildOptions, build, type OutputFile } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launchChromium } from "../../../www/scripts/lib/browser.mjs";
import { CLIENT, NPM_BIN_DIR, NPM_PACKAGE_DIR, ROOT } from "../../../www/scripts/lib/paths.mjs";
import { serve } from "../../../www/scripts/lib/serve.mjs";
import { stackToolsFolder } from "../../../www/scripts/lib/stack-tools.mjs";

const README = readFileSync(join(NPM_PACKAGE_DIR, "README.md"), "utf8");

interface Block {
  readonly language: string;
  readonly code: string;
}

const BLOCKS: readonly Block[] = [...README.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)].map(
  ([, language = "", code = ""]) => ({ language, code }),
);

/** Returns the only block that contains a text. */
function block(text: string): string {
  const found = BLOCKS.filter(({ code }) => code.includes(text));
  expect(found, text).toHaveLength(1);
  return found[0]?.code ?? "";
}

/** Returns the script of a component without its surroundings. */
const scriptOf = (code: string) => /<script[^>]*>\n([\s\S]*?)<\/script>/.exec(code)?.[1] ?? "";

let project: string;
const write = (file: string, text: string) => writeFileSync(join(project, file), text);

beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), "hushbin-readme-"));
  mkdirSync(join(project, "node_modules"));
  symlinkSync(NPM_PACKAGE_DIR, join(project, "node_modules/hushbin"));
  symlinkSync(join(ROOT, "node_modules/@types"), join(project, "node_modules/@types"));
  const vitals = join(stackToolsFolder(), "node_modules/web-vitals");
  symlinkSync(vitals, join(project, "node_modules/web-vitals"));
  write("package.json", JSON.stringify({ private: true, type: "module" }));
  // The first example, which later ones extend.
  write("telemetry.ts", block("export const task = {"));
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

/** Declarations of names that blocks use without defining them. */
const AROUND = `
  import type { client as Made, task as Asked } from "./telemetry";
  declare global {
    const client: typeof Made;
    const task: typeof Asked;
    function defineProps<T>(): T;
    function $props(): any;
  }`;
const MODULES = `
  declare module "vue" { export function onMounted(run: () => void): void }
  declare module "svelte" { export function onMount(run: () => void): void }
  declare module "*?url" { const url: string; export default url }`;

describe("the README", () => {
  it("is the one that is published, not the repository's", () => {
    expect(README).toBe(readFileSync(join(CLIENT, "README.md"), "utf8"));
    // npm shows the README at another location, so relative links would break.
    expect(README.match(/\]\((?!https:)/g)).toBeNull();
  });

  it("shows nothing that the tests here do not look at", () => {
    const languages = new Set(BLOCKS.map(({ language }) => language));
    expect([...languages].sort()).toEqual(["", "html", "sh", "svelte", "ts", "tsx", "vue"]);
    const texts = BLOCKS.filter(({ language }) => /^(sh)?$/.test(language));
    expect(texts.map(({ code }) => code.split(/[: ]/)[0])).toEqual([
      "npm",
      "Content-Security-Policy",
      "hushbin",
    ]);
  });

  it("compiles", () => {
    const files = BLOCKS.flatMap(({ language, code }, index) => {
      if (["ts", "tsx"].includes(language)) {
        return [[`block-${index}.${language}`, code]] as const;
      }
      return ["vue", "svelte"].includes(language)
        ? [[`block-${index}.ts`, scriptOf(code)] as const]
        : [];
    });
    files.forEach(([file, code]) => void write(file, `${code}\nexport {};`));
    write("around.d.ts", AROUND);
    write("modules.d.ts", MODULES);
    const compilerOptions = {
      noEmit: true,
      strict: true,
      target: "es2022",
      lib: ["es2022", "dom", "dom.iterable"],
      types: [],
      jsx: "preserve",
      module: "esnext",
      moduleResolution: "bundler",
    };
    const names = files.map(([file]) => file);
    const config = { compilerOptions, files: [...names, "around.d.ts", "modules.d.ts"] };
    write("tsconfig.json", JSON.stringify(config));
    const tsc = () =>
      execFileSync(join(NPM_BIN_DIR, "tsc"), [], { cwd: project, encoding: "utf8" });
    expect(names.length).toBeGreaterThan(10);
    expect(tsc).not.toThrow();
    // The types know the names of a task in the page, so a wrong name fails.
    write("telemetry.ts", block("export const task = {").replace('"dark", beta', '"drak", beta'));
    write(
      names[0] ?? "",
      `${block("export const task = {").replace('"dark", beta', '"drak", beta')}`,
    );
    expect(tsc).toThrow();
    write("telemetry.ts", block("export const task = {"));
  });
});

/** Bundles a script of the project as one file. */
async function bundled(source: string, options: BuildOptions = {}): Promise<OutputFile[]> {
  const { outputFiles = [] } = await build({
    stdin: { contents: source, resolveDir: project, loader: "ts" },
    outdir: project,
    bundle: true,
    write: false,
    format: "esm",
    logLevel: "silent",
    ...options,
  });
  return outputFiles;
}

describe("what the README shows", () => {
  it("reports from a page, and shows what left", async () => {
    const html = block("<hushbin-history");
    const [script] = await bundled(scriptOf(html));
    const site = await serve({
      directories: {},
      documents: {
        "/": {
          type: "text/html",
          body: html.replace(/<script[\s\S]*/, '<script type="module" src="/page.js"></script>'),
        },
        "/page.js": { type: "text/javascript", body: script?.text ?? "" },
      },
      // The policy is exactly the one in the README.
      policy: /^Content-Security-Policy: (.*)$/m.exec(README)?.[1] ?? "",
    });
    const browser = await launchChromium();
    try {
      const page = await browser.newPage();
      const asked: string[] = [];
      await page.route("https://telemetry.example/**", (route) => {
        asked.push(new URL(route.request().url()).pathname);
        return route.fulfill({
          status: 201,
          headers: { "access-control-allow-origin": "*" },
          json: { uploads: 1, accepted_reports: 1, duplicate_uploads: 0 },
        });
      });
      await page.goto(site.url);
      await page.getByText("1 report: 1 received by the collector.").waitFor();
      expect(asked).toEqual(["/tasks/settings/reports"]);
      await page.getByRole("button", { name: "Withdraw" }).click();
      await page.getByText("You have withdrawn").waitFor();
      expect(await page.evaluate(() => localStorage.getItem("statistics"))).toBe("no");
    } finally {
      await browser.close();
      site.close();
    }
  });

  it("runs in Node without sending", async () => {
    write("task.ts", /^export const task = [\s\S]*?as const;$/m.exec(README)?.[0] ?? "");
    const [script] = await bundled(
      `import { task } from "./task";
       ${block("const dry =")}
       console.log(receipt.sent, receipt.epsilon, made.bytes.length);`,
    );
    write("dry.mjs", script?.text ?? "");
    const said = execFileSync(process.execPath, ["dry.mjs"], { cwd: project, encoding: "utf8" });
    expect(said.trim()).toBe("true 1 43");
  });

  it("reports to a collector in memory", async () => {
    write("task.ts", /^export const task = [\s\S]*?as const;$/m.exec(README)?.[0] ?? "");
    const [script] = await bundled(
      `import { task } from "./task";
       ${block("createTestCollector")}
       console.log(collector.reports, collector.requests.length);`,
    );
    write("tested.mjs", script?.text ?? "");
    const said = execFileSync(process.execPath, ["tested.mjs"], { cwd: project, encoding: "utf8" });
    expect(said.trim()).toBe("1 2");
  });
});
