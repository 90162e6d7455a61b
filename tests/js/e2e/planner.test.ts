/** The planner's page in a real browser, compared with `hushbin plan`. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { geometricPoints } from "../../../www/demo/planner/curves.js";
import { formatFrequency } from "../../../www/demo/planner/words.js";
import {
  isRefusal,
  type Plan,
  plan,
  planSums,
  type SumDraft,
  type SumPlan,
  type Survey,
} from "../../../www/demo/shared/analysis.js";
import init from "../../../www/demo/shared/wasm/analysis.js";
import { BROWSING_TASK } from "../../../www/demo/story/both/task.js";
import { launchChromium } from "../../../www/scripts/lib/browser.mjs";
import { DEMO_DIST, TARGET } from "../../../www/scripts/lib/paths.mjs";
import { serve } from "../../../www/scripts/lib/serve.mjs";
import { expectForEverybody, violations } from "./axe.js";
import { newContext } from "./harness.js";

/** Errors of any page; a test that expects errors clears the list. */
const complaints: string[] = [];
/** Paths that pages have loaded. */
const loaded: string[] = [];
/** Directory with the command's task file of sums. */
const directory = mkdtempSync(join(tmpdir(), "hushbin-planner-"));

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

beforeEach(async () => {
  // Late messages of earlier tests' pages do not belong to this test.
  await Promise.all(browser.contexts().map((context) => context.close()));
  complaints.length = 0;
  loaded.length = 0;
});

async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await newContext(browser, { reducedMotion: "reduce", ...options });
  const page = await context.newPage();
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) complaints.push(message.text());
  });
  context.on("request", (request) => loaded.push(new URL(request.url()).pathname));
  await page.goto(site.url + path);
  return page;
}

/** Opens the page with the settings of its URL, and waits for the answer. */
async function planner(fragment = "", options: BrowserContextOptions = {}): Promise<Page> {
  const page = await open(`/planner.html#${fragment}`, options);
  await page.waitForSelector("html[data-ready]");
  return page;
}

/** Waits for the answer to the latest settings. */
const answered = (page: Page) => page.waitForSelector('#verdict[aria-busy="false"]');
const drawn = (page: Page) => page.waitForSelector('#plots[aria-busy="false"]');
const text = (page: Page, selector: string) => page.locator(selector).textContent();

/** Returns a displayed figure's number in full precision. */
async function exact(page: Page, name: string): Promise<number> {
  const called = page.locator("dt").filter({ hasText: new RegExp(`^${name}$`) });
  const figure = page.locator("#figures div").filter({ has: called });
  return Number(await figure.locator("data").getAttribute("value"));
}

