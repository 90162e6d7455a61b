/** The page that plans sums in a real browser, against the command that plans the same file. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  isRefusal,
  planSums,
  type SumDraft,
  type SumPlan,
} from "../../../www/demo/shared/analysis.js";
import init from "../../../www/demo/shared/wasm/analysis.js";
import { BROWSING } from "../../../www/demo/story/both/task.js";
import { launchChromium } from "../../../www/scripts/lib/browser.mjs";
import { DEMO_DIST, TARGET } from "../../../www/scripts/lib/paths.mjs";
import { serve } from "../../../www/scripts/lib/serve.mjs";
import { violations } from "./axe.js";
import { newContext } from "./harness.js";

const complaints: string[] = [];
const directory = mkdtempSync(join(tmpdir(), "hushbin-planner-sums-"));
let browser: Browser;
let site: Awaited<ReturnType<typeof serve>>;

beforeAll(async () => {
  await init({ module_or_path: readFileSync(join(DEMO_DIST, "shared/analysis.wasm")) });
  site = await serve({ directories: { "/": DEMO_DIST } });
  browser = await launchChromium();
});

afterAll(async () => {
  await browser?.close();
  site?.close();
  rmSync(directory, { recursive: true, force: true });
});

beforeEach(() => {
  complaints.length = 0;
});

async function planner(fragment = "", options: BrowserContextOptions = {}): Promise<Page> {
  const context = await newContext(browser, { reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  await page.goto(`${site.url}/planner-sums.html#${fragment}`);
  await page.waitForSelector("html[data-ready]");
  return page;
}

const answered = (page: Page) => page.waitForSelector('#verdict[aria-busy="false"]');
const text = async (page: Page, selector: string) =>
  (await page.locator(selector).textContent()) ?? "";

/** A figure's number as it was computed. */
async function exact(page: Page, name: string): Promise<number> {
  const called = page.locator("dt").filter({ hasText: new RegExp(`^${name}$`) });
  const figure = page.locator("#figures div").filter({ has: called });
  return Number(await figure.locator("data").getAttribute("value"));
}

/** What the command says of the task file that the page shows. */
async function native(page: Page): Promise<SumPlan> {
  const file = join(directory, "planned.json");
  writeFileSync(file, await text(page, "#task-json"));
  expect(await text(page, "#command")).toBe("hushbin plan --task planned.json");
  const words = ["plan", "--task", file, "--json"];
  return JSON.parse(execFileSync(join(TARGET, "debug/hushbin"), words, { encoding: "utf8" }));
}

const DRAFT: SumDraft = { ...BROWSING, id: "planned" };

describe("the module that plans sums", () => {
  it("refuses what it cannot answer by field, and goes on", () => {
    const { messages: _, ...draft } = BROWSING;
    const { numbers: __, ...rest } = draft;
    const vector = (items: number, length: number) => ({ ...rest, vector: { items, length } });
    const [first] = draft.numbers;
    for (const [wrong, field] of [
      [{ ...draft, epsilon: 99 }, "epsilon"],
      [{ ...draft, delta: 0.5 }, "delta"],
      [{ ...draft, honest_fraction: 2 }, "honest_fraction"],
      [{ ...draft, honest_fraction: 0 }, "honest_fraction"],
      [{ ...draft, people: 2 }, "people"],
      [{ ...draft, people: 1e9 }, "people"],
      [{ ...draft, people: 3 }, "messages of one person"],
      [{ ...draft, numbers: [] }, "number of coordinates"],
      [{ ...draft, numbers: [{ ...first, min: 9, max: 1 }] }, "max"],
      [vector(600, 1), "dimension"],
      [vector(4, 0), "length"],
      [{ ...draft, peple: 1 }, undefined],
      [null, undefined],
      [{ ...draft, people: Number.NaN }, undefined],
    ] as const) {
      let refusal: unknown;
      try {
        planSums(wrong as SumDraft);
      } catch (thrown) {
        // A trap would be an error.
        if (!isRefusal(thrown)) throw thrown;
        refusal = thrown;
      }
      const expected = field === undefined ? { code: "value" } : { code: "parameter", field };
      expect(refusal, JSON.stringify(wrong)).toMatchObject(expected);
    }
    expect(planSums(draft as SumDraft).messages).toBeGreaterThan(1);
  });

  it("gives the demo's task its messages, and finds that they keep the promise", () => {
    const { messages: _, ...draft } = DRAFT;
    expect(planSums(draft).task.messages).toEqual(BROWSING.messages);
    expect(planSums(DRAFT).central_epsilon.upper).toBeLessThanOrEqual(BROWSING.epsilon);
    expect(() => planSums({ ...DRAFT, epsilon: 0.9 })).toThrow();
  });
});

