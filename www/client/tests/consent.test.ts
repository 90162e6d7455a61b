import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ClientOptions } from "../index.js";
import { answers, clientOf, FakeCollector, OFTEN, RATINGS, stubDatabase } from "./harness.js";

let factory: ReturnType<typeof stubDatabase>;

beforeEach(() => {
  factory = stubDatabase();
});
afterEach(() => {
  vi.useRealTimers();
});

const tab = (collector: FakeCollector, options: Partial<ClientOptions> = {}) =>
  clientOf(collector, { storage: "device", ...options });

describe("without consent", () => {
  it.each([
    ["a task in the page", {}],
    ["a task by id", { task: "often" }],
  ])("nothing is drawn, stored, fetched or sent, of %s", async (_, options) => {
    const drawn = vi.spyOn(crypto, "getRandomValues");
    const collector = new FakeCollector();
    const client = tab(collector, { consent: false, ...options });
    expect(client.consent).toBe("pending");
    expect(await client.report(answers(1))).toEqual({
      sent: false,
      reason: "no-consent",
      epsilon: 0,
      dropped: 0,
    });
    client.record(answers(2));
    await client.flush();
    expect(await client.history()).toEqual([]);
    expect(await client.budget()).toMatchObject({ used: 0, spent: 0 });
    await client.revoke();
    await client.close();
    expect(collector.sent).toEqual([]);
    expect(await factory.databases()).toEqual([]);
    // Nothing was drawn except the salts of ledgers that are never stored.
    expect(drawn.mock.calls.every(([array]) => array?.byteLength === 16)).toBe(true);
  });

  it("is the default", async () => {
    const client = tab(new FakeCollector(), { consent: undefined });
    expect(client.consent).toBe("pending");
    client.grant();
    expect(client.consent).toBe("granted");
    expect(await client.report(answers(1))).toMatchObject({ sent: true });
  });
});

