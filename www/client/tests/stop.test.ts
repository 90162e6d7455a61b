/** Tests of clients that are stopped while they open: afterwards nothing is sent or stored. */

import { IDBObjectStore } from "fake-indexeddb";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { type Client, type ClientOptions, createRandomizer } from "../index.js";
import { Analyser, FakeShuffler } from "./analyser.js";
import { answers, clientOf, FakeCollector, OFTEN, stubDatabase } from "./harness.js";

const SUMS = {
  id: "timings",
  trust: "shuffler",
  epsilon: 1,
  delta: 1e-6,
  people: 1000,
  numbers: [{ name: "load", min: 0, max: 10 }],
  messages: { levels: 8, drawn: 1, trials: 1, threshold: "4611686018427387904", noise: 2 },
} as const;

let analyser: Analyser;
let ofSums: Analyser;
let fingerprint: string;

beforeAll(async () => {
  ({ fingerprint } = await clientOf(new FakeCollector()).ready());
  analyser = await Analyser.create(fingerprint);
  ofSums = await Analyser.create((await createRandomizer({ task: SUMS })).fingerprint, 1);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** Options and responses for each kind of client. Opening waits for different things in each. */
const kinds = {
  "of a task in the page": () => ({ task: OFTEN }),
  "of a task by id": () => ({ task: "often", fingerprint }),
  "that seals": () => ({ task: OFTEN, analyser: [analyser.pin] }),
  "that seals, by id": () => ({ task: "often", fingerprint, analyser: [analyser.pin] }),
  "of sums": () => ({
    task: SUMS,
    trust: "shuffler",
    maxEpsilon: undefined,
    analyser: [ofSums.pin],
  }),
};

/** Calls `step` when a method is called, and when its promise is fulfilled. */
function stepping(target: object, name: string, step: (what: string) => void): void {
  const spied = target as Record<string, (...given: unknown[]) => Promise<unknown>>;
  const original = spied[name];
  vi.spyOn(spied, name).mockImplementation(async function (this: unknown, ...given) {
    step(name);
    const result = await original?.apply(this, given);
    step(`${name} done`);
    return result;
  });
}

/** Counts of requests, opened databases and reports. */
interface Traces {
  requests: number;
  databases: number;
  reports: number;
}

/**
 * Opens a client and reports, in a browser where an earlier page left a report.
 *
 * @param step called at each step that the opening awaits
 */
async function opened(
  kind: keyof typeof kinds,
  step: (what: string, client: Client, traces: Traces) => void,
): Promise<Traces> {
  const factory = stubDatabase();
  const earlier = clientOf(new FakeCollector(), { storage: "device", delayMs: 1e6 });
  await earlier.report(answers(1));
  earlier.destroy();
  const traces: Traces = { requests: 0, databases: 0, reports: 0 };
  const shuffler = new FakeShuffler(analyser.key, ofSums.key);
  const collector = {
    fetch: async (url: string, init: RequestInit) => {
      traces.requests += 1;
      return url.endsWith("/often")
        ? Response.json({ task: OFTEN, fingerprint })
        : shuffler.fetchAll(url, init);
    },
  };
  const client = clientOf(shuffler, {
    storage: "device",
    consent: false,
    onError: () => {},
    fetch: (url: string, init: RequestInit) => collector.fetch(url, init),
    ...kinds[kind](),
  } as unknown as ClientOptions);
  const at = (what: string) => step(what, client, traces);
  stepping(collector, "fetch", at);
  stepping(Response.prototype, "text", at);
  for (const name of ["digest", "generateKey", "encrypt"]) {
    stepping(crypto.subtle, name, at);
  }
  const open = factory.open.bind(factory);
  vi.spyOn(factory, "open").mockImplementation((...given) => {
    traces.databases += 1;
    at("open");
    const request = open(...given);
    request.addEventListener("success", () => at("open done"));
    return request;
  });
  const add = IDBObjectStore.prototype.add;
  vi.spyOn(IDBObjectStore.prototype, "add").mockImplementation(function (
    this: IDBObjectStore,
    ...given
  ) {
    traces.reports += 1;
    return add.apply(this, given);
  });
  client.grant();
  const input = kind === "of sums" ? { load: 5 } : answers(2);
  const reported = client.report(input as never).catch(() => {});
  at("grant");
  await reported;
  await later();
  return traces;
}

/** Waits until pending work is done. */
const later = () => new Promise((resolve) => setTimeout(resolve, 10));

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn += 1) {
    await Promise.resolve();
  }
};

