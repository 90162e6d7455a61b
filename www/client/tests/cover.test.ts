/** Tests of cover reports: what leaves a browser, and when, does not depend on having answers. */

import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from "vitest";
import { StorageError } from "../errors.js";
import { type ClientOptions, createRandomizer, type Question, type Task } from "../index.js";
import { loadLeavingCode } from "../loaders.js";
import { LocalReportMaker } from "../randomizer.js";
import { IndexedStore } from "../store/indexed.js";
import type { Store } from "../store/store.js";
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

let makes: MockInstance<LocalReportMaker["makeReport"]>;
let collector: FakeCollector;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
  stubDatabase();
  makes = vi.spyOn(LocalReportMaker.prototype, "makeReport");
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
    const opened = Date.now();
    await client.ready();
    await pass(5 * MINUTE_MS);
    for (const answer of answers) {
      expect(await client.report(answer)).toEqual({ sent: true, epsilon: 1, dropped: 0 });
    }
    await client.flush();
    await pass(24 * MINUTE_MS);
    expect(collector.sent).toEqual([]);
    expect(await client.history()).toEqual([]);
    await pass(2 * MINUTE_MS);
    expect(received()).toEqual([made().at(-1)]);
    expect(items()).toEqual([[0], ...answers.map(() => [1])]);
    // The history does not show who has answered either.
    const at = new Date(opened);
    expect(await client.history()).toMatchObject([{ state: "acknowledged", epsilon: 1, at }]);
    expect(await client.budget()).toMatchObject({ used: 1, spent: 1, spentOnAll: 1, reports: 1 });
    // Nothing else leaves in this window, whatever the person does.
    expect(await client.report(YES)).toMatchObject({ reason: "over-budget", epsilon: 0 });
    await pass(28 * DAY_MS);
    expect(collector.sent).toHaveLength(1);
  });

  it("is replaced by the first answer only", async () => {
    const client = tab();
    expect(await client.report(YES)).toMatchObject({ sent: true });
    expect(await client.report({ dark: false })).toMatchObject({ reason: "over-budget" });
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
    expect(await second.report(YES)).toMatchObject({ sent: true });
    second.destroy();
    await pass(DAY_MS);
    expect(collector.sent).toEqual([]);
    const third = tab();
    // Too late: the report leaves at once.
    expect(await third.report(YES)).toMatchObject({ reason: "over-budget" });
    expect(await third.budget()).not.toHaveProperty("heldUntil");
    await pass(MINUTE_MS);
    expect(received()).toEqual([made()[1]]);
  });

  it.each(["device", "memory"] as const)(
    "leaves at the end of the window if that is its time, with storage %s",
    async (storage) => {
      const minutes = (30 * DAY_MS) / MINUTE_MS;
      const task: Task = { ...COVERED, budget: { cover: { minutes } } };
      const { fetch } = requestsOf([[task, await fingerprintOf(task)]]);
      const client = tab({ task: task.id, fetch, storage });
      expect(await client.report(YES)).toMatchObject({ sent: true });
      await pass(30 * DAY_MS - MINUTE_MS);
      expect(collector.sent).toEqual([]);
      await pass(MINUTE_MS);
      expect(received()).toEqual([made()[1]]);
      expect(await client.budget()).toMatchObject({ used: 1, reports: 2 });
    },
  );

  it("is one report, however many tabs and answers there are", async () => {
    const tabs = Array.from({ length: 8 }, () => tab());
    const receipts = await Promise.all(tabs.map((each) => each.report(YES)));
    expect(receipts.filter(({ sent }) => sent)).toHaveLength(1);
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
      expect(await client.report(YES)).toMatchObject({ reason: "over-budget" });
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
      expect(await later.report(YES)).toMatchObject({ reason: "over-budget" });
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
    expect(await client.report(YES)).toMatchObject({ reason: "over-budget" });
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

/** Requests of a client that gets its task from the collector. */
function requestsOf(tasks: readonly (readonly [task: Task, fingerprint: string])[]) {
  const urls: string[] = [];
  const described = [...tasks];
  const fetch: typeof globalThis.fetch = async (url, init) => {
    urls.push(`${init?.method ?? "GET"} ${String(url).replace(/.*example/, "")}`);
    if (init?.method === "POST") {
      return collector.fetch(url, init);
    }
    const [task, fingerprint] = (described.length > 1 ? described.shift() : described[0]) ?? [];
    return Response.json({ task, fingerprint });
  };
  return { urls, fetch };
}

const fingerprintOf = async (task: Task) => (await createRandomizer({ task })).fingerprint;

describe("another version of the task", () => {
  const V1: Task = { ...COVERED, epsilon: 0.5, budget: { days: 1, ...budget } };
  const V2: Task = { ...COVERED, epsilon: 2, budget: { days: 30, ...budget } };

  it.each([
    ["without an answer", []],
    ["with an answer", [YES]],
  ])("does not replace a report that it was not charged for (%s)", async (_, answers) => {
    await tab({ task: V1 }).ready();
    await pass(MINUTE_MS);
    const second = tab({ task: V2 });
    await second.ready();
    for (const answer of answers) {
      expect(await second.report(answer)).toMatchObject({ reason: "over-budget" });
    }
    await pass(31 * MINUTE_MS);
    expect(collector.sent.map(({ bytes }) => readUpload(bytes).fingerprint)).toEqual([
      await fingerprintOf(V1),
    ]);
    expect(await second.budget()).toMatchObject({ spent: 0.5, spentOnAll: 0.5 });
  });

  it("is fetched when the next window begins, with or without an answer", async () => {
    const versions = await Promise.all(
      [COVERED, { ...COVERED, epsilon: 0.5 }].map(
        async (task) => [task, await fingerprintOf(task)] as const,
      ),
    );
    const expected = [
      "GET /tasks/covered",
      "POST /tasks/covered/reports",
      "GET /tasks/covered",
      "POST /tasks/covered/reports",
    ];
    for (const answers of [[], [YES]]) {
      stubDatabase();
      collector.sent.length = 0;
      const { urls, fetch } = requestsOf(versions);
      const client = tab({ task: "covered", fetch });
      await client.ready();
      await pass(30 * DAY_MS - MINUTE_MS);
      for (const answer of answers) {
        await client.report(answer);
      }
      await pass(2 * MINUTE_MS);
      for (const answer of answers) {
        await client.report(answer);
      }
      await pass(31 * MINUTE_MS);
      expect(urls).toEqual(expected);
      const sent = collector.sent.map(({ bytes }) => readUpload(bytes).fingerprint);
      expect(sent).toEqual(versions.map(([, fingerprint]) => fingerprint));
      client.destroy();
    }
  });

  it("that is refused is an error of all later calls, until consent is granted again", async () => {
    const loose: Task = { ...COVERED, budget: { days: 1, ...budget } };
    const pair = async (task: Task) => [task, await fingerprintOf(task)] as const;
    const { urls, fetch } = requestsOf([
      await pair(COVERED),
      await pair(loose),
      await pair(COVERED),
    ]);
    const onError = vi.fn();
    const client = tab({ task: "covered", fetch, onError });
    await client.ready();
    await pass(30 * DAY_MS);
    const refused = expect.objectContaining({ code: "loose-budget" });
    expect(onError.mock.calls).toEqual([[refused]]);
    for (const call of [() => client.report(YES), () => client.ready(), () => client.flush()]) {
      await expect(call()).rejects.toEqual(refused);
    }
    await pass(DAY_MS);
    expect(urls.filter((url) => url.startsWith("GET"))).toHaveLength(2);
    expect(await client.budget()).toMatchObject({ used: 0, spent: 1 });
    await client.revoke();
    client.grant();
    expect(await client.report(YES)).toMatchObject({ sent: true });
  });

  it("is not fetched because another page has the task itself", async () => {
    const fingerprint = await fingerprintOf(COVERED);
    for (const answers of [[], [YES]]) {
      stubDatabase();
      const { urls, fetch } = requestsOf([[COVERED, fingerprint]]);
      const byId = tab({ task: "covered", fetch });
      await byId.ready();
      byId.destroy();
      const inline = tab({ fetch });
      await inline.ready();
      for (const answer of answers) {
        expect(await inline.report(answer)).toMatchObject({ sent: true });
      }
      inline.destroy();
      const later = tab({ task: "covered", fetch });
      await later.ready();
      later.destroy();
      expect(urls).toEqual(["GET /tasks/covered"]);
    }
  });

  it("is not fetched whenever the page wakes", async () => {
    const page = stubPage();
    const { urls, fetch } = requestsOf([[COVERED, await fingerprintOf(COVERED)]]);
    const limits = { fetch, maxEpsilon: 1.5 };
    const other: Task = { ...FLAG, id: "other", budget: { days: 60 } };
    await tab({ ...limits, task: other }).report(YES);
    // No window can begin.
    const client = tab({ ...limits, task: "covered" });
    await client.ready();
    for (let time = 1; time <= 3; time += 1) {
      page.hidden = true;
      page.hidden = false;
      await turns();
    }
    expect(urls.filter((url) => url === "GET /tasks/covered")).toHaveLength(1);
    await pass(61 * MINUTE_MS);
    expect(urls.filter((url) => url === "GET /tasks/covered")).toHaveLength(2);
  });

  it("is not fetched by an answer in an outdated page", async () => {
    const { urls, fetch } = requestsOf([[COVERED, await fingerprintOf(COVERED)]]);
    const first = tab({ task: "covered", fetch });
    await first.ready();
    first.destroy();
    await pass(31 * MINUTE_MS);
    const page = tab({ task: "covered", fetch });
    await page.ready();
    // The machine sleeps, so no timer runs at the end of the window.
    vi.setSystemTime(Date.now() + 40 * DAY_MS);
    const before = [...urls];
    expect(await page.report(YES)).toMatchObject({ reason: "over-budget" });
    await turns();
    expect(urls).toEqual(before);
  });
});

describe("a function of atLeave", () => {
  /** Leaves a page, which is shown again. */
  async function leave(page: ReturnType<typeof stubPage>) {
    page.hidden = true;
    await turns();
    page.hidden = false;
    await turns();
  }

  it.each([0, 1, 2])(
    "is called once, in the window in which the page is left (%i)",
    async (left) => {
      const page = stubPage();
      const { urls, fetch } = requestsOf([[COVERED, await fingerprintOf(COVERED)]]);
      const client = tab({ task: "covered", fetch });
      await client.ready();
      const answer = vi.fn(() => YES);
      // Imported before, because fake time does not wait for it.
      await loadLeavingCode();
      client.atLeave(answer);
      await turns();
      for (let window = 0; window < 4; window += 1) {
        expect(urls.filter((url) => url.startsWith("GET"))).toHaveLength(window + 1);
        if (window >= left) {
          await leave(page);
        }
        expect(answer).toHaveBeenCalledTimes(Number(window >= left));
        await pass(30 * DAY_MS);
      }
      expect(items().map(([item]) => item)).toEqual(
        // Each window begins with a report from "no answer".
        [0, 1, 2, 3, 4].flatMap((window) => (window === left ? [0, 1] : [0])),
      );
      expect(collector.sent).toHaveLength(4);
    },
  );
});

describe("a failure", () => {
  it("of the database sends nothing and asks for nothing", async () => {
    vi.stubGlobal("indexedDB", undefined);
    const { urls, fetch } = requestsOf([[COVERED, await fingerprintOf(COVERED)]]);
    const client = tab({ task: "covered", fetch });
    await turns();
    const before = [...urls];
    expect(await client.report(YES)).toMatchObject({ reason: "no-storage", epsilon: 0 });
    await pass(DAY_MS);
    expect(urls).toEqual(before);
  });

  it.each([
    ["without an answer", []],
    ["with an answer", [YES]],
  ])("of the first opening does not change times (%s)", async (_, answers) => {
    const failure = new StorageError(new Error("busy"));
    const open = vi.spyOn(IndexedStore, "open").mockRejectedValueOnce(failure);
    const onError = vi.fn();
    const opened = Date.now();
    const client = tab({ onError });
    await turns();
    for (const answer of answers) {
      await expect(client.report(answer)).rejects.toBe(failure);
    }
    expect(onError.mock.calls).toEqual([[failure]]);
    expect(open).toHaveBeenCalledTimes(1);
    // The first delay is random, and at most a second.
    await pass(1_000);
    const [ledger] = await storedLedgers();
    expect(Math.floor((Number(ledger?.held?.due) - opened) / MINUTE_MS)).toBe(30);
    await pass(31 * MINUTE_MS);
    expect(collector.sent).toHaveLength(1);
  });

  it("to open is followed by attempts at growing intervals, anew after a success", async () => {
    const open = vi.spyOn(IndexedStore, "open");
    const fail = (times: number) => {
      for (let time = 0; time < times; time += 1) {
        open.mockRejectedValueOnce(new StorageError(new Error("busy")));
      }
    };
    fail(8);
    const client = tab({ onError: () => {} });
    // The delays are at most 1, 2, 4 … 128 seconds, and at least half of that.
    await pass(100_000);
    expect(open.mock.calls.length).toBeLessThan(9);
    await pass(160_000);
    expect(open).toHaveBeenCalledTimes(9);
    await client.revoke();
    fail(1);
    client.grant();
    await pass(1_000);
    expect(open).toHaveBeenCalledTimes(11);
  });

  it("at the time of the report is followed by another attempt", async () => {
    const client = tab();
    await client.ready();
    const failure = new StorageError(new Error("busy"));
    vi.spyOn(IndexedStore.prototype, "changeLedgers").mockRejectedValueOnce(failure);
    await pass(31 * MINUTE_MS);
    expect(collector.sent).toEqual([]);
    await pass(61 * MINUTE_MS);
    expect(collector.sent).toHaveLength(1);
  });

  it("to make room begins a window later, and keeps the session", async () => {
    const plain: Task = { ...FLAG, id: "covered", budget: { days: 30 } };
    const down = tab({ task: plain, fetch: new FakeCollector("down").fetch });
    await down.report(YES);
    down.destroy();
    // As if a megabyte of reports waited.
    const { waitingBytes } = (await storedLedgers())[0] as { waitingBytes: number };
    const change = IndexedStore.prototype.changeLedgers;
    vi.spyOn(IndexedStore.prototype, "changeLedgers").mockImplementation(function (
      this: Store,
      edit,
    ) {
      return change.call(this, (pair) =>
        edit({
          ...pair,
          taskLedger: { ...pair.taskLedger, used: 0, waitingBytes: waitingBytes && 1024 * 1024 },
        }),
      ) as ReturnType<typeof change>;
    } as typeof change);
    const onError = vi.fn();
    const client = tab({ onError });
    await client.ready();
    expect(onError.mock.calls[0]?.[0]).toMatchObject({ code: "outbox-full" });
    await pass(MINUTE_MS);
    expect(collector.sent).toHaveLength(1);
  });
});

describe("a privacy signal", () => {
  it("that comes later stops the held report and further windows", async () => {
    const client = tab();
    await client.ready();
    vi.stubGlobal("navigator", { doNotTrack: "1" });
    expect(await client.report(YES)).toMatchObject({ reason: "no-consent" });
    await pass(31 * DAY_MS);
    expect(collector.sent).toEqual([]);
    expect(await client.budget()).toMatchObject({ reports: 1, spent: 1 });
    vi.stubGlobal("navigator", {});
    await pass(2 * 60 * MINUTE_MS);
    expect(collector.sent).toHaveLength(1);
  });

  it.each([
    ["without an answer", []],
    ["with an answer", [YES]],
    ["with two answers", [YES, YES]],
  ])("that ends later begins a window at a time of its own (%s)", async (_, answers) => {
    const { urls, fetch } = requestsOf([[COVERED, await fingerprintOf(COVERED)]]);
    vi.stubGlobal("navigator", { globalPrivacyControl: true });
    const opened = Date.now();
    const client = tab({ task: "covered", fetch });
    await pass(5 * MINUTE_MS);
    expect(await client.report(YES)).toMatchObject({ reason: "no-consent" });
    vi.stubGlobal("navigator", {});
    const receipts = answers.map((answer) => client.report(answer));
    await turns();
    expect(urls).toEqual([]);
    await pass(MINUTE_MS);
    const outcomes = (await Promise.all(receipts)).map(({ reason = "sent" }) => reason);
    expect(outcomes).toEqual(["sent", "over-budget"].slice(0, answers.length));
    expect(urls).toEqual(["GET /tasks/covered"]);
    const [ledger] = await storedLedgers();
    expect(Math.floor((Number(ledger?.held?.due) - opened) / MINUTE_MS)).toBe(36);
    await pass(31 * MINUTE_MS);
    expect(collector.sent).toHaveLength(1);
    expect(items()).toEqual([[0], ...answers.slice(0, 1).map(() => [1])]);
  });
});

describe("consent", () => {
  it("that is revoked deletes the held report, but not what it cost", async () => {
    const client = tab();
    await client.report(YES);
    await client.revoke();
    expect(await storedLedgers()).toMatchObject([{ held: null, spent: 1, used: 1 }]);
    client.grant();
    expect(await client.report(YES)).toMatchObject({ reason: "over-budget" });
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
    expect(await client.report(YES)).toMatchObject({ reason: "over-budget" });
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
