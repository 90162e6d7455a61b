/** Tests of memos: randomised answers from which all reports of an epoch are made. */

import { IDBObjectStore as FDBObjectStore } from "fake-indexeddb";
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from "vitest";
import type { ClientOptions, Task } from "../index.js";
import { createLocalMaker, LocalReportMaker } from "../randomizer.js";
import {
  clientOf,
  FakeCollector,
  idsOf,
  MEMO,
  readUpload,
  storedLedgers,
  stubDatabase,
} from "./harness.js";

const DAY_MS = 86_400_000;
const YES = { dark: true };
const NO = { dark: false };
/** Task with windows of a day. */
const DAILY: Task = { ...MEMO, id: "daily", budget: { days: 1, ...MEMO.budget } };

let draws: MockInstance<LocalReportMaker["drawMemoSlot"]>;
let makes: MockInstance<LocalReportMaker["makeFromMemo"]>;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  stubDatabase();
  draws = vi.spyOn(LocalReportMaker.prototype, "drawMemoSlot");
  makes = vi.spyOn(LocalReportMaker.prototype, "makeFromMemo");
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** Makes a client for a tab, or a later visit, of the same browser. */
const tab = (options: Partial<ClientOptions> = {}, collector = new FakeCollector()) =>
  clientOf(collector, { task: MEMO, storage: "device", ...options });

const later = (days: number) => vi.setSystemTime(Date.now() + days * DAY_MS);
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

/** Returns the memo in the database. */
async function storedMemo() {
  const [ledger] = await storedLedgers();
  return ledger?.memo;
}

/** Returns the slots of all memos that were drawn, and of all reports that were made. */
const slots = (calls: MockInstance<(given: never) => unknown>) =>
  calls.mock.results.map(({ value }) => value);

describe("the reports of an epoch", () => {
  it("are made from one memo, whatever the answer becomes, and spend its ε once", async () => {
    for (let window = 0; window < 12; window += 1) {
      const client = tab();
      const answer = window % 2 === 0 ? YES : NO;
      expect(await client.report(answer)).toEqual({ sent: true, epsilon: 1, dropped: 0 });
      expect(await client.report(answer)).toMatchObject({ reason: "over-budget", epsilon: 0 });
      expect(await client.budget()).toMatchObject({
        used: 1,
        spent: 2,
        reports: window + 1,
        spentOnAll: 1,
      });
      client.destroy();
      later(30);
    }
    expect(draws).toHaveBeenCalledOnce();
    expect(makes).toHaveBeenCalledTimes(12);
    const [slot] = slots(draws);
    expect(new Set(makes.mock.calls.flat())).toEqual(new Set([slot]));
    expect(await storedMemo()).toMatchObject({ slot });
  });

  it("differ from each other, because each has a new seed", async () => {
    const client = tab({ task: DAILY });
    for (let report = 0; report < 200; report += 1) {
      await client.report(YES);
      later(1);
    }
    const reports = (await client.history()).map(({ bytes }) => hex(readUpload(bytes).reports));
    expect(new Set(reports).size).toBe(200);
    expect(new Set((await client.history()).map(({ bytes }) => idsOf(bytes)[0])).size).toBe(200);
    expect(draws).toHaveBeenCalledOnce();
  });

  it("end with it: the next report draws another, from the answer of that time", async () => {
    const client = tab();
    const began = Date.now();
    await client.report(YES);
    expect(await storedMemo()).toMatchObject({ until: began + 365 * DAY_MS });
    vi.setSystemTime(began + 365 * DAY_MS - 1);
    await client.report(NO);
    expect(draws).toHaveBeenCalledOnce();
    vi.setSystemTime(began + 365 * DAY_MS + 30 * DAY_MS);
    expect(await client.report(NO)).toMatchObject({ sent: true, epsilon: 1 });
    expect(await storedMemo()).toMatchObject({ until: began + (365 + 30 + 365) * DAY_MS });
    expect(draws.mock.calls.map(([{ items }]) => [...items])).toEqual([[1], [0]]);
    expect(await client.budget()).toMatchObject({ spent: 4, reports: 3 });
  });

  it("leave no memo on the device once the epoch has ended", async () => {
    const client = tab();
    await client.report(YES);
    client.destroy();
    const memo = await storedMemo();
    later(364);
    await tab().ready();
    expect(await storedMemo()).toEqual(memo);
    later(1);
    await tab().ready();
    expect(await storedMemo()).toEqual({ ...memo, slot: null });
    expect(await tab().report(YES)).toMatchObject({ sent: true });
    expect(draws).toHaveBeenCalledTimes(2);
  });

  it("go on where the clock was set back, which begins no epoch", async () => {
    const client = tab({ task: DAILY });
    await client.report(YES);
    const memo = await storedMemo();
    later(-1000);
    // The window of the first report ends at its own time.
    expect(await client.report(NO)).toMatchObject({ reason: "over-budget" });
    later(1002);
    expect(await client.report(NO)).toMatchObject({ sent: true });
    later(-1);
    expect(await client.report(NO)).toMatchObject({ reason: "over-budget" });
    expect(await storedMemo()).toEqual(memo);
    expect(draws).toHaveBeenCalledOnce();
    expect(await client.budget()).toMatchObject({ spent: 2, reports: 2 });
  });

  it("are made from the memo that a tab stored first, in tabs that report at once", async () => {
    const tabs = Array.from({ length: 8 }, () => tab());
    for (const reports of [1, 2]) {
      const receipts = await Promise.all(tabs.map((each) => each.report(YES)));
      expect(receipts.filter(({ sent }) => sent)).toHaveLength(1);
      expect(await tabs[0]?.budget()).toMatchObject({ spent: 2, used: 1, reports });
      later(30);
    }
    expect(draws).toHaveBeenCalledOnce();
    expect(new Set(makes.mock.calls.flat())).toEqual(new Set(slots(draws)));
  });

  it("need valid answers, though these are not used", async () => {
    const client = tab();
    await client.report(YES);
    later(30);
    await expect(client.report({ dark: 1 })).rejects.toMatchObject({ code: "answer" });
    expect(await client.budget()).toMatchObject({ reports: 1 });
  });
});

