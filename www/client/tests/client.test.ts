import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { MAX_REQUEST_BYTES } from "../delivery.js";
import {
  ClosedError,
  type HushbinError,
  NetworkError,
  OutboxFullError,
  UnknownItemError,
  UploadRejectedError,
} from "../index.js";
import { backoffMs } from "../time.js";
import { answers, clientOf, created, FakeCollector, idsOf, OFTEN, problem } from "./harness.js";

const overloaded = (seconds: number) =>
  problem(503, "overloaded", { "retry-after": String(seconds) });

const down = (times: number) => Array.from({ length: times }, () => "down" as const);

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

describe("reporting", () => {
  it("reads the input before it returns, and keeps none of it", async () => {
    const collector = new FakeCollector();
    const client = clientOf(collector);
    for (let call = 0; call < 2; call += 1) {
      // The first report waits for the module; the second does not.
      const input: Record<string, number> = answers(call);
      const queued = client.report(input);
      input["1"] = 17;
      expect(await queued).toEqual({ sent: true, epsilon: 2, dropped: 0 });
    }
    expect(client.pending).toBe(2);
    await client.flush();
    expect(client.pending).toBe(0);
    expect(collector.sent[0]?.url).toBe("https://collector.example/tasks/often/reports");
    const { fingerprint } = await client.ready();
    expect(Buffer.from(collector.sent[0]?.bytes ?? []).toString("hex", 1, 17)).toBe(fingerprint);
  });

  it("rejects a wrong input and queues nothing", async () => {
    const client = clientOf(new FakeCollector());
    await expect(client.report({ typo: 1 })).rejects.toThrow(UnknownItemError);
    expect(client.pending).toBe(0);
    expect(await client.budget()).toMatchObject({ used: 0, spent: 0, reports: 0 });
  });

  it("waits for company, but not long", async () => {
    const collector = new FakeCollector();
    const client = clientOf(collector, { delayMs: 2000 });
    await client.report(answers(1));
    await vi.advanceTimersByTimeAsync(1500);
    await client.report(answers(2));
    expect(collector.sent).toHaveLength(0);
    await vi.advanceTimersByTimeAsync(500);
    expect(collector.counts).toEqual([2]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(collector.counts).toEqual([2]);
  });

  it("sends at once what fills a request", async () => {
    const collector = new FakeCollector();
    const client = clientOf(collector);
    let made = 0;
    for (let bytes = 0; bytes < MAX_REQUEST_BYTES; made += 1) {
      expect(collector.sent).toHaveLength(0);
      await client.report(answers(made));
      bytes += (await client.history()).at(-1)?.bytes.length ?? 0;
    }
    await vi.advanceTimersByTimeAsync(0);
    const ids = collector.sent.flatMap(({ bytes }) => idsOf(bytes));
    expect(new Set(ids).size).toBe(made);
    expect(client.pending).toBe(0);
  });

  it("takes no report that it has no room for", async () => {
    const collector = new FakeCollector(...down(1000));
    // Reports of several thousand bytes.
    const client = clientOf(collector, {
      task: {
        ...OFTEN,
        items: 4096,
        mechanism: {
          name: "hash-bin",
          level: "event",
          hashing: "balanced",
          bins: 4096,
          grid: 256,
        },
      },
      onError: () => {},
    });
    const full = async () => {
      for (let i = 0; i < 1000; i += 1) {
        await client.report(answers(i));
      }
    };
    await expect(full()).rejects.toThrow(OutboxFullError);
    const { used } = await client.budget();
    expect(used).toBeGreaterThan(100);
    // Nothing was spent on the refused input.
    expect(client.pending).toBe(used);
  });

  it("tells whoever does not wait by onError, which may throw", async () => {
    const loud = vi.spyOn(console, "error").mockImplementation(() => {});
    const told: string[] = [];
    const client = clientOf(new FakeCollector(), {
      onError: ({ code }) => {
        told.push(code);
        throw new Error("a page's own mistake");
      },
    });
    client.record({ typo: 1 });
    client.record(answers(1));
    await client.flush();
    expect(told).toEqual(["unknown-item"]);
    expect(loud).toHaveBeenCalledExactlyOnceWith(new Error("a page's own mistake"));
  });

  it.each([
    ["a number", 42],
    ["nothing", null],
    ["an empty Set", new Set()],
    ["a Set", new Set(["0"])],
    ["an empty array", []],
    ["an array", ["0"]],
    ["a form without fields", new FormData()],
    ["a promise", Promise.resolve({})],
    ["a class's object", new Date()],
  ])("does not take %s for an empty report", async (_, input) => {
    const client = clientOf(new FakeCollector());
    await expect(client.report(input as never)).rejects.toMatchObject({ code: "answer" });
    // The result is the same once the module is loaded.
    await expect(client.report(input as never)).rejects.toMatchObject({ code: "answer" });
    expect(client.pending).toBe(0);
  });

  it("takes pairs, and tells a page's own mistake as such", async () => {
    const client = clientOf(new FakeCollector());
    await client.report(new URLSearchParams() as never).catch(() => {});
    expect(await client.report([["3", 1]] as never)).toMatchObject({ sent: true });
    expect(await client.report(new Map([["3", -1]]))).toMatchObject({ sent: true });
    const trap = {
      get 0(): number {
        throw new RangeError("of the page");
      },
    };
    await expect(client.report(trap as never)).rejects.toThrow("of the page");
    expect(await client.report({ 4: 1 })).toMatchObject({ sent: true });
  });
});

describe("flushing", () => {
  it("does nothing when nothing waits", async () => {
    const collector = new FakeCollector();
    const client = clientOf(collector);
    await client.flush();
    expect(collector.sent).toHaveLength(0);
  });

  it("covers what is being reported", async () => {
    const collector = new FakeCollector();
    const client = clientOf(collector);
    client.record(answers(1));
    await client.flush();
    expect(collector.counts).toEqual([1]);
  });

  it("sends the same bytes until they are acknowledged", async () => {
    // The first request fails with and without keepalive.
    const collector = new FakeCollector(
      ...down(2),
      problem(500, "storage"),
      overloaded(1),
      "silent",
    );
    const errors: HushbinError[] = [];
    const client = clientOf(collector, { onError: (error) => errors.push(error) });
    await client.report(answers(1));
    await expect(client.flush()).rejects.toThrow(NetworkError);
    expect(client.pending).toBe(1);
    await vi.advanceTimersByTimeAsync(180_000);
    expect(client.pending).toBe(0);
    expect(collector.sent).toHaveLength(6);
    for (const { bytes } of collector.sent) {
      expect(bytes).toEqual(collector.sent[0]?.bytes);
    }
    expect(errors.map(({ code }) => code)).toEqual(["network", "network", "network"]);
  });

  it("gives every report an id of its own, for good", async () => {
    const collector = new FakeCollector(...down(2));
    const client = clientOf(collector);
    await client.report(answers(1));
    await client.flush().catch(() => {});
    await client.report(answers(2));
    await client.flush();
    expect(collector.counts).toEqual([1, 1, 2]);
    const [first, , both] = collector.sent.map(({ bytes }) => idsOf(bytes));
    expect(both?.[0]).toBe(first?.[0]);
    expect(both?.[1]).not.toBe(first?.[0]);
  });

  it("tries again when called again", async () => {
    const collector = new FakeCollector(...down(2));
    const client = clientOf(collector);
    await client.report(answers(1));
    await expect(client.flush()).rejects.toMatchObject({ code: "network", status: undefined });
    await client.flush();
    expect(collector.sent).toHaveLength(3);
    expect(collector.sent[2]?.bytes).toEqual(collector.sent[0]?.bytes);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(collector.sent).toHaveLength(3);
  });

  it("honours Retry-After, even against the caller", async () => {
    const collector = new FakeCollector(overloaded(30));
    const client = clientOf(collector);
    await client.report(answers(1));
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
    const client = clientOf(collector, { onError });
    await client.report(answers(1));
    const flushed = client.flush();
    await expect(flushed).rejects.toThrow(UploadRejectedError);
    await expect(flushed).rejects.toMatchObject({
      code: "upload-rejected",
      status: 409,
      problem: "urn:hushbin:problem:fingerprint-mismatch",
      reports: 1,
    });
    expect(client.pending).toBe(0);
    expect(await client.history()).toMatchObject([{ state: "refused" }]);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(collector.sent).toHaveLength(1);
    await client.report(answers(2));
    await client.flush();
    // The waiting caller received the error instead.
    expect(onError).not.toHaveBeenCalled();
  });

  it("finds the one of several that is refused", async () => {
    const collector = new FakeCollector();
    let culprit: string | undefined;
    const client = clientOf(collector, {
      fetch: async (url, init) => {
        const ids = idsOf(new Uint8Array(init?.body as Uint8Array));
        culprit ??= ids[3];
        if (ids.some((id) => id === culprit)) {
          return problem(400, "malformed-upload");
        }
        return collector.fetch(url, init);
      },
    });
    for (let i = 0; i < 11; i += 1) {
      await client.report(answers(i));
    }
    await expect(client.flush()).rejects.toMatchObject({ code: "upload-rejected", reports: 1 });
    expect(client.pending).toBe(0);
    const taken = collector.sent.flatMap(({ bytes }) => idsOf(bytes));
    expect(new Set(taken).size).toBe(10);
    expect(taken).not.toContain(culprit);
  });

  it("starts with short pauses again after a success", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0);
    const collector = new FakeCollector(...down(8), created(), ...down(2));
    const client = clientOf(collector, { onError: () => {} });
    await client.report(answers(1));
    await client.flush().catch(() => {});
    await vi.advanceTimersByTimeAsync(500 + 1000 + 2000 + 3999);
    expect(client.pending).toBe(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(client.pending).toBe(0);
    await client.report(answers(2));
    await client.flush().catch(() => {});
    await vi.advanceTimersByTimeAsync(500);
    expect(client.pending).toBe(0);
  });

  it("warns of a refusal that nobody waits for", async () => {
    const warning = vi.spyOn(console, "warn").mockImplementation(() => {});
    const client = clientOf(new FakeCollector(problem(404, "unknown-task")), { delayMs: 10 });
    await client.report(answers(1));
    await vi.advanceTimersByTimeAsync(20);
    expect(warning).toHaveBeenCalledExactlyOnceWith(expect.stringContaining("status 404"));
  });

  it("waits for an attempt that is under way, and does not repeat it", async () => {
    const responses: ((response: Response) => void)[] = [];
    const collector = new FakeCollector();
    const client = clientOf(collector, {
      fetch: (url, init) => {
        void collector.fetch(url, init);
        return new Promise((resolve) => responses.push(resolve));
      },
    });
    await client.report(answers(1));
    const first = client.flush();
    await vi.advanceTimersByTimeAsync(0);
    await client.report(answers(2));
    const settled = vi.fn();
    const second = client.flush();
    void second.then(settled);
    await vi.advanceTimersByTimeAsync(0);
    responses[0]?.(created());
    await first;
    await vi.advanceTimersByTimeAsync(0);
    expect(collector.counts).toEqual([1, 1]);
    expect(settled).not.toHaveBeenCalled();
    responses[1]?.(created());
    await second;
    expect(collector.sent).toHaveLength(2);
  });

  it("resolves for what it covers, whatever becomes of later reports", async () => {
    const collector = new FakeCollector(created(), ...down(2));
    const client = clientOf(collector, { onError: () => {} });
    await client.report(answers(1));
    await client.flush();
    await client.report(answers(2));
    await expect(client.flush()).rejects.toThrow(NetworkError);
    expect(client.pending).toBe(1);
  });
});

