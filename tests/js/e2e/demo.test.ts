/** The demo page in a real browser, against a real collector. */

import type { BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { SIZES } from "../../../www/demo/story/crowd.js";
import { expectForEverybody, violations } from "./axe.js";
import type { Estimates } from "./harness.js";
import { Story } from "./story.js";

const story = new Story();
const { gateway, complaints } = story;
const open = (options?: BrowserContextOptions, init?: () => void) => story.open(options, init);
const started = (options?: BrowserContextOptions) => story.started(options);

beforeAll(() => story.start());
afterAll(() => story.stop());
beforeEach(() => story.clear());

async function estimates(task = "habits-collision"): Promise<Estimates> {
  const response = await fetch(`${story.collector.url}/tasks/${task}/estimates`);
  return response.json() as Promise<Estimates>;
}

async function mechanism(task = "habits-collision"): Promise<{ buckets: number }> {
  const response = await fetch(`${story.collector.url}/tasks/${task}`);
  return ((await response.json()) as { task: { mechanism: { buckets: number } } }).task.mechanism;
}

/**
 * Returns the bucket of an upload's only report, over all hash functions: the bytes after a header
 * of 34 bytes and the seed.
 */
const bucketOf = (upload: Buffer) =>
  upload.subarray(34 + 8).reduceRight((high, byte) => high * 128 + (byte % 128), 0);

const text = (page: Page, selector: string) => page.locator(selector).textContent();
/** Returns the hexadecimal digits on display. */
const shownBytes = async (page: Page) =>
  (await page.locator("#tape .byte").allTextContents()).join("");
const shownBucket = async (page: Page) => text(page, "#picture li[data-reported] .bucket-number");

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
    const { buckets } = await mechanism();
    const bucket = bucketOf(gateway.posts[0]?.body ?? Buffer.of());
    expect(bucket % buckets).toBe(Number(await shownBucket(page)));
    expect((await estimates()).reports).toBe(before + 1);

    // A later preview is not sent, and nothing is sent twice.
    await page.getByRole("button", { name: "Preview another report" }).click();
    expect(await shownBytes(page)).not.toBe(sent);
    expect(await page.getByRole("button", { name: "Sent once" }).isDisabled()).toBe(true);
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

    // The chart's table equals the collector's response.
    await page.getByText("This chart as a table").click();
    const rows = await page.locator("#chart-table tbody tr").allInnerTexts();
    expect(rows).toHaveLength(12);
    for (const [index, row] of rows.entries()) {
      const [, truth, estimate] = row.split("\t");
      const mean = found.estimates[index]?.mean;
      const [known, shown] = [truth, estimate].map((cell) =>
        Number.parseFloat(cell?.replace("−", "-") ?? ""),
      ) as [number, number];
      expect(shown).toBeCloseTo((mean?.estimate ?? Number.NaN) * 100, 0);
      // Tolerance of twice the 95% interval, exceeded by chance once in 10⁶ runs.
      const [low, high] = mean?.simultaneous_interval ?? [0, 0];
      const reach = high - low;
      expect(Math.abs(known - shown) / 100).toBeLessThan(reach);
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
    await page
      .locator("#others")
      .filter({ hasText: "the 10 people whose reports this browser sent" })
      .waitFor();
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
      expect(presses).toBeLessThan(20);
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
      .filter({ hasText: "20 reports sent and stored on" })
      .waitFor();
    expect(complaints).toEqual([]);
  });

  it("lets one report answer three questions, and says so", async () => {
    const page = await started();
    const yes = (item: string) => page.locator(`#questions input[name="${item}"][value="1"]`);
    await yes("sync").check();
    expect(await text(page, "#answered")).toMatch(/3 of 3 questions answered/);
    expect(await yes("location").isDisabled()).toBe(true);
    await page.locator('#questions input[name="sync"][value="0"]').check();
    expect(await yes("location").isEnabled()).toBe(true);
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
    gateway.to = story.collector.url;
    await alone.getByRole("button", { name: "Try again" }).click();
    await alone.waitForSelector("html[data-ready]");
  });
});

