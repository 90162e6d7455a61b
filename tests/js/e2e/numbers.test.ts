/**
 * Every displayed number for a question of each kind, compared with the truth: in CSV, in JSON, on
 * the page, from `hushbin estimate`, and predicted by `hushbin task check`.
 *
 * HUSHBIN_NUMBERS=1 prints all of them.
 */

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createRandomizer, type Randomizer, type Task } from "../../../dist/index.js";
import { quantileName } from "../../../www/dashboard/timeline.js";
import { launchChromium } from "../../../www/scripts/lib/browser.mjs";
import { type Collector, startCollector } from "../../../www/scripts/lib/collector.mjs";
import { TARGET } from "../../../www/scripts/lib/paths.mjs";
import { amountOf, endsOf, isRounded, type Line, linesOf, type Shown, shownIn } from "./figures.js";
import { newContext } from "./harness.js";
import { CASES, type Case, PEOPLE } from "./numbers.js";

const PROGRAM = join(TARGET, "debug/hushbin");
/** Confidence at which one run in a hundred thousand misses an interval of a question. */
const SURE = 0.99999;
/** Confidence of the page. */
const PAGE = 0.95;
const TEXT = {
  id: "text",
  epsilon: 4,
  questions: [{ name: "text", kind: "text", prefixes: [2, 4] }],
};
const texts = (person: number) => (person % 5 < 2 ? "down" : person % 5 < 4 ? "left" : "up");

/** Largest share of people that still counts as rare. */
const RARE = 0.2;
/** Number of reports in one upload. */
const UPLOAD = 4000;

const directory = mkdtempSync(join(tmpdir(), "hushbin-numbers-"));
const data = join(directory, "data");
let collector: Collector;
let browser: Browser;

const printed: string[] = [];
const print = (...cells: readonly unknown[]) => printed.push(cells.join("\t"));

async function ask(path: string, init: RequestInit = {}): Promise<Response> {
  const response = await fetch(`${collector.url}/tasks/${path}`, init);
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response;
}

async function report(id: string, answers: readonly unknown[]): Promise<void> {
  const { task } = (await (await ask(id)).json()) as { task: Task };
  const randomizer = await createRandomizer({ task });
  for (let first = 0; first < answers.length; first += UPLOAD) {
    const reports = answers
      .slice(first, first + UPLOAD)
      .map((own) => randomizer.randomize({ [id]: own } as Parameters<Randomizer["randomize"]>[0]));
    const bytes = new Uint8Array(await new Blob(reports as BlobPart[]).arrayBuffer());
    const body = randomizer.upload(bytes, reports.length) as BodyInit;
    await ask(`${id}/reports`, { method: "POST", body });
  }
  await ask(`${id}/batches`, { method: "POST" });
  const released = async () =>
    ((await (await ask(`${id}/batches`)).json()) as { batches: { state: string }[] }).batches.some(
      ({ state }) => state === "released",
    );
  while (!(await released())) await pause(50);
}

const taskOf = ({ id, question }: Case) => ({
  id,
  epsilon: 4,
  people: PEOPLE,
  questions: [{ name: id, ...question }],
});

beforeAll(async () => {
  const tasks = [...CASES.map(taskOf), TEXT].map((task) => {
    const file = join(directory, `${task.id}.json`);
    writeFileSync(file, JSON.stringify(task));
    return file;
  });
  const flags = ["--development", "--log", "error"];
  collector = await startCollector({ program: PROGRAM, data, tasks, flags });
  const everybody = Array.from({ length: PEOPLE }, (_, person) => person);
  for (const own of CASES) await report(own.id, everybody.map(own.answer));
  await report("text", everybody.map(texts));
  browser = await launchChromium();
});

afterAll(async () => {
  await browser?.close();
  await collector?.stop("SIGKILL");
  rmSync(directory, { recursive: true, force: true });
  if (process.env.HUSHBIN_NUMBERS) console.log(printed.join("\n"));
});

async function csvOf(id: string, confidence: number): Promise<string> {
  const headers = { accept: "text/csv" };
  return (await ask(`${id}/estimates?confidence=${confidence}`, { headers })).text();
}

/** Returns every estimate of a JSON response, in the order of CSV. */
function numbersOf(value: unknown): readonly number[] {
  if (typeof value !== "object" || value === null) return [];
  const own = value as Readonly<Record<string, unknown>>;
  const here = typeof own.estimate === "number" ? [own.estimate] : [];
  return [...here, ...Object.values(own).flatMap(numbersOf)];
}