const stops = {
  /** Reads the database once, for waiting reports. */
  revoke: { stop: (client: Client) => void client.revoke().catch(() => {}), looks: 1 },
  destroy: { stop: (client: Client) => client.destroy(), looks: 0 },
};

const cases = Object.keys(kinds).flatMap((kind) =>
  Object.keys(stops).map((how) => [how as keyof typeof stops, kind as keyof typeof kinds] as const),
);

describe.each([0, 2, 5])("%i turns after any step of its opening", (count) => {
  it.each(cases)("%s ends a client %s", async (how, kind) => {
    const { stop, looks } = stops[how];
    const after: unknown[] = [];
    for (let chosen = 0, done = false; !done; chosen += 1) {
      let steps = 0;
      let before: (Traces & { at: string }) | undefined;
      const traces = await opened(kind, async (what, client, traces) => {
        if (steps++ === chosen) {
          await turns(count);
          before = { ...traces, at: `${chosen}: ${what}` };
          stop(client);
        }
      });
      vi.restoreAllMocks();
      done = before === undefined;
      const { at, requests = 0, databases = 0, reports = 0 } = before ?? {};
      if (done) {
        // This is the last run, which was not stopped.
        expect(traces.reports).toBe(1);
        expect(chosen).toBeGreaterThan(3);
      } else if (
        traces.requests !== requests ||
        traces.reports !== reports ||
        traces.databases > databases + looks
      ) {
        after.push([at, { requests, databases, reports }, traces]);
      }
    }
    expect(after).toEqual([]);
  });
});

describe("a client that is stopped", () => {
  it.each(Object.keys(stops))("by %s does not open for who waited for consent", async (how) => {
    const factory = stubDatabase();
    const collector = new FakeCollector("silent", "silent");
    const client = clientOf(collector, { task: "often", storage: "device", consent: false });
    const ready = client.ready().catch(({ code }) => code);
    client.grant();
    const before = collector.sent.length;
    stops[how as keyof typeof stops].stop(client);
    expect(await Promise.race([ready, later()])).toBe("closed");
    expect(collector.sent.length).toBe(before);
    expect(await factory.databases()).toEqual([]);
    if (how === "revoke") {
      client.grant();
      await vi.waitFor(() => expect(collector.sent.length).toBe(before + 1));
    }
  });

  it("tells who flushes that not all was sent", async () => {
    stubDatabase();
    const collector = new FakeCollector();
    const client = clientOf(collector, { storage: "device" });
    await client.report(answers(1));
    const flushed = client.flush().catch(({ code }) => code);
    client.destroy();
    expect(await flushed).toBe("closed");
    expect(collector.sent.length).toBe(0);
  });

  it("makes no report of what is being sealed, and says so", async () => {
    stubDatabase();
    const shuffler = new FakeShuffler(analyser.key);
    const client = clientOf(shuffler, {
      storage: "device",
      fetch: shuffler.fetchAll,
      analyser: [analyser.pin],
      delayMs: 1e6,
      debug: true,
    } as Partial<ClientOptions>);
    for (const method of ["groupCollapsed", "log", "groupEnd"] as const) {
      vi.spyOn(console, method).mockImplementation(() => {});
    }
    await client.ready();
    const encrypt = crypto.subtle.encrypt.bind(crypto.subtle);
    vi.spyOn(crypto.subtle, "encrypt").mockImplementation(async (...given) => {
      await client.revoke();
      return encrypt(...given);
    });
    expect(await client.report(answers(1))).toMatchObject({ reason: "no-consent", epsilon: 0 });
    expect(await client.history()).toEqual([]);
  });
});
