/** Tests of a browser's budget: windows, tabs, and limits of a page. */

import { IDBDatabase as FDBDatabase, IDBObjectStore as FDBObjectStore } from "fake-indexeddb";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ClientOptions, createClient, Task } from "../index.js";
import { requestResult } from "../store/indexed.js";
import {
  answers,
  clientOf,
  FakeCollector,
  idsOf,
  OFTEN,
  RATINGS,
  storedLedgers,
  stubDatabase,
  stubPage,
} from "./harness.js";

const DAY_MS = 86_400_000;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  stubDatabase();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Makes a client for a tab, or a later visit, of the same browser. */
const tab = (
  collector = new FakeCollector(),
  options: Partial<ClientOptions> = {},
  create?: typeof createClient,
) => clientOf(collector, { task: RATINGS, storage: "device", ...options }, create);

const later = (ms: number) => vi.setSystemTime(Date.now() + ms);

describe.each(["device", "memory"] as const)("a window, kept in %s", (storage) => {
  const within = (budget: Task["budget"]): Task => (budget ? { ...RATINGS, budget } : RATINGS);

  it("holds one report, of thirty days, unless the task allows more", async () => {
    const client = tab(undefined, { storage });
    expect(await client.report(answers(1))).toMatchObject({ sent: true, epsilon: 2 });
    expect(await client.report(answers(1))).toMatchObject({ reason: "over-budget", epsilon: 0 });
    expect(await client.report(answers(2))).toMatchObject({ reason: "over-budget", epsilon: 0 });
    expect(client.pending).toBe(1);
    const began = Date.now();
    expect(await client.budget()).toEqual({
      epsilon: 2,
      allowed: 1,
      used: 1,
      until: new Date(began + 30 * DAY_MS),
      spent: 2,
      reports: 1,
      spentOnAll: 2,
      maxEpsilon: Number.POSITIVE_INFINITY,
      durable: storage === "device",
    });
    later(30 * DAY_MS - 1);
    expect(await client.report(answers(2))).toMatchObject({ reason: "over-budget" });
    later(1);
    expect(await client.budget()).toMatchObject({ used: 0, until: undefined, spent: 2 });
    expect(await client.report(answers(2))).toMatchObject({ sent: true, epsilon: 2 });
    expect(await client.budget()).toMatchObject({ used: 1, spent: 4, reports: 2 });
  });

  it("holds as many as the task says, for as long", async () => {
    const task = within({ days: 2, reports: 3 });
    const client = tab(undefined, { storage, task });
    const outcomes: string[] = [];
    for (const number of [1, 2, 2, 1, 3]) {
      outcomes.push((await client.report(answers(number))).reason ?? "sent");
    }
    // Equal answers of two events are two reports: totals would be wrong otherwise.
    expect(outcomes).toEqual(["sent", "sent", "sent", "over-budget", "over-budget"]);
    later(2 * DAY_MS);
    expect((await client.report(answers(4))).sent).toBe(true);
  });

  it("stays open until its own end, wherever the clock was set in the meantime", async () => {
    const client = tab(undefined, { storage });
    await client.report(answers(1));
    for (const days of [-365, 365, 29.9]) {
      later(days * DAY_MS);
      expect(await client.report(answers(2))).toMatchObject({ reason: "over-budget" });
    }
    later(0.1 * DAY_MS);
    expect(await client.report(answers(2))).toMatchObject({ sent: true });
  });

  it("draws answers that stay anew in each window", async () => {
    const collector = new FakeCollector();
    const client = tab(collector, { storage });
    for (let window = 0; window < 3; window += 1) {
      expect(await client.report(answers(1))).toMatchObject({ sent: true, epsilon: 2 });
      later(30 * DAY_MS);
    }
    await client.flush();
    const [{ bytes } = { bytes: new Uint8Array() }] = collector.sent;
    expect(new Set(idsOf(bytes)).size).toBe(3);
    expect(new Set(reportsOf(bytes)).size).toBe(3);
    expect(await client.budget()).toMatchObject({ spent: 6 });
  });
});

/** Returns the encoded reports of uploads of one report each, all of the same length. */
function reportsOf(bytes: Uint8Array): string[] {
  const length = bytes.length / idsOf(bytes).length;
  return Array.from({ length: bytes.length / length }, (_, index) =>
    Buffer.from(bytes.subarray(index * length + 34, (index + 1) * length)).toString("hex"),
  );
}

