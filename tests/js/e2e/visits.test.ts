/** The demo's choice, set and number in a real browser, against a real collector. */

import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { visitTrueCounts } from "../../../www/demo/story/visits/people.js";
import { expectForEverybody } from "./axe.js";
import type { Estimate } from "./harness.js";
import { Story } from "./story.js";

const story = new Story();
const { gateway, complaints } = story;
const started = () => story.started();

beforeAll(() => story.start());
afterAll(() => story.stop());
beforeEach(() => story.clear());

const text = (page: Page, selector: string) => page.locator(selector).textContent();

/** Checked parts of a response; quantiles are for numbers. */
interface Answer {
  readonly reports: number;
  readonly estimates: readonly { readonly share: Estimate }[];
  readonly number?: { readonly [part in "distribution" | "quantiles"]: readonly Estimate[] };
}

async function answerTo(question: string): Promise<Answer> {
  const url = `${story.collector.url}/tasks/visits/estimates?question=${question}`;
  return (await fetch(url)).json() as Promise<Answer>;
}

async function reports(): Promise<number> {
  const answers = await Promise.all(["theme", "features", "loadMs"].map(answerTo));
  return answers.reduce((sum, answer) => sum + answer.reports, 0);
}

/** Returns the numbers of a chart's table: truth and estimate of each row. */
async function tabulated(page: Page, chart: string): Promise<[number, number][]> {
  const rows = await page.locator(`#${chart}-table tbody tr`).all();
  return Promise.all(
    rows.map(async (row) => {
      const cells = await row.locator("td").allTextContents();
      const number = (cell = "") => Number.parseFloat(cell.replace("−", "-").replace(",", ""));
      return [number(cells[0]), number(cells[1])] as [number, number];
    }),
  );
}

async function growVisits(page: Page, people: number): Promise<void> {
  await page.locator("#visits-size").selectOption(String(people));
  await page.getByRole("button", { name: "Send the crowd’s reports" }).click();
  await page
    .locator("#visits-growth-text")
    .filter({ hasText: "on the collector’s disk" })
    .waitFor();
}

