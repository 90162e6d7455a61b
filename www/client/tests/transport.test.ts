import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { FetchTransport, parseRetryAfter } from "../transport.js";
import { type Answer, created, FakeCollector, problem } from "./harness.js";

const URL = "https://collector.example/tasks/settings/reports";
const bytes = (length = 3) => [new Uint8Array(length).fill(7)];

function transport(...answers: Answer[]) {
  const collector = new FakeCollector(...answers);
  return { collector, transport: new FetchTransport(URL, collector.fetch) };
}

/** Result without status and requested delay. */
const unanswered = {
  kind: "retry",
  reason: expect.stringContaining("could not be reached"),
  cause: expect.any(Error),
};

describe("an attempt", () => {
  it("posts the bytes as they are, with nothing that needs permission", async () => {
    const { collector, transport: sender } = transport();
    await sender.sendUploads(bytes());
    expect(collector.sent).toHaveLength(1);
    const { url, init } = collector.sent[0] ?? {};
    expect(url).toBe(URL);
    expect(init).toMatchObject({ method: "POST", credentials: "omit", keepalive: true });
    expect(init).not.toHaveProperty("headers");
    expect(new Request(URL, { ...init, method: "POST" }).headers.get("content-type")).toBeNull();
  });

  it.each([200, 201])("is acknowledged by the collector's own %i", async (status) => {
    const answer = { uploads: 1, accepted_reports: 0, duplicate_uploads: 1 };
    const { transport: sender } = transport(Response.json(answer, { status }));
    expect(await sender.sendUploads(bytes())).toEqual({ kind: "acknowledged" });
  });

  it.each([
    ["a page in its place", new Response("<!doctype html>")],
    ["an empty answer", new Response(null, { status: 204 })],
    ["somebody else's JSON", Response.json({ ok: true }, { status: 201 })],
    [
      "an answer to other uploads",
      Response.json({ uploads: 2, accepted_reports: 2, duplicate_uploads: 0 }),
    ],
    ["no answer worth the name", Response.json(null)],
    [
      "a proxy's 202",
      Response.json({ uploads: 1, accepted_reports: 1, duplicate_uploads: 0 }, { status: 202 }),
    ],
  ])("is not acknowledged by %s", async (_, answer) => {
    const { transport: sender } = transport(answer);
    expect(await sender.sendUploads(bytes())).toMatchObject({
      kind: "retry",
      status: answer.status,
    });
  });

  it("follows no redirect", async () => {
    const { collector, transport: sender } = transport();
    await sender.sendUploads(bytes());
    expect(collector.sent[0]?.init.redirect).toBe("manual");
  });

  it.each([
    [404, "unknown-task"],
    [400, "malformed-upload"],
    [409, "fingerprint-mismatch"],
    [409, "upload-id-conflict"],
    [413, "too-large"],
  ])("is refused for good by the collector's own %i %s", async (status, slug) => {
    const { transport: sender } = transport(problem(status, slug));
    expect(await sender.sendUploads(bytes())).toEqual({
      kind: "rejected",
      status,
      problem: `urn:hushbin:problem:${slug}`,
      detail: `because ${slug}`,
    });
  });

  it.each([400, 401, 403, 404, 405, 408, 413, 415, 425, 429, 451, 500, 502, 503, 504])(
    "may be repeated after anybody's %i",
    async (status) => {
      const { transport: sender } = transport(new Response("<html>", { status }));
      expect(await sender.sendUploads(bytes())).toMatchObject({ kind: "retry", status });
    },
  );

  it.each(["overloaded", "storage", "not-ready", "internal", "not-found", "a-later-one"])(
    "may be repeated after the collector's %s",
    async (slug) => {
      const { transport: sender } = transport(problem(500, slug));
      expect(await sender.sendUploads(bytes())).toMatchObject({
        kind: "retry",
        reason: `the collector answered 500: because ${slug}`,
      });
    },
  );

  it("may be repeated when nobody answers", async () => {
    const { collector, transport: sender } = transport("down", "down");
    expect(await sender.sendUploads(bytes())).toEqual(unanswered);
    expect(collector.sent).toHaveLength(2);
  });

  it("goes without keepalive where another script holds what may outlive the page", async () => {
    const { collector, transport: sender } = transport("down");
    expect(await sender.sendUploads(bytes())).toEqual({ kind: "acknowledged" });
    expect(collector.sent.map(({ init }) => init.keepalive)).toEqual([true, false]);
  });

  it("keeps its share until the answer has ended", async () => {
    let end: () => void = () => {};
    const body = new ReadableStream({
      start(stream) {
        end = () => stream.close();
      },
    });
    const { collector, transport: sender } = transport(new Response(body), created());
    const first = sender.sendUploads(bytes(60 * 1024));
    await sender.sendUploads(bytes(1));
    expect(collector.sent.map(({ init }) => init.keepalive)).toEqual([true, false]);
    end();
    await first;
    await sender.sendUploads(bytes(1));
    expect(collector.sent.map(({ init }) => init.keepalive)).toEqual([true, false, true]);
  });

  it("carries the wait that is asked for", async () => {
    const { transport: sender } = transport(problem(503, "overloaded", { "retry-after": "7" }));
    expect(await sender.sendUploads(bytes())).toMatchObject({ kind: "retry", retryAfterMs: 7000 });
  });

  it("is repeated when the body of the answer is lost, which says whose it is", async () => {
    const lost = () =>
      new ReadableStream({
        pull() {
          throw new Error("connection lost");
        },
      });
    const { transport: sender } = transport(
      ...[lost(), lost()].map((body) => new Response(body, { status: 201 })),
    );
    expect(await sender.sendUploads(bytes())).toEqual(unanswered);
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
    const outcome = sender.sendUploads(bytes());
    await vi.advanceTimersByTimeAsync(30_000);
    expect(await outcome).toMatchObject({
      kind: "retry",
      reason: "the collector did not answer within 30 s",
    });
    expect(vi.getTimerCount()).toBe(0);
  });

  it("keeps what outlives the page within the browser's quota", async () => {
    const { collector, transport: sender } = transport("silent", "silent", "silent", "silent");
    const all = [40_000, 30_000, 20_000, 2_000].map((length) => sender.sendUploads(bytes(length)));
    const keepalive = () => collector.sent.map(({ init }) => init.keepalive);
    expect(keepalive()).toEqual([true, false, true, false]);
    await vi.advanceTimersByTimeAsync(30_000);
    await Promise.all(all);
    // Finished requests no longer count towards the limit of keepalive.
    await sender.sendUploads(bytes(60 * 1024));
    expect(keepalive().at(-1)).toBe(true);
    collector.answers.push(...Array.from({ length: 10 }, () => "silent" as const));
    const many = Array.from({ length: 10 }, () => sender.sendUploads(bytes(1)));
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
