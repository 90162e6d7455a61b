/** Tests of tasks that the collector describes, and of the limits to its trust. */

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { NetworkError, type Task } from "../index.js";
import {
  answers,
  clientOf,
  FakeCollector,
  problem,
  RATINGS,
  SETTINGS,
  SURVEY,
  stubDatabase,
} from "./harness.js";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

async function described(task: Task) {
  const { fingerprint } = await clientOf(new FakeCollector(), { task }).ready();
  return { task, fingerprint, effective_epsilon: 2 };
}

/** Makes a client for a task that a collector describes. */
async function fetched(task: Task, options = {}) {
  const collector = new FakeCollector(Response.json(await described(task)));
  return { collector, client: clientOf(collector, { task: task.id, ...options }) };
}

describe("a task from the collector", () => {
  it("is fetched, checked and used", async () => {
    const { fingerprint } = await described(RATINGS);
    const { collector, client } = await fetched(RATINGS, {
      endpoint: new URL("https://collector.example/telemetry/"),
      fingerprint: fingerprint.toUpperCase(),
    });
    expect(await client.ready()).toEqual({ task: RATINGS, fingerprint });
    await client.report({ 3: 0.5 });
    await client.flush();
    expect(collector.sent.map(({ url }) => url)).toEqual([
      "https://collector.example/telemetry/tasks/ratings",
      "https://collector.example/telemetry/tasks/ratings/reports",
    ]);
  });

  it.each([
    ["its own fingerprint is another", { fingerprint: "0".repeat(32) }, "fingerprint-mismatch"],
    ["its ε was raised", { task: { ...RATINGS, epsilon: 8 } }, "fingerprint-mismatch"],
    ["it is another task", { task: SETTINGS }, "invalid-task"],
    ["it is no task", { task: 7 }, "invalid-task"],
  ])("is refused when %s", async (_, change, code) => {
    const answer = { ...(await described(RATINGS)), ...change };
    const client = clientOf(new FakeCollector(Response.json(answer)), { task: "ratings" });
    await expect(client.report({})).rejects.toMatchObject({ code });
    await expect(client.ready()).rejects.toMatchObject({ code });
  });

  it("is refused when it is not the pinned one", async () => {
    const client = clientOf(new FakeCollector(), { fingerprint: "f".repeat(32) });
    await expect(client.ready()).rejects.toMatchObject({ code: "fingerprint-mismatch" });
  });

  it("that is not there is a named error", async () => {
    const collector = new FakeCollector(problem(404, "unknown-task"));
    const client = clientOf(collector, { task: "ratings" });
    await expect(client.report({})).rejects.toMatchObject({ code: "unknown-task" });
  });

  it("is asked for again while something else answers, and reports wait", async () => {
    const answer = await described(RATINGS);
    const collector = new FakeCollector(
      "down",
      new Response("<!doctype html>"),
      new Response(null, { status: 404 }),
      Response.json({ ok: true }),
      problem(503, "overloaded", { "retry-after": "100" }),
      "silent",
      Response.json(answer),
    );
    const told: unknown[] = [];
    const client = clientOf(collector, { task: "ratings", onError: (error) => told.push(error) });
    const reported = client.report(answers(1));
    await vi.advanceTimersByTimeAsync(1);
    // `flush` throws the next failure and waits no longer.
    await expect(client.flush()).rejects.toThrow(NetworkError);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(collector.sent).toHaveLength(5);
    await vi.advanceTimersByTimeAsync(200_000);
    expect(await reported).toMatchObject({ sent: true });
    expect(collector.sent.length).toBeGreaterThanOrEqual(7);
    expect(told.length).toBeGreaterThanOrEqual(4);
    expect(told.every((error) => error instanceof NetworkError)).toBe(true);
  });

  it("is no longer asked for once the client is closed", async () => {
    const collector = new FakeCollector(...Array.from({ length: 9 }, () => "down" as const));
    const client = clientOf(collector, { task: "ratings", onError: () => {} });
    const report = client.report(answers(1));
    void report.catch(() => {});
    await vi.advanceTimersByTimeAsync(0);
    await client.close();
    await expect(report).rejects.toMatchObject({ code: "closed" });
    await vi.advanceTimersByTimeAsync(600_000);
    expect(vi.getTimerCount()).toBe(0);
    expect(collector.sent.length).toBeLessThan(4);
  });
});

