/** Tests of a browser's budget: windows, tabs, permanent answers, and limits of a page. */

import { IDBObjectStore as FDBObjectStore } from "fake-indexeddb";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Ledger } from "../budget.js";
import type { ClientOptions, createClient, Task } from "../index.js";
import { createEngine } from "../randomizer.js";
import { digestOf } from "../session.js";
import { resultOf } from "../store/indexed.js";
import {
  answers,
  clientOf,
  FakeCollector,
  idsOf,
  OFTEN,
  RATINGS,
  stubDatabase,
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
    expect(await client.report(answers(1))).toMatchObject({ outcome: "queued", epsilon: 2 });
    expect(await client.report(answers(1))).toMatchObject({ outcome: "unchanged", epsilon: 0 });
    expect(await client.report(answers(2))).toMatchObject({ outcome: "over-budget", epsilon: 0 });
    expect(client.pending).toBe(1);
    const began = Date.now();
    expect(await client.budget()).toEqual({
      epsilon: 2,
      allowed: 1,
      used: 1,
      until: new Date(began + 30 * DAY_MS),
      spent: 2,
      reports: 1,
      durable: storage === "device",
    });
    later(30 * DAY_MS - 1);
    expect(await client.report(answers(2))).toMatchObject({ outcome: "over-budget" });
    later(1);
    expect(await client.budget()).toMatchObject({ used: 0, until: undefined, spent: 2 });
    expect(await client.report(answers(2))).toMatchObject({ outcome: "queued", epsilon: 2 });
    expect(await client.budget()).toMatchObject({ used: 1, spent: 4, reports: 2 });
  });

  it("holds as many as the task says, for as long", async () => {
    const task = within({ days: 2, reports: 3 });
    const client = tab(undefined, { storage, task });
    const outcomes: string[] = [];
    for (const number of [1, 2, 1, 3, 4]) {
      outcomes.push((await client.report(answers(number))).outcome);
    }
    expect(outcomes).toEqual(["queued", "queued", "unchanged", "queued", "over-budget"]);
    later(2 * DAY_MS);
    expect((await client.report(answers(4))).outcome).toBe("queued");
  });

  it("is not ended by a clock that is set back, nor kept open by one that was far ahead", async () => {
    const client = tab(undefined, { storage });
    later(1000 * DAY_MS);
    await client.report(answers(1));
    later(-1000 * DAY_MS);
    expect(await client.report(answers(2))).toMatchObject({ outcome: "over-budget" });
    later(30 * DAY_MS);
    expect(await client.report(answers(2))).toMatchObject({ outcome: "queued" });
  });

  it("draws answers that stay anew in each window, where they are fresh", async () => {
    const collector = new FakeCollector();
    const client = tab(collector, { storage });
    for (let window = 0; window < 3; window += 1) {
      expect(await client.report(answers(1))).toMatchObject({ outcome: "queued", epsilon: 2 });
      later(30 * DAY_MS);
    }
    await client.flush();
    const [{ bytes } = { bytes: new Uint8Array() }] = collector.sent;
    expect(new Set(idsOf(bytes)).size).toBe(3);
    expect(new Set(reportsOf(bytes)).size).toBe(3);
    expect(await client.budget()).toMatchObject({ spent: 6 });
  });

  it("sends the same report of answers that stay, where they are permanent", async () => {
    const collector = new FakeCollector();
    const task = within({ answers: "permanent" });
    const client = tab(collector, { storage, task });
    const spent: number[] = [];
    for (const number of [1, 1, 2, 1]) {
      const receipt = await client.report(answers(number));
      expect(receipt.outcome).toBe("queued");
      spent.push(receipt.epsilon);
      later(30 * DAY_MS);
    }
    expect(spent).toEqual([2, 0, 2, 0]);
    expect(await client.budget()).toMatchObject({ spent: 4, reports: 4 });
    await client.flush();
    const [{ bytes } = { bytes: new Uint8Array() }] = collector.sent;
    // Counted once in each window, because the ids differ.
    expect(new Set(idsOf(bytes)).size).toBe(4);
    const [first, second, third, fourth] = reportsOf(bytes);
    expect([second, fourth]).toEqual([first, first]);
    expect(third).not.toBe(first);
  });
});

/** Returns the encoded reports of uploads of one report each, all of the same length. */
function reportsOf(bytes: Uint8Array): string[] {
  const length = bytes.length / idsOf(bytes).length;
  return Array.from({ length: bytes.length / length }, (_, index) =>
    Buffer.from(bytes.subarray(index * length + 34, (index + 1) * length)).toString("hex"),
  );
}

/** Returns the ledgers of the database. */
async function keptLedgers(): Promise<readonly Ledger[]> {
  const database = await resultOf(indexedDB.open("hushbin"));
  const ledgers = await resultOf(database.transaction("ledgers").objectStore("ledgers").getAll());
  database.close();
  return ledgers;
}