function within([low, high]: readonly [number, number], value: number): boolean {
  return low <= value && value <= high;
}

it.each(CASES)("$id: intervals of CSV hold the truth, and estimates lie in them", async (own) => {
  const lines = linesOf(await csvOf(own.id, SURE));
  expect(lines.length).toBeGreaterThan(0);
  for (const { item, estimand, estimate, error, interval, together } of lines) {
    const what = `${own.id}, ${item}, ${estimand}`;
    const truths = own.truth(item, estimand);
    print(what, truths.join(" or "), estimate, error, interval?.join(" "), together?.join(" "));
    expect(truths.every(Number.isFinite), what).toBe(true);
    expect(interval, what).not.toBeNull();
    if (interval === null || together === null || estimate === null) continue;
    expect(
      truths.some((truth) => within(together, truth)),
      `${what}: ${truths}`,
    ).toBe(true);
    expect(within(interval, estimate), `${what}: ${estimate} in ${interval}`).toBe(true);
    expect(within(together, interval[0]) && within(together, interval[1]), what).toBe(true);
  }
  const json = await (await ask(`${own.id}/estimates?confidence=${SURE}`)).json();
  const told = lines.flatMap(({ estimate }) => estimate ?? []).sort((a, b) => a - b);
  // The mean of a single number is twice in JSON: as that of its item, and as that of a number.
  const all = new Set(numbersOf(json));
  expect([...new Set(told)]).toEqual([...all].sort((a, b) => a - b));
});

/** Returns the CSV line for a row of the page. */
function lineOf(lines: readonly Line[], { caption, name }: Shown, estimand: string): Line[] {
  const plain = (text: string) => text.replace(/^[^:]*: /, "").replace(/, [^:]*: /, ": ");
  const numeric = (text: string) => text.replaceAll(",", "").replaceAll("−", "-");
  return lines.filter((line) => {
    if (caption === "Quantiles")
      return line.estimand === "quantile" && quantileName(Number(line.item)) === name;
    if (/^Share of people below each/.test(caption))
      return line.estimand === "below" && isRounded(amountOf(name.slice(6)), Number(line.item));
    if (/by bin/.test(caption)) {
      const [from = "", to = ""] = name.split(" to ");
      const [low = "", high = ""] = line.item.split(" to ");
      const same = [from, to].map((own) => amountOf(numeric(own)));
      return (
        line.estimand === "share" &&
        same.every((own, end) => isRounded(own, Number([low, high][end])))
      );
    }
    if (/^Share of people by /.test(caption))
      return line.estimand === "share" && line.item === `${caption.slice(19)}: ${name}`;
    if (/^Mean of /.test(caption))
      return line.estimand === "conditional-mean" && plain(line.item) === name;
    if (/^Shares of /.test(caption))
      return line.estimand === "conditional-share" && plain(line.item) === name;
    return line.estimand === estimand && line.item === name;
  });
}

/** Waits until the last part of the page is complete and no request is pending. */
const settled = (page: Page) =>
  page.waitForFunction(
    () =>
      document.querySelector("#uploads p") !== null &&
      document.querySelector("[aria-busy=true]") === null,
  );

async function look(id: string, estimand?: string): Promise<Page> {
  const context = await newContext(browser, { reducedMotion: "reduce" });
  const page = await context.newPage();
  const of = estimand === undefined ? "" : `&estimand=${estimand}`;
  await page.goto(`${collector.url}/dashboard/#task=${id}${of}`);
  await settled(page);
  return page;
}