describe("the choices, sets and numbers", () => {
  it("are answered by the visitor in one report, whose bytes are shown", async () => {
    const page = await started();
    const before = await reports();
    const panel = page.locator("#visit");
    await panel.getByLabel("Which theme do you use?").selectOption("light");
    await panel.getByRole("checkbox", { name: "Search" }).check();
    await panel.getByRole("checkbox", { name: "Offline" }).check();
    expect(await panel.getByRole("checkbox", { name: "Share" }).isDisabled()).toBe(true);
    const call = await text(page, "#visit-call");
    expect(call).toMatch(
      /theme: "light",\n {2}features: \["search", "offline"\],\n {2}loadMs: \d+,/,
    );
    expect(await text(page, "#visit-load")).toMatch(/^[\d,]+ ms, measured/);
    const bytes = async () => (await panel.locator(".byte").allTextContents()).join("");
    const preview = await bytes();
    await panel.getByRole("button", { name: "Draw another report" }).click();
    expect(await bytes()).not.toBe(preview);
    expect(gateway.posts).toEqual([]);

    await panel.getByRole("button", { name: "Send this visit" }).click();
    await page.waitForSelector('#visit[data-state="sent"]');
    expect(gateway.posts.map(({ path }) => path)).toEqual(["/tasks/visits/reports"]);
    const sent = gateway.posts[0]?.body.toString("hex");
    expect(await bytes()).toBe(sent);
    expect(await reports()).toBe(before + 1);

    await page.reload();
    await page.waitForSelector('html[data-ready] #visit[data-state="sent"]');
    expect(await bytes()).toBe(sent);
    expect(await text(page, "#visit-call")).toBe(call);
    expect(await panel.getByRole("button", { name: "Visit sent once" }).isDisabled()).toBe(true);
    expect(gateway.posts).toHaveLength(1);
    expect(complaints).toEqual([]);
  });

  it("keep the visitor's bytes where they are lost on the way, and count them once", async () => {
    const page = await started();
    const before = await reports();
    // Once with keepalive and once without.
    gateway.faults.push("lose-answer", "lose-answer");
    await page.locator("#visit").getByRole("button", { name: "Send this visit" }).click();
    await page.locator("#visit-text").filter({ hasText: "same bytes are kept" }).waitFor();
    await page.getByRole("button", { name: "Try again" }).click();
    await page.waitForSelector('#visit[data-state="sent"]');
    expect(new Set(gateway.posts.map(({ body }) => body.toString("hex"))).size).toBe(1);
    expect(gateway.posts.length).toBeGreaterThan(1);
    expect(await reports()).toBe(before + 1);
  });

  it("are estimated from a crowd's reports, with the truth inside the intervals", async () => {
    const page = await started();
    const elsewhere = await reports();
    await growVisits(page, 10_000);
    expect(await text(page, "#visits-people")).toBe("10,000");
    expect(await reports()).toBe(elsewhere + 10_000);
    const [theme, features, load] = await Promise.all(
      ["theme", "features", "loadMs"].map(answerTo),
    );
    // Every response redraws the charts, so these belong to the last one.
    for (const [name, answer] of Object.entries({ theme, features, load })) {
      const all = `${answer?.reports.toLocaleString("en-GB")} reports`;
      await page.locator(`#${name}-verdict`).filter({ hasText: all }).waitFor();
    }
    const shares = (answer: Answer | undefined) =>
      answer?.estimates.map(({ share }) => share) ?? [];
    // Load times list quantiles first, in whole milliseconds. Shares are in tenths of a per cent.
    const [quantiles, below] = [load?.number?.quantiles ?? [], load?.number?.distribution ?? []];
    const loads = await tabulated(page, "load-chart");
    const charts = [
      { shown: await tabulated(page, "theme-chart"), found: shares(theme), unit: 0.01, half: 0.05 },
      {
        shown: await tabulated(page, "features-chart"),
        found: shares(features),
        unit: 0.01,
        half: 0.05,
      },
      { shown: loads.slice(0, 3), found: quantiles, unit: 1, half: 0.5 },
      { shown: loads.slice(3), found: below, unit: 0.01, half: 0.05 },
    ];
    expect(charts.map(({ shown }) => shown.length)).toEqual([4, 5, 3, 31]);
    const { quantile } = visitTrueCounts(10_000, null);
    expect(loads.slice(0, 3).map(([known]) => known)).toEqual([0.5, 0.75, 0.95].map(quantile));
    for (const { shown, found, unit, half } of charts) {
      expect(found).toHaveLength(shown.length);
      for (const [
        index,
        {
          estimate,
          simultaneous_interval: [low, high],
        },
      ] of found.entries()) {
        const [known, told] = shown[index] ?? [Number.NaN, Number.NaN];
        expect(Math.abs(told - estimate / unit)).toBeLessThan(half * 1.001);
        if (unit === 1) continue;
        // Tolerance of twice the 95% interval, exceeded by chance once in 10⁶ runs.
        const reach = high - low;
        expect(known * unit).toBeGreaterThan(low - reach / 2);
        expect(known * unit).toBeLessThan(high + reach / 2);
      }
    }
    expect(complaints).toEqual([]);
  });

  it("show by themselves what others report", async () => {
    const [page, other] = [await started(), await started()];
    await growVisits(other, 100);
    for (const name of ["theme", "features"]) {
      const all = `${(await answerTo(name)).reports.toLocaleString("en-GB")} reports`;
      await page.locator(`#${name}-verdict`).filter({ hasText: all }).waitFor();
    }
    expect(complaints).toEqual([]);
  });

  it("say what the bytes of a visit tell of each answer", async () => {
    const page = await started();
    await page.locator("#visit-theme").selectOption("light");
    await page.locator("#visit-told summary").click();
    const kinds = new Set<string>();
    for (let draws = 0; kinds.size < 3; draws += 1) {
      expect(draws).toBeLessThan(200);
      const words = (await text(page, "#told-text")) ?? "";
      const question = /^These bytes answer the question (\w+) and/.exec(words)?.[1] ?? "";
      kinds.add(question);
      const rows = page.locator("#told-rows tr");
      const count = { theme: 4, features: 5, loadMs: 32 }[question];
      expect(await rows.count(), words).toBe(count);
      if (question === "theme") expect(await rows.nth(1).getAttribute("data-own")).not.toBeNull();
      const afters = await rows.locator("td:nth-of-type(2)").allTextContents();
      // All options of a set may lie outside the bucket; for a single choice some become more
      // likely.
      if (question !== "features") expect(new Set(afters).size).toBeGreaterThan(1);
      await page.locator("#visit-again").click();
    }
    expect(complaints).toEqual([]);
  });

  it("can be used by keyboard alone", async () => {
    const page = await started();
    await page.locator("#visit-theme").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Space");
    expect(await text(page, "#visit-call")).toMatch(/theme: "light",\n {2}features: \["search"\]/);
    const focus = () => page.evaluate(() => document.activeElement?.id);
    const tabTo = async (id: string) => {
      for (let presses = 0; (await focus()) !== id; presses += 1) {
        expect(presses).toBeLessThan(10);
        await page.keyboard.press("Tab");
      }
    };
    await tabTo("visits-size");
    await page.keyboard.press("Home");
    await tabTo("visits-grow");
    await page.keyboard.press("Enter");
    await page.locator("#visits-growth-text").filter({ hasText: "100 reports sent" }).waitFor();
    expect(await focus()).toBe("visits-grow");
    expect(complaints).toEqual([]);
  });
});

describe("the choices, sets and numbers", () => {
  it("are accessible and fit, with a crowd's reports", async () => {
    const page = await story.started({ viewport: { width: 1200, height: 800 } });
    await growVisits(page, 1000);
    await page.evaluate(() => {
      for (const details of document.querySelectorAll<HTMLDetailsElement>("#visits details")) {
        details.open = true;
      }
    });
    await expectForEverybody(page, 375);
    await page.locator("#visit-send").click();
    await page.waitForSelector('#visit[data-state="sent"]');
    await expectForEverybody(page, 375);
  });
});