describe("a window that is full", () => {
  it("needs no task, until it ends", async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    stubDatabase();
    const collector = new FakeCollector();
    const { task, fingerprint } = await described(RATINGS);
    let fetched = 0;
    const visit = () =>
      clientOf(collector, {
        task: "ratings",
        storage: "device",
        fetch: (url, init) => {
          if (init?.method === "POST") {
            return collector.fetch(url, init);
          }
          fetched += 1;
          return Promise.resolve(Response.json({ task, fingerprint }));
        },
      });
    const outcomes = [];
    for (const [item, days] of [0, 1, 28, 1.1].entries()) {
      vi.setSystemTime(Date.now() + days * 86_400_000);
      const client = visit();
      outcomes.push([(await client.report({ [item]: 1 } as never)).reason ?? "sent", fetched]);
      expect((await client.ready()).fingerprint).toBe(fingerprint);
      await client.close();
    }
    expect(outcomes).toEqual([
      ["sent", 1],
      ["over-budget", 1],
      ["over-budget", 1],
      ["sent", 2],
    ]);
    vi.useRealTimers();
  });
});

describe("a collector's word", () => {
  it("may not loosen the budget of a page that does not pin the task", async () => {
    for (const budget of [{ reports: 2 }, { days: 29 }]) {
      const task = { ...RATINGS, epsilon: 0.5, budget };
      const { client } = await fetched(task);
      await expect(client.report({})).rejects.toMatchObject({ code: "loose-budget" });
      const { fingerprint } = await described(task);
      const { client: pinned } = await fetched(task, { fingerprint });
      expect(await pinned.report({})).toMatchObject({ sent: true });
    }
    const { client: tighter } = await fetched({ ...RATINGS, budget: { days: 31 } });
    expect(await tighter.report({})).toMatchObject({ sent: true });
  });

  it("may not protect less than a whole input, of a page that does not pin the task", async () => {
    const hashBin = { name: "hash-bin", hashing: "balanced", bins: 4, grid: 256 } as const;
    const levels = [
      { ...hashBin, level: "event" },
      { ...hashBin, level: "neighbouring", distance: 0.5 },
    ] as const;
    for (const mechanism of levels) {
      const task: Task = { ...RATINGS, mechanism };
      const { client } = await fetched(task);
      await expect(client.report({})).rejects.toMatchObject({ code: "loose-level" });
      const { fingerprint } = await described(task);
      const { client: pinned } = await fetched(task, { fingerprint });
      expect(await pinned.report({})).toMatchObject({ sent: true });
    }
    const user = { ...hashBin, level: "user", noise: "laplace", clip: 3, bins: 1 } as const;
    const { client: whole } = await fetched({ ...RATINGS, mechanism: user });
    expect(await whole.report({})).toMatchObject({ sent: true });
  });

  it("may not make a report fail for those who have what a task leaves out", async () => {
    const codes: string[] = [];
    const onError = ({ code }: { code: string }) => void codes.push(code);
    const { client } = await fetched(RATINGS, { onError });
    expect(await client.report({ 3: 1, "not-there": 1, 4: 17 } as never)).toEqual({
      sent: true,
      epsilon: 2,
      dropped: 2,
    });
    // The page's author hears of each.
    expect(codes).toEqual(["value-range", "unknown-item"]);
  });

  it("is fixed by a fingerprint, and unknown names are then errors", async () => {
    const { fingerprint } = await described(SURVEY);
    const options = { maxEpsilon: 100, fingerprint };
    const { client } = await fetched(SURVEY, options);
    const report = client.report({ theme: "sepia" } as never);
    await expect(report).rejects.toMatchObject({ code: "unknown-item", item: "sepia" });
    expect(await client.budget()).toMatchObject({ spent: 0 });
  });

  it("may not do so in any kind of question", async () => {
    const { client } = await fetched(SURVEY, { maxEpsilon: 100 });
    const receipt = await client.report({
      theme: "sepia",
      version: 99,
      beta: true,
      loadMs: 7,
      seconds: 3,
      features: ["search", "unheard"],
      plugins: ["anything"],
      opinions: { "dark-mode": 1, unheard: 1 },
      layout: { width: 1, zoom: 1, toString: 0, depth: 3 },
      loadByPlan: { plan: "unheard", loadMs: 3 },
      betaByVersion: { version: 3, beta: true },
      settings: { compact: true, font: "unheard", zoom: 1, more: 1 },
      asked: "nowhere",
    } as never);
    expect(receipt).toEqual({ sent: true, epsilon: 2, dropped: 9 });
  });

  it("is not needed for a task in the page, whose names are then errors", async () => {
    const client = clientOf(new FakeCollector(), { task: RATINGS });
    await expect(client.report({ "not-there": 1 } as never)).rejects.toMatchObject({
      code: "unknown-item",
    });
  });
});
