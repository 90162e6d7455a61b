import { describe, expect, it, vi } from "vitest";
import { type ClientOptions, createClient, createRandomizer } from "../index.js";
import { answers, clientOf, FakeCollector, SETTINGS } from "./harness.js";

const made = (options: object) => () =>
  createClient({
    endpoint: "https://collector.example",
    task: SETTINGS,
    ...options,
  } as ClientOptions);

describe("options", () => {
  it.each([
    [{ endpoint: undefined }, /^endpoint is undefined, expected the collector's URL/],
    [{ endpoint: "collector.example" }, /^endpoint is collector\.example, expected/],
    [{ endpoint: "/telemetry" }, /^endpoint is \/telemetry, expected the collector's URL/],
    [{ endpoint: "ftp://collector.example" }, /with https:\/\/ or http:\/\//],
    [{ endpoint: "https://collector.example/tasks/settings" }, /without \/tasks/],
    [{ endpoint: "https://collector.example/tasks/" }, /without \/tasks/],
    [{ endpoint: "https://collector.example/?x=1" }, /without \/tasks, query and fragment/],
    [{ endpoint: "https://collector.example/?" }, /without \/tasks, query and fragment/],
    [{ endpoint: 7 }, /^endpoint is 7, expected/],
    [{ delayMs: "5s" }, /^delayMs is 5s, expected 0 to 86400000/],
    [{ delayMs: "5" }, /^delayMs is 5, expected/],
    [{ delayMs: Number.NaN }, /^delayMs is NaN/],
    [{ delayMs: -1 }, /^delayMs is -1/],
    [{ maxEpsilon: -1 }, /^maxEpsilon is -1, expected/],
    [{ maxEpsilon: Number.NaN }, /^maxEpsilon is NaN/],
    [{ storage: "disk" }, /^storage is disk, expected device, spend-again, memory/],
    [{ fingerprint: "abc" }, /^fingerprint is abc, expected 32 digits/],
    [{ fingerprint: null }, /^fingerprint is null, expected 32 digits/],
    [{ fingerprint: 7 }, /^fingerprint is 7, expected 32 digits/],
    [{ task: "tasks/settings" }, /^task is tasks\/settings, expected a task, or the id of one/],
    [{ task: undefined }, /^task is undefined, expected a task, or the id of one/],
    [{ task: { ...SETTINGS, id: undefined } }, /^task is an object, expected a task/],
  ])("%o is an error that says what is expected", (options, message) => {
    expect(made(options)).toThrow(message);
    expect(made(options)).toThrow(expect.objectContaining({ code: "option" }));
  });

  it.each([
    [{ task: { ...SETTINGS, epsilon: 50 } }, /epsilon is 50, expected 0\.001 to 12/],
    [{ task: { ...SETTINGS, mechanism: undefined } }, /mechanism is missing/],
    [{ task: { ...SETTINGS, budget: { days: "7" } } }, /days is not a number/],
  ])(
    "a task that is none is an error of the first call that needs it: %#",
    async (options, message) => {
      const client = made(options)();
      client.grant();
      const expected = { code: "invalid-task", message: expect.stringMatching(message) };
      await expect(client.ready()).rejects.toMatchObject(expected);
      await expect(client.report({})).rejects.toMatchObject(expected);
      client.destroy();
    },
  );

  it.each([undefined, null, "https://collector.example", 7])("%s is none", (options) => {
    const made = () => createClient(options as unknown as ClientOptions);
    expect(made).toThrow(/^endpoint is undefined, expected the collector's URL/);
    expect(made).toThrow(expect.objectContaining({ code: "option" }));
    const randomizer = createRandomizer(options as never);
    return expect(randomizer).rejects.toMatchObject({ code: "invalid-task" });
  });

  it("may name a host by any name", () => {
    const { about } = made({ endpoint: "https://tasks/" })();
    expect(about.url).toBe("https://tasks/tasks/settings");
  });

  it("may be relative to the page", async () => {
    vi.stubGlobal("location", { href: "https://page.example/shop/cart" });
    const collector = new FakeCollector();
    const client = clientOf(collector, { endpoint: "../telemetry/" });
    await client.report(answers(1));
    await client.flush();
    expect(collector.sent[0]?.url).toBe("https://page.example/telemetry/tasks/often/reports");
  });

  it("may be a window's own fetch, which insists on its window", async () => {
    const collector = new FakeCollector();
    const client = clientOf(collector, {
      fetch(this: unknown, url: string | URL | Request, init?: RequestInit) {
        if (this !== globalThis) {
          throw new TypeError("Illegal invocation");
        }
        return collector.fetch(url, init);
      },
    });
    await client.report(answers(1));
    await client.flush();
    expect(collector.counts).toEqual([1]);
  });
});
