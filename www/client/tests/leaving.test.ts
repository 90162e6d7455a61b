/** Tests of reports that a page makes as it is left. */

import { IDBDatabase } from "fake-indexeddb";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Client, ClientOptions, Task } from "../index.js";
import {
  answers,
  clientOf,
  FakeCollector,
  idsOf,
  MEMO,
  OFTEN,
  RATINGS,
  type StubPage,
  settled,
  stubDatabase,
  stubPage,
} from "./harness.js";

const DAY_MS = 86_400_000;

/** Entries of the local storage of this browser. */
let stored: Map<string, string>;
/** Names of the locks that pages of this browser hold. */
let held: Set<string>;
/** Page of the client that is created next. */
let page: StubPage;

beforeEach(() => {
  stubDatabase();
  stored = new Map();
  held = new Set();
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
    removeItem: (key: string) => void stored.delete(key),
  });
  vi.stubGlobal("navigator", {
    locks: {
      request: (name: string, ...given: unknown[]) => {
        const work = given.pop() as () => Promise<unknown>;
        held.add(name);
        return work().finally(() => held.delete(name));
      },
      query: async () => ({ held: [...held].map((name) => ({ name })) }),
    },
  });
  vi.stubGlobal("BroadcastChannel", undefined);
  page = stubPage();
});

/** Makes a client in the current page. */
const client = (collector = new FakeCollector(), options: Partial<ClientOptions> = {}): Client =>
  clientOf(collector, { storage: "device", onError: () => {}, ...options });

const leaves = {
  "is hidden": () => {
    page.hidden = true;
  },
  "is left": () => page.tell("pagehide"),
  "is frozen": () => page.tell("freeze"),
};

/** Registers reports of different answers, and waits until they are reserved. */
async function register(each: Client, count: number): Promise<void> {
  for (let index = 0; index < count; index += 1) {
    each.atLeave(() => answers(index));
  }
  await vi.waitFor(async () => expect((await each.budget()).used).toBe(count));
  await settled();
}

describe.each(Object.entries(leaves))("a page that %s", (_, leave) => {
  it("has sent all its reports before the event ends, and each is counted once", async () => {
    const collector = new FakeCollector();
    const own = client(collector);
    await register(own, 20);
    expect(stored.size).toBe(0);
    leave();
    expect(collector.counts).toEqual([20]);
    expect(collector.sent[0]?.init.keepalive).toBe(true);
    leave();
    await settled();
    expect(collector.counts).toEqual([20]);
    expect(await own.history()).toHaveLength(20);
    expect(new Set((await own.history()).map(({ state }) => state))).toEqual(
      new Set(["acknowledged"]),
    );
    expect(await own.budget()).toMatchObject({ used: 20, reports: 20, spent: 20 * OFTEN.epsilon });
    expect(stored.size).toBe(0);
    expect(held.size).toBe(0);
  });

  it("and ends before anything is stored has its reports sent by the next page", async () => {
    const collector = new FakeCollector(...Array(9).fill("silent"));
    const own = client(collector);
    await register(own, 3);
    // The page ends with the event: its database does nothing any more.
    vi.spyOn(IDBDatabase.prototype, "transaction").mockImplementation(() => {
      throw new DOMException("the page is gone", "InvalidStateError");
    });
    vi.spyOn(indexedDB, "open").mockReturnValue({} as IDBOpenDBRequest);
    leave();
    expect(collector.counts).toEqual([3]);
    vi.restoreAllMocks();
    held.clear();
    page = stubPage();
    const again = new FakeCollector();
    const next = client(again);
    await next.ready();
    await vi.waitFor(() => expect(stored.size).toBe(0));
    await next.flush();
    const ids = (each: FakeCollector) => each.sent.flatMap(({ bytes }) => idsOf(bytes)).sort();
    expect(ids(again)).toEqual(ids(collector));
    expect(await next.history()).toHaveLength(3);
    expect(await next.budget()).toMatchObject({ used: 3 });
  });
});