/** Returns the answer of the command that the page shows. */
async function native<T = Plan>(page: Page): Promise<T> {
  const command = await text(page, "#command");
  expect(command).toMatch(/^(echo '[^']+' \| )?hushbin plan /);
  const PATH = [join(TARGET, "debug"), process.env.PATH].join(delimiter);
  // The command runs as a reader would paste it.
  const answer = execFileSync("sh", ["-c", `${command} --json`], {
    encoding: "utf8",
    env: { ...process.env, PATH },
    cwd: directory,
  });
  return JSON.parse(answer) as T;
}

/** Exponentials and logarithms of two platforms may differ in the last bits. */
function expectNear(shown: number, expected: number, name?: string): void {
  expect(Math.abs(shown / expected - 1), `${name}: ${shown}, ${expected}`).toBeLessThan(1e-12);
}

/** Settings of sums in which each field affects the answer. */
const SUMS = "count=4&max=10000&people=10000&honest_fraction=0.9&central_epsilon=1&delta=0.000001";
/** The same for questions whose answers are counted. */
const COUNTED = SUMS.replace("people=10000", "people=100000");
const CHOICE = `measure=choice&options=1000&${COUNTED}`;

describe("the planner's module", () => {
  const asked = (items: unknown, fields: object = {}, more: object = {}): unknown => ({
    questions: [
      {
        name: "",
        kind: "ratings",
        items,
        sparsity: 1,
        value: "sign",
        mechanism: "auto",
        ...fields,
      },
    ],
    ...more,
  });

  it("refuses what it cannot answer, and goes on", () => {
    const refusal = (survey: unknown) => {
      try {
        return plan(survey as Survey);
      } catch (thrown) {
        // A trap would be another error.
        if (isRefusal(thrown)) return thrown;
        throw thrown;
      }
    };
    for (const survey of [
      undefined,
      null,
      "{}",
      [],
      {},
      asked(4, {}, { peple: 10 }),
      asked(-4),
      asked(4.5),
      asked(4, { sparsity: 1e300 }),
      asked(4, {}, { people: 1e300 }),
      asked(4, {}, { people: 10n ** 30n }),
      asked(4, {}, { people: Number.NaN }),
      asked(4, {}, { epsilon: null, delta: "small" }),
      asked(() => 4),
    ]) {
      expect(refusal(survey), String(survey)).toMatchObject({ message: expect.any(String) });
    }
    expect(refusal(asked(4, {}, { peple: 10 }))).toEqual({
      code: "value",
      message: expect.stringContaining("peple"),
    });
    expect(refusal(asked(4))).toMatchObject({ code: "underspecified" });
    expect(refusal(asked(4, {}, { people: 10, epsilon: 13 }))).toEqual({
      code: "parameter",
      field: "epsilon",
      message: "epsilon is 13, expected 0.001 to 12",
    });
    expect(plan(asked(4, {}, { people: 1000, epsilon: 1 }) as Survey).people).toBe(1000);
  });

  it("refuses sums that it cannot answer by field, and goes on", () => {
    const { messages: _, ...draft } = BROWSING_TASK;
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
        // A trap would be another error.
        if (!isRefusal(thrown)) throw thrown;
        refusal = thrown;
      }
      const expected = field === undefined ? { code: "value" } : { code: "parameter", field };
      expect(refusal, JSON.stringify(wrong)).toMatchObject(expected);
    }
    expect(planSums(draft as SumDraft).messages).toBeGreaterThan(1);
  });

  it("gives the demo's task its messages, and finds that they keep the promise", () => {
    const complete: SumDraft = { ...BROWSING_TASK, id: "planned" };
    const { messages: _, ...draft } = complete;
    expect(planSums(draft).task.messages).toEqual(BROWSING_TASK.messages);
    expect(planSums(complete).central_epsilon.upper).toBeLessThanOrEqual(BROWSING_TASK.epsilon);
    expect(() => planSums({ ...complete, epsilon: 0.9 })).toThrow();
  });
});