describe("a window", () => {
  it("is charged ε for its report, besides the memo's ε in total", async () => {
    const client = tab({ maxEpsilon: 2 });
    for (const reports of [1, 2, 3]) {
      expect(await client.report(YES)).toMatchObject({ sent: true, epsilon: 1 });
      expect(await client.budget()).toMatchObject({ used: 1, spent: 2, spentOnAll: 1, reports });
      later(30);
    }
    expect((await client.history()).map(({ epsilon }) => epsilon)).toEqual([1, 1, 1]);
    expect(await client.budget()).toMatchObject({ used: 0, spent: 2, spentOnAll: 0 });
  });

  it("is limited by what other tasks have spent, and nothing is drawn beyond the limit", async () => {
    const outcomes = [];
    for (const id of ["one", "two", "three"]) {
      const { reason = "sent" } = await tab({ task: { ...MEMO, id }, maxEpsilon: 2 }).report(YES);
      outcomes.push(reason);
    }
    expect(outcomes).toEqual(["sent", "sent", "over-budget"]);
    expect(draws).toHaveBeenCalledTimes(2);
    expect(await storedLedgers()).toHaveLength(2);
  });
});

describe("a memo", () => {
  it("is all that is stored of an answer: no digest, and nothing else", async () => {
    const kept = async (answer: typeof YES) => {
      stubDatabase();
      await tab().report(answer);
      return storedLedgers();
    };
    const until = Date.now() + 30 * DAY_MS;
    const [slot] = [0, 1];
    const expected = {
      until,
      days: 30,
      used: 1,
      spent: 2,
      reports: 1,
      memo: {
        until: Date.now() + 365 * DAY_MS,
        question: '["dark",2,2,2]',
        slot,
      },
      held: null,
      waitingBytes: 43,
      revoked: 0,
      described: null,
      notBefore: 0,
      reserved: [],
    };
    for (const answer of [YES, NO]) {
      draws.mockReturnValueOnce(slot);
      expect(await kept(answer)).toEqual([expected]);
    }
  });

  it.each([
    [YES, 1],
    [NO, 0],
  ])("is %j with the probability of its ε", async (answer, own) => {
    const maker = await createLocalMaker(MEMO);
    const memos = 2_000;
    let equal = 0;
    for (let memo = 0; memo < memos; memo += 1) {
      equal += Number(maker.drawMemoSlot(maker.packAnswers(answer)) === own);
    }
    maker.free();
    const share = Math.exp(2) / (Math.exp(2) + 1);
    const deviation = Math.sqrt((share * (1 - share)) / memos);
    expect(Math.abs(equal / memos - share)).toBeLessThan(4.5 * deviation);
  });

  it("of a choice is one of the slots, of which there may be more than options", async () => {
    const [{ mechanism }] = MEMO.questions;
    const question = { name: "font", kind: "choice", options: ["a", "b", "c"], mechanism } as const;
    const maker = await createLocalMaker({ ...MEMO, questions: [question] });
    const found = new Set<number>();
    for (let memo = 0; memo < 400; memo += 1) {
      const slot = maker.drawMemoSlot(maker.packAnswers({ font: "c" }));
      found.add(slot);
      expect(maker.makeFromMemo(slot)).toHaveLength(9);
    }
    expect([...found].sort()).toEqual([0, 1, 2, 3]);
    maker.free();
  });

  it("is not stored, and nothing is spent, where the report cannot be stored", async () => {
    const client = tab();
    await client.ready();
    const broken = vi.spyOn(FDBObjectStore.prototype, "add").mockImplementation(() => {
      throw new DOMException("no room", "QuotaExceededError");
    });
    await expect(client.report(YES)).rejects.toThrow("no room");
    broken.mockRestore();
    expect(await storedLedgers()).toEqual([]);
    expect(await client.report(YES)).toMatchObject({ sent: true });
    expect(await client.budget()).toMatchObject({ spent: 2 });
  });

  it("is on the disk before its report can be sent, and so is what other reports cost", async () => {
    const put = vi.spyOn(FDBObjectStore.prototype, "put");
    for (const [task, answer] of [
      [MEMO, YES],
      [{ ...MEMO, id: "fresh", budget: {} }, YES],
    ] as const) {
      await tab({ task }).report(answer);
      const writes = put.mock.contexts as unknown as { transaction: { durability: string } }[];
      const ledgers = writes.filter((_, call) => Object(put.mock.calls[call]?.[0]).used > 0);
      expect(ledgers.map(({ transaction }) => transaction.durability)).toEqual(["strict"]);
      put.mockClear();
    }
  });

  it("is deleted as consent is revoked, and no other is drawn before its epoch ends", async () => {
    const client = tab();
    await client.report(YES);
    const memo = await storedMemo();
    expect(memo?.slot).toBe(slots(draws)[0]);
    await client.revoke();
    expect(await storedMemo()).toEqual({ ...memo, slot: null });
    client.grant();
    const nothing = { sent: false, reason: "over-budget", epsilon: 0, dropped: 0 };
    expect(await client.report(YES)).toEqual(nothing);
    // A page that has not begun a session revokes, too.
    await tab({ consent: false }).revoke();
    client.destroy();
    for (const days of [0, 30, 334.9]) {
      later(days);
      const visit = tab();
      expect(await visit.report(NO)).toEqual(nothing);
      expect(await visit.budget()).toMatchObject({ spent: 2, reports: 1 });
    }
    expect(await storedMemo()).toEqual({ ...memo, slot: null });
    later(0.1);
    const after = tab();
    expect(await after.report(NO)).toMatchObject({ sent: true, epsilon: 1 });
    expect(await after.budget()).toMatchObject({ spent: 4, reports: 2 });
    expect(draws).toHaveBeenCalledTimes(2);
  });
});

