/**
 * The collector's dashboard in headless Chromium, over reports of the built package. It shows what
 * the collector returns, to those who may read it.
 */

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Browser, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { createRandomizer, type Randomizer, type Task } from "../../../dist/index.js";
import { epsilonText } from "../../../www/dashboard/panels.js";
import { launchChromium } from "../../../www/scripts/lib/browser.mjs";
import { type Collector, startCollector } from "../../../www/scripts/lib/collector.mjs";
import { TARGET } from "../../../www/scripts/lib/paths.mjs";
import { expectForEverybody, violations } from "./axe.js";
import { newContext } from "./harness.js";

const PROGRAM = join(TARGET, "debug/hushbin");
const PEOPLE = 4000;
const FEATURES = ["search", "export", "dark mode", "captions, live"];
const SURVEY = {
  id: "survey",
  epsilon: 4,
  people: PEOPLE,
  questions: [
    { name: "theme", kind: "choice", options: ["dark", "light", "system"] },
    { name: "features", kind: "set", options: FEATURES, sparsity: 2 },
    { name: "rating", kind: "number", min: 1, max: 5 },
    { name: "loadMs", kind: "number", min: 0, max: 1000, unit: "ms", want: "quantiles" },
    { name: "waitMs", kind: "number", min: 0, max: 1000, want: "histogram", bins: 10 },
    {
      name: "layout",
      kind: "numbers",
      of: [
        { name: "width", min: 0, max: 4000, unit: "px" },
        { name: "scale", min: 0.5, max: 4 },
      ],
    },
  ],
};
const HUGE = {
  id: "huge",
  epsilon: 4,
  questions: [{ name: "codes", kind: "set", options: 20_000, sparsity: 1 }],
};
const QUIET = { id: "quiet", items: ["autoplay"], sparsity: 1, epsilon: 1, value: "sign" };

/** In the second release all people use the dark theme. */
const person = (index: number, release: number) => ({
  theme: release > 1 ? "dark" : (["dark", "light", "system"][index % 3] ?? ""),
  features: [FEATURES[index % 2] ?? ""],
  rating: 1 + (index % 5),
  loadMs: index % 1000,
  waitMs: index % 1000,
  layout: { width: index % 4000, scale: 1 },
});

const directory = mkdtempSync(join(tmpdir(), "hushbin-dashboard-"));
const data = join(directory, "data");
let collector: Collector;
let browser: Browser;
let analyst: string;
let admin: string;

/** Errors of pages, and origins of requests. */
const complaints: string[] = [];
const origins = new Set<string>();

function token(role: string): string {
  const words = ["token", "create", "--data", data, "--role", role, "--name", crypto.randomUUID()];
  return execFileSync(PROGRAM, words, { encoding: "utf8" }).trim();
}

async function ask<T>(path: string, init: RequestInit = {}): Promise<T> {
  const headers = { authorization: `Bearer ${admin}` };
  const response = await fetch(`${collector.url}/tasks${path}`, { headers, ...init });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json() as Promise<T>;
}

type Answers = Parameters<Randomizer["randomize"]>[0];

async function report(id: string, answers: readonly Answers[]): Promise<void> {
  const { task } = await ask<{ task: Task }>(`/${id}`);
  const randomizer = await createRandomizer({ task });
  const reports = answers.map((own) => randomizer.randomize(own));
  const bytes = new Uint8Array(await new Blob(reports as BlobPart[]).arrayBuffer());
  const body = randomizer.upload(bytes, reports.length) as BodyInit;
  await ask(`/${id}/reports`, { method: "POST", body });
}

interface BatchList {
  readonly batches: readonly { readonly state: string }[];
}

async function release(id: string): Promise<void> {
  const released = async () =>
    (await ask<BatchList>(`/${id}/batches`)).batches.filter(({ state }) => state === "released");
  const { length } = await released();
  await ask(`/${id}/batches`, { method: "POST" });
  while ((await released()).length === length) await pause(100);
}

const crowd = (of: number) => Array.from({ length: PEOPLE }, (_, index) => person(index, of));

