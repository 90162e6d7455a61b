import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { backoffMs } from "../delivery.js";
import {
  ClosedError,
  type HushbinError,
  NetworkError,
  OutboxFullError,
  TaskError,
  UnknownItemError,
  UploadRejectedError,
} from "../index.js";
import {
  clientOf,
  created,
  FakeCollector,
  problem,
  RATINGS,
  readUpload,
  SETTINGS,
} from "./harness.js";

const overloaded = (seconds: number) =>
  problem(503, "overloaded", { "retry-after": String(seconds) });

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("reporting", () => {
  it("randomises before it returns, and keeps no input", async () => {
    const collector = new FakeCollector();
    const client = await clientOf(collector);
    const input: Record<string, number> = { "dark-mode": 1 };
    const queued = client.report(input);
    input["dark-mode"] = 17;
    await queued;
    expect(client.pending).toBe(1);
    await client.flush();
    expect(client.pending).toBe(0);
    expect(collector.sent[0]?.url).toBe("https://collector.example/tasks/settings/reports");
    const upload = readUpload(collector.sent[0]?.bytes ?? new Uint8Array());
    expect(upload).toMatchObject({ count: 1, fingerprint: client.fingerprint });
  });

  it("rejects a wrong input and queues nothing", async () => {
    const client = await clientOf(new FakeCollector());
    await expect(client.report({ typo: 1 })).rejects.toThrow(UnknownItemError);
    expect(client.pending).toBe(0);
  });

  it("waits for company, but not long", async () => {
    const collector = new FakeCollector();
    const client = await clientOf(collector, { delayMs: 2000 });
    await client.report({ autoplay: 1 });
    await vi.advanceTimersByTimeAsync(1500);
    await client.report({ autoplay: 1 });
    expect(collector.sent).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(500);
    expect(collector.counts).toEqual([2]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(collector.counts).toEqual([2]);
  });

  it("sends at once what fills an upload", async () => {
    const collector = new FakeCollector();
    const client = await clientOf(collector);
    for (let i = 0; i < 4096; i += 1) {
      await client.report({});
    }
    await vi.advanceTimersByTimeAsync(0);
    expect(collector.counts).toEqual([4096]);
    expect(client.pending).toBe(0);
  });

  it("takes no report that it has no room for", async () => {
    const collector = new FakeCollector(...Array.from({ length: 400 }, () => "down" as const));
    const client = await clientOf(collector, { onError: () => {} });
    const full = async () => {
      for (let i = 0; i < 200_000; i += 1) {
        await client.report({});
      }
    };
    await expect(full()).rejects.toThrow(OutboxFullError);
    expect(client.pending).toBeGreaterThan(100_000);
  });
});

describe("flushing", () => {
  it("does nothing when nothing waits", async () => {
    const collector = new FakeCollector();
    const client = await clientOf(collector);
    await client.flush();
    expect(collector.sent).toHaveLength(0);
  });

  it("sends the same bytes until they are acknowledged", async () => {
    const collector = new FakeCollector("down", problem(500, "storage"), overloaded(1), "silent");
    const errors: HushbinError[] = [];
    const client = await clientOf(collector, { onError: (error) => errors.push(error) });
    await client.report({ autoplay: 1 });
    await expect(client.flush()).rejects.toThrow(NetworkError);
    expect(client.pending).toBe(1);
    await vi.advanceTimersByTimeAsync(120_000);
    expect(client.pending).toBe(0);
    expect(collector.sent).toHaveLength(5);
    for (const { bytes } of collector.sent) {
      expect(bytes).toEqual(collector.sent[0]?.bytes);
    }
    expect(errors.map(({ code }) => code)).toEqual(["network", "network", "network"]);
  });

  it("never adds to an upload that was formed", async () => {
    const collector = new FakeCollector("down");
    const client = await clientOf(collector);
    await client.report({ autoplay: 1 });
    await client.flush().catch(() => {});
    await client.report({ autoplay: 1 });
    await client.flush();
    expect(collector.counts).toEqual([1, 1, 1]);
    const ids = collector.sent.map(({ bytes }) => readUpload(bytes).id);
    expect(ids[1]).toBe(ids[0]);
    expect(ids[2]).not.toBe(ids[0]);
  });

  it("tries again when called again", async () => {
    const collector = new FakeCollector("down");
    const client = await clientOf(collector);
    await client.report({ autoplay: 1 });
    await expect(client.flush()).rejects.toMatchObject({ code: "network", status: undefined });
    await client.flush();
    expect(collector.sent).toHaveLength(2);
    expect(collector.sent[1]?.bytes).toEqual(collector.sent[0]?.bytes);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(collector.sent).toHaveLength(2);
  });

  it("honours Retry-After, even against the caller", async () => {
    const collector = new FakeCollector(overloaded(30));
    const client = await clientOf(collector);
    await client.report({ autoplay: 1 });
    await expect(client.flush()).rejects.toMatchObject({ status: 503, retryAfterMs: 30_000 });
    await expect(client.flush()).rejects.toThrow(NetworkError);
    await vi.advanceTimersByTimeAsync(29_000);
    expect(collector.sent).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1_001);
    expect(collector.sent).toHaveLength(2);
    expect(client.pending).toBe(0);
  });

  it("does not repeat what is refused for good", async () => {
    const collector = new FakeCollector(problem(409, "fingerprint-mismatch"));
    const onError = vi.fn();
    const client = await clientOf(collector, { onError });
    await client.report({ autoplay: 1 });
    const flushed = client.flush();
    await expect(flushed).rejects.toThrow(UploadRejectedError);
    await expect(flushed).rejects.toMatchObject({
      code: "upload-rejected",
      status: 409,
      problem: "urn:hushbin:problem:fingerprint-mismatch",
      reports: 1,
    });
    expect(client.pending).toBe(0);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(collector.sent).toHaveLength(1);
    await client.report({ autoplay: 1 });
    await client.flush();
    // Who waited was told.
    expect(onError).not.toHaveBeenCalled();
  });

  it("starts with short pauses again after a success", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    const down = (times: number) => Array.from({ length: times }, () => "down" as const);
    const collector = new FakeCollector(...down(4), created(), ...down(1));
    const client = await clientOf(collector, { onError: () => {} });
    await client.report({ autoplay: 1 });
    await client.flush().catch(() => {});
    await vi.advanceTimersByTimeAsync(500 + 1000 + 2000 + 3999);
    expect(client.pending).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(client.pending).toBe(0);
    await client.report({ autoplay: 1 });
    await client.flush().catch(() => {});
    await vi.advanceTimersByTimeAsync(500);
    expect(client.pending).toBe(0);
  });

  it("warns of a refusal that nobody waits for", async () => {
    const warning = vi.spyOn(console, "warn").mockImplementation(() => {});
    const client = await clientOf(new FakeCollector(problem(404, "unknown-task")), { delayMs: 10 });
    await client.report({ autoplay: 1 });
    await vi.advanceTimersByTimeAsync(20);
    expect(warning).toHaveBeenCalledExactlyOnceWith(expect.stringContaining("status 404"));
  });

  it("waits for an attempt that is under way, and does not repeat it", async () => {
    const answers: ((response: Response) => void)[] = [];
    const collector = new FakeCollector();
    const client = await clientOf(collector, {
      fetch: (url, init) => {
        void collector.fetch(url, init);
        return new Promise((resolve) => answers.push(resolve));
      },
    });
    await client.report({ autoplay: 1 });
    const first = client.flush();
    await client.report({ autoplay: -1 });
    const second = client.flush();
    expect(collector.counts).toEqual([1, 1]);
    answers[1]?.(created());
    await vi.advanceTimersByTimeAsync(0);
    const settled = vi.fn();
    void first.then(settled);
    await vi.advanceTimersByTimeAsync(0);
    expect(settled).not.toHaveBeenCalled();
    answers[0]?.(created());
    await Promise.all([first, second]);
    expect(collector.sent).toHaveLength(2);
  });

  it("resolves for what it covers, whatever becomes of later reports", async () => {
    const collector = new FakeCollector(created(), "down");
    const client = await clientOf(collector, { onError: () => {} });
    await client.report({ autoplay: 1 });
    const first = client.flush();
    await first;
    await client.report({ autoplay: 1 });
    await expect(client.flush()).rejects.toThrow(NetworkError);
    expect(client.pending).toBe(1);
  });
});