describe("waiting between attempts", () => {
  it("doubles, is jittered and has a limit", () => {
    expect(backoffMs(1, 0, 0)).toBe(500);
    expect(backoffMs(1, 0, 1)).toBe(1000);
    expect(backoffMs(4, 0, 0.5)).toBe(6000);
    expect(backoffMs(1000, 0, 1)).toBe(300_000);
    expect(backoffMs(4, 9000, 0.5)).toBe(9000);
  });
});

describe("closing", () => {
  it("sends what waits, once, and ends the client", async () => {
    const collector = new FakeCollector();
    const client = clientOf(collector);
    await client.report(answers(1));
    await Promise.all([client.close(), client.close()]);
    expect(collector.counts).toEqual([1]);
    await expect(client.report({})).rejects.toThrow(ClosedError);
    await expect(client.flush()).rejects.toMatchObject({ code: "closed" });
    expect(vi.getTimerCount()).toBe(0);
  });

  it("never rejects and leaves no timer behind", async () => {
    const collector = new FakeCollector(...down(2));
    const client = clientOf(collector);
    await client.report(answers(1));
    await client.close();
    expect(vi.getTimerCount()).toBe(0);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(collector.sent).toHaveLength(2);
  });

  it("covers what has only been asked for", async () => {
    const collector = new FakeCollector();
    const client = clientOf(collector);
    client.record(answers(1));
    await client.close();
    expect(collector.counts).toEqual([1]);
  });

  it("at once sends nothing", async () => {
    const collector = new FakeCollector();
    const client = clientOf(collector);
    await client.report(answers(1));
    client.destroy();
    await client.close();
    await vi.advanceTimersByTimeAsync(600_000);
    expect(collector.sent).toHaveLength(0);
    await expect(client.report(answers(2))).rejects.toThrow(ClosedError);
    expect(() => client.grant()).toThrow(ClosedError);
    expect(vi.getTimerCount()).toBe(0);
  });
});