describe("a page", () => {
  const once: Task = RATINGS;

  it("reserves its budget, so that no other page spends it", async () => {
    const collector = new FakeCollector();
    const own = client(collector, { task: once });
    await register(own, 1);
    const other = client(undefined, { task: once });
    expect(await other.report(answers(1))).toMatchObject({ reason: "over-budget" });
    other.atLeave(() => {
      throw new Error("asked without a budget");
    });
    await settled();
    leaves["is hidden"]();
    await settled();
    expect(collector.counts).toEqual([1]);
  });

  it("with nothing to report gets its budget back", async () => {
    const own = client(undefined, { task: once });
    own.atLeave(() => undefined);
    await vi.waitFor(async () => expect((await own.budget()).used).toBe(1));
    await settled();
    leaves["is hidden"]();
    await settled();
    expect(await own.budget()).toMatchObject({ used: 0, spent: 0, reports: 0, spentOnAll: 0 });
    expect(await own.report(answers(1))).toMatchObject({ sent: true });
  });

  it("that crashed leaves its budget to later pages, after a minute", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const own = client(undefined, { task: once });
    await register(own, 1);
    held.clear();
    page = stubPage();
    await client(undefined, { task: once }).ready();
    await settled();
    expect(await client(undefined, { task: once }).budget()).toMatchObject({ used: 1 });
    vi.setSystemTime(Date.now() + 60_000);
    const later = client(undefined, { task: once });
    await later.ready();
    await vi.waitFor(async () => expect((await later.budget()).used).toBe(0));
    expect(await later.report(answers(1))).toMatchObject({ sent: true });
    vi.useRealTimers();
  });

  it("that is open keeps its reservation, however long it takes", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const own = client(undefined, { task: once });
    await register(own, 1);
    for (const days of [0, 1, 20]) {
      vi.setSystemTime(Date.now() + days * DAY_MS);
      const other = client(undefined, { task: once });
      await other.ready();
      await settled();
      expect(await other.budget()).toMatchObject({ used: 1 });
    }
    // After the end of its window, the report belongs to the next window.
    vi.setSystemTime(Date.now() + 10 * DAY_MS);
    leaves["is hidden"]();
    await settled();
    expect(await own.budget()).toMatchObject({ used: 1, reports: 1, spent: 2 });
    expect((await own.budget()).until?.getTime()).toBe(Date.now() + 30 * DAY_MS);
    vi.useRealTimers();
  });

  it("sends nothing once consent is revoked, and gives the budget back", async () => {
    const collector = new FakeCollector();
    const own = client(collector, { task: once });
    await register(own, 1);
    await own.revoke();
    leaves["is hidden"]();
    await settled();
    expect(collector.counts).toEqual([]);
    expect(await own.budget()).toMatchObject({ used: 0, spent: 0 });
    expect(held.size).toBe(0);
  });

  it("sends nothing that another page has withdrawn since it was left", async () => {
    const own = client(new FakeCollector("silent", "silent"), { task: once });
    await register(own, 1);
    vi.spyOn(IDBDatabase.prototype, "transaction").mockImplementation(() => {
      throw new DOMException("the page is gone", "InvalidStateError");
    });
    vi.spyOn(indexedDB, "open").mockReturnValue({} as IDBOpenDBRequest);
    leaves["is left"]();
    vi.restoreAllMocks();
    held.clear();
    page = stubPage();
    const settings = client(undefined, { task: once, consent: false });
    await settings.revoke();
    const collector = new FakeCollector();
    const next = client(collector, { task: once });
    await next.ready();
    await vi.waitFor(() => expect(stored.size).toBe(0));
    await next.flush();
    expect(collector.counts).toEqual([]);
    expect(await next.history()).toMatchObject([{ state: "withdrawn" }]);
  });

  it("reports all the same where local storage is full, by way of the database", async () => {
    const collector = new FakeCollector();
    const errors: unknown[] = [];
    const own = client(collector, { onError: (error) => void errors.push(error) });
    await register(own, 2);
    vi.stubGlobal("localStorage", {
      getItem: () => null,
      removeItem: () => {},
      setItem: () => {
        throw new DOMException("it is full", "QuotaExceededError");
      },
    });
    own.atLeave(() => answers(3));
    await settled();
    leaves["is hidden"]();
    await vi.waitFor(async () => expect(await own.history()).toHaveLength(3));
    await own.flush();
    expect(new Set(collector.sent.flatMap(({ bytes }) => idsOf(bytes))).size).toBe(3);
    await vi.waitFor(async () => expect(await own.budget()).toMatchObject({ used: 3, reports: 3 }));
    expect(errors).toEqual([]);
    expect(held.size).toBe(0);
  });

  it("reports from a memo by way of the database, without a reservation", async () => {
    const own = client(undefined, { task: MEMO });
    await own.ready();
    own.atLeave(() => ({ dark: true }));
    await settled();
    expect(await own.budget()).toMatchObject({ used: 0, spent: 0 });
    expect([stored.size, held.size]).toEqual([0, 0]);
    leaves["is hidden"]();
    await settled();
    expect(await own.budget()).toMatchObject({ used: 1, spent: 2, spentOnAll: 1 });
    expect(await own.history()).toHaveLength(1);
    expect(stored.size).toBe(0);
  });

  it("reports nothing while a privacy signal refuses", async () => {
    const collector = new FakeCollector();
    const own = client(collector);
    await register(own, 1);
    Object.assign(navigator, { globalPrivacyControl: true });
    leaves["is hidden"]();
    await settled();
    expect([collector.counts, stored.size]).toEqual([[], 0]);
    Object.assign(navigator, { globalPrivacyControl: false });
    leaves["is left"]();
    expect(collector.counts).toEqual([1]);
  });

  it.each([
    ["is registered in the next window", 31],
    ["waits for the next window", 0],
  ])("whose task is outdated fetches it before a report that %s", async (_, days) => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const { fingerprint } = await clientOf(new FakeCollector(), { task: MEMO }).ready();
    const described = () => Response.json({ task: MEMO, fingerprint });
    const first = client(new FakeCollector(described()), { task: MEMO.id });
    await first.report({ dark: true });
    await first.close();
    const collector = new FakeCollector(described());
    const own = client(collector, { task: MEMO.id });
    await own.ready();
    // The window is full, so the browser remembers the task.
    expect(collector.sent).toEqual([]);
    vi.setSystemTime(Date.now() + days * DAY_MS);
    own.atLeave(() => ({ dark: true }));
    await settled();
    expect(collector.sent).toHaveLength(Math.sign(days));
    vi.setSystemTime(Date.now() + 31 * DAY_MS);
    leaves["is hidden"]();
    await vi.waitFor(async () => expect(await own.history()).toHaveLength(2));
    await own.flush();
    expect(collector.sent.map(({ init }) => init.method)).toEqual([undefined, "POST"]);
    vi.useRealTimers();
  });

  it("keeps no reservation of a session that is stopped while it is made", async () => {
    const own = client(undefined, { task: once });
    await own.ready();
    for (let turns = 0; turns < 30; turns += 1) {
      own.grant();
      await own.ready();
      own.atLeave(() => answers(1));
      for (let turn = 0; turn < turns; turn += 1) {
        await Promise.resolve();
      }
      await own.revoke();
      await settled();
      expect(held.size).toBe(0);
    }
    const next = client(undefined, { task: once });
    await next.ready();
    await vi.waitFor(async () => expect((await next.budget()).used).toBe(0));
  });

  it("tells who watches of what is reserved, made and acknowledged", async () => {
    const own = client();
    await own.ready();
    let calls = 0;
    own.watch(() => {
      calls += 1;
    });
    await register(own, 1);
    expect(calls).toBe(1);
    leaves["is hidden"]();
    await vi.waitFor(() => expect(calls).toBe(3));
    expect(await own.history()).toMatchObject([{ state: "acknowledged" }]);
  });

  it("reports by a client that is closed", async () => {
    const collector = new FakeCollector();
    const own = client(collector);
    await register(own, 2);
    await own.close();
    expect(new Set(collector.sent.flatMap(({ bytes }) => idsOf(bytes))).size).toBe(2);
    expect(stored.size).toBe(0);
  });

  it("reports in the usual way where it has no journal, and passes errors on", async () => {
    vi.stubGlobal("localStorage", {
      removeItem: () => {
        throw new DOMException("no storage", "SecurityError");
      },
    });
    const errors: unknown[] = [];
    const collector = new FakeCollector();
    const own = client(collector, { onError: (error) => void errors.push(error) });
    own.atLeave(() => answers(1));
    own.atLeave(() => ({ unknown: "answer" }) as never);
    const thrown = new Error("of the page");
    own.atLeave(() => {
      throw thrown;
    });
    await settled();
    leaves["is hidden"]();
    await vi.waitFor(() => expect(collector.counts).toEqual([1]));
    expect(errors).toHaveLength(2);
    expect(errors).toContain(thrown);
  });
});