describe("waiting between attempts", () => {
  it("doubles, is jittered and has a limit", () => {
    expect(backoffMs(1, 0)).toBe(500);
    expect(backoffMs(1, 1)).toBe(1000);
    expect(backoffMs(4, 0.5)).toBe(6000);
    expect(backoffMs(1000, 1)).toBe(300_000);
  });
});

describe("a page", () => {
  /** As much of a page as the client listens to. */
  function page() {
    const target = new EventTarget();
    const fake = Object.assign(new EventTarget(), { visibilityState: "visible" });
    const removed = [
      vi.spyOn(target, "removeEventListener"),
      vi.spyOn(fake, "removeEventListener"),
    ];
    vi.stubGlobal("document", fake);
    vi.stubGlobal("addEventListener", target.addEventListener.bind(target));
    vi.stubGlobal("removeEventListener", target.removeEventListener.bind(target));
    return {
      removed: () => removed.flatMap((spy) => spy.mock.calls.map(([name]) => name)),
      hide() {
        fake.visibilityState = "hidden";
        fake.dispatchEvent(new Event("visibilitychange"));
      },
      show() {
        fake.visibilityState = "visible";
        fake.dispatchEvent(new Event("visibilitychange"));
      },
      leave: () => target.dispatchEvent(new Event("pagehide")),
    };
  }

  it("that is hidden or left hands over what waits, before the event ends", async () => {
    const events = page();
    const collector = new FakeCollector();
    const client = await clientOf(collector);
    await client.report({ autoplay: 1 });
    events.show();
    expect(collector.sent).toHaveLength(0);
    events.hide();
    expect(collector.counts).toEqual([1]);
    expect(collector.sent[0]?.init.keepalive).toBe(true);
    await client.report({ autoplay: 1 });
    events.leave();
    expect(collector.counts).toEqual([1, 1]);
    events.leave();
    expect(collector.sent).toHaveLength(2);
  });

  it("that is hidden ends a pause of our own, not one that was asked for", async () => {
    const events = page();
    const collector = new FakeCollector("down", overloaded(60));
    const client = await clientOf(collector, { onError: () => {} });
    await client.report({ autoplay: 1 });
    await client.flush().catch(() => {});
    events.hide();
    expect(collector.sent).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(0);
    events.hide();
    expect(collector.sent).toHaveLength(2);
  });

  it("that closed its client is left alone", async () => {
    const events = page();
    const collector = new FakeCollector();
    const client = await clientOf(collector);
    await client.report({ autoplay: 1 });
    await client.close();
    expect(events.removed()).toEqual(["pagehide", "visibilitychange"]);
    events.hide();
    events.leave();
    expect(collector.counts).toEqual([1]);
  });
});