describe("the planner's page", () => {
  it.each([
    "",
    "solve=error&budget=central&central_epsilon=0.2&items=1378&sparsity=6&objective=frequency",
    "solve=error&level=event&sparsity=40&items=300&epsilon=2&honest_fraction=0.5",
    "solve=error&domain=open&sparsity=3&epsilon=3&value=real&people=1000000",
    "solve=people&goal=smallest_frequency&smallest_frequency=0.02&people_per_day=unknown",
    "solve=people&budget=central&central_epsilon=0.05&goal=error&standard_error=0.02",
    "solve=epsilon&goal=error&standard_error=0.005&people=500000",
  ])("answers as the command does: %s", async (fragment) => {
    const page = await planner(fragment);
    const answer = await native(page);
    const [own] = answer.questions;
    expect(JSON.parse((await text(page, "#task-json")) ?? "")).toEqual(answer.task);
    for (const [name, expected] of [
      [own?.bias ? "error" : "standard error", own?.error],
      ["95% interval", own?.half_width],
      ["smallest detectable frequency", own?.smallest_frequency],
      ["local ε", answer.effective_epsilon],
      ["shuffled ε", answer.central?.central_epsilon],
      ["people", answer.people],
    ] as const) {
      if (expected === null || expected === undefined) continue;
      expectNear(await exact(page, name), expected, name);
    }
    expect(await text(page, "#verdict-text")).toBe(answer.verdict.text);
    expect(await page.locator("#offers tr").count()).toBe(1 + answer.others.length);
    expect(complaints).toEqual([]);
  });

  it.each([
    "kind=flag&solve=people",
    "kind=choice&options=40&solve=epsilon&within=0.02",
    "kind=set&options=16&sparsity=4&solve=error&budget=central&central_epsilon=0.2",
    "kind=number&min=-20&max=60&solve=people&margin=2",
    "kind=number&want=histogram&bins=8&solve=error",
    "kind=number&want=quantiles&min=1&spacing=logarithmic&quantile=0.9&spread=5&solve=people&margin=2",
    "kind=numbers&count=3&max=10&solve=error&epsilon=2",
    "kind=cross&options=3&columns=5&solve=people&within=0.02&epsilon=2",
    "kind=cross&options=2&across=number&min=-5&max=60&solve=epsilon&margin=2",
    "kind=together&parts=2,2,3&solve=people&within=0.02&epsilon=4",
    "kind=text&length=6&solve=people&within=0.01&epsilon=2",
  ])("answers about other kinds as the command does: %s", async (fragment) => {
    const page = await planner(fragment);
    const answer = await native(page);
    const [own] = answer.questions;
    expect(JSON.parse((await text(page, "#task-json")) ?? "")).toEqual(answer.task);
    for (const [name, expected] of [
      ["standard error", own?.standard_error],
      ["95% interval", own?.half_width],
      ["smallest detectable share", own?.smallest_frequency],
      ["local ε", answer.effective_epsilon],
      ["shuffled ε", answer.central?.central_epsilon],
      ["people", answer.people],
    ] as const) {
      if (expected === null || expected === undefined) continue;
      expectNear(await exact(page, name), expected, name);
    }
    expect(await text(page, "#verdict-text")).toBe(answer.verdict.text);
    const asRatings = own?.as_ratings !== null;
    expect(await page.locator("#offers tr").count()).toBe(asRatings ? 2 : 1);
    await drawn(page);
    expect(complaints).toEqual([]);
  });

  it("asks for another kind by keyboard, with the fields of that kind", async () => {
    const page = await planner();
    const kind = page.getByLabel("Kind of answer");
    await kind.focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.waitForFunction(() => location.hash.includes("kind=choice"));
    await answered(page);
    expect(await kind.inputValue()).toBe("choice");
    expect(await page.getByLabel("Options", { exact: true }).isVisible()).toBe(true);
    expect(await page.getByLabel("Items", { exact: true }).isVisible()).toBe(false);
    await kind.selectOption("cross");
    await page.getByRole("radio", { name: "a choice" }).focus();
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction(() => location.hash.includes("across=number"));
    await answered(page);
    expect(await page.getByLabel("Columns", { exact: true }).isVisible()).toBe(false);
    expect(await page.getByLabel("Maximum", { exact: true }).isVisible()).toBe(true);
    expect(await text(page, "#verdict-text")).toMatch(/^Means of columns within rows of cross/);
    await page.locator("#status").filter({ hasText: "within rows" }).waitFor();
    await kind.selectOption("number");
    await page.getByRole("radio", { name: "quantiles" }).check();
    await page.getByLabel("Spread", { exact: true }).fill("99");
    await page.locator("#error-spread").filter({ hasText: "spread is 99" }).waitFor();
    await page.getByLabel("Spread", { exact: true }).fill("5");
    await answered(page);
    expect(await page.locator("#figures").isVisible()).toBe(true);
    expect(complaints).toEqual([]);
  });

  it("asks several choices at once, by a list of how many options each has", async () => {
    const page = await planner();
    await page.getByLabel("Kind of answer").selectOption("together");
    await answered(page);
    expect(await text(page, "#verdict-text")).toMatch(/^Shares of together /);
    const list = page.getByLabel("Options per choice", { exact: true });
    expect(await list.inputValue()).toBe("2, 2, 3");
    await list.fill("2, many");
    await page.locator("#error-parts").filter({ hasText: "such as 2, 2, 3" }).waitFor();
    expect(await list.getAttribute("aria-invalid")).toBe("true");
    expect(await text(page, "#verdict-text")).toBe("Please correct the marked field.");
    // The page also shows the planner's refusals.
    for (const [parts, message] of [
      ["7", "Number of parts is 1, expected 2 to 1024."],
      ["7, 1", 'Question "together": options is 1, expected 2 to 1048576.'],
      ["7, 2000000", 'Question "together": items is 2000000, expected 1 to 1048576.'],
    ] as const) {
      await list.fill(parts);
      await page.locator("#error-parts").filter({ hasText: message }).waitFor();
    }
    await list.fill("2 5");
    await answered(page);
    expect(await list.getAttribute("aria-invalid")).toBeNull();
    expect(await text(page, "#mechanism-parameters")).toContain("2 parts with 7 options");
    expect(complaints).toEqual([]);
  });

  it.each(["people", "error", "epsilon"])(
    "plans several questions as the command does, for %s",
    async (solve) => {
      const page = await planner(`kind=flag&within=0.02&solve=${solve}`);
      expect(await page.locator("#each").isVisible()).toBe(false);
      await page.getByRole("button", { name: "Add a question" }).click();
      await answered(page);
      // The new question is displayed, with its own settings.
      expect(await page.getByRole("radio", { name: "choice-2" }).isChecked()).toBe(true);
      await page.getByLabel("Options", { exact: true }).fill("4");
      await answered(page);
      const answer = await native(page);
      expect(JSON.parse((await text(page, "#task-json")) ?? "")).toEqual(answer.task);
      expect(await text(page, "#verdict-text")).toBe(answer.verdict.text);
      expectNear(await exact(page, "people"), answer.people);
      expectNear(await exact(page, "local ε"), answer.effective_epsilon);
      const rows = page.locator("#each-rows tr");
      expect(await rows.count()).toBe(2);
      for (const [index, own] of answer.questions.entries()) {
        const row = rows.nth(index);
        expect(await row.locator("th").textContent()).toContain(own.name);
        expectNear(Number(await row.locator("data").getAttribute("value")), own.half_width);
      }
      // The offers are: drawn one by one, asked together, and as ratings.
      expect(await page.locator("#offers tr").count()).toBe(3);
      expect(answer.together_over_drawn).toBeGreaterThan(0);
      await drawn(page);
      expect(await text(page, "#plots-of")).toContain("choice-2");
      const column = '#plot-people tbody tr:has-text("100,000,000") td >> nth=0';
      const ofChoice = await text(page, column);
      await page.getByRole("radio", { name: "flag-1" }).check();
      await answered(page);
      await drawn(page);
      expect(await text(page, "#plots-of")).toContain("flag-1");
      await expect.poll(() => text(page, column)).not.toBe(ofChoice);
      expect(complaints).toEqual([]);
    },
  );

  it("has more and fewer questions by keyboard, and keeps them in the URL", async () => {
    const page = await planner("kind=number&solve=people&margin=2");
    await page.getByRole("button", { name: "Add a question" }).focus();
    await page.keyboard.press("Enter");
    const choice = page.getByRole("radio", { name: "choice-2" });
    expect(await choice.evaluate((own) => own === document.activeElement)).toBe(true);
    expect(await page.getByLabel("Options", { exact: true }).isVisible()).toBe(true);
    await page.keyboard.press("ArrowUp");
    expect(await page.getByRole("radio", { name: "number-1" }).isChecked()).toBe(true);
    expect(await page.getByLabel("Interval half-width", { exact: true }).inputValue()).toBe("2");
    await page.waitForFunction(() => location.hash.includes("question="));
    await answered(page);
    const other = await planner(new URL(page.url()).hash.slice(1));
    expect(await text(other, "#verdict-text")).toBe(await text(page, "#verdict-text"));

    // An error of a question that is not displayed comes with its name.
    await page.getByLabel("Interval half-width", { exact: true }).fill("99");
    await page.locator("#error-margin").filter({ hasText: "within is 99" }).waitFor();
    await choice.check();
    await page.locator("#verdict-text").filter({ hasText: 'Question "number-1"' }).waitFor();
    expect(await page.locator(".field-error:visible").count()).toBe(0);
    await page.getByRole("radio", { name: "number-1" }).check();
    await page.getByRole("button", { name: "Remove number-1" }).focus();
    await page.keyboard.press("Enter");
    await answered(page);
    expect(await page.locator("#each").isVisible()).toBe(false);
    expect(await text(page, "#verdict-text")).toMatch(/^Shares of choice /);
    const add = page.getByRole("button", { name: "Add a question" });
    expect(await add.evaluate((own) => own === document.activeElement)).toBe(true);
    expect(await page.getByRole("button", { name: /Remove/ }).count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it("answers anew when a slider is moved, by pointer or by keyboard, or a number typed", async () => {
    const page = await planner();
    const error = await exact(page, "standard error");
    const slider = page.getByRole("slider", { name: "Local ε, slider" });
    const at = Number(await slider.inputValue());
    await slider.fill(String(at + 8));
    await answered(page);
    const moved = await exact(page, "standard error");
    expect(moved).toBeLessThan(error);
    expect(Number(await page.getByLabel("Local ε", { exact: true }).inputValue())).toBe(2);

    await slider.focus();
    for (let step = 0; step < 8; step += 1) await page.keyboard.press("ArrowLeft");
    await answered(page);
    expect(await exact(page, "standard error")).toBe(error);

    await page.getByLabel("People", { exact: true }).fill("400000");
    await answered(page);
    // Four times the people halve the error.
    expect((await exact(page, "standard error")) / error).toBeCloseTo(0.5, 12);
    expect(complaints).toEqual([]);
  });

  it("shows the answer to the newest question, however fast a slider moves", async () => {
    const page = await planner();
    await page.evaluate(() => {
      const slider = document.querySelector<HTMLInputElement>('[data-field="people"] [type=range]');
      for (let stop = 10; slider && stop <= 60; stop += 1) {
        slider.value = String(stop);
        slider.dispatchEvent(new Event("input", { bubbles: true }));
      }
    });
    await answered(page);
    await drawn(page);
    const people = Number(await page.getByLabel("People", { exact: true }).inputValue());
    expect(await exact(page, "people")).toBe(people);
    expectNear(await exact(page, "standard error"), (await native(page)).questions[0]?.error ?? 0);
  });

  it("leaves a long computation for a newer question", async () => {
    // Sums over batches of up to 10¹² reports take about 12 seconds as native code.
    const hard = "central_epsilon=0.001&delta=1e-15&standard_error=0.00001";
    const page = await open(`/planner.html#solve=people&budget=central&${hard}`);
    const first = page.workers()[0] ?? (await page.waitForEvent("worker"));
    const left = first.waitForEvent("close");
    await page.getByLabel("Shuffled ε", { exact: true }).fill("0.1");
    await left;
    await answered(page);
    expect(await exact(page, "shuffled ε")).toBeLessThanOrEqual(0.1);
    expect(complaints).toEqual([]);
  });

  it("keeps a refusal when an older question is answered after it", async () => {
    const page = await planner();
    await drawn(page);
    await page.evaluate(
      () =>
        new Promise<void>((resolve) => {
          const post = Worker.prototype.postMessage;
          Worker.prototype.postMessage = function (asked: unknown) {
            // The page's listener runs before this one.
            this.addEventListener("message", ({ data }) => data.kind === "done" && resolve());
            post.call(this, asked);
          };
          const field = document.querySelector<HTMLInputElement>("#field-people");
          for (const value of ["50000", ""]) {
            if (field) field.value = value;
            field?.dispatchEvent(new Event("input", { bubbles: true }));
          }
        }),
    );
    expect(await text(page, "#error-people")).toBe("Expected a number.");
    expect(await text(page, "#verdict-kind")).toBe("No plan");
    expect(await page.locator("#figures").isVisible()).toBe(false);
    expect(await page.locator("#download").isEnabled()).toBe(false);
    await page.getByLabel("People", { exact: true }).fill("50000");
    await answered(page);
    await drawn(page);
    expect(await exact(page, "people")).toBe(50_000);
    expect(complaints).toEqual([]);
  });

  it("says at a field what is wrong with it", async () => {
    const page = await planner("epsilon=99");
    const field = page.getByLabel("Local ε", { exact: true });
    expect(await field.getAttribute("aria-invalid")).toBe("true");
    expect(await text(page, "#error-epsilon")).toBe("Epsilon is 99, expected 0.001 to 12.");
    expect(await text(page, "#verdict-kind")).toBe("No plan");
    expect(await page.locator("#download").isVisible()).toBe(false);
    await field.fill("");
    expect(await text(page, "#error-epsilon")).toBe("Expected a number.");
    await field.fill("1,000");
    expect(await text(page, "#error-epsilon")).toMatch(/^Expected a number such as 0\.5/);
    await field.fill("1,0");
    await answered(page);
    expect(await page.locator("#figures").isVisible()).toBe(true);
    expect(await page.locator("#download").isEnabled()).toBe(true);
    expect(await field.getAttribute("aria-invalid")).toBeNull();
    expect(await page.locator("#error-epsilon").isVisible()).toBe(false);
    await page.getByLabel("Sparsity", { exact: true }).fill("101");
    await page.locator("#error-sparsity").filter({ hasText: "expected 1 to 100" }).waitFor();
    // An older answer is not displayed.
    expect(await page.locator("#figures").isVisible()).toBe(false);
    expect(await page.locator("#download").isEnabled()).toBe(false);
    expect(complaints).toEqual([]);
  });

  it("says what cannot be reached", async () => {
    const page = await planner("solve=epsilon&people=100&goal=error&standard_error=0.0001");
    expect(await text(page, "#verdict-text")).toMatch(/takes more people/);
    await page.locator("#status").filter({ hasText: "takes more people" }).waitFor();
    expect(complaints).toEqual([]);
  });

  it("says when it cannot compute, and tries again", async () => {
    const context = await newContext(browser);
    await context.route("**/analysis.wasm", (route) => route.fulfill({ status: 503 }));
    const page = await context.newPage();
    await page.goto(`${site.url}/planner.html`);
    await page.locator("#trouble").filter({ hasText: "cannot compute" }).waitFor();
    await context.unroute("**/analysis.wasm");
    await page.getByLabel("People", { exact: true }).fill("50000");
    await page.waitForSelector("html[data-ready]");
    expect(await exact(page, "people")).toBe(50_000);
    expect(await page.locator("#trouble").isVisible()).toBe(false);
  });

  it("keeps the plan in the URL", async () => {
    const page = await planner("items=40&sparsity=2&solve=people");
    expect(await page.getByLabel("Items", { exact: true }).inputValue()).toBe("40");
    expect(await page.getByRole("radio", { name: "number of people" }).isChecked()).toBe(true);
    await page.getByRole("radio", { name: "shuffled ε" }).check();
    await page.waitForFunction(() => location.hash.includes("budget=central"));
    await answered(page);
    const [people, url] = [await exact(page, "people"), page.url()];
    const other = await planner(new URL(url).hash.slice(1));
    expect(await exact(other, "people")).toBe(people);
    await other.evaluate(() => {
      location.hash = "items=4&sparsity=1&people=5000";
    });
    await answered(other);
    await other.waitForFunction(() =>
      document.querySelector("#figures")?.textContent?.includes("5,000"),
    );
    expect(await other.getByLabel("Items", { exact: true }).inputValue()).toBe("4");
  });

  it("hands out the task file", async () => {
    const page = await planner();
    const download = page.waitForEvent("download");
    await page.getByRole("button", { name: "Download" }).click();
    const file = await download;
    expect(file.suggestedFilename()).toBe("planned.json");
    const task = JSON.parse(readFileSync(await file.path(), "utf8"));
    expect(task).toEqual((await native(page)).task);
    expect(complaints).toEqual([]);
  });

  it("plots every curve whole, with its numbers in a table", async () => {
    const page = await planner();
    await drawn(page);
    const points = geometricPoints([1, 2]).length;
    for (const figure of ["plot-epsilon", "plot-people", "plot-privacy"]) {
      const plot = page.locator(`#${figure} svg[role=img]`);
      await plot.waitFor();
      expect(await plot.getAttribute("aria-label")).toMatch(/against/);
      for (const line of ["line-first", "line-second"]) {
        expect(await plot.locator(`.${line} path`).getAttribute("d")).toMatch(/^M.*L/);
      }
      await expect.poll(() => page.locator(`#${figure} tbody tr`).count()).toBe(points);
    }
    // The curve over people passes through the plan.
    const row = page.locator("#plot-people tbody tr").filter({ hasText: /^100,000/ });
    expect(await row.locator("td").first().textContent()).toBe(
      await text(page, "#figures .figure-value >> nth=0"),
    );
  });

  it("plots curves that were whole before the plotting was loaded", async () => {
    const page = await (await newContext(browser)).newPage();
    await page.route("**/parts/plots-*.js", async (route) => {
      await drawn(page);
      await route.continue();
    });
    await page.goto(`${site.url}/planner.html`);
    const rows = page.locator("#plot-people tbody tr");
    await expect.poll(() => rows.count()).toBe(geometricPoints([1, 2]).length);
  });

  it("is loaded by nobody else", async () => {
    await open("/");
    // The demo fails here without a collector, but it has loaded its files.
    await browser.contexts().at(-1)?.pages()[0]?.waitForSelector("html[data-failed]");
    expect(loaded).toContain("/story/main.js");
    expect(loaded.filter((path) => /planner|plots|worker/.test(path))).toEqual([]);
    complaints.length = 0;
    loaded.length = 0;
    const page = await planner();
    await drawn(page);
    expect(loaded).toContain("/shared/analysis.wasm");
    expect(loaded.some((path) => path.startsWith("/parts/plots"))).toBe(true);
  });
});

describe("the planner's page, on light and dark ground, wide and narrow", () => {
  it("is accessible and fits", async () => {
    const page = await planner("", { viewport: { width: 1280, height: 800 } });
    for (const kind of ["number", "numbers", "cross", "together", "text", "ratings"]) {
      await page.getByLabel("Kind of answer").selectOption(kind);
      await answered(page);
      await drawn(page);
      await expectForEverybody(page, 360);
    }
    await page.getByLabel("Kind of answer").selectOption("cross");
    await page.getByRole("radio", { name: "a number" }).check();
    await answered(page);
    await drawn(page);
    await expectForEverybody(page, 360);
    for (const kind of ["together", "ratings", "choice"]) {
      await page.getByRole("button", { name: "Add a question" }).click();
      await page.getByLabel("Kind of answer").selectOption(kind);
    }
    await answered(page);
    await drawn(page);
    expect(await page.locator("#each-rows tr").count()).toBe(4);
    await expectForEverybody(page, 360);
    for (const kind of ["choice-4", "ratings-3", "together-2"]) {
      await page.getByRole("radio", { name: kind }).check();
      await page.getByRole("button", { name: `Remove ${kind}` }).click();
    }
    await page.getByLabel("Kind of answer").selectOption("ratings");
    await answered(page);
    await page.evaluate(() => {
      for (const details of document.querySelectorAll("details")) details.open = true;
    });
    await expectForEverybody(page, 360);
    await page.getByRole("radio", { name: "shuffled ε" }).check();
    await page.getByLabel("Shuffled ε", { exact: true }).fill("77");
    await page.locator("#error-central_epsilon").filter({ hasText: "77" }).waitFor();
    await expectForEverybody(page, 360);
  });

  it("is accessible and fits from the beginning", async () => {
    const page = await planner("", {
      colorScheme: "dark",
      viewport: { width: 360, height: 800 },
    });
    await drawn(page);
    expect(await violations(page)).toEqual([]);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
  });
});

describe("the planner's page for sums through a shuffler", () => {
  it.each([
    "",
    SUMS,
    "measure=numbers&count=1&min=-5&max=5&people=3000&central_epsilon=2&delta=1e-8&honest_fraction=0.5",
    "measure=vector&dimension=40&norm=3&people=20000&central_epsilon=1",
    CHOICE,
    `measure=flags&count=12&${COUNTED}`,
    `measure=set&options=40&sparsity=3&${COUNTED}`,
    `measure=number&min=0&bins=256&${COUNTED}`,
  ])("shows what the command says: %s", async (fragment) => {
    const page = await planner(`trust=shuffler&${fragment}`);
    writeFileSync(join(directory, "planned.json"), (await text(page, "#task-json")) ?? "");
    const plan = await native<SumPlan>(page);
    const [error] = plan.errors;
    const figures = [
      ["standard error", error?.standard_error ?? Number.NaN],
      ["messages per person", plan.messages],
      ["bytes per person", plan.bytes],
      ["shuffled ε", plan.central_epsilon.upper],
      ["people per batch", plan.privacy.people],
    ] as const;
    for (const [name, expected] of figures) {
      expect(Math.abs((await exact(page, name)) / expected - 1), name).toBeLessThan(1e-9);
    }
    expect(await text(page, "#statement")).toBe(plan.privacy.statement);
    expect(complaints).toEqual([]);
  });

  it("compares the share of an option with local reports, and says the least people", async () => {
    const page = await planner(`trust=shuffler&${CHOICE}`);
    writeFileSync(join(directory, "planned.json"), (await text(page, "#task-json")) ?? "");
    const [error] = (await native<SumPlan>(page)).errors;
    const [shuffled, local] = [error?.standard_error, error?.local_standard_error];
    expect(local).toBeGreaterThan(20 * (shuffled ?? Number.NaN));
    const rows = await page.locator("#ways-rows tr").allTextContents();
    for (const [index, value] of [shuffled, local].entries())
      expect(rows[index]).toContain(formatFrequency(value));
    expect(await text(page, "#verdict-text")).toContain("standard error of each share");
    const task = JSON.parse((await text(page, "#task-json")) ?? "");
    expect(task.questions).toEqual([{ name: "choice", kind: "choice", options: 1000 }]);
    expect(task.messages.equal).toBeUndefined();
    expect(await text(page, "#figures")).toMatch(/at most; 1\.\d+ on average/);
    // With fewer people than noise messages need, the page says how many would do.
    await page.locator("#field-people").fill("100");
    await expect.poll(() => text(page, "#error-people")).toMatch(/honest people.*expected/i);
    await page.locator("#field-people").fill("100000");
    await page.locator("#field-options").fill("1");
    await expect.poll(() => text(page, "#error-options")).toContain("Options is 1");
    expect(complaints).toEqual([]);
  });

  it("says wherever ε stands that there is no local one, and who must be trusted", async () => {
    const page = await planner(`trust=shuffler&${SUMS}`);
    expect(await text(page, "#figures")).toMatch(/local εnonea person’s messages reveal/);
    const rows = await page.locator("#ways-rows tr").allTextContents();
    expect(rows[0]).toMatch(/There is no local ε.*The shuffler: it must hold back smaller batches/);
    expect(rows[1]).toMatch(/Each report is protected against everyone: local ε = 1.*No one/);
    expect(await text(page, "#verdict-kind")).toBe("People must trust the shuffler");
    expect(await text(page, "#tally")).toContain("no local ε");
    const influence = await page.locator("#influence-rows tr").allTextContents();
    expect(influence[2]).toMatch(/All 1,000 dishonest people/);
  });

  it("shows what is wrong at its field, and takes it back", async () => {
    const page = await planner(`trust=shuffler&${SUMS}`);
    await page.getByText("Advanced settings").click();
    for (const [name, wrong, words] of [
      ["people", "2", "must be honest"],
      ["people", "10.5", "Expected a whole number."],
      ["delta", "0.5", "Delta is 0.5"],
      ["central_epsilon", "99", "Epsilon is 99"],
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
      await expect.poll(() => text(page, "#verdict-kind")).toBe("People must trust the shuffler");
      expect(await page.locator(`#error-${name}`).isVisible()).toBe(false);
    }
    await page.getByLabel("Data of each person").selectOption("vector");
    await answered(page);
    await page.locator("#field-norm").fill("0");
    await expect.poll(() => text(page, "#error-norm")).toContain("length");
    expect(complaints).toEqual([]);
  });

  it("keeps the plan in the address, and can be used by keyboard", async () => {
    const page = await planner("measure=vector&dimension=8&people=5000&central_epsilon=1");
    expect(await page.locator("#ways-panel").isVisible()).toBe(false);
    await page.getByRole("radio", { name: "no one" }).focus();
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction(() => location.hash.includes("trust=shuffler"));
    await answered(page);
    expect(await page.locator("#ways-panel").isVisible()).toBe(true);
    expect(await page.locator("#trust-help").isVisible()).toBe(true);
    for (const hidden of ["#plots", "#mechanism", "#field-kind", "#field-epsilon"])
      expect(await page.locator(hidden).isVisible(), hidden).toBe(false);
    await page.getByLabel("Data of each person").focus();
    await page.keyboard.press("ArrowUp");
    await answered(page);
    await page.locator("#field-count").fill("7");
    await page.waitForFunction(() => location.hash.includes("count=7"));
    await answered(page);
    await page.reload();
    await page.waitForSelector("html[data-ready]");
    expect(await page.locator("#field-count").inputValue()).toBe("7");
    expect(await page.locator("#field-people").inputValue()).toBe("5000");
    expect(JSON.parse((await text(page, "#task-json")) ?? "").numbers).toHaveLength(7);
    // The earlier questions and their settings come back.
    await page.getByRole("radio", { name: "no one" }).check();
    await answered(page);
    expect(await page.locator("#mechanism").isVisible()).toBe(true);
    expect(await page.getByLabel("Items", { exact: true }).inputValue()).toBe("100");
  });

  it.each([
    ["numbers", SUMS],
    ["choice", CHOICE],
    ["number", `measure=number&${COUNTED}`],
  ])("is for everybody: %s", async (name, fragment) => {
    const page = await planner(`trust=shuffler&${fragment}`);
    await expectForEverybody(page, 320, `planner-shuffler-${name}`);
    await page.locator("#field-people").fill("2");
    await expect.poll(() => text(page, "#error-people")).not.toBe("");
    await expectForEverybody(page, 320);
  });
});
