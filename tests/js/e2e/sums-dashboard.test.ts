/**
 * The analyser's dashboard for a task of sums, over messages sealed here and sent on by a real
 * shuffler.
 */

import { randomBytes, randomInt } from "node:crypto";
import { setTimeout as pause } from "node:timers/promises";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { CONFIGURATION_BYTES, createSealer } from "../../../www/client/sealing.js";
import { launchChromium } from "../../../www/scripts/lib/browser.mjs";
import { expectForEverybody, violations } from "./axe.js";
import { newContext } from "./harness.js";
import { Parties } from "./parties.js";

const PEOPLE = 60;
const TASK = {
  id: "timings",
  trust: "shuffler",
  epsilon: 6,
  delta: 0.001,
  people: PEOPLE,
  numbers: [
    { name: "load", min: 0, max: 10_000, unit: "ms" },
    { name: "tabs", min: 1, max: 50 },
    { name: "depth", min: 0, max: 1 },
  ],
};

interface SumTask {
  readonly numbers: readonly { readonly min: number; readonly max: number }[];
  readonly messages: {
    readonly levels: number;
    readonly drawn: number;
    readonly trials: number;
    readonly threshold: string;
    readonly noise: number;
  };
}

/** Returns a number below 1. For tests only: real messages must be drawn by the core. */
const roll = () => randomInt(2 ** 40) / 2 ** 40;

/** Returns the messages of a person as numbers. */
function messagesOf({ numbers, messages }: SumTask, answer: readonly number[]): number[] {
  const { levels, drawn, trials, threshold, noise } = messages;
  expect(drawn).toBe(numbers.length);
  const probability = Number(threshold) / 2 ** 64;
  const own: number[] = [];
  do {
    own.length = 0;
    for (let code = 1; code <= 2 * numbers.length; code += 1) {
      for (let trial = 0; trial < trials; trial += 1) if (roll() < probability) own.push(code);
    }
  } while (own.length > noise);
  numbers.forEach(({ min, max }, item) => {
    const value = (2 * ((answer[item] ?? min) - min)) / (max - min) - 1;
    const exact = Math.abs(value) * levels;
    const count = Math.floor(exact) + (roll() < exact % 1 ? 1 : 0);
    own.push(...Array.from({ length: count }, () => (value < 0 ? 2 : 1) + 2 * item));
  });
  while (own.length < levels * drawn + noise) own.push(0);
  return own.sort(() => roll() - 0.5);
}

/** Pages load faster in the second release. */
const answerOf = (person: number, release: number) => [
  release === 1 ? 8000 + person * 10 : 1000 + person * 10,
  1 + (person % 50),
  (person % 11) / 10,
];

const parties = new Parties(TASK);
let browser: Browser;
let token: string;
let each: number;
const complaints: string[] = [];
/** Paths that the page has requested. */
const asked: string[] = [];

async function send(release: number): Promise<void> {
  const url = `${parties.shuffler?.url}/tasks/timings`;
  const { task, fingerprint } = (await (await fetch(url)).json()) as {
    task: SumTask;
    fingerprint: string;
  };
  const { keys } = (await (await fetch(`${url}/keys`)).json()) as { keys: string[] };
  const configuration = Buffer.from(keys[0] ?? "", "hex");
  expect(configuration).toHaveLength(CONFIGURATION_BYTES);
  const seal = await createSealer(new Uint8Array(configuration));
  for (let person = 0; person < PEOPLE; person += 1) {
    const messages = messagesOf(task, answerOf(person, release));
    each = messages.length;
    const sealed = await Promise.all(messages.map((code) => seal(Uint8Array.of(code))));
    // Version, task, upload, and a count below 128.
    const head = [2, ...Buffer.from(fingerprint, "hex"), ...randomBytes(16), messages.length];
    const body = Buffer.concat([Uint8Array.from(head), ...sealed]);
    const answer = await fetch(`${url}/reports`, { method: "POST", body });
    expect(answer.status, await answer.text()).toBe(201);
  }
}

interface Batches {
  readonly batches: readonly { readonly state: string; readonly reports: number }[];
}

