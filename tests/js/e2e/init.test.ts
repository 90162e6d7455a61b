/** Files of `npx hushbin init`, given to a real collector and to a page in headless Chromium. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { launchChromium } from "../../../www/scripts/lib/browser.mjs";
import { type Collector, startCollector } from "../../../www/scripts/lib/collector.mjs";
import { DIST, NPM_PACKAGE_DIR, TARGET } from "../../../www/scripts/lib/paths.mjs";
import { serve } from "../../../www/scripts/lib/serve.mjs";
import { exampleCall, KINDS, runToEnd } from "../package/init-command.js";

const PROGRAM = join(TARGET, "debug/hushbin");
const folder = mkdtempSync(join(tmpdir(), "hushbin-init-"));

let collector: Collector;
let browser: Browser;

const hushbin = (...args: readonly string[]) =>
  execFileSync(PROGRAM, args, { cwd: folder, encoding: "utf8" });
const read = (name: string) => readFileSync(join(folder, name), "utf8");

beforeAll(async () => {
  for (const [, ...flags] of KINDS) {
    const args = [join(NPM_PACKAGE_DIR, "dist/init.js"), "init", ...flags];
    expect(await runToEnd(process.execPath, args, { cwd: folder })).toMatchObject({ code: 0 });
  }
  collector = await startCollector({
    program: PROGRAM,
    data: join(folder, "data"),
    tasks: KINDS.map(([id]) => join(folder, `${id}.json`)),
  });
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  await collector?.stop("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
});

/**
 * Bundles the code that reports, with the address of the running collector. A button of the page
 * calls it as its comment does.
 */
async function bundledPage(id: string): Promise<string> {
  const code = read(`${id}-page.ts`);
  expect(code).toContain("http://127.0.0.1:8080");
  const button = `document.querySelector("button").onclick = () => ${exampleCall(code)}`;
  const { outputFiles } = await build({
    stdin: {
      contents: code.replace("http://127.0.0.1:8080", collector.url) + button,
      resolveDir: folder,
      loader: "ts",
    },
    alias: { hushbin: join(DIST, "index.js") },
    bundle: true,
    write: false,
    format: "esm",
    logLevel: "silent",
  });
  return outputFiles[0]?.text ?? "";
}

async function reports(id: string): Promise<number> {
  const { questions } = JSON.parse(read(`${id}.json`));
  const counts = await Promise.all(
    questions.map(async ({ name }: { name: string }) => {
      const query = questions.length > 1 ? `?question=${name}` : "";
      const response = await fetch(`${collector.url}/tasks/${id}/estimates${query}`);
      return ((await response.json()) as { reports: number }).reports;
    }),
  );
  return counts.reduce((sum, own) => sum + own, 0);
}

describe.each(KINDS)("the files of %s", (id) => {
  it("are a valid task, and the module that the collector writes", () => {
    const { fingerprint } = JSON.parse(hushbin("task", "check", "--json", `${id}.json`));
    expect(hushbin("task", "types", `${id}.json`)).toBe(read(`${id}.ts`));
    expect(read(`${id}.ts`)).toContain(fingerprint);
    // Nothing is left to choose.
    hushbin("task", "check", `${id}.json`, "--out", "complete.json");
    expect(read("complete.json")).toBe(read(`${id}.json`));
  });

  it("report from a page", async () => {
    const site = await serve({
      directories: {},
      documents: {
        "/": {
          type: "text/html",
          body: '<!doctype html><link rel="icon" href="data:,"><button>I agree</button><script type="module" src="/page.js"></script>',
        },
        "/page.js": { type: "text/javascript", body: await bundledPage(id) },
      },
    });
    const page = await browser.newPage();
    try {
      const requests: string[] = [];
      page.on("request", (request) => void requests.push(request.url()));
      await page.goto(site.url, { waitUntil: "networkidle" });
      // Nothing happens before the person agrees.
      expect(
        requests.filter((url) => !url.startsWith(site.url) && !url.startsWith("data:")),
      ).toEqual([]);
      await page.click("button");
      await expect.poll(() => reports(id)).toBe(1);
    } finally {
      await page.context().close();
      site.close();
    }
  });
});