beforeAll(async () => {
  const tasks = [SURVEY, HUGE, QUIET].map((task) => {
    const file = join(directory, `${task.id}.json`);
    writeFileSync(file, JSON.stringify(task));
    return file;
  });
  const flags = [
    ...["--batch-least", "1000", "--batch-min-minutes", "0"],
    ...["--max-reports-per-request", "0", "--log", "error"],
  ];
  collector = await startCollector({ program: PROGRAM, data, tasks, flags });
  [admin, analyst] = [token("admin"), token("analyst")];
  for (const of of [1, 2]) {
    await report("survey", crowd(of));
    await release("survey");
  }
  await report("survey", crowd(2).slice(0, 400));
  await report(
    "huge",
    Array.from({ length: 1000 }, () => ({ codes: [4711] })),
  );
  await release("huge");
  await report("quiet", [{ autoplay: 1 }]);
  const refused = await fetch(`${collector.url}/tasks/survey/reports`, {
    method: "POST",
    body: "nonsense",
  });
  expect(refused.status).toBe(400);
  browser = await launchChromium();
});

afterAll(async () => {
  await browser?.close();
  await collector?.stop("SIGKILL");
  rmSync(directory, { recursive: true, force: true });
});

afterEach(() => {
  expect(complaints.splice(0)).toEqual([]);
  origins.clear();
});

async function open(
  fragment = "",
  { at = collector.url, ...options }: BrowserContextOptions & { at?: string } = {},
): Promise<Page> {
  const context = await newContext(browser, { reducedMotion: "reduce", ...options });
  context.on("request", (request) => origins.add(new URL(request.url()).origin));
  const page = await context.newPage();
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    // The browser also logs problems that the collector returns.
    const answered = /^Failed to load resource: the server responded with a status of 4/;
    if (!answered.test(message.text())) complaints.push(message.text());
  });
  await page.goto(`${at}/dashboard/${fragment}`);
  return page;
}

const text = (page: Page, selector: string) => page.locator(selector).innerText();
const settled = (page: Page) =>
  page.waitForFunction(
    () =>
      document.querySelector("#uploads table") !== null &&
      document.querySelector("[aria-busy=true]") === null,
  );

/** Opens the page with a token, and waits for all responses. */
async function signedIn(fragment: string, options: Parameters<typeof open>[1] = {}): Promise<Page> {
  const page = await open(fragment, options);
  await page.getByLabel("Analyst’s token").fill(analyst);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("button", { name: "Sign out" }).waitFor();
  if (fragment.includes("task=")) await settled(page);
  return page;
}

it("lets in who has a token, for this tab, and nobody else", async () => {
  const page = await open();
  const field = page.getByLabel("Analyst’s token");
  const enter = page.getByRole("button", { name: "Sign in" });
  for (const [wrong, words] of [
    ["", "Enter a token."],
    ["hushbin_ümlaut", "A token has no spaces and no letters beyond ASCII"],
    [`hushbin_${"0".repeat(64)}`, "does not know this token"],
  ] as const) {
    await field.fill(wrong);
    await enter.click();
    await expect.poll(() => page.locator("#token-error").textContent()).toContain(words);
    expect(await field.getAttribute("aria-invalid")).toBe("true");
    expect(await field.evaluate((own) => own === document.activeElement)).toBe(true);
  }
  expect(await violations(page)).toEqual([]);
  await field.fill(analyst);
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Tasks" }).waitFor();
  expect(page.url()).not.toContain(analyst.slice(8));
  const row = page.getByRole("row").filter({ hasText: "survey" });
  expect((await row.innerText()).replaceAll(/\s+/g, " ")).toMatch(
    /8,000 2 .*400 of at least 1,000/,
  );
  expect(await violations(page)).toEqual([]);

  await page.reload();
  await page.getByRole("heading", { name: "Tasks" }).waitFor();
  expect(await page.evaluate(() => [localStorage.length, document.cookie])).toEqual([0, ""]);
  await page.getByRole("button", { name: "Sign out" }).click();
  await field.waitFor();
  expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
  await page.reload();
  await field.waitFor();
  expect([...origins]).toEqual([collector.url]);
});

interface Estimates {
  readonly estimates: readonly {
    readonly item: string;
    readonly share: {
      readonly estimate: number;
      readonly simultaneous_interval: readonly number[];
    };
  }[];
}

