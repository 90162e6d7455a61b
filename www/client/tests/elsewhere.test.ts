/** Tests of clients whose consent, database or task changes elsewhere: in tabs, workers, versions. */

import { IDBTransaction } from "fake-indexeddb";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { ClientOptions, Task } from "../index.js";
import {
  answers,
  clientOf,
  FakeCollector,
  OFTEN,
  problem,
  RATINGS,
  settled,
  stubDatabase,
  stubPage,
} from "./harness.js";

const DAY_MS = 86_400_000;

beforeEach(() => {
  stubDatabase();
  vi.stubGlobal("BroadcastChannel", undefined);
});

/** Makes a client of this browser, in its own tab. */
const tab = (collector = new FakeCollector(), options: Partial<ClientOptions> = {}) =>
  clientOf(collector, { storage: "device", ...options });

describe("a page that is left and kept", () => {
  it("makes one report of answers whose transaction ends in the meantime", async () => {
    const page = stubPage();
    const client = tab();
    await client.ready();
    const commit = vi.spyOn(IDBTransaction.prototype, "abort").mockImplementation(() => {
      // The browser is storing the transaction already.
      throw new DOMException("it is committing", "InvalidStateError");
    });
    const both = [client.report(answers(1)), client.report(answers(2))];
    await vi.waitFor(async () => {
      page.putAway();
      expect(commit).toHaveBeenCalled();
    });
    commit.mockRestore();
    await settled();
    page.bringBack();
    expect(await Promise.all(both)).toMatchObject([{ sent: true }, { sent: true }]);
    expect(await client.history()).toHaveLength(2);
    expect(await client.budget()).toMatchObject({ used: 2, reports: 2 });
    const keys = (await client.history()).map(({ bytes }) => String(bytes));
    expect(new Set(keys).size).toBe(2);
    await client.flush();
    expect(client.pending).toBe(0);
  });

  it("sends what waits before it is put away, because it may never come back", async () => {
    const page = stubPage();
    const collector = new FakeCollector();
    const kept = tab(collector, { delayMs: DAY_MS });
    await kept.report(answers(1));
    page.putAway();
    expect(collector.sent).toHaveLength(1);
  });

  it("sends nothing that was withdrawn in the meantime", async () => {
    const page = stubPage();
    const collector = new FakeCollector();
    const kept = tab(collector, { delayMs: DAY_MS });
    await kept.report(answers(1));
    // The request is lost with the page.
    collector.answers.push("down", "down");
    page.putAway();
    const sent = collector.sent.length;
    await tab().revoke();
    page.bringBack();
    page.putAway();
    page.bringBack();
    await settled();
    expect(collector.sent.length - sent).toBeLessThanOrEqual(0);
    expect(kept.consent).toBe("pending");
    expect(await kept.history()).toMatchObject([{ state: "withdrawn" }]);
  });
});

describe("consent that is revoked elsewhere", () => {
  it("ends a worker that could not open in the meantime", async () => {
    const fail = vi.spyOn(crypto, "getRandomValues").mockImplementation(() => {
      throw new Error("no randomness");
    });
    const worker = tab();
    const failed = await worker.report(answers(1)).catch(({ code }) => code);
    fail.mockRestore();
    expect(failed).toBe("no-entropy");
    await tab().revoke();
    expect(await worker.report(answers(1))).toMatchObject({ reason: "no-consent" });
    expect(await worker.history()).toEqual([]);
  });

  it("withdraws what waits in the memory of other tabs", async () => {
    vi.unstubAllGlobals();
    stubPage();
    vi.stubGlobal("indexedDB", undefined);
    const options = {
      storage: "spend-again",
      endpoint: "https://memory.example",
      delayMs: DAY_MS,
    } as const;
    const other = tab(undefined, options);
    await other.report(answers(1));
    const channel = new BroadcastChannel("hushbin https://memory.example/tasks/often");
    channel.postMessage("revoked");
    await vi.waitFor(() => expect(other.consent).toBe("pending"));
    channel.close();
    await vi.waitFor(async () =>
      expect(await other.history()).toMatchObject([{ state: "withdrawn" }]),
    );
  });
});

describe("a new version of a task", () => {
  it("has windows of its own length, from its first report on", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const version = (days: number): Task => ({ ...RATINGS, budget: { days, reports: 2 } });
    const report = (days: number) => tab(undefined, { task: version(days) }).report(answers(1));
    expect(await report(1)).toMatchObject({ sent: true });
    expect(await report(30)).toMatchObject({ sent: true });
    vi.setSystemTime(Date.now() + 29.9 * DAY_MS);
    expect(await report(30)).toMatchObject({ reason: "over-budget" });
    expect(await report(1)).toMatchObject({ reason: "over-budget" });
    vi.setSystemTime(Date.now() + 0.1 * DAY_MS);
    expect(await report(30)).toMatchObject({ sent: true });
    vi.useRealTimers();
  });

  it("is fetched by a page that outlives the window of the version before", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    const { fingerprint } = await tab(undefined, { task: RATINGS }).ready();
    const described = () => Response.json({ task: RATINGS, fingerprint });
    const options = { task: "ratings", fingerprint };
    const first = tab(new FakeCollector(described()), options);
    expect(await first.report(answers(1))).toMatchObject({ sent: true });
    const collector = new FakeCollector();
    const later = tab(collector, { ...options, delayMs: DAY_MS });
    expect(await later.report(answers(1))).toMatchObject({ reason: "over-budget" });
    vi.setSystemTime(Date.now() + 30 * DAY_MS);
    collector.answers.unshift(described());
    expect(await later.report(answers(1))).toMatchObject({ sent: true });
    vi.useRealTimers();
  });
});

describe("failures", () => {
  it("tell of refused reports, also beside others", async () => {
    const errors: string[] = [];
    const versions = [1, 2, 3].map((sparsity): Task => ({ ...OFTEN, sparsity }));
    for (const task of versions) {
      const away = new FakeCollector("down", "down", "down", "down");
      await tab(away, { task, delayMs: DAY_MS }).report({ 0: 1 });
    }
    const refused = () => problem(409, "fingerprint-mismatch");
    const collector = new FakeCollector("down", refused(), refused(), "down");
    const client = tab(collector, {
      task: versions[0] as Task,
      delayMs: DAY_MS,
      consent: false,
      onError: ({ code }) => void errors.push(code),
    });
    client.grant();
    const flushed = await client.flush().catch(({ code }) => code);
    expect([flushed, ...errors].filter((code) => code === "upload-rejected")).toHaveLength(2);
    const states = (await client.history()).map(({ state }) => state);
    expect(states.sort()).toEqual(["refused", "refused", "waiting"]);
  });

  it("of the last attempt of `close` are passed to `onError`", async () => {
    const errors: string[] = [];
    const collector = new FakeCollector(problem(404, "unknown-task"));
    const client = tab(collector, { onError: ({ code }) => void errors.push(code) });
    await client.report(answers(1));
    await client.close();
    expect(errors).toEqual(["upload-rejected"]);
  });
});
