/** Variants of an experiment: pages report under labels, and each has its own estimates. */

import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Task } from "../../../www/client/index.js";
import { task as LAYOUTS } from "../../../www/examples/typed/layouts.js";
import { expectForEverybody } from "./axe.js";
import { ALLOWED, type Estimate, World } from "./harness.js";

const PEOPLE = 4000;
/** Shares of people in each variant that have found help. */
const FOUND = { control: 0.3, wide: 0.6 } as const;

let world: World;

beforeAll(async () => {
  world = await World.start(LAYOUTS);
});

afterAll(() => world?.stop());

/** Reports in a page under a label, as a person would who sees this variant. */
const report = (page: Page, label: string, found: boolean) =>
  page.evaluate(
    async ({ options, found }) => {
      const client = hushbin.createClient(options);
      const receipt = await client.report({ "found-help": found });
      await client.close();
      return receipt.sent || receipt.reason;
    },
    { options: { endpoint: world.endpoint, task: LAYOUTS as Task, label, ...ALLOWED }, found },
  );

it("are told apart, with one budget for both", async () => {
  const page = await world.page();
  expect(await report(page, "wide", true)).toBe(true);
  expect(await report(page, "control", true)).toBe("over-budget");
  await page.context().close();

  for (const [label, share] of Object.entries(FOUND)) {
    const answers = Array.from({ length: PEOPLE }, (_, person) => ({
      "found-help": person < share * PEOPLE,
    }));
    await world.reportAll(`layouts:${label}`, answers);
  }
  for (const [label, share] of Object.entries(FOUND)) {
    // The interval misses the share with a probability of 10⁻⁶.
    const found = await world.estimates(`layouts:${label}`, "confidence=0.999999");
    expect(found.reports).toBe(PEOPLE + (label === "wide" ? 1 : 0));
    const [, yes] = found.estimates as unknown as readonly { readonly share: Estimate }[];
    const [low, high] = yes?.share.simultaneous_interval ?? [1, 0];
    expect(low).toBeLessThan(share + 1 / PEOPLE);
    expect(high).toBeGreaterThan(share);
  }
});

it("are shown to analysts, with links between them", async () => {
  const page = await (await world.context()).newPage();
  await page.goto(`${world.collector.url}/dashboard/#task=layouts%3Awide`);
  const links = page.getByRole("navigation", { name: "Labels" }).getByRole("link");
  await expect.poll(() => links.allInnerTexts()).toEqual(["control", "wide"]);
  expect(await links.nth(1).getAttribute("aria-current")).toBe("page");
  const facts = page.locator(".facts");
  await expect.poll(() => facts.innerText()).toContain("4,001 reports");
  await expectForEverybody(page, 320, "labels");
  await links.nth(0).click();
  await expect.poll(() => page.locator("h1").innerText()).toBe("layouts:control");
  await expect.poll(() => facts.innerText()).toContain("4,000 reports");
  await page.context().close();
});

it("are shown to the person", async () => {
  const page = await world.page();
  // The import is a string, because the runner rewrites imports.
  await page.evaluate(`import("/dist/history.js")`);
  await page.evaluate(
    (options) => {
      const element = document.createElement("hushbin-history");
      document.body.append(Object.assign(element, { clients: [hushbin.createClient(options)] }));
    },
    { endpoint: world.endpoint, task: LAYOUTS as Task, label: "wide", ...ALLOWED },
  );
  const text = (selector: string) => page.locator(`hushbin-history ${selector}`).innerText();
  await expect.poll(() => text(".label")).toContain("you belong to the group “wide”");
  expect(await text(".task")).toContain("Task layouts, collected by");
  await page.context().close();
});
