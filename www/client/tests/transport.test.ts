import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FetchTransport, parseRetryAfter } from "../transport.js";
import { type Answer, created, FakeCollector, problem } from "./harness.js";

const URL = "https://collector.example/tasks/settings/reports";
const bytes = (length = 3) => new Uint8Array(length).fill(7);

function transport(...answers: Answer[]) {
  const collector = new FakeCollector(...answers);
  return { collector, transport: new FetchTransport(URL, collector.fetch) };
}

describe("an attempt", () => {
  it("posts the bytes as they are, with nothing that needs permission", async () => {
    const { collector, transport: sender } = transport();
    await sender.send(bytes());
    expect(collector.sent).toHaveLength(1);
    const { url, init } = collector.sent[0] ?? {};
    expect(url).toBe(URL);
    expect(init).toMatchObject({ method: "POST", credentials: "omit", keepalive: true });
    expect(init).not.toHaveProperty("headers");
    expect(new Request(URL, { ...init, method: "POST" }).headers.get("content-type")).toBeNull();
  });

  it.each([200, 201, 202, 204])("is acknowledged by %i", async (status) => {
    const { transport: sender } = transport(new Response(null, { status }));
    expect(await sender.send(bytes())).toEqual({ kind: "acknowledged" });
  });

  it.each([400, 401, 403, 404, 409, 413, 415])("is refused for good by %i", async (status) => {
    const { transport: sender } = transport(problem(status, "slug"));
    expect(await sender.send(bytes())).toEqual({
      kind: "rejected",
      status,
      problem: "urn:hushbin:problem:slug",
      detail: "because slug",
    });
  });

  it.each([408, 425, 429, 500, 502, 503, 504])("may be repeated after %i", async (status) => {
    const { transport: sender } = transport(new Response("<html>", { status }));
    expect(await sender.send(bytes())).toMatchObject({ kind: "retry", status });
  });

  it("may be repeated when nobody answers", async () => {
    const { transport: sender } = transport("down");
    expect(await sender.send(bytes())).toMatchObject({ kind: "retry", status: undefined });
  });

  it("carries the wait that is asked for", async () => {
    const { transport: sender } = transport(problem(503, "overloaded", { "retry-after": "7" }));
    expect(await sender.send(bytes())).toMatchObject({ kind: "retry", retryAfterMs: 7000 });
  });

  it("is still acknowledged when the body of the answer is lost", async () => {
    const body = new ReadableStream({
      pull() {
        throw new Error("connection lost");
      },
    });
    const { transport: sender } = transport(new Response(body, { status: 201 }));
    expect(await sender.send(bytes())).toEqual({ kind: "acknowledged" });
  });
});

describe("time", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("runs out for an attempt without answer", async () => {
    const { transport: sender } = transport("silent");
    const outcome = sender.send(bytes());
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await outcome).toMatchObject({
      kind: "retry",
      reason: "the collector did not answer within 30 s",
    });
    expect(vi.getTimerCount()).toBe(0);
  });

  it("keeps what outlives the page within the browser's quota", async () => {
    const { collector, transport: sender } = transport("silent", "silent", "silent", "silent");
    const all = [40_000, 30_000, 20_000, 2_000].map((length) => sender.send(bytes(length)));
    const keepalive = () => collector.sent.map(({ init }) => init.keepalive);
    expect(keepalive()).toEqual([true, false, true, false]);
    await vi.advanceTimersByTimeAsync(30_000);
    await Promise.all(all);
    // What ended is given back.
    await sender.send(bytes(60 * 1024));
    expect(keepalive().at(-1)).toBe(true);
    collector.answers.push(...Array.from({ length: 10 }, () => "silent" as const));
    const many = Array.from({ length: 10 }, () => sender.send(bytes(1)));
    expect(keepalive().slice(-10).filter(Boolean)).toHaveLength(9);
    await vi.advanceTimersByTimeAsync(30_000);
    await Promise.all(many);
    collector.answers.push(created());
  });
});

describe("Retry-After", () => {
  const now = Date.parse("2026-11-20T12:00:00Z");
  it.each([
    [null, undefined],
    ["0", 0],
    ["120", 120_000],
    [" 5 ", 5_000],
    ["999999999999999999", 86_400_000],
    ["Fri, 20 Nov 2026 12:00:30 GMT", 30_000],
    ["Fri, 20 Nov 2026 11:00:00 GMT", 0],
    ["soon", undefined],
  ])("%s is %s ms", (header, expected) => {
    expect(parseRetryAfter(header, now)).toBe(expected);
  });
});