it.each(CASES)("$id: the page shows CSV's numbers in their unit", async (own) => {
  const lines = linesOf(await csvOf(own.id, PAGE));
  const listed = ["mean", "plus", "minus", "nonmissing", "share"];
  const there = listed.filter((estimand) =>
    lines.some((line) => line.estimand === estimand && !/^\w+: [^,]*$/.test(line.item)),
  );
  let found = 0;
  for (const estimand of there.length > 0 ? there : [undefined]) {
    const page = await look(own.id, estimand);
    for (const section of ["#estimates", "#standing"]) {
      for (const row of await shownIn(page, section)) {
        if (row.caption.startsWith("Changed")) continue;
        const [line, ...others] = lineOf(lines, row, estimand ?? "share");
        const what = `${own.id}: ${JSON.stringify(row)}`;
        expect(line, what).toBeDefined();
        expect(others, what).toEqual([]);
        if (line?.estimate == null || line.together === null) continue;
        const unit = own.unit(line.item, line.estimand);
        const [from, to] = endsOf(row.interval);
        const shown = amountOf(row.estimate);
        print(what, line.estimate, line.together.join(" "));
        expect([shown.unit, to.unit], what).toEqual([unit, unit]);
        expect(isRounded(shown, line.estimate), `${what}: ${line.estimate}`).toBe(true);
        expect(isRounded(from, line.together[0]), `${what}: ${line.together}`).toBe(true);
        expect(isRounded(to, line.together[1]), `${what}: ${line.together}`).toBe(true);
        found += 1;
      }
    }
    if (own.id === "mean") {
      const figure = await page.locator("#estimates .figure strong").innerText();
      const [line] = lines;
      expect(amountOf(figure).unit).toBe("s");
      expect(isRounded(amountOf(figure), line?.estimate ?? Number.NaN)).toBe(true);
      found += 1;
    }
    // Half a rating is not a share of people, so its influence has no unit.
    if (own.id === "reals") {
      const moved = (await shownIn(page, "#influence")).map(({ estimate }) => amountOf(estimate));
      expect(moved.map(({ unit }) => unit)).toEqual(["", "", "", ""]);
    }
    await page.context().close();
  }
  expect(found).toBeGreaterThan(0);
});

it.each(CASES)("$id: a command estimates the same, and a check predicts its error", async (own) => {
  const file = join(directory, `${own.id}-reports.csv`);
  const run = (...words: string[]) => execFileSync(PROGRAM, words, { encoding: "utf8" });
  run("journal", "export", "--data", data, "--task", own.id, "--format", "csv", "--out", file);
  const csv = run("estimate", "--format", "csv", "--confidence", String(PAGE), file);
  expect(csv).toBe(await csvOf(own.id, PAGE));
  if (own.stated === undefined) return;
  const task = join(directory, `${own.id}.json`);
  const checked = JSON.parse(run("task", "check", "--json", "--people", String(PEOPLE), task)) as {
    questions: { predictions: Readonly<Record<string, number>>[] }[];
  };
  const [predicted = {}] = checked.questions[0]?.predictions ?? [];
  const names = { mean: "mean", plus: "frequency", share: "frequency", nonmissing: "nonmissing" };
  let compared = 0;
  for (const { item, estimand, error } of linesOf(csv)) {
    const of = names[estimand as keyof typeof names];
    const expected = predicted[`${of}_standard_error`];
    // Margins have their own lines, and both answers of a flag are alike.
    const margin = own.id === "cross" && !item.includes(", ");
    const common = own.truth(item, "nonmissing").some((truth) => truth > RARE);
    const skipped = common && !["flag", "mean"].includes(own.id);
    if (expected === undefined || error === null || margin || skipped) continue;
    compared += 1;
    const half = own.id === "mean" ? 30 : 1;
    const times = error / (half * expected);
    print(own.id, item, estimand, "stated over predicted", times);
    expect(times, `${item} ${estimand}`).toBeGreaterThan(own.stated[0]);
    expect(times, `${item} ${estimand}`).toBeLessThan(own.stated[1]);
  }
  expect(compared).toBeGreaterThan(0);
});

it("text: what is found has its share, on the page as in JSON", async () => {
  const path = `text/heavy-hitters?question=text&confidence=${PAGE}`;
  const { texts: found } = (await (await ask(path)).json()) as {
    texts: { text: string; estimate: number; simultaneous_interval: [number, number] }[];
  };
  expect(found.map(({ text }) => text).sort()).toEqual(["down", "left", "up"]);
  const page = await look("text");
  const rows = await shownIn(page, "#estimates");
  expect(rows.length).toBe(found.length);
  for (const { text, estimate, simultaneous_interval } of found) {
    const row = rows.find(({ name }) => name === text);
    expect(row, text).toBeDefined();
    expect(isRounded(amountOf(row?.estimate ?? ""), estimate), text).toBe(true);
    const [from, to] = endsOf(row?.interval ?? "");
    expect(isRounded(from, simultaneous_interval[0]), text).toBe(true);
    expect(isRounded(to, simultaneous_interval[1]), text).toBe(true);
    expect(
      [row?.estimate, row?.interval].every((shown) => shown?.endsWith("%")),
      text,
    ).toBe(true);
    print("text", text, estimate, row?.estimate, row?.interval);
  }
  await page.context().close();
});
