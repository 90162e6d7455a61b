/** The demo's chapter that asks the same people in both ways, in a real browser. */

import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { browsingAnswersOf, languageOf } from "../../../www/demo/story/both/people.js";
import { BROWSING_TASK, LANGUAGES } from "../../../www/demo/story/both/task.js";
import { expectForEverybody } from "./axe.js";
import { Story } from "./story.js";

const story = new Story();
const { gateway, complaints } = story;

beforeAll(() => story.start());
afterAll(() => story.stop());
beforeEach(() => story.clear());

const text = async (page: Page, selector: string) =>
  (await page.locator(selector).textContent()) ?? "";

async function askBoth(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Ask them in both ways" }).click();
  await page.locator("#both-status").filter({ hasText: "were asked in both ways" }).waitFor();
}

const number = (shown = "") => Number.parseFloat(shown.replaceAll(",", "").replace("−", "-"));

/** Returns half the width of an interval that is shown as "1 to 3". */
function halfWidth(shown = ""): number {
  const [from, to] = shown.split(" to ").map(number);
  return ((to ?? 0) - (from ?? 0)) / 2;
}

describe("the same people, both ways", () => {
  it("are estimated beside the truth, far more exactly through the shuffler", async () => {
    const page = await story.started();
    await askBoth(page);
    const people = BROWSING_TASK.people;
    await page.locator("#both-plot summary").click();
    const rows = await page.locator("#both-chart-table tbody tr").all();
    expect(rows).toHaveLength(4);
    for (const [index, row] of rows.entries()) {
      const { min, max } = BROWSING_TASK.numbers[index] ?? { min: 0, max: 1 };
      const cells = await row.locator("td").allTextContents();
      const of = (person: number) =>
        Math.min(Math.max(browsingAnswersOf(person)[index] ?? 0, min), max);
      const all = Array.from({ length: people }, (_, person) => of(person));
      const mean = all.reduce((sum, own) => sum + own, 0) / people;
      const grain = (max - min) / 1e4;
      expect(Math.abs(number(cells[0]) - mean)).toBeLessThan(grain);
      // 95% intervals of four values reach 2.5 σ. A deviation of twice that happens once in 10⁶
      // runs.
      for (const [estimate, interval] of [
        [cells[1], cells[2]],
        [cells[3], cells[4]],
      ]) {
        expect(Math.abs(number(estimate) - mean)).toBeLessThan(2 * halfWidth(interval) + grain);
      }
      expect(halfWidth(cells[2])).toBeGreaterThan(10 * halfWidth(cells[4]));
    }
    expect(await text(page, "#both-verdict")).toContain("the shuffler has to be trusted");
    // The chapter sends nothing.
    expect(gateway.posts).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it("name a language, and its share is far more exact through the shuffler", async () => {
    const page = await story.started();
    await page.locator("#both-topic").selectOption("language");
    expect(await text(page, "#both-answer")).toContain(LANGUAGES[languageOf(0)]);
    expect(await text(page, "#both-count")).toBe("at most 2 messages");
    // The person's language is among the messages, and the table says so.
    const chips = await page.locator("#both-messages li").allTextContents();
    expect(chips).toContain(LANGUAGES[languageOf(0)]);
    const own = page.locator("#both-read tr", { hasText: LANGUAGES[languageOf(0)] ?? "" });
    expect(await own.locator("td").last().textContent()).toBe("100.00 %");
    await askBoth(page);
    await page.locator("#both-plot summary").click();
    const rows = await page.locator("#both-chart-table tbody tr").all();
    expect(rows).toHaveLength(LANGUAGES.length);
    const { people } = BROWSING_TASK;
    const all = Array.from({ length: people }, (_, person) => languageOf(person));
    for (const [index, row] of rows.entries()) {
      const cells = await row.locator("td").allTextContents();
      const share = (100 * all.filter((language) => language === index).length) / people;
      expect(Math.abs(number(cells[0]) - share)).toBeLessThan(0.006);
      for (const [estimate, interval] of [
        [cells[1], cells[2]],
        [cells[3], cells[4]],
      ]) {
        // As above: twice the interval is exceeded once in 10⁶ runs.
        expect(Math.abs(number(estimate) - share)).toBeLessThan(2 * halfWidth(interval) + 0.01);
      }
      expect(halfWidth(cells[2])).toBeGreaterThan(10 * halfWidth(cells[4]));
    }
    expect(gateway.posts).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it("send a report that tells little, or messages that say all to whoever links them", async () => {
    const page = await story.started();
    const { levels, drawn, noise } = BROWSING_TASK.messages;
    for (let person = 0; person < 3; person += 1) {
      expect(await page.locator("#both-messages li").count()).toBe(levels * drawn + noise);
      expect(await page.locator("#both-report .byte").count()).toBeGreaterThan(4);
      const [low, high] = [1 / Math.exp(1), Math.exp(1)];
      for (const cell of await page.locator("#both-told td").allTextContents()) {
        const odds = cell === "unchanged" ? 1 : number(cell.replace("× ", ""));
        expect(odds).toBeGreaterThan(low - 0.01);
        expect(odds).toBeLessThan(high + 0.01);
      }
      for (const row of await page.locator("#both-read tr").all()) {
        const [, read = "", answer] = await row.locator("td").allTextContents();
        const [found, give] = read.split(" ± ").map(number);
        const off = Math.abs((found ?? Number.NaN) - number(answer));
        // All 12 are within 6 deviations.
        expect(off).toBeLessThan(6 * (give ?? 0));
      }
      await page.getByRole("button", { name: "Show another person" }).click();
      await expect.poll(() => text(page, "#both-answer")).toContain(`Person ${person + 2} answers`);
    }
    expect(gateway.posts).toEqual([]);
  });

  it("are told who must be trusted, wherever ε stands", async () => {
    const page = await story.started();
    expect(await text(page, "#both-local-epsilon")).toBe("local ε = 1");
    expect(await text(page, "#both-central-epsilon")).toMatch(
      /^no local ε; central ε = 1, δ = 10⁻⁶/,
    );
    expect(await text(page, "#both-shuffled-statement")).toContain("There is no local ε");
    expect(await text(page, "#both-local-statement")).toContain("operator of this collector");
  });

  it("can be stopped, and asked by keyboard, while the page goes on", async () => {
    const page = await story.started();
    await page.locator("#both-size").selectOption("100000");
    await page.locator("#both-ask").focus();
    await page.evaluate(() => {
      let last = performance.now();
      Object.assign(globalThis, { longest: 0 });
      const tick = () => {
        const now = performance.now();
        const own = globalThis as unknown as { longest: number };
        own.longest = Math.max(own.longest, now - last);
        last = now;
        setTimeout(tick);
      };
      tick();
    });
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "Stop" }).waitFor();
    await page.waitForFunction(
      () => (document.querySelector("#both-progress") as HTMLProgressElement).value > 0.1,
    );
    await page.keyboard.press("Enter");
    await page.locator("#both-status").filter({ hasText: "Stopped." }).waitFor();
    expect(await page.locator("#both-plot").isVisible()).toBe(false);
    const longest = await page.evaluate(
      () => (globalThis as unknown as { longest: number }).longest,
    );
    // Slices take about 10 ms. The limit allows for busy machines.
    expect(longest).toBeLessThan(1000);
    expect(complaints).toEqual([]);
  });
});

it("are accessible and fit", async () => {
  const page = await story.started({ viewport: { width: 1200, height: 800 } });
  for (const topic of ["numbers", "language"]) {
    await page.locator("#both-topic").selectOption(topic);
    await askBoth(page);
    const summary = page.locator("#both-plot summary");
    if (topic === "numbers") await summary.click();
    await expectForEverybody(page, 320, `both-${topic}`);
  }
});
