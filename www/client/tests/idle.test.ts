/** Tests of pages that have nothing to do until the window of their task ends. */

import { beforeEach, describe, expect, it, vi } from "vitest";
import { DAY_MS } from "../budget.js";
import { loadEngine } from "../engine-loader.js";
import type { Client, ClientOptions } from "../index.js";
import {
  answers,
  clientOf,
  FakeCollector,
  MEMO,
  RATINGS,
  settled,
  stubDatabase,
} from "./harness.js";

vi.mock("../engine-loader.js", { spy: true });

let collector: FakeCollector;

beforeEach(() => {
  stubDatabase();
  collector = new FakeCollector();
  vi.mocked(loadEngine).mockClear();
});

/** Makes a client for a page of the same browser, whose task allows one report. */
const page = (options: Partial<ClientOptions> = {}): Client =>
  clientOf(collector, { task: RATINGS, storage: "device", ...options });

/** Reports in a page and leaves it. What later pages load and send is counted from here. */
async function visit(options: Partial<ClientOptions> = {}, input = answers(1)): Promise<void> {
  const client = page(options);
  expect(await client.report(input)).toMatchObject({ sent: true });
  await client.close();
  vi.mocked(loadEngine).mockClear();
  collector.sent.length = 0;
}

async function expectNothingDone(): Promise<void> {
  await settled();
  expect(loadEngine).not.toHaveBeenCalled();
  expect(collector.sent).toEqual([]);
}

describe("a page whose task has been answered", () => {
  it("loads nothing, and says so in receipts", async () => {
    await visit();
    const client = page();
    const compute = vi.fn(() => answers(2));
    client.once(compute);
    client.record(answers(2));
    expect(await client.report(answers(2))).toEqual({
      sent: false,
      reason: "over-budget",
      dropped: 0,
      epsilon: 0,
    });
    await client.flush();
    expect(client.pending).toBe(0);
    expect(await client.budget()).toMatchObject({ used: 1, allowed: 1, durable: true });
    expect(await client.history()).toHaveLength(1);
    await client.close();
    expect(compute).not.toHaveBeenCalled();
    await expectNothingDone();
  });

  it("does not ask a collector that describes the task", async () => {
    const described = (): Partial<ClientOptions> => ({ task: "ratings" as never, maxEpsilon: 2 });
    const fingerprint = "0".repeat(32);
    const describe = () => Response.json({ task: RATINGS, fingerprint });
    collector.answers.push(describe());
    const { fingerprint: own } = await page({ task: RATINGS }).ready();
    collector.answers.length = 0;
    collector.answers.push(Response.json({ task: RATINGS, fingerprint: own }));
    await visit(described());
    expect(await page(described()).report(answers(2))).toMatchObject({ reason: "over-budget" });
    await expectNothingDone();
    // Another pin is another version of the task, with a budget that is not known yet.
    collector.answers.push(Response.json({ task: RATINGS, fingerprint: own }));
    const pinned = page({ ...described(), fingerprint: "1".repeat(32) });
    await expect(pinned.report(answers(2))).rejects.toMatchObject({ code: "fingerprint-mismatch" });
  });

  it("opens the database once, however many answers it has", async () => {
    await visit();
    const client = page();
    const open = vi.spyOn(indexedDB, "open");
    for (let answer = 2; answer < 6; answer += 1) {
      expect(await client.report(answers(answer))).toMatchObject({ reason: "over-budget" });
    }
    expect(open).toHaveBeenCalledTimes(1);
    await expectNothingDone();
  });

  it("loads nothing either if other tasks have spent all", async () => {
    await visit({ maxEpsilon: 2 });
    const client = page({ task: { ...RATINGS, id: "another" }, maxEpsilon: 2 });
    expect(await client.report(answers(2))).toMatchObject({ reason: "over-budget" });
    await expectNothingDone();
    vi.useFakeTimers({ now: Date.now() + 30 * DAY_MS, toFake: ["Date"] });
    expect(await client.report(answers(2))).toMatchObject({ sent: true });
    vi.useRealTimers();
  });

  it("says so if a task could spend too much alone", async () => {
    await visit({ maxEpsilon: 2 });
    const client = page({ task: { ...RATINGS, id: "another", epsilon: 3 }, maxEpsilon: 2 });
    await expect(client.report(answers(2))).rejects.toMatchObject({ code: "over-max-epsilon" });
  });

  it("loads the rest if it asks for the task", async () => {
    await visit();
    const client = page();
    expect(await client.ready()).toMatchObject({ task: { id: "ratings" } });
    expect(loadEngine).toHaveBeenCalledTimes(1);
    expect(collector.sent).toEqual([]);
  });

  it("revokes and deletes as any other", async () => {
    await visit();
    const client = page();
    await client.revoke();
    expect(client.consent).toBe("pending");
    client.grant();
    expect(await client.report(answers(2))).toMatchObject({ reason: "over-budget" });
    await expectNothingDone();
  });

  it("reports again once the window has ended, while it stays open", async () => {
    await visit();
    const client = page();
    expect(await client.report(answers(2))).toMatchObject({ reason: "over-budget" });
    await expectNothingDone();
    vi.useFakeTimers({ now: Date.now() + 30 * DAY_MS, toFake: ["Date"] });
    expect(await client.report(answers(2))).toMatchObject({ sent: true });
    vi.useRealTimers();
  });

  it.each(["at once", "later"])(
    "calls a function of %s at leaving in the next window",
    async (when) => {
      await visit();
      vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"] });
      const client = page();
      if (when === "later") {
        expect(await client.report(answers(2))).toMatchObject({ reason: "over-budget" });
      }
      client.atLeave(() => answers(2));
      await vi.waitFor(() => expect(vi.getTimerCount()).toBeGreaterThan(0));
      for (let day = 0; day < 29; day += 1) {
        await vi.advanceTimersByTimeAsync(DAY_MS);
      }
      expect(loadEngine).not.toHaveBeenCalled();
      await vi.advanceTimersByTimeAsync(2 * DAY_MS);
      await vi.waitFor(() => expect(loadEngine).toHaveBeenCalledTimes(1));
      vi.useRealTimers();
    },
  );
});

