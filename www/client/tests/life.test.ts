/** Tests of the events of pages, workers and processes that a client uses. */

import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { answers, clientOf, FakeCollector, problem } from "./harness.js";

const down = (times: number) => Array.from({ length: times }, () => "down" as const);

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** Stubs the part of a page whose events a client uses. */
function page() {
  const target = new EventTarget();
  const fake = Object.assign(new EventTarget(), { visibilityState: "visible" });
  const removed = [vi.spyOn(target, "removeEventListener"), vi.spyOn(fake, "removeEventListener")];
  vi.stubGlobal("document", fake);
  vi.stubGlobal("BroadcastChannel", undefined);
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
    tell: (event: string) => target.dispatchEvent(new Event(event)),
  };
}

describe("a page", () => {
  it("that is hidden or left hands over what waits, before the event ends", async () => {
    const events = page();
    const collector = new FakeCollector();
    const client = clientOf(collector);
    await client.report(answers(1));
    expect(collector.sent).toHaveLength(0);
    events.hide();
    expect(collector.counts).toEqual([1]);
    expect(collector.sent[0]?.init.keepalive).toBe(true);
    await vi.advanceTimersByTimeAsync(0);
    events.show();
    await client.report(answers(2));
    events.tell("pagehide");
    expect(collector.counts).toEqual([1, 1]);
    events.tell("pagehide");
    expect(collector.sent).toHaveLength(2);
  });

  it("that is hidden already does not wait for company", async () => {
    const events = page();
    const collector = new FakeCollector();
    const client = clientOf(collector);
    await client.ready();
    events.hide();
    await client.report(answers(1));
    expect(collector.counts).toEqual([1]);
  });

  it("that is hidden ends a pause of our own, not one that was asked for", async () => {
    const events = page();
    const asked = problem(503, "overloaded", { "retry-after": "60" });
    const collector = new FakeCollector(...down(2), asked);
    const client = clientOf(collector, { onError: () => {} });
    await client.report(answers(1));
    await client.flush().catch(() => {});
    events.hide();
    expect(collector.sent).toHaveLength(3);
    await vi.advanceTimersByTimeAsync(0);
    events.hide();
    events.tell("online");
    events.tell("pageshow");
    await vi.advanceTimersByTimeAsync(0);
    expect(collector.sent).toHaveLength(3);
  });

  it.each(["online", "pageshow"])("goes on at %s", async (event) => {
    const events = page();
    const collector = new FakeCollector(...down(2));
    const client = clientOf(collector, { onError: () => {} });
    await client.report(answers(1));
    await client.flush().catch(() => {});
    events.tell(event);
    await vi.advanceTimersByTimeAsync(0);
    expect(collector.sent).toHaveLength(3);
    expect(client.pending).toBe(0);
  });

  it("that closed its client is left alone", async () => {
    const events = page();
    const collector = new FakeCollector();
    const client = clientOf(collector);
    await client.report(answers(1));
    await client.close();
    expect(events.removed().sort()).toEqual([
      "freeze",
      "online",
      "pagehide",
      "pagehide",
      "pageshow",
      "pageshow",
      "visibilitychange",
    ]);
    events.hide();
    events.tell("pagehide");
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