/** Returns half the width of the interval of yes minus no, as displayed. */
async function shownWidth(page: Page, mechanism: string): Promise<number> {
  const row = page.locator("#widths li").filter({ hasText: mechanism });
  return Number.parseFloat((await row.locator(".width-half").textContent())?.slice(1) ?? "");
}

const choose = (page: Page, mechanism: string) =>
  page.locator("#mechanisms").getByRole("radio", { name: mechanism }).check();

describe("the demo page before its collector is up", () => {
  it("says what it waits for, shows what needs no collector, and goes on by itself", async () => {
    story.waiting = "The collector is still compiling: about 60 seconds left.";
    const page = await open();
    await page.locator("#waiting").filter({ hasText: story.waiting }).waitFor();
    await page.getByRole("button", { name: "Ask them in both ways" }).click();
    await page.locator("#both-verdict").filter({ hasText: "people, at the same ε" }).waitFor();
    expect(await page.locator("html[data-ready]").count()).toBe(0);

    story.waiting = undefined;
    await page.waitForSelector("html[data-ready]");
    expect(await page.locator("#waiting").isVisible()).toBe(false);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it("reads well for everybody while it waits", async () => {
    story.waiting = "The collector is still compiling: about 60 seconds left.";
    const page = await open();
    await page.locator("#waiting").filter({ hasText: story.waiting }).waitFor();
    expect(await violations(page)).toEqual([]);
    story.waiting = undefined;
    await page.context().close();
  });
});

describe("the switch between mechanisms", () => {
  it("changes the error bars that the same people's reports have", async () => {
    const page = await started();
    await growTo(page, 2000);
    await choose(page, "CoCo");
    expect(await text(page, "#figure-people")).toBe("0");
    await growTo(page, 2000);
    await page
      .locator("#widths li")
      .filter({ hasText: "CoCo" })
      .getByText("2,000 reports")
      .waitFor();
    // Other tests have also sent reports to Collision.
    const [collision, coco] = [await estimates(), await estimates("habits-coco")];
    const scaled = ({ estimates: found, reports }: Estimates) =>
      (found.reduce((sum, { mean }) => {
        const [low, high] = mean.simultaneous_interval;
        return sum + (high - low) / 2;
      }, 0) /
        found.length) *
      Math.sqrt(reports);
    // Measured: 7 to 9 per cent narrower; over 2000 people this varies by less than one.
    expect(scaled(coco) / scaled(collision)).toBeLessThan(0.96);
    expect(await shownWidth(page, "CoCo")).toBeCloseTo(
      (scaled(coco) / Math.sqrt(coco.reports)) * 100,
      0,
    );
    // CoCo estimates only the balance.
    expect(await page.getByRole("radio", { name: "Share of yes", exact: true }).isDisabled()).toBe(
      true,
    );
    expect(await text(page, "#chart-table caption")).toBe("Share of yes minus share of no");
    expect(complaints).toEqual([]);
  });

  it("lets the people of the largest crowd report to the others", async () => {
    const page = await started();
    const mechanisms = await page.locator("#mechanisms input").count();
    await choose(page, "CoCo");
    await growTo(page, 100);
    await page.getByRole("button", { name: "Let the same people report" }).click();
    await page
      .locator("#growth-text")
      .filter({ hasText: `${100 * (mechanisms - 1)} reports sent and stored` })
      .waitFor();
    for (const radio of await page.locator("#mechanisms input").all()) {
      await radio.check();
      expect(await text(page, "#figure-people")).toBe("100");
    }
    expect(complaints).toEqual([]);
  });

  it("works by keyboard, from either group, and keeps both in step", async () => {
    const page = await started();
    const checked = (group: string) => page.locator(`#${group} input:checked`).inputValue();
    await page.locator("#mechanisms input:checked").focus();
    await page.keyboard.press("ArrowDown");
    expect(await checked("mechanisms-again")).toBe("habits-coco");
    expect(await text(page, "#tape .part[data-part=response]")).toMatch(/^[0-9a-f]+$/);
    await page.locator("#mechanisms-again input:checked").focus();
    await page.keyboard.press("ArrowLeft");
    expect(await checked("mechanisms")).toBe("habits-collision");
  });

  it("never makes a second report of the visitor", async () => {
    const page = await started();
    await choose(page, "CoCo");
    await page.getByRole("button", { name: "Send one report" }).click();
    await page.waitForSelector('#report[data-state="sent"]');
    const sent = await shownBytes(page);
    await choose(page, "Collision");
    expect(await page.locator("#report").getAttribute("data-state")).toBe("preview");
    expect(await text(page, "#stamp-text")).toMatch(/was sent, under CoCo/);
    expect(await page.getByRole("button", { name: "Sent once" }).isDisabled()).toBe(true);
    await page.getByRole("button", { name: "Show what was sent" }).click();
    expect(await shownBytes(page)).toBe(sent);
    expect(await page.locator("#mechanisms input:checked").inputValue()).toBe("habits-coco");
    expect(gateway.posts).toHaveLength(1);
  });
});

describe("the audit in the browser", () => {
  /** Runs the audit and returns the measured bound. */
  async function audited(page: Page): Promise<number> {
    await page.getByRole("button", { name: "Run the audit" }).click();
    await page.locator("#audit-text").filter({ hasText: /\d/ }).waitFor();
    return Number(
      await page
        .locator("#audit-figures div")
        .filter({ hasText: "measured" })
        .locator("dd")
        .textContent(),
    );
  }

  it("stays below ε, whatever a report's ε covers, and sends nothing", async () => {
    const page = await started();
    for (const mechanism of ["Collision", "Hash-bin (event)"]) {
      await choose(page, mechanism);
      const bound = await audited(page);
      // Chance moves the measured logarithm by 0.03 in at most one of 10⁵ audits.
      expect(bound).toBeLessThan(1.03);
      expect(bound).toBeGreaterThan(0.8);
    }
    expect(gateway.posts).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it("catches a randomiser that spends twice the budget", async () => {
    const page = await started();
    await page.getByRole("checkbox", { name: /Sabotage/ }).check();
    expect(await audited(page)).toBeGreaterThan(1.5);
    expect(await text(page, "#audit-text")).toMatch(/^Caught/);
    expect(await page.locator("#gauge").getAttribute("data-caught")).not.toBeNull();
    // The measurement applied to the sabotaged randomiser only.
    await page.getByRole("checkbox", { name: /Sabotage/ }).uncheck();
    expect(await text(page, "#audit-text")).toBe("");
  });

  it("can be cancelled", async () => {
    const page = await started();
    // The click happens in the page at the first progress. A click from outside may come after the
    // end.
    await page.evaluate(() => {
      const bar = document.querySelector<HTMLProgressElement>("#audit-progress");
      const cancel = document.querySelector<HTMLButtonElement>("#audit-cancel");
      if (!bar || !cancel) throw new Error("no audit to cancel");
      new MutationObserver((_, observer) => {
        if (bar.value === 0) return;
        observer.disconnect();
        cancel.click();
      }).observe(bar, { attributeFilter: ["value"] });
    });
    await page.getByRole("button", { name: "Run the audit" }).click();
    await page.getByRole("button", { name: "Run the audit" }).waitFor();
    expect(await text(page, "#audit-detail")).toMatch(/Nothing measured yet/);
  });
});

describe("the demo page, on light and dark ground, wide and narrow", () => {
  it("is accessible and fits", async () => {
    const page = await started({ viewport: { width: 1280, height: 800 } });
    await page.evaluate(() => {
      for (const details of document.querySelectorAll("details")) {
        details.open = true;
      }
    });
    await expectForEverybody(page, 360);
    await choose(page, "Hash-bin (event)");
    await page.getByRole("checkbox", { name: /Sabotage/ }).check();
    await expectForEverybody(page, 360);
  });
});
