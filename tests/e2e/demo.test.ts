/** The demo page in a real browser, against a real collector. */

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AxeResults } from "axe-core";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { SIZES } from "../../www/demo/crowd-view.js";
import { buildDemo } from "../../www/scripts/build-demo.mjs";
import { launchChromium } from "../../www/scripts/lib/browser.mjs";
import { type Collector, startCollector } from "../../www/scripts/lib/collector.mjs";
import { DEMO, DEMO_DIST, TARGET } from "../../www/scripts/lib/paths.mjs";
import { serve } from "../../www/scripts/lib/serve.mjs";
import { type Estimates, Gateway } from "./harness.js";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const directory = mkdtempSync(join(tmpdir(), "hushbin-demo-e2e-"));
const gateway = new Gateway();
/** What went wrong in any page; a test that expects trouble empties it. */
const complaints: string[] = [];

let browser: Browser;
let collector: Collector;
let site: Awaited<ReturnType<typeof serve>>;

beforeAll(async () => {
  await buildDemo();
  collector = await startCollector({
    program: join(TARGET, "debug/hushbin"),
    data: join(directory, "data"),
    tasks: [join(DEMO, "task.json")],
  });
  gateway.to = collector.url;
  const endpoint = await gateway.listen();
  site = await serve({
    directories: { "/": DEMO_DIST },
    documents: {
      "/config.json": { type: "application/json", body: JSON.stringify({ endpoint }) },
    },
  });
  browser = await launchChromium();
});

afterAll(async () => {
  await browser?.close();
  site?.close();
  gateway.close();
  await collector?.stop("SIGKILL");
  rmSync(directory, { recursive: true, force: true });
});

beforeEach(() => {
  gateway.passed.length = 0;
  gateway.faults.length = 0;
  complaints.length = 0;
});

async function open(options: BrowserContextOptions = {}, init?: () => void): Promise<Page> {
  const context = await browser.newContext({ reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) {
      complaints.push(message.text());
    }
  });
  if (init) {
    await page.addInitScript(init);
  }
  await page.goto(site.url);
  return page;
}

async function started(options: BrowserContextOptions = {}): Promise<Page> {
  const page = await open(options);
  await page.waitForSelector("html[data-ready]");
  return page;
}

async function estimates(): Promise<Estimates> {
  const response = await fetch(`${collector.url}/tasks/browser-habits/estimates`);
  return response.json() as Promise<Estimates>;
}

const text = (page: Page, selector: string) => page.locator(selector).textContent();
/** The hexadecimal digits on show. */
const shownBytes = async (page: Page) =>
  (await page.locator("#tape .byte").allTextContents()).join("");
const shownBucket = async (page: Page) => text(page, "#buckets li[data-reported] .bucket-number");

async function growTo(page: Page, people: number): Promise<void> {
  await page.locator("#size").fill(String(SIZES.indexOf(people)));
  await page.locator("#growth-text").filter({ hasText: "on the collector’s disk" }).waitFor();
}