describe("a task that is changed", () => {
  const mechanism = { ...MEMO.questions[0].mechanism, buckets: 3 };
  const FONT = { name: "font", kind: "choice", options: ["a", "b", "c"], mechanism } as const;
  const { budget } = MEMO;
  const fonts = (question: object, change: object = {}): Partial<ClientOptions> => ({
    task: { ...MEMO, id: "fonts", questions: [{ ...FONT, ...question }], ...change } as Task,
  });

  it("is none if an answer is not listed: the memo makes the report", async () => {
    const client = tab(fonts({}));
    await expect(client.report({ font: "z" })).rejects.toMatchObject({ code: "unknown-item" });
    expect(await client.budget()).toMatchObject({ used: 0, spent: 0 });
    expect(draws).not.toHaveBeenCalled();
    await client.report({ font: "a" });
    later(30);
    expect(await client.report({ font: "z" })).toEqual({
      sent: true,
      epsilon: 1,
      dropped: 1,
    });
    expect(draws).toHaveBeenCalledOnce();
    expect(await client.budget()).toMatchObject({ spent: 2, reports: 2 });
  });

  it.each([
    ["options", { options: ["a", "b", "d"] }, {}],
    ["the order of its options", { options: ["a", "c", "b"] }, {}],
    ["the number of its options", { options: ["a", "b"], mechanism: MEMO.questions[0].mechanism }],
    ["names in place of a number of options", { options: 3 }, {}],
    ["its number of slots", { mechanism: { ...mechanism, buckets: 2 } }, {}],
    ["its question", { name: "face" }, {}],
    ["the memo's ε", {}, { budget: { memo: { ...budget.memo, epsilon: 2.5 } } }],
  ])("in %s makes no report until the epoch ends", async (_, question, change = {}) => {
    const before = tab(fonts({}));
    await before.report({ font: "a" });
    const memo = await storedMemo();
    const after = tab(fonts(question, change));
    const { name } = { ...FONT, ...question };
    const options = "options" in question ? question.options : FONT.options;
    const answer = { [name]: typeof options === "number" ? 0 : "a" };
    for (const days of [0, 30, 334.9]) {
      later(days);
      expect(await after.report(answer)).toMatchObject({ reason: "over-budget" });
    }
    expect(await storedMemo()).toEqual(memo);
    later(0.1);
    expect(await after.report(answer)).toMatchObject({ sent: true });
    expect(draws).toHaveBeenCalledTimes(2);
    expect((await storedMemo())?.question).not.toBe(memo?.question);
  });

  it.each([
    ["the ε of a report", { epsilon: 0.5 }],
    ["the length of windows", { budget: { ...budget, days: 7 } }],
    ["the length of later epochs", { budget: { memo: { epsilon: 2, days: 30 } } }],
  ])("in %s goes on with its memo", async (_, change) => {
    await tab(fonts({})).report({ font: "a" });
    const memo = await storedMemo();
    const after = tab(fonts({}, change));
    for (let window = 0; window < 3; window += 1) {
      later(31);
      expect(await after.report({ font: "b" })).toMatchObject({ sent: true });
    }
    expect(await storedMemo()).toEqual(memo);
    expect(draws).toHaveBeenCalledOnce();
    expect(await after.budget()).toMatchObject({ spent: 2, reports: 4 });
  });

  it("to fresh reports and back goes on with its memo", async () => {
    const { budget: _, ...task } = MEMO;
    for (const [index, asked] of [MEMO, task, MEMO].entries()) {
      const client = tab({ task: asked });
      expect(await client.report(YES)).toMatchObject({ sent: true, epsilon: 1 });
      expect(await client.budget()).toMatchObject({ spent: [2, 3, 3][index] });
      later(30);
    }
    expect(draws).toHaveBeenCalledOnce();
    expect(makes.mock.calls.flat()).toEqual([...slots(draws), ...slots(draws)]);
  });
});