describe("the page that plans sums", () => {
  it.each([
    "",
    "measure=numbers&count=1&min=-5&max=5&people=3000&epsilon=2&delta=1e-8&honest_fraction=0.5",
    "measure=vector&dimension=40&length=3&people=20000",
  ])("shows what the command says: %s", async (fragment) => {
    const page = await planner(fragment);
    const plan = await native(page);
    const [error] = plan.errors;
    const figures = [
      ["standard error", error?.standard_error ?? Number.NaN],
      ["messages a person", plan.messages],
      ["bytes a person", plan.bytes],
      ["central ε", plan.central_epsilon.upper],
      ["people of a batch", plan.privacy.people],
    ] as const;
    for (const [name, expected] of figures) {
      // The platforms' exponentials and logarithms may differ in the last bits.
      expect(Math.abs((await exact(page, name)) / expected - 1), name).toBeLessThan(1e-9);
    }
    expect(await text(page, "#statement")).toBe(plan.privacy.statement);
    expect(complaints).toEqual([]);
  });

  it("says wherever ε stands that there is no local one, and who must be trusted", async () => {
    const page = await planner();
    expect(await text(page, "#figures")).toMatch(/local εnonea person’s own messages say/);
    const rows = await page.locator("#ways-rows tr").allTextContents();
    expect(rows[0]).toMatch(/There is no local ε.*The shuffler: to send no batch/);
    expect(rows[1]).toMatch(/Local ε = 1: each report.*Nobody/);
    expect(await text(page, "#verdict-kind")).toBe("Trust: the shuffler");
    expect(await text(page, "#tally")).toContain("no local ε");
    const influence = await page.locator("#influence-rows tr").allTextContents();
    expect(influence[2]).toMatch(/All 1,000 assumed dishonest/);
  });

  it("shows what is wrong at its field, and takes it back", async () => {
    const page = await planner();
    for (const [name, wrong, words] of [
      ["people", "2", "alone hides nobody"],
      ["people", "10.5", "Expected a whole number."],
      ["delta", "0.5", "Delta is 0.5"],
      ["max", "-3", "ascending"],
      ["count", "2000", "Number of coordinates is 2000"],
      ["honest_fraction", "3", "Honest_fraction is 3"],
    ] as const) {
      const field = page.locator(`#field-${name}`);
      const before = await field.inputValue();
      await field.fill(wrong);
      await expect.poll(() => text(page, `#error-${name}`)).toContain(words);
      expect(await field.getAttribute("aria-invalid")).toBe("true");
      expect(await text(page, "#verdict-kind")).toBe("No plan");
      expect(await page.locator("#copy").isDisabled()).toBe(true);
      await field.fill(before);
      await expect.poll(() => text(page, "#verdict-kind")).toBe("Trust: the shuffler");
      expect(await page.locator(`#error-${name}`).isVisible()).toBe(false);
    }
    await page.getByRole("radio", { name: "A vector" }).check({ force: true });
    await answered(page);
    await page.locator("#field-length").fill("0");
    await expect.poll(() => text(page, "#error-length")).toContain("length");
    expect(complaints).toEqual([]);
  });

  it("keeps the plan in the address, and can be used by keyboard", async () => {
    const page = await planner("measure=vector&dimension=8&people=5000");
    await page.getByRole("radio", { name: "A vector" }).focus();
    await page.keyboard.press("ArrowLeft");
    await answered(page);
    await page.keyboard.press("Tab");
    await page.keyboard.type("7");
    await page.waitForFunction(() => location.hash.includes("count=7"));
    await answered(page);
    await page.reload();
    await page.waitForSelector("html[data-ready]");
    expect(await page.locator("#field-count").inputValue()).toBe("7");
    expect(await page.locator("#field-people").inputValue()).toBe("5000");
    expect(JSON.parse(await text(page, "#task-json")).numbers).toHaveLength(7);
  });

  it.each([
    ["light", {}],
    ["dark", { colorScheme: "dark" }],
    ["narrow", { viewport: { width: 320, height: 640 } }],
  ] as const)("is for everybody: %s", async (name, options) => {
    const page = await planner("", options);
    expect(await violations(page)).toEqual([]);
    const beyond = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(beyond).toBeLessThanOrEqual(0);
    const shots = process.env.HUSHBIN_SHOTS;
    if (shots) await page.screenshot({ path: `${shots}/planner-sums-${name}.png`, fullPage: true });
    await page.locator("#field-people").fill("2");
    await expect.poll(() => text(page, "#error-people")).not.toBe("");
    expect(await violations(page)).toEqual([]);
  });
});