describe("a browser", () => {
  it("keeps no tab waiting for one that was left and kept, which goes on as it is back", async () => {
    vi.stubGlobal("BroadcastChannel", undefined);
    const page = stubPage();
    const kept = tab();
    await kept.ready();
    const underway = kept.report(answers(1));
    page.putAway();
    const after = kept.report(answers(2));
    const other = tab();
    expect(await other.report(answers(1))).toMatchObject({ sent: true });
    page.bringBack();
    expect(await underway).toMatchObject({ reason: "over-budget" });
    expect(await after).toMatchObject({ reason: "over-budget" });
    expect(await kept.history()).toHaveLength(1);
    for (const client of [kept, other]) {
      client.destroy();
    }
  });

  it("remembers beyond the page", async () => {
    const first = tab();
    await first.report(answers(1));
    first.destroy();
    const collector = new FakeCollector();
    const second = tab(collector);
    expect(await second.report(answers(1))).toMatchObject({ reason: "over-budget" });
    expect(await second.report(answers(2))).toMatchObject({ reason: "over-budget" });
    // The second page sends the report that the first could not send.
    await second.flush();
    expect(collector.counts).toEqual([1]);
    expect(await second.history()).toMatchObject([{ state: "acknowledged", epsilon: 2 }]);
  });

  it("keeps nothing about answers", async () => {
    /** Returns the ledger after a report. */
    const kept = async (number: number) => {
      stubDatabase();
      await tab(undefined, { task: RATINGS }).report(answers(number));
      return (await storedLedgers())[0];
    };
    const ledger = await kept(5);
    expect(ledger?.memo).toBeNull();
    expect(await kept(6)).toEqual({ ...ledger, until: expect.any(Number) });
  });

  it("spends again on equal answers", async () => {
    const task = { ...RATINGS, budget: { reports: 2 } };
    await tab(undefined, { task }).report(answers(1));
    // A page that has loaded everything again.
    vi.resetModules();
    const { createClient } = await import("../index.js");
    const second = tab(undefined, { task }, createClient);
    expect(await second.report(answers(1))).toMatchObject({ sent: true, epsilon: 2 });
  });

  it("remembers the last thousand that are settled, and all that wait", async () => {
    const client = tab(new FakeCollector(), { task: OFTEN });
    const make = (from: number, count: number) =>
      Promise.all(
        Array.from({ length: count }, (_, index) => client.report(answers(from + index))),
      );
    await client.ready();
    await make(0, 1010);
    await client.flush();
    expect(await client.history()).toHaveLength(1000);
    await make(1010, 20);
    const states = (await client.history()).map(({ state }) => state);
    expect(states.indexOf("waiting")).toBe(1000);
    expect(states).toHaveLength(1020);
    await client.flush();
    expect(await client.history()).toHaveLength(1000);
  });

  it("reports nothing, rather than once more, while its database does not answer", async () => {
    const first = tab();
    await first.report(answers(1));
    const silent = vi.spyOn(indexedDB, "open").mockReturnValue({} as IDBOpenDBRequest);
    const second = tab();
    const report = second.report(answers(2)).catch(({ code }) => code);
    await vi.waitFor(() => expect(silent).toHaveBeenCalledOnce());
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await report).toBe("storage");
    silent.mockRestore();
    expect(await second.report(answers(2))).toMatchObject({ reason: "over-budget" });
  });

  it("has one budget for all its tabs", async () => {
    const collector = new FakeCollector();
    const tabs = Array.from({ length: 8 }, () => tab(collector));
    const receipts = await Promise.all(tabs.map((each, at) => each.report(answers(at))));
    const queued = receipts.filter(({ sent }) => sent);
    expect(queued).toHaveLength(1);
    await Promise.all(tabs.map((each) => each.flush()));
    expect(new Set(collector.sent.flatMap(({ bytes }) => idsOf(bytes))).size).toBe(1);
  });

  it("sends what one tab made by another, and not again", async () => {
    const collector = new FakeCollector();
    const [maker, sender] = [tab(collector, { delayMs: 86_400_000 }), tab(collector)];
    await maker.report(answers(1));
    await sender.flush();
    expect(collector.counts).toEqual([1]);
    await maker.flush();
    expect(maker.pending).toBe(0);
    expect(collector.counts).toEqual([1]);
  });

  it("reports nothing without a database, unless the page says that it spends again", async () => {
    vi.stubGlobal("indexedDB", undefined);
    const endpoint = "https://no-database.example";
    const careful = tab(undefined, { endpoint });
    expect(await careful.report(answers(1))).toEqual({
      sent: false,
      reason: "no-storage",
      epsilon: 0,
      dropped: 0,
    });
    expect(await careful.budget()).toMatchObject({ durable: false, spent: 0 });
    const options = { endpoint, storage: "spend-again", maxEpsilon: 2 } as const;
    const [first, second] = [tab(undefined, options), tab(undefined, options)];
    expect(await first.report(answers(1))).toMatchObject({ sent: true });
    expect(await second.report(answers(1))).toMatchObject({ reason: "over-budget" });
    expect(await second.budget()).toMatchObject({ durable: false });
    // Clients of one page share the limit over all tasks, too.
    const third = tab(undefined, { ...options, task: { ...RATINGS, id: "another" } });
    expect(await third.report(answers(1))).toMatchObject({ reason: "over-budget" });
  });

  it("has one for each collector, which all tasks share", async () => {
    const twin = { ...RATINGS, id: "twin" };
    const outcomes = [];
    for (const options of [{}, { task: twin }, { endpoint: "https://other.example" }]) {
      outcomes.push(
        (await tab(undefined, { maxEpsilon: 2, ...options }).report(answers(1))).reason ?? "sent",
      );
    }
    expect(outcomes).toEqual(["sent", "over-budget", "sent"]);
    const more = tab(undefined, { task: twin, maxEpsilon: 4 });
    expect(await more.report(answers(1))).toMatchObject({ sent: true });
    expect(await more.budget()).toMatchObject({ spent: 2, spentOnAll: 4, maxEpsilon: 4 });
    later(30 * DAY_MS);
    expect(await more.budget()).toMatchObject({ spentOnAll: 0 });
    const again = tab(undefined, { task: twin, maxEpsilon: 2 });
    expect(await again.report(answers(1))).toMatchObject({ sent: true });
  });

  it("spends no more than the page allows on twenty tasks that ask the same", async () => {
    const epsilon = 0.1;
    const receipts = await Promise.all(
      Array.from({ length: 40 }, (_, index) => {
        const task = { ...RATINGS, id: `task-${index}`, epsilon };
        return tab(undefined, { task, maxEpsilon: 2 }).report(answers(1));
      }),
    );
    // 0.1 is no binary fraction: twenty of them are more than 2 by rounding errors.
    const queued = receipts.filter(({ sent }) => sent);
    expect(queued).toHaveLength(20);
  });

  it("counts ε, so that versions of a task with other parameters share the limit", async () => {
    const outcomes = [];
    for (const [index, epsilon] of [1, 0.75, 0.5, 0.25].entries()) {
      const task = { ...RATINGS, epsilon, budget: { reports: index + 1 } };
      const client = tab(undefined, { task, maxEpsilon: 2 });
      outcomes.push((await client.report(answers(index))).reason ?? "sent");
    }
    // 1 + 0.75 + 0.5 is too much; 1 + 0.75 + 0.25 is not.
    expect(outcomes).toEqual(["sent", "sent", "over-budget", "sent"]);
    expect(await tab().budget()).toMatchObject({ spentOnAll: 2 });
  });

  it("writes nothing when nothing changes", async () => {
    const client = tab();
    await client.report(answers(1));
    await client.flush();
    const writes = vi.spyOn(FDBObjectStore.prototype, "put");
    expect(await client.report(answers(2))).toMatchObject({ reason: "over-budget" });
    await client.flush();
    expect(writes).not.toHaveBeenCalled();
  });

  it("keeps its budget when the task's parameters change", async () => {
    await tab().report(answers(1));
    const changed = tab(undefined, { task: { ...RATINGS, epsilon: 1 } });
    expect(await changed.report(answers(2))).toMatchObject({ reason: "over-budget" });
  });

  it("goes on after its database was deleted, and after its connection was lost", async () => {
    const collector = new FakeCollector();
    const client = tab(collector, { task: OFTEN, delayMs: 86_400_000 });
    await client.report(answers(1));
    await requestResult(indexedDB.deleteDatabase("hushbin"));
    expect(await client.report(answers(2))).toMatchObject({ sent: true });
    expect(await client.budget()).toMatchObject({ reports: 1 });
    const lost = () => {
      throw new DOMException("The database connection is closing.", "InvalidStateError");
    };
    const transaction = vi.spyOn(FDBDatabase.prototype, "transaction");
    transaction.mockImplementationOnce(lost);
    expect(await client.report(answers(3))).toMatchObject({ sent: true });
    transaction.mockImplementationOnce(lost);
    await client.flush();
    expect(collector.counts).toEqual([2]);
    await client.report(answers(4));
    transaction.mockImplementationOnce(lost);
    await client.revoke();
    const states = (await client.history()).map(({ state }) => state);
    expect(states).toEqual(["acknowledged", "acknowledged", "withdrawn"]);
    transaction.mockImplementation(lost);
    await expect(client.history()).rejects.toMatchObject({ code: "storage" });
  });

  it("spends nothing where it cannot store", async () => {
    const client = tab();
    await client.ready();
    const broken = vi.spyOn(FDBObjectStore.prototype, "add").mockImplementation(() => {
      throw new DOMException("no room", "QuotaExceededError");
    });
    await expect(client.report(answers(1))).rejects.toThrow("no room");
    broken.mockRestore();
    expect(await client.budget()).toMatchObject({ used: 0, spent: 0 });
    expect(await client.report(answers(1))).toMatchObject({ sent: true });
  });
});

describe("a page", () => {
  const spends = (epsilon: number, reports: number): Partial<ClientOptions> => ({
    task: { ...RATINGS, epsilon, budget: { reports } },
    maxEpsilon: undefined,
  });

  it.each([
    [2.01, 1],
    [0.5, 5],
  ])("allows no more than it says: ε %f, %i times", async (epsilon, reports) => {
    const client = tab(undefined, spends(epsilon, reports));
    await expect(client.report(answers(1))).rejects.toMatchObject({ code: "over-max-epsilon" });
    const more = tab(undefined, { ...spends(epsilon, reports), maxEpsilon: 2.5 });
    expect(await more.report(answers(1))).toMatchObject({ sent: true });
  });

  it("allows ε = 2 a window unless it says otherwise", async () => {
    const client = tab(undefined, spends(0.5, 4));
    expect(await client.report(answers(1))).toMatchObject({ sent: true });
  });
});
