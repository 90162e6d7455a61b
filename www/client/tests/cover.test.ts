/** Tests of cover reports: what leaves a browser, and when, does not depend on having answers. */

import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from "vitest";
import type { ClientOptions, Question, Task } from "../index.js";
import { LocalReportMaker } from "../randomizer.js";
import {
  clientOf,
  FakeCollector,
  idsOf,
  MEMO,
  readUpload,
  SETTINGS,
  SURVEY,
  storedLedgers,
  stubDatabase,
  stubPage,
} from "./harness.js";

const MINUTE_MS = 60_000;
const DAY_MS = 1440 * MINUTE_MS;
const { budget: _, ...FLAG } = MEMO;
const budget = { cover: { minutes: 30 } };
const COVERED: Task = { ...FLAG, id: "covered", budget };
const YES = { dark: true };

let makes: MockInstance<LocalReportMaker["make"]>;
let collector: FakeCollector;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
  stubDatabase();
  makes = vi.spyOn(LocalReportMaker.prototype, "make");
  collector = new FakeCollector();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Makes a client for a tab, or a later visit, of the same browser. */
const tab = (options: Partial<ClientOptions> = {}) =>
  clientOf(collector, { task: COVERED, storage: "device", ...options });

/** Lets time pass, and then more than a report waits for others before it is sent. */
async function pass(ms: number) {
  for (const step of [ms, 10_000]) {
    await vi.advanceTimersByTimeAsync(step);
    await turns();
  }
}

/** Gives the database turns in which to answer. */
async function turns() {
  for (let turn = 0; turn < 60; turn += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    await vi.advanceTimersByTimeAsync(1);
  }
}

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
/** Bytes of the reports that the collector has received. */
const received = () => collector.sent.map(({ bytes }) => hex(readUpload(bytes).reports));
/** Bytes of the reports that were made. */
const made = () => makes.mock.results.map(({ value }) => hex(value));
/** Items of the answers from which reports were made. */
const items = () => makes.mock.calls.map(([entries]) => [...entries.items]);

describe("the report of a window", () => {
  it.each([
    ["without an answer", []],
    ["with an answer", [YES]],
  ])("leaves %s at the same time", async (_, answers) => {
    const client = tab();
    await client.ready();
    await pass(5 * MINUTE_MS);
    for (const answer of answers) {
      expect(await client.report(answer)).toEqual({ outcome: "queued", epsilon: 1, dropped: 0 });
    }
    await client.flush();
    await pass(24 * MINUTE_MS);
    expect(collector.sent).toEqual([]);
    expect(await client.history()).toEqual([]);
    await pass(2 * MINUTE_MS);
    expect(received()).toEqual([made().at(-1)]);
    expect(items()).toEqual([[0], ...answers.map(() => [1])]);
    expect(await client.history()).toMatchObject([{ state: "acknowledged", epsilon: 1 }]);
    expect(await client.budget()).toMatchObject({ used: 1, spent: 1, spentOnAll: 1, reports: 1 });
    // Nothing else leaves in this window, whatever the person does.
    expect(await client.report(YES)).toMatchObject({ outcome: "over-budget", epsilon: 0 });
    await pass(28 * DAY_MS);
    expect(collector.sent).toHaveLength(1);
  });

  it("is replaced by the first answer only", async () => {
    const client = tab();
    expect(await client.report(YES)).toMatchObject({ outcome: "queued" });
    expect(await client.report({ dark: false })).toMatchObject({ outcome: "over-budget" });
    await pass(31 * MINUTE_MS);
    expect(received()).toEqual([made()[1]]);
    expect(items()).toEqual([[0], [1]]);
  });

  it("waits for the next visit if no page is open at its time", async () => {
    const client = tab();
    const opened = Date.now();
    await client.ready();
    expect(await client.budget()).toMatchObject({ heldUntil: new Date(opened + 30 * MINUTE_MS) });
    client.destroy();
    await pass(29 * MINUTE_MS);
    const second = tab();
    expect(await second.report(YES)).toMatchObject({ outcome: "queued" });
    second.destroy();
    await pass(DAY_MS);
    expect(collector.sent).toEqual([]);
    const third = tab();
    // Too late: the report leaves at once.
    expect(await third.report(YES)).toMatchObject({ outcome: "over-budget" });
    expect(await third.budget()).not.toHaveProperty("heldUntil");
    await pass(MINUTE_MS);
    expect(received()).toEqual([made()[1]]);
  });

  it("is one report, however many tabs and answers there are", async () => {
    const tabs = Array.from({ length: 8 }, () => tab());
    const receipts = await Promise.all(tabs.map((each) => each.report(YES)));
    expect(receipts.filter(({ outcome }) => outcome === "queued")).toHaveLength(1);
    await pass(31 * MINUTE_MS);
    expect(new Set(collector.sent.flatMap(({ bytes }) => idsOf(bytes))).size).toBe(1);
    expect(new Set(received()).size).toBe(1);
    expect(await tabs[0]?.budget()).toMatchObject({ spent: 1, reports: 1 });
  });

  it("begins with a page that stays open, not with an answer", async () => {
    const client = tab();
    await client.ready();
    for (let window = 1; window <= 3; window += 1) {
      await pass(31 * MINUTE_MS);
      expect(collector.sent).toHaveLength(window);
      expect(await client.report(YES)).toMatchObject({ outcome: "over-budget" });
      // The next window begins by itself.
      await pass(30 * DAY_MS - 31 * MINUTE_MS);
    }
    expect(items()).toEqual([[0], [0], [0], [0]]);
    expect(await client.budget()).toMatchObject({ spent: 4, reports: 4 });
  });

  it("leaves when the page wakes, if timers did not run", async () => {
    const page = stubPage();
    const client = tab();
    await client.report(YES);
    page.hidden = true;
    await turns();
    expect(collector.sent).toEqual([]);
    vi.setSystemTime(Date.now() + DAY_MS);
    page.hidden = false;
    await pass(MINUTE_MS);
    expect(received()).toEqual([made()[1]]);
  });

  it("leaves although the task has become one without cover reports", async () => {
    const client = tab();
    await client.report(YES);
    client.destroy();
    const { budget: _, ...plain } = COVERED;
    for (const [minutes, expected] of [
      [1, 0],
      [30, 1],
    ] as const) {
      await pass(minutes * MINUTE_MS);
      const later = tab({ task: plain as Task });
      expect(await later.report(YES)).toMatchObject({ outcome: "over-budget" });
      await pass(MINUTE_MS);
      expect(collector.sent).toHaveLength(expected);
      later.destroy();
    }
    expect(received()).toEqual([made()[1]]);
  });

  it("does not begin in a window in which the task had no cover reports", async () => {
    const { budget: _, ...plain } = COVERED;
    await tab({ task: plain as Task }).report(YES);
    const client = tab();
    expect(await client.report(YES)).toMatchObject({ outcome: "over-budget" });
    expect(await client.budget()).toMatchObject({ used: 1, spent: 1 });
    await pass(30 * DAY_MS);
    expect(await client.budget()).toMatchObject({ used: 1, spent: 2 });
  });

  it("keeps its time if the clock is set back", async () => {
    const client = tab();
    await client.report(YES);
    client.destroy();
    vi.setSystemTime(Date.now() - 400 * DAY_MS);
    await tab().ready();
    await pass(DAY_MS);
    expect(collector.sent).toEqual([]);
    vi.setSystemTime(Date.now() + 400 * DAY_MS);
    await tab().ready();
    await pass(MINUTE_MS);
    expect(new Set(received())).toEqual(new Set([made()[1]]));
  });
});