describe("a page loads the rest", () => {
  it("if reports of an earlier page wait", async () => {
    const earlier = page();
    await earlier.report(answers(1));
    earlier.destroy();
    vi.mocked(loadEngine).mockClear();
    const client = page();
    await client.flush();
    expect(loadEngine).toHaveBeenCalledTimes(1);
    expect(collector.counts).toEqual([1]);
  });

  it("if the budget has become larger", async () => {
    await visit();
    const task = { ...RATINGS, budget: { reports: 2 } };
    expect(await page({ task }).report(answers(2))).toMatchObject({ sent: true });
  });

  it("if a window of cover reports has to begin on time", async () => {
    const task = { ...RATINGS, id: "covered", budget: { cover: { minutes: 1440 } } };
    const earlier = page({ task });
    await earlier.report(answers(1));
    earlier.destroy();
    vi.mocked(loadEngine).mockClear();
    page({ task });
    await vi.waitFor(() => expect(loadEngine).toHaveBeenCalledTimes(1));
  });

  it("if a memo has to be deleted", async () => {
    await visit({ task: MEMO }, { dark: true } as never);
    await page({ task: MEMO }).flush();
    await expectNothingDone();
    vi.useFakeTimers({ now: Date.now() + 366 * DAY_MS, toFake: ["Date"] });
    await page({ task: MEMO }).flush();
    expect(loadEngine).toHaveBeenCalledTimes(1);
    vi.useRealTimers();
  });

  it("if it shows what becomes of each answer", async () => {
    await visit();
    vi.spyOn(console, "log").mockReturnValue(undefined);
    vi.spyOn(console, "table").mockReturnValue(undefined);
    await page({ debug: true }).report(answers(2));
    expect(loadEngine).toHaveBeenCalledTimes(1);
  });
});