describe("the demo page", () => {
  it("previews without sending, sends once, and shows the bytes that left", async () => {
    const page = await started();
    const before = (await estimates()).reports;
    const first = await shownBytes(page);
    await page.getByRole("button", { name: "Randomise again" }).click();
    expect(await shownBytes(page)).not.toBe(first);
    expect(await page.locator("#draws li").count()).toBe(2);
    expect(gateway.posts).toEqual([]);

    await page.getByRole("button", { name: "Send one report" }).click();
    await page.waitForSelector('#report[data-state="sent"]');
    expect(gateway.posts).toHaveLength(1);
    const sent = gateway.posts[0]?.body.toString("hex");
    expect(await shownBytes(page)).toBe(sent);
    expect(Number.parseInt(sent?.slice(-2) ?? "", 16)).toBe(Number(await shownBucket(page)));
    expect((await estimates()).reports).toBe(before + 1);

    // A preview afterwards is only that; and nothing is sent twice.
    await page.getByRole("button", { name: "Preview another draw" }).click();
    expect(await shownBytes(page)).not.toBe(sent);
    expect(await page.getByRole("button", { name: "Sent, once" }).isDisabled()).toBe(true);
    await page.reload();
    await page.waitForSelector('#report[data-state="sent"]');
    expect(await shownBytes(page)).toBe(sent);
    expect(gateway.posts).toHaveLength(1);
    expect(complaints).toEqual([]);
  });

  it("grows a crowd whose truth the collector's intervals hold", async () => {
    const page = await started();
    const elsewhere = (await estimates()).reports;
    await growTo(page, 5000);
    expect(await text(page, "#figure-people")).toBe("5,000");
    const found = await estimates();
    expect(found.reports).toBe(elsewhere + 5000);
    await page.locator("#standing").filter({ hasText: found.reports.toLocaleString() }).waitFor();

    // The chart's table is the collector's answer.
    await page.getByText("The same as a table").click();
    const rows = await page.locator("#table tbody tr").allInnerTexts();
    expect(rows).toHaveLength(8);
    for (const [index, row] of rows.entries()) {
      const [, truth, estimate] = row.split("\t");
      const plus = found.estimates[index]?.plus;
      const shown = Number.parseFloat(estimate?.replace("−", "-") ?? "");
      expect(shown).toBeCloseTo((plus?.estimate ?? Number.NaN) * 100, 0);
      // Twice the 95% interval: chance alone leaves it once in 10⁶ runs.
      const [low, high] = plus?.simultaneous_interval ?? [0, 0];
      const reach = high - low;
      expect(Math.abs(Number.parseFloat(truth ?? "") / 100 - shown / 100)).toBeLessThan(reach);
    }
    expect(complaints).toEqual([]);
  });

  it("sends lost uploads again, byte for byte, and counts them once", async () => {
    const page = await started();
    const before = (await estimates()).reports;
    gateway.faults.push("lose-answer");
    await page.locator("#size").fill(String(SIZES.indexOf(100)));
    await page.locator("#growth-text").filter({ hasText: "Sending stopped" }).waitFor();
    await expect.poll(() => page.locator("#figure-people").textContent()).toBe("10");
    expect((await estimates()).reports).toBe(before + 10);
    expect(await page.locator("#trouble").isVisible()).toBe(false);
    const bodies = gateway.posts.map(({ body }) => body.toString("hex"));
    expect(bodies.length).toBeGreaterThan(1);
    expect(new Set(bodies).size).toBe(1);

    await growTo(page, 100);
    expect((await estimates()).reports).toBe(before + 100);
    expect(await text(page, "#figure-people")).toBe("100");
  });

  it("says that few reports are noise, and whose truth it knows", async () => {
    const page = await started();
    expect(await text(page, "#others")).toMatch(/came from elsewhere/);
    await growTo(page, 10);
    await page.locator("#others").filter({ hasText: "the 10 people this browser sent" }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("can be used by keyboard alone", async () => {
    const page = await started();
    const focus = () => page.evaluate(() => document.activeElement?.id);
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toMatch(/Skip/);
    await page.locator('#questions input[name="autoplay"]:checked').focus();
    const before = await shownBytes(page);
    await page.keyboard.press("ArrowLeft");
    expect(await page.locator('#questions input[name="autoplay"]:checked').inputValue()).toBe("-1");
    expect(await shownBytes(page)).not.toBe(before);
    for (let presses = 0; (await focus()) !== "again"; presses += 1) {
      expect(presses).toBeLessThan(10);
      await page.keyboard.press("Tab");
    }
    const drawn = await shownBytes(page);
    await page.keyboard.press("Enter");
    expect(await shownBytes(page)).not.toBe(drawn);
    for (let presses = 0; (await focus()) !== "size"; presses += 1) {
      expect(presses).toBeLessThan(10);
      await page.keyboard.press("Tab");
    }
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page
      .locator("#growth-text")
      .filter({ hasText: "20 reports, sent just now, on" })
      .waitFor();
    expect(complaints).toEqual([]);
  });

  it("says what is wrong where it cannot run", async () => {
    const unable = await open({}, () => {
      Reflect.deleteProperty(globalThis, "WebAssembly");
    });
    await unable.locator("#trouble").filter({ hasText: "WebAssembly" }).waitFor();
    const unlucky = await open({}, () => {
      Crypto.prototype.getRandomValues = () => {
        throw new Error("no entropy");
      };
    });
    await unlucky.locator("#trouble").filter({ hasText: "no secure randomness" }).waitFor();
    gateway.to = "http://127.0.0.1:1";
    const alone = await open();
    await alone.locator("#trouble").filter({ hasText: "does not answer" }).waitFor();
    gateway.to = collector.url;
    await alone.getByRole("button", { name: "Try again" }).click();
    await alone.waitForSelector("html[data-ready]");
  });
});

describe.each([
  { colorScheme: "light", width: 1280 },
  { colorScheme: "dark", width: 1280 },
  { colorScheme: "light", width: 360 },
  { colorScheme: "dark", width: 360 },
] as const)("the demo page, $colorScheme, $width wide", ({ colorScheme, width }) => {
  it("is accessible and fits", async () => {
    const page = await started({ colorScheme, viewport: { width, height: 800 } });
    await page.evaluate(() => {
      for (const details of document.querySelectorAll("details")) {
        details.open = true;
      }
    });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width);
    await page.evaluate(AXE);
    const { violations } = await page.evaluate(() =>
      (globalThis as unknown as { axe: { run(root: Document): Promise<AxeResults> } }).axe.run(
        document,
      ),
    );
    expect(violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`)).toEqual([]);
  });
});