describe("a page", () => {
  const strict = { maxEpsilon: undefined };

  it("refuses a memo of more ε than it allows", async () => {
    const task: Task = { ...MEMO, budget: { memo: { epsilon: 2.5, days: 365 } } };
    const client = tab({ task, ...strict });
    await expect(client.report(YES)).rejects.toMatchObject({
      code: "over-max-epsilon",
      message: /ε = 2.5/,
    });
    expect(await tab({ task, maxEpsilon: 2.5 }).report(YES)).toMatchObject({ sent: true });
  });

  it("takes a memo from a collector without a pin, but not shorter windows", async () => {
    const described = async (task: Task) => {
      const { fingerprint } = await tab({ task }).ready();
      const collector = new FakeCollector(Response.json({ task, fingerprint }));
      return tab({ task: task.id, ...strict }, collector);
    };
    const loose = await described(DAILY);
    await expect(loose.report(YES)).rejects.toMatchObject({ code: "loose-budget" });
    const client = await described(MEMO);
    expect(await client.report(YES)).toMatchObject({ sent: true });
    expect(await client.budget()).toMatchObject({ spent: 2, spentOnAll: 1 });
  });

  it.each(["device", "spend-again"] as const)(
    "reports nothing without a database, with storage %s",
    async (storage) => {
      vi.stubGlobal("indexedDB", undefined);
      const client = tab({ storage });
      expect(await client.report(YES)).toEqual({
        sent: false,
        reason: "no-storage",
        epsilon: 0,
        dropped: 0,
      });
      expect(await client.budget()).toMatchObject({ durable: false, spent: 0 });
      expect(draws).not.toHaveBeenCalled();
    },
  );

  it("reports nothing that is only in memory", async () => {
    const client = tab({ storage: "memory" });
    expect(await client.report(YES)).toMatchObject({ reason: "no-storage" });
    expect(draws).not.toHaveBeenCalled();
  });

  it("has memos in a dry run, which end with the client and with consent", async () => {
    const collector = new FakeCollector();
    const client = tab({ dryRun: true }, collector);
    for (let window = 0; window < 3; window += 1) {
      expect(await client.report(YES)).toMatchObject({ sent: true, epsilon: 1 });
      later(30);
    }
    expect(draws).toHaveBeenCalledOnce();
    expect(await client.budget()).toMatchObject({ spent: 2, durable: false });
    await client.flush();
    expect(collector.sent).toEqual([]);
    await client.revoke();
    client.grant();
    expect(await client.report(YES)).toMatchObject({ reason: "over-budget" });
    later(365);
    expect(await client.report(YES)).toMatchObject({ sent: true, epsilon: 1 });
    expect(await client.budget()).toMatchObject({ spent: 4 });
  });
});