async function ask<T>(path: string): Promise<T> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await fetch(`${parties.analyser?.url}/tasks${path}`, { headers });
  expect(answer.status, path).toBe(200);
  return answer.json() as Promise<T>;
}

async function released(count: number): Promise<void> {
  const state = async () =>
    (await ask<Batches>("/timings/batches")).batches.filter(({ state }) => state === "released");
  while ((await state()).length < count) await pause(100);
}

const MESSAGES = 30;

beforeAll(async () => {
  const batch = PEOPLE * MESSAGES;
  await parties.start(batch, batch);
  token = parties.createToken();
  browser = await launchChromium();
});

afterAll(async () => {
  await browser?.close();
  await parties.stop();
});

afterEach(() => {
  expect(complaints.splice(0)).toEqual([]);
  // Only tasks with texts have such a request.
  expect(asked.splice(0).filter((path) => path.includes("heavy-hitters"))).toEqual([]);
});

const settled = (page: Page) =>
  page.waitForFunction(
    () =>
      document.querySelector("#uploads table, #uploads p") !== null &&
      document.querySelector("[aria-busy=true]") === null,
  );

async function signedIn(fragment: string, options: BrowserContextOptions = {}): Promise<Page> {
  const context = await newContext(browser, { reducedMotion: "reduce", ...options });
  context.on("request", (request) => void asked.push(new URL(request.url()).pathname));
  const page = await context.newPage();
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    // The browser also logs problems that the analyser returns.
    const answered = /^Failed to load resource: the server responded with a status of 4/;
    if (!answered.test(message.text())) complaints.push(message.text());
  });
  await page.goto(`${parties.analyser?.url}/dashboard/${fragment}`);
  await page.getByLabel("Analyst’s token").fill(token);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Sign out" }).waitFor();
  if (fragment.includes("task=")) await settled(page);
  return page;
}

const text = (page: Page, selector: string) => page.locator(selector).innerText();

interface Sums {
  readonly people: number;
  readonly estimates: readonly {
    readonly item: string;
    readonly mean: { readonly estimate: number; readonly standard_error: number };
    readonly sum: { readonly estimate: number };
  }[];
}

const number = (shown: string | undefined) =>
  Number.parseFloat((shown ?? "").replaceAll(",", "").replace("−", "-"));

/** Returns the listed names and estimates. */
async function listed(page: Page): Promise<Map<string, number>> {
  const rows = await page.locator("#estimates tbody tr").evaluateAll((all) =>
    all.map((row) => {
      const name = row.querySelector("th")?.textContent ?? "";
      return [name, row.querySelector(".estimated")?.textContent ?? ""] as const;
    }),
  );
  return new Map(rows.map(([name, shown]) => [name, number(shown)]));
}