it("shows what the collector estimates, and what changed with a release", async () => {
  const page = await signedIn("#task=survey&question=theme");
  const percent = (share: number) => `${(share * 100).toFixed(1)}%`.replace("-", "−");
  for (const batches of ["1-2", "1"]) {
    if (batches === "1") {
      await page.getByRole("combobox", { name: "Batches" }).selectOption("1");
      await page.waitForFunction(() => location.hash.includes("batches=1"));
      await expect.poll(() => text(page, "#estimates")).toContain("from batch 1.");
    }
    const query = `question=theme&batches=${batches}`;
    const { estimates } = await ask<Estimates>(`/survey/estimates?${query}`);
    const expected = [...estimates]
      .sort((a, b) => b.share.estimate - a.share.estimate)
      .map(({ item, share }) => {
        const [from = 0, to = 0] = share.simultaneous_interval;
        return [item, percent(share.estimate), `${percent(from)} to ${percent(to)}`];
      });
    const rows = page.locator("#estimates tbody tr");
    const shown = await rows.evaluateAll((all) =>
      all.map((row) =>
        [...row.children]
          .filter(({ className }) => className !== "picture")
          .map((own) => own.textContent),
      ),
    );
    expect(shown).toEqual(expected);
  }
  await page.goBack();
  await page.waitForFunction(() => !location.hash.includes("batches"));
  await settled(page);
  // The share of dark rises from a third to 1, which exceeds any noise.
  await expect.poll(() => text(page, "#standing")).toMatch(/Between batches 1 and 2, 3 of 3 items/);
  expect(await text(page, "#standing")).toMatch(/dark.*▲ more/s);
  expect(await page.locator("#timeline figure").count()).toBe(3);
  await page.locator("#timeline summary").click();
  expect(await page.locator("#timeline tbody tr").count()).toBe(2);
  expect([...origins]).toEqual([collector.url]);
});

it("says whom each ε protects from whom, and what was rejected", async () => {
  const page = await signedIn("#task=survey");
  interface Privacy {
    readonly local: { readonly effective_epsilon: number; readonly statement: string };
    readonly shuffled: { readonly central_epsilon: number };
    readonly shuffled_statement: string;
    readonly flood_statement: string;
  }
  const { local, shuffled, shuffled_statement, flood_statement } =
    await ask<Privacy>("/survey/privacy");
  const said = (await page.locator("#privacy").textContent()) ?? "";
  for (const words of [
    `local ε = ${epsilonText(local.effective_epsilon)}`,
    local.statement,
    `shuffled ε = ${epsilonText(shuffled.central_epsilon)}`,
    shuffled_statement,
    flood_statement,
  ]) {
    expect(said).toContain(words);
  }
  expect(await text(page, "#uploads")).toMatch(/not an upload of this task\s+1/);
  expect(await text(page, "#filling")).toMatch(/400 of 1,000/);
});

it("shows numbers as shares below edges, histograms, quantiles and means", async () => {
  const page = await signedIn("#task=survey&question=loadMs");
  expect(await text(page, "#estimates")).toMatch(/median\s+\d+ ms/);
  const rows = page.locator("#estimates details tbody tr");
  expect(await page.locator("#estimates .histogram .dot").count()).toBe(63);
  await page.locator("#estimates summary", { hasText: "below each loadMs, as a table" }).click();
  expect(await rows.count()).toBe(63);
  await page.getByLabel("Question").selectOption("waitMs");
  const bars = page.locator("#estimates .histogram .bar");
  await expect.poll(() => bars.count()).toBe(10);
  await page.locator("#estimates summary", { hasText: "by bin of waitMs, as a table" }).click();
  expect(await rows.count()).toBe(10);
  await page.getByLabel("Question").selectOption("rating");
  await expect.poll(() => text(page, "#estimates")).toMatch(/\d on average/);
  await page.getByLabel("Question").selectOption("layout");
  await expect.poll(() => text(page, "#estimates")).toMatch(/width.* px.*scale/s);
});

