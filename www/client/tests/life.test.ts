/** Tests of the events of pages, workers and processes that a client uses. */

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { answers, clientOf, FakeCollector, problem, stubPage } from "./harness.js";

const down = (times: number) => Array.from({ length: times }, () => "down" as const);

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubGlobal("BroadcastChannel", undefined);
});
afterEach(() => {
  vi.useRealTimers();
});

describe("a page", () => {
  it("that is hidden or left hands over what waits, before the event ends", async () => {
    const page = stubPage();
    const collector = new FakeCollector();
    const client = clientOf(collector);
    await client.report(answers(1));
    expect(collector.sent).toHaveLength(0);
    page.hidden = true;
    expect(collector.counts).toEqual([1]);
    expect(collector.sent[0]?.init.keepalive).toBe(true);
    await vi.advanceTimersByTimeAsync(0);
    page.hidden = false;
    await client.report(answers(2));
    page.tell("pagehide");
    expect(collector.counts).toEqual([1, 1]);
    page.tell("pagehide");
    expect(collector.sent).toHaveLength(2);
  });

  it("that is hidden already does not wait for company", async () => {
    const page = stubPage();
    const collector = new FakeCollector();
    const client = clientOf(collector);
    await client.ready();
    page.hidden = true;
    await client.report(answers(1));
    expect(collector.counts).toEqual([1]);
  });

  it("that is hidden ends a pause of our own, not one that was asked for", async () => {
    const page = stubPage();
    const asked = problem(503, "overloaded", { "retry-after": "60" });
    const collector = new FakeCollector(...down(2), asked);
    const client = clientOf(collector, { onError: () => {} });
    await client.report(answers(1));
    await client.flush().catch(() => {});
    page.hidden = true;
    expect(collector.sent).toHaveLength(3);
    await vi.advanceTimersByTimeAsync(0);
    page.hidden = true;
    page.tell("online");
    page.tell("pageshow");
    await vi.advanceTimersByTimeAsync(0);
    expect(collector.sent).toHaveLength(3);
  });

  it.each(["online", "pageshow"])("goes on at %s", async (event) => {
    const page = stubPage();
    const collector = new FakeCollector(...down(2));
    const client = clientOf(collector, { onError: () => {} });
    await client.report(answers(1));
    await client.flush().catch(() => {});
    page.tell(event);
    await vi.advanceTimersByTimeAsync(0);
    expect(collector.sent).toHaveLength(3);
    expect(client.pending).toBe(0);
  });

  it("reports where channels between tabs are forbidden, as at Next.js's edge", async () => {
    stubPage();
    vi.stubGlobal(
      "BroadcastChannel",
      class {
        constructor() {
          throw new Error("A Node.js API is used (BroadcastChannel)");
        }
      },
    );
    const client = clientOf(new FakeCollector());
    expect(await client.report(answers(1))).toMatchObject({ sent: true });
  });

  it("that closed its client is left alone", async () => {
    const page = stubPage();
    const removed = vi.spyOn(page, "removeEventListener");
    const collector = new FakeCollector();
    const client = clientOf(collector);
    await client.report(answers(1));
    await client.close();
    expect(removed.mock.calls.map(([name]) => name).sort()).toEqual([
      "freeze",
      "online",
      "pagehide",
      "pagehide",
      "pageshow",
      "pageshow",
      "visibilitychange",
    ]);
    page.hidden = true;
    page.tell("pagehide");
    expect(collector.counts).toEqual([1]);
  });
});

describe("without a page", () => {
  it("a worker, which nothing tells that it ends, does not wait for company", async () => {
    vi.stubGlobal("process", Object.create(process, { once: { value: undefined } }));
    const collector = new FakeCollector();
    const client = clientOf(collector);
    await client.report(answers(1));
    await vi.advanceTimersByTimeAsync(0);
    expect(collector.counts).toEqual([1]);
  });

  it("what stands in for a process, as in edge routes, is left alone", async () => {
    const once = () => {
      throw new Error("a Node.js API is used");
    };
    vi.stubGlobal("process", { env: {}, once });
    const collector = new FakeCollector();
    const client = clientOf(collector);
    await client.report(answers(1));
    await vi.advanceTimersByTimeAsync(0);
    expect(collector.counts).toEqual([1]);
    await client.close();
  });

  it("clients of a process share one listener, as Node warns if there are many", async () => {
    const before = process.listenerCount("beforeExit");
    const clients = Array.from({ length: 12 }, () => clientOf(new FakeCollector()));
    await Promise.all(clients.map((client) => client.report(answers(1))));
    expect(process.listenerCount("beforeExit")).toBe(before + 1);
    clients.forEach((client) => void client.destroy());
    expect(process.listenerCount("beforeExit")).toBe(before);
  });

  it("a process sends what waits before it ends, and is not kept from ending", async () => {
    const listeners: (() => void)[] = [];
    const once = vi.fn((_event: string, run: () => void) => void listeners.push(run));
    const off = vi.fn();
    vi.stubGlobal(
      "process",
      Object.create(process, { once: { value: once }, off: { value: off } }),
    );
    const collector = new FakeCollector();
    const client = clientOf(collector);
    await client.report(answers(1));
    expect(collector.sent).toHaveLength(0);
    expect(once.mock.calls.map(([event]) => event)).toEqual(["beforeExit"]);
    listeners.forEach((run) => void run());
    await vi.advanceTimersByTimeAsync(0);
    expect(collector.counts).toEqual([1]);
    await client.close();
    expect(off).toHaveBeenCalledWith("beforeExit", listeners[0]);
  });
});