describe("a browser", () => {
  it("keeps no tab waiting for one that was left and kept, which goes on as it is back", async () => {
    const page = new EventTarget();
    vi.stubGlobal("document", Object.assign(new EventTarget(), { visibilityState: "visible" }));
    vi.stubGlobal("BroadcastChannel", undefined);
    vi.stubGlobal("addEventListener", page.addEventListener.bind(page));
    vi.stubGlobal("removeEventListener", page.removeEventListener.bind(page));
    const tell = (name: string) =>
      page.dispatchEvent(Object.assign(new Event(name), { persisted: true }));
    const kept = tab();
    await kept.ready();
    const underway = kept.report(answers(1));
    tell("pagehide");
    const after = kept.report(answers(2));
    const other = tab();
    expect(await other.report(answers(1))).toMatchObject({ outcome: "queued" });
    tell("pageshow");
    expect(await underway).toMatchObject({ outcome: "unchanged" });
    expect(await after).toMatchObject({ outcome: "over-budget" });
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
    expect(await second.report(answers(1))).toMatchObject({ outcome: "unchanged" });
    expect(await second.report(answers(2))).toMatchObject({ outcome: "over-budget" });
    // The second page sends the report that the first could not send.
    await second.flush();
    expect(collector.counts).toEqual([1]);
    expect(await second.history()).toMatchObject([{ state: "acknowledged", epsilon: 2 }]);
  });

  it("keeps nothing that answers can be tried against, unless they are asked for again", async () => {
    const engine = await createEngine(RATINGS, false);
    /**
     * Plays an attacker who tries all answers against the stored data. Returns the answer found for
     * each digest, or −1.
     */
    const found = async (budget: Task["budget"] = {}) => {
      const client = tab(undefined, { task: { ...RATINGS, budget } });
      await client.report(answers(5));
      const [ledger] = await keptLedgers();
      const { salt, given, permanent } = ledger as Ledger;
      stubDatabase();
      const digests = [...given, ...permanent.map(({ digest }) => digest)];
      expect(digests.length).toBeGreaterThan(0);
      const tried = [...Array(10).keys()].map((number) =>
        digestOf(engine, salt, engine.read(answers(number))),
      );
      return digests.map((digest) => tried.indexOf(digest));
    };
    expect(await found()).toEqual([-1]);
    expect(await found({ days: 7 })).toEqual([-1]);
    // A later page has to recognise the answers.
    expect(await found({ reports: 2 })).toEqual([5]);
    expect(await found({ answers: "permanent" })).toEqual([5, 5]);
    engine.free();
  });

  it("keeps nothing that shows equal answers to two tasks, or in two windows", async () => {
    const of = async (id: string) => {
      await tab(undefined, { task: { ...RATINGS, id } }).report(answers(1));
      return (await keptLedgers()).flatMap(({ given }) => [...given]);
    };
    const [one, other] = [await of("pregnant"), await of("smoker")];
    later(30 * DAY_MS);
    const next = await of("pregnant");
    expect(new Set([...one, ...other, ...next]).size).toBe(3);
  });

  it("knows answers of earlier pages only where a window has several reports", async () => {
    for (const [reports, outcome] of [
      [1, "over-budget"],
      [2, "unchanged"],
    ] as const) {
      const task = { ...RATINGS, id: `of-${reports}`, budget: { reports } };
      await tab(undefined, { task }).report(answers(1));
      // A page that has loaded everything again.
      vi.resetModules();
      const { createClient } = await import("../index.js");
      const second = tab(undefined, { task }, createClient);
      expect(await second.report(answers(1))).toMatchObject({ outcome, epsilon: 0 });
    }
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
    expect(await second.report(answers(2))).toMatchObject({ outcome: "over-budget" });
  });

  it("has one budget for all its tabs", async () => {
    const collector = new FakeCollector();
    const tabs = Array.from({ length: 8 }, () => tab(collector));
    const receipts = await Promise.all(tabs.map((each, at) => each.report(answers(at))));
    const queued = receipts.filter(({ outcome }) => outcome === "queued");
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

  it("has one for two clients of a page without a database", async () => {
    vi.stubGlobal("indexedDB", undefined);
    const endpoint = "https://no-database.example";
    const [first, second] = [tab(undefined, { endpoint }), tab(undefined, { endpoint })];
    expect(await first.report(answers(1))).toMatchObject({ outcome: "queued" });
    expect(await second.report(answers(1))).toMatchObject({ outcome: "unchanged" });
    expect(await second.budget()).toMatchObject({ durable: false });
  });

  it("has one for each task of each collector", async () => {
    const twin = { ...RATINGS, id: "twin" };
    for (const options of [{}, { task: twin }, { endpoint: "https://other.example" }]) {
      expect(await tab(undefined, options).report(answers(1))).toMatchObject({
        outcome: "queued",
      });
    }
  });

  it("keeps its budget when the task's parameters change", async () => {
    await tab().report(answers(1));
    const changed = tab(undefined, { task: { ...RATINGS, epsilon: 1 } });
    expect(await changed.report(answers(2))).toMatchObject({ outcome: "over-budget" });
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
    expect(await client.report(answers(1))).toMatchObject({ outcome: "queued" });
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
    expect(await more.report(answers(1))).toMatchObject({ outcome: "queued" });
  });

  it("allows ε = 2 a window unless it says otherwise", async () => {
    const client = tab(undefined, spends(0.5, 4));
    expect(await client.report(answers(1))).toMatchObject({ outcome: "queued" });
  });
});