describe("consent", () => {
  it("that is granted later lets later reports through", async () => {
    const collector = new FakeCollector();
    const client = tab(collector, { consent: false });
    const ready = client.ready();
    await client.report(answers(1));
    client.grant();
    expect((await ready).task.id).toBe("often");
    await client.report(answers(2));
    await client.flush();
    expect(collector.counts).toEqual([1]);
  });

  it("that is revoked empties the outbox, and keeps what was spent", async () => {
    const collector = new FakeCollector();
    const earlier = tab(new FakeCollector("down", "down"));
    await earlier.report(answers(1));
    await earlier.close();
    const client = tab(collector, { delayMs: 86_400_000 });
    const under = client.report(answers(2));
    await under;
    await client.revoke();
    expect(client.consent).toBe("pending");
    expect(await client.report(answers(3))).toMatchObject({ reason: "no-consent" });
    await client.flush();
    const states = (await client.history()).map(({ state }) => state);
    expect(states).toHaveLength(2);
    expect(states).toContain("withdrawn");
    expect(await client.budget()).toMatchObject({ used: 2, spent: 4 });
    client.grant();
    expect(await client.report(answers(4))).toMatchObject({ sent: true });
    await client.flush();
    expect(await client.history()).toMatchObject([
      {},
      { state: "withdrawn" },
      { state: "acknowledged" },
    ]);
  });

  it("that flips loses no report while it is granted, and tells of no failure", async () => {
    const collector = new FakeCollector();
    const errors: string[] = [];
    const onError = ({ code }: { code: string }) => void errors.push(code);
    const client = tab(collector, { task: OFTEN, delayMs: 0, onError });
    client.grant();
    const overtaken = client.report(answers(0));
    const revoked = client.revoke();
    client.grant();
    const granted = client.report(answers(1));
    expect(await overtaken).toMatchObject({ reason: "no-consent" });
    await revoked;
    expect(await granted).toMatchObject({ sent: true });
    const all = [];
    for (let turn = 0; turn < 50; turn += 1) {
      client.grant();
      all.push(client.report(answers(turn)));
      if (turn % 3 === 0) {
        all.push(client.revoke());
      }
    }
    const outcomes = (await Promise.all(all)).map(
      (receipt) => receipt && (receipt.reason ?? "sent"),
    );
    expect(new Set(outcomes)).toEqual(new Set(["no-consent", "sent", undefined]));
    await client.flush();
    expect(errors).toEqual([]);
  });

  it("that is revoked ends reports in workers, which no channel informs", async () => {
    stubDatabase();
    vi.stubGlobal("BroadcastChannel", undefined);
    const collector = new FakeCollector();
    const [page, worker] = [tab(collector, { task: OFTEN }), tab(collector, { task: OFTEN })];
    await Promise.all([page.ready(), worker.report(answers(1))]);
    await page.revoke();
    expect(await worker.report(answers(2))).toMatchObject({ reason: "no-consent" });
    expect(worker.consent).toBe("pending");
    worker.grant();
    await worker.flush();
    expect(collector.sent).toEqual([]);
    expect(await worker.report(answers(3))).toMatchObject({ sent: true });
    await worker.flush();
    expect(collector.counts).toEqual([1]);
  });

  it("that is revoked keeps what was spent where memory alone does, too", async () => {
    const client = tab(new FakeCollector(), { storage: "memory", task: RATINGS });
    await client.report({ 3: 1 });
    await client.revoke();
    expect(await client.budget()).toMatchObject({ used: 1, spent: 2 });
    expect(await client.history()).toMatchObject([{ state: "withdrawn" }]);
    client.grant();
    expect(await client.report({ 3: -1 })).toMatchObject({ reason: "over-budget" });
  });

  it("that is revoked while a request is under way lets nothing be sent after it", async () => {
    let fail = () => {};
    const fetch = vi.fn<typeof globalThis.fetch>(
      () =>
        new Promise((_, reject) => {
          fail = () => reject(new TypeError("fetch failed"));
        }),
    );
    const client = tab(new FakeCollector(), { fetch });
    await client.report(answers(1));
    const flushed = client.flush().catch(({ code }) => code);
    await vi.waitFor(() => expect(fetch).toHaveBeenCalledOnce());
    await client.revoke();
    // The browser's quota may have been the cause. Without the revocation, a second attempt would
    // follow.
    fail();
    expect(await flushed).toBe("network");
    expect(fetch).toHaveBeenCalledOnce();
  });

  it("that is revoked while a report is being made ends it", async () => {
    const collector = new FakeCollector();
    const client = tab(collector);
    const report = client.report(answers(1)).catch(({ code }) => code);
    await client.revoke();
    expect([{ sent: false, reason: "no-consent", epsilon: 0, dropped: 0 }]).toContainEqual(
      await report,
    );
    client.grant();
    await client.flush();
    expect(collector.sent).toEqual([]);
  });

  it.each([
    ["Global Privacy Control", { globalPrivacyControl: true }],
    ["Do Not Track", { doNotTrack: "1" }],
  ])("gives way to %s, unless the page says otherwise", async (_, navigator) => {
    vi.stubGlobal("navigator", navigator);
    const collector = new FakeCollector();
    const client = tab(collector);
    client.grant();
    expect(client.consent).toBe("signal");
    expect(await client.report(answers(1))).toMatchObject({ reason: "no-consent" });
    expect(await factory.databases()).toEqual([]);
    const deaf = tab(collector, { ignoreSignals: true });
    expect(deaf.consent).toBe("granted");
    expect(await deaf.report(answers(1))).toMatchObject({ sent: true });
  });

  it("that a signal refuses does not keep a client from closing", async () => {
    vi.stubGlobal("navigator", { doNotTrack: "1" });
    const collector = new FakeCollector();
    const client = tab(collector);
    await client.flush();
    const ready = client.ready().catch(({ code }) => code);
    await client.close();
    expect(await ready).toBe("closed");
    expect(await factory.databases()).toEqual([]);
    expect(collector.sent).toEqual([]);
  });

  it("that a signal refuses while a report waits ends the report", async () => {
    stubDatabase();
    let respond = (_: Response) => {};
    const fetch = vi.fn<typeof globalThis.fetch>(
      () =>
        new Promise((resolve) => {
          respond = resolve;
        }),
    );
    const { fingerprint } = await clientOf(new FakeCollector()).ready();
    const client = tab(new FakeCollector(), { task: "often", fingerprint, fetch });
    const report = client.report(answers(1));
    await vi.waitFor(() => expect(fetch).toHaveBeenCalledOnce());
    vi.stubGlobal("navigator", { globalPrivacyControl: true });
    respond(Response.json({ task: OFTEN, fingerprint }));
    expect(await report).toMatchObject({ reason: "no-consent" });
    expect(await client.history()).toEqual([]);
  });

  it("is not refused by signals that say nothing", () => {
    vi.stubGlobal("navigator", { globalPrivacyControl: false, doNotTrack: "unspecified" });
    expect(tab(new FakeCollector()).consent).toBe("granted");
  });
});

describe("a dry run", () => {
  it("does everything but store and send", async () => {
    const collector = new FakeCollector();
    const client = tab(collector, { dryRun: true, task: RATINGS });
    expect(client.about.dryRun).toBe(true);
    expect(await client.report({ 3: 1 })).toMatchObject({ sent: true, epsilon: 2 });
    await client.flush();
    expect(await client.history()).toMatchObject([{ state: "acknowledged" }]);
    expect(collector.sent).toEqual([]);
    expect(await factory.databases()).toEqual([]);
  });
});