describe("the dashboard of sums", () => {
  it("says before any release whom people trust, and that there is no local ε", async () => {
    const page = await signedIn("#task=timings");
    const facts = await text(page, ".facts");
    expect(facts).toContain("People must trust the shuffler: there is no local ε.");
    expect(facts).toContain(
      "Batches have central ε = 6, δ = 10⁻³ if they have at least 60 people and 90% of the people are honest.",
    );
    const said = await text(page, "#privacy");
    expect(said).toContain("there is no local ε");
    expect(said).not.toMatch(/local ε =/);
    expect(await text(page, "#estimates")).toContain("No batch of this task is released yet.");
    expect(await violations(page)).toEqual([]);
  });

  it("counts releases in people, and what is sent of each item", async () => {
    for (const release of [1, 2]) {
      await send(release);
      await released(release);
    }
    expect(each).toBe(MESSAGES);
    const page = await signedIn("#tasks");
    const row = page.getByRole("row").filter({ hasText: "timings" });
    expect((await row.innerText()).replaceAll(/\s+/g, " ")).toMatch(
      /timings sums through a shuffler; there is no local ε 120 people 2 /,
    );
    expect(await violations(page)).toEqual([]);
    await page.getByRole("link", { name: "timings" }).click();
    await settled(page);
    expect(await text(page, "#estimates")).toContain(
      "120 people, counted by 3,600 messages, from batches 1–2.",
    );
    expect(await text(page, "#filling")).toMatch(/2\s+60\s/);
    expect(await text(page, "#filling")).toContain("People towards the maximum");
    expect(await text(page, "#uploads")).toContain("has accepted 3,600 messages");
  });

  it("shows means and sums as the analyser estimates them", async () => {
    const page = await signedIn("#task=timings");
    const { estimates } = await ask<Sums>("/timings/estimates");
    const means = await listed(page);
    for (const { item, mean } of estimates) {
      // Numbers have two digits of the interval's precision.
      const off = Math.abs((means.get(item) ?? Number.NaN) - mean.estimate);
      expect(off, item).toBeLessThan(mean.standard_error / 3);
    }
    expect([...means.keys()]).toEqual(
      [...estimates].sort((a, b) => b.mean.estimate - a.mean.estimate).map(({ item }) => item),
    );
    await page.getByRole("combobox", { name: "Estimate" }).selectOption("sum");
    await page.waitForFunction(() => location.hash.includes("estimand=sum"));
    await expect.poll(() => text(page, "#estimates")).toContain("Sum over all people");
    const sums = await listed(page);
    for (const { item, mean, sum } of estimates) {
      const off = Math.abs((sums.get(item) ?? Number.NaN) - sum.estimate);
      expect(off, item).toBeLessThan((120 * mean.standard_error) / 3);
    }
    await page.getByLabel("Find items by name").fill("tab");
    await expect.poll(async () => [...(await listed(page)).keys()]).toEqual(["tabs"]);
    await page.goto(page.url().replace("find=tab", "batches=1"));
    await expect
      .poll(() => text(page, "#estimates"))
      .toContain("60 people, counted by 1,800 messages");
  });

  it("shows what changed with a release, and all of them", async () => {
    const page = await signedIn("#task=timings");
    // The mean falls from 8.3 s to 1.3 s, and noise has a standard error of 0.2 s.
    await expect.poll(() => text(page, "#standing")).toMatch(/load.*▼ less/s);
    expect(await page.locator("#timeline figure").count()).toBe(3);
    await page.locator("#timeline summary").click();
    expect(await page.locator("#timeline tbody tr").count()).toBe(2);
  });

  it("says whether batches keep the promise, and what dishonest people could do", async () => {
    const page = await signedIn("#task=timings");
    const privacy = await ask<{
      privacy: { statement: string };
      smallest_batch_suffices: boolean;
      batch_statement: string;
      flood_statement: string;
    }>("/timings/privacy");
    expect(privacy.smallest_batch_suffices).toBe(true);
    const said = await text(page, "#privacy");
    for (const words of [
      "there is no local ε",
      "central ε = 6, δ = 10⁻³",
      "The promise holds.",
      privacy.batch_statement,
      privacy.flood_statement,
      privacy.privacy.statement,
    ]) {
      expect(said).toContain(words);
    }
    interface Influence {
      readonly statement: string;
      readonly influence: readonly {
        readonly dishonest_people: number;
        readonly total_standard_errors: number;
      }[];
    }
    const found = await ask<Influence>("/timings/influence");
    const told = await text(page, "#influence");
    expect(told).toContain(found.statement);
    expect(told).toContain("assumes that 12 of");
    // A table of three numbers, and one with a row for each release.
    expect(await page.locator("#influence table").count()).toBe(2);
    const rows = page.locator("#influence table").nth(1).locator("tbody tr");
    expect(await rows.count()).toBe(2);
    const one = await ask<Influence>("/timings/influence?batches=2");
    const [first] = one.influence;
    const cells = await rows.first().locator("th, td").allTextContents();
    expect(cells.slice(0, 3)).toEqual(["2", "60", String(first?.dishonest_people)]);
    const errors = first?.total_standard_errors ?? Number.NaN;
    expect(Math.abs(number(cells[4]?.replace("× ", "")) / errors - 1)).toBeLessThan(0.006);
  });
});

it("is for everybody", async () => {
  const page = await signedIn("#task=timings");
  for (const summary of await page.locator("summary").all()) await summary.click();
  await page.evaluate(() => scrollTo(0, 0));
  await expectForEverybody(page, 320, "dashboard");
});