describe("closing", () => {
  it("sends what waits, once, and ends the client", async () => {
    const collector = new FakeCollector();
    const client = await clientOf(collector);
    await client.report({ autoplay: 1 });
    await Promise.all([client.close(), client.close()]);
    expect(collector.counts).toEqual([1]);
    await expect(client.report({})).rejects.toThrow(ClosedError);
    await expect(client.flush()).rejects.toMatchObject({ code: "closed" });
    expect(vi.getTimerCount()).toBe(0);
  });

  it("never rejects and leaves no timer behind", async () => {
    const collector = new FakeCollector("down");
    const client = await clientOf(collector);
    await client.report({ autoplay: 1 });
    await client.close();
    expect(vi.getTimerCount()).toBe(0);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(collector.sent).toHaveLength(1);
  });
});

describe("a task from the collector", () => {
  const { fingerprint: _, ...answer } = { fingerprint: "", task: RATINGS, effective_epsilon: 2 };

  async function fingerprintOf() {
    const client = await clientOf(new FakeCollector(), { task: RATINGS });
    return client.fingerprint;
  }

  it("is fetched, checked and used", async () => {
    const fingerprint = await fingerprintOf();
    const collector = new FakeCollector(Response.json({ ...answer, fingerprint }));
    const client = await clientOf(collector, {
      endpoint: new URL("https://collector.example/telemetry/"),
      task: "ratings",
      fingerprint: fingerprint.toUpperCase(),
    });
    expect(client.task).toEqual(RATINGS);
    expect(client.fingerprint).toBe(fingerprint);
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
    ["it has no fingerprint", { fingerprint: undefined }, "invalid-task"],
    ["it is no task", { task: 7 }, "invalid-task"],
  ])("is refused when %s", async (_, change, code) => {
    const fingerprint = await fingerprintOf();
    const collector = new FakeCollector(Response.json({ ...answer, fingerprint, ...change }));
    await expect(clientOf(collector, { task: "ratings" })).rejects.toMatchObject({ code });
  });

  it("is refused when it is not the pinned one", async () => {
    const pinned = clientOf(new FakeCollector(), { fingerprint: "f".repeat(32) });
    await expect(pinned).rejects.toThrow(TaskError);
    await expect(pinned).rejects.toMatchObject({ code: "fingerprint-mismatch" });
  });

  it.each([
    [problem(404, "unknown-task"), "unknown-task"],
    [problem(503, "overloaded"), "network"],
    [new Response("<!doctype html>"), "invalid-task"],
    [Response.json(null), "invalid-task"],
    ["down" as const, "network"],
  ])("that is not there is a named error", async (response, code) => {
    await expect(clientOf(new FakeCollector(response), { task: "ratings" })).rejects.toMatchObject({
      code,
    });
  });
});