it("finds items by name, of many as of few", async () => {
  const page = await signedIn("#task=survey&question=features");
  await page.getByLabel("Find items by name").fill("LIVE");
  await page.waitForFunction(() => location.hash.includes("find=LIVE"));
  const names = page.locator("#estimates tbody th");
  await expect.poll(() => names.allTextContents()).toEqual(["captions, live"]);
  await page.reload();
  await expect.poll(() => names.allTextContents()).toEqual(["captions, live"]);
  await page.getByLabel("Find items by name").fill("nothing of that name");
  await expect.poll(() => text(page, "#estimates")).toContain("No item matches this name.");

  await page.getByRole("link", { name: "All tasks" }).click();
  await page.getByRole("link", { name: "huge" }).click();
  await settled(page);
  expect(await names.count()).toBe(200);
  expect(await text(page, "#estimates")).toContain("200 of 20,000 items");
  await page.getByLabel("Find items by name").fill("4711");
  await expect.poll(() => names.allTextContents()).toEqual(["4711", "14711"]);
});

it("says what there is to wait for, and shows a release without being loaded again", async () => {
  const page = await signedIn("#task=quiet");
  expect(await text(page, "#estimates")).toContain("the open batch has 1 reports");
  expect(await page.locator("#estimates progress").getAttribute("value")).toBe("1");
  expect(await text(page, "#privacy")).toContain("local ε = 1");
  await report(
    "quiet",
    Array.from({ length: 1000 }, () => ({ autoplay: 1 })),
  );
  await release("quiet");
  await expect.poll(() => text(page, "#estimates")).toContain("1,001 reports from batch 1");
  expect(await page.locator("#news").textContent()).toContain("new batch");
});

it("tells what dishonest people can do", async () => {
  const page = await signedIn("#task=survey");
  await expect.poll(() => page.locator("#influence").isVisible()).toBe(true);
  const said = await text(page, "#influence");
  const found = await ask<{ statement: string; crowd: { statement: string }[] }>(
    "/survey/influence",
  );
  expect(found.crowd.length).toBeGreaterThan(1);
  const tests = found.crowd.map(({ statement }) => statement);
  for (const words of [found.statement, ...tests, "1% of the reports are made up", "points"]) {
    expect(said).toContain(words);
  }
  expect(said).not.toContain("Unusual for honest reports");
  expect(await violations(page)).toEqual([]);
});

it("asks from where it stands, under whatever path", async () => {
  const proxy = createServer(async ({ url = "", headers }, response) => {
    const { authorization } = headers;
    const own = await fetch(`${collector.url}${url.replace(/^\/telemetry/, "")}`, {
      headers: authorization === undefined ? {} : { authorization },
    });
    const policy = own.headers.get("content-security-policy");
    response.writeHead(url.startsWith("/telemetry/") ? own.status : 404, {
      "content-type": own.headers.get("content-type") ?? "",
      ...(policy === null ? {} : { "content-security-policy": policy }),
    });
    response.end(Buffer.from(await own.arrayBuffer()));
  });
  await new Promise<void>((listens) => proxy.listen(0, "127.0.0.1", listens));
  try {
    const at = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/telemetry`;
    const page = await signedIn("#task=survey", { at });
    expect(await text(page, "#estimates")).toContain("reports from batches 1–2");
    await page.context().close();
  } finally {
    proxy.close();
  }
});

it("is for everybody", async () => {
  const page = await signedIn("#task=survey&question=features");
  for (const question of ["features", "loadMs", "layout"]) {
    await page.getByLabel("Question").selectOption(question);
    await page.waitForFunction((own) => location.hash.includes(own), question);
    await settled(page);
    for (const summary of await page.locator("summary").all()) await summary.click();
    await expectForEverybody(page, 320);
  }
});

it("needs no token where everything is for everybody", async () => {
  const file = join(directory, "open.json");
  writeFileSync(file, JSON.stringify({ ...QUIET, id: "open" }));
  const own = { program: PROGRAM, data: join(directory, "open"), tasks: [file] };
  const development = await startCollector(own);
  try {
    const page = await open("", { at: development.url });
    // There is only one task.
    await page.getByRole("heading", { name: "open", exact: true }).waitFor();
    expect(await page.getByRole("button", { name: "Sign out" }).isVisible()).toBe(false);
    // The page polls, and would report a collector that is gone.
    await page.context().close();
  } finally {
    await development.stop("SIGKILL");
  }
});