describe("consent", () => {
  it("that is revoked deletes the held report, but not what it cost", async () => {
    const client = tab();
    await client.report(YES);
    await client.revoke();
    expect(await storedLedgers()).toMatchObject([{ held: null, spent: 1, used: 1 }]);
    client.grant();
    expect(await client.report(YES)).toMatchObject({ outcome: "over-budget" });
    await pass(2 * DAY_MS);
    expect(collector.sent).toEqual([]);
  });

  it("is needed before a window begins", async () => {
    const client = tab({ consent: false });
    await pass(DAY_MS);
    expect(await client.budget()).toMatchObject({ used: 0, spent: 0 });
    client.grant();
    await client.ready();
    expect(await client.budget()).toMatchObject({ used: 1, spent: 1 });
  });
});

describe("the page's limit", () => {
  it("keeps a window from beginning, until other tasks leave room", async () => {
    const limits = { maxEpsilon: 1.5 };
    const other = tab({ task: { ...FLAG, id: "other", budget: { days: 1 } }, ...limits });
    await other.report(YES);
    const client = tab(limits);
    expect(await client.report(YES)).toMatchObject({ outcome: "over-budget" });
    expect(await client.budget()).toMatchObject({ used: 0 });
    await pass(DAY_MS + 61 * MINUTE_MS);
    expect(await client.budget()).toMatchObject({ used: 1, spent: 1 });
  });
});

describe("no answer", () => {
  const kinds: readonly [string, Question, unknown][] = [
    ["false for a flag", SURVEY.questions[2], [0]],
    ["the last of listed options", SURVEY.questions[0], [2]],
    ["the last of counted options", SURVEY.questions[1], [11]],
    ["nothing for a set", SURVEY.questions[5], []],
    ["nothing for an open set", SURVEY.questions[6], []],
    ["nothing for ratings", SURVEY.questions[7], []],
  ];
  it.each(kinds)("is %s", async (_, question, expected) => {
    const task: Task = { id: "kinds", epsilon: 2, questions: [question], budget };
    await tab({ task }).ready();
    expect(items()).toEqual([expected]);
  });

  it("is nothing for a task without questions", async () => {
    await tab({ task: { ...SETTINGS, budget } }).ready();
    expect(items()).toEqual([[]]);
  });

  it.each([3, 4, 8, 9])("is missing for other kinds (%i)", async (index) => {
    const question = SURVEY.questions[index] as Question;
    const task: Task = { id: "kinds", epsilon: 2, questions: [question], budget };
    await expect(tab({ task }).ready()).rejects.toMatchObject({ code: "invalid-task" });
  });
});
