/** The built package in a real browser, against a real collector. */

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type * as Hushbin from "../../../www/client/index.js";
import {
  ALLOWED,
  answers,
  CLIPPED,
  type Estimates,
  EVENTS,
  MEANS,
  OFTEN,
  PLUGINS,
  RATINGS,
  SETTINGS,
  World,
} from "./harness.js";

/** Task for reports whose contents do not matter. */
const FURTHER = { ...EVENTS, id: "further" };

const TASKS = [SETTINGS, PLUGINS, RATINGS, MEANS, EVENTS, CLIPPED, FURTHER, OFTEN];

let world: World;
let before: Record<string, number>;

beforeAll(async () => {
  world = await World.start(...TASKS);
});
afterAll(() => world?.stop());

/** Options of a test's client. */
function options<T>(task: T) {
  return { endpoint: world.endpoint, task, ...ALLOWED };
}

async function counts(): Promise<Record<string, number>> {
  const tasks = TASKS.map(({ id }) => id);
  const reports = await Promise.all(tasks.map((id) => world.reports(id)));
  return Object.fromEntries(tasks.map((id, index) => [id, reports[index] ?? 0]));
}

beforeEach(async () => {
  before = await counts();
  world.gateway.passed.length = 0;
  world.gateway.faults.length = 0;
});

/** Returns the number of reports that a task got since the test began. */
async function arrived(task: string): Promise<number> {
  return (await world.reports(task)) - (before[task] ?? 0);
}

/** Records the files of the package that a page requests from now on. */
function loads(page: Awaited<ReturnType<World["page"]>>): string[] {
  const loaded: string[] = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith("/dist/")) {
      loaded.push(pathname);
    }
  });
  return loaded;
}

describe("reports", () => {
  it("arrive, and their estimates hold the truth", async () => {
    const people = 3000;
    // A third prefers dark mode; two in three of these are against autoplay.
    const inputs = Array.from({ length: people }, (_, person) => {
      if (person % 3 > 0) {
        return { captions: person % 2 === 0 ? 1 : -1 };
      }
      return { "dark-mode": 1, autoplay: person % 9 === 0 ? 1 : -1 };
    });
    await world.reportAll(SETTINGS.id, inputs);
    expect(await arrived("settings")).toBe(people);
    const { estimates } = await world.estimates("settings", "confidence=0.999999");
    const truth: Record<string, [plus: number, minus: number]> = {
      "dark-mode": [1 / 3, 0],
      autoplay: [1 / 9, 2 / 9],
      captions: [1 / 3, 1 / 3],
      telemetry: [0, 0],
    };
    for (const { item, plus, minus, mean, nonmissing } of estimates) {
      const [p, m] = truth[item] ?? [Number.NaN, Number.NaN];
      for (const [estimate, expected] of [
        [plus, p],
        [minus, m],
        [mean, p - m],
        [nonmissing, p + m],
      ] as const) {
        const [low, high] = estimate?.simultaneous_interval ?? [1, -1];
        expect(low, String(item)).toBeLessThan(expected);
        expect(high, String(item)).toBeGreaterThan(expected);
        expect(high - low).toBeLessThan(0.5);
      }
    }
  });

  it("of a client are as true as its answers", async () => {
    const page = await world.page();
    const people = 3000;
    const found = await page.evaluate(
      async ({ people, ...options }) => {
        const client = hushbin.createClient(options);
        const outcomes = new Set<string>();
        for (let person = 0; person < people; person += 1) {
          const { reason = "sent" } = await client.report({ 1: person / people, 4: -0.5 });
          outcomes.add(reason);
        }
        await client.flush();
        const { used } = await client.budget();
        const { pending } = client;
        await client.close();
        return { outcomes: [...outcomes], pending, used };
      },
      { ...options(OFTEN), people },
    );
    expect(found).toEqual({ outcomes: ["sent"], pending: 0, used: people });
    expect(await arrived(OFTEN.id)).toBe(people);
    const { estimates } = await world.estimates(OFTEN.id, "confidence=0.999999");
    for (const { item, mean } of estimates) {
      const [low, high] = mean.simultaneous_interval;
      const truth = { 1: 0.5, 4: -0.5 }[Number(item)] ?? 0;
      expect(low, String(item)).toBeLessThan(truth);
      expect(high, String(item)).toBeGreaterThan(truth);
      expect(high - low).toBeLessThan(0.5);
    }
  });

  it("go to another origin without asking first", async () => {
    const page = await world.page();
    await page.evaluate(async (options) => {
      const client = hushbin.createClient(options);
      await client.report({ autoplay: 1 });
      await client.close();
    }, options(SETTINGS));
    expect(world.gateway.passed.map(({ method, path }) => `${method} ${path}`)).toEqual([
      "POST /tasks/settings/reports",
    ]);
    expect(world.gateway.posts[0]?.contentType).toBeUndefined();
    // The gateway would have recorded a request.
    await page.evaluate(
      (endpoint) =>
        fetch(`${endpoint}/tasks`, { headers: { "x-header": "1" } }).catch(() => undefined),
      world.endpoint,
    );
    expect(world.gateway.passed.some(({ method }) => method === "OPTIONS")).toBe(true);
  });

  it("hold names of any kind in open tasks", async () => {
    // As a key of an object literal, "__proto__" would set the prototype.
    const people = Array.from({ length: 1500 }, (_, person) => [
      ["Wörterbuch, groß", 1],
      ["__proto__", person % 2 === 0 ? 1 : -1],
    ]);
    await world.reportAll(PLUGINS.id, people as never);
    expect(await arrived("plugins")).toBe(1500);
    const query = `confidence=0.999999&items=${encodeURIComponent("Wörterbuch, groß")},nobody`;
    const { estimates } = await world.estimates("plugins", query);
    const [word, nobody] = estimates;
    expect(word?.item).toBe("Wörterbuch, groß");
    expect(word?.mean.simultaneous_interval[1]).toBeGreaterThan(1);
    expect(word?.mean.simultaneous_interval[0]).toBeGreaterThan(0.5);
    expect(Math.abs(nobody?.mean.estimate ?? 1)).toBeLessThan(0.5);
  });

  it.each([RATINGS.id, MEANS.id])("hold real values: %s", async (task) => {
    await world.reportAll(task, Array(3000).fill({ 7: 0.5, 11: -0.25 }));
    const { estimates } = await world.estimates(task, "confidence=0.999999&items=7,11");
    expect(estimates.map(({ item }) => item)).toEqual([7, 11]);
    for (const [index, truth] of [0.5, -0.25].entries()) {
      const [low, high] = estimates[index]?.mean.simultaneous_interval ?? [1, -1];
      expect(low).toBeLessThan(truth);
      expect(high).toBeGreaterThan(truth);
    }
  });

  it.each([SETTINGS, FURTHER])("come from workers too: $id", async (task) => {
    const page = await world.page();
    const reports = await world.reports(task.id);
    const said = await page.evaluate(
      (options) =>
        new Promise((resolve, reject) => {
          const worker = new Worker("/worker.js", { type: "module" });
          worker.onmessage = ({ data }) => resolve(data);
          worker.onerror = ({ message }) => reject(new Error(message));
          worker.postMessage(options);
        }),
      { ...options(task), input: task === FURTHER ? { 7: 1 } : { autoplay: 1 } },
    );
    expect(said).toBe("sent");
    expect(await world.reports(task.id)).toBe(reports + 1);
  });

  it("load the chunk of hash-bin for its tasks alone, and others go on", async () => {
    const page = await world.page();
    const loaded = loads(page);
    const further = await world.reports(FURTHER.id);
    await page.evaluate(async (options) => {
      globalThis.client = hushbin.createClient(options);
      await client.report({ 1: 0.5 });
    }, options(OFTEN));
    const begun = ["/dist/collision-module.js"];
    expect(loaded).toEqual(begun);
    await page.evaluate(async (options) => {
      const other = hushbin.createClient(options);
      await other.ready();
      await client.report({ 1: -0.5 });
      await other.report({ 7: 1 });
      await Promise.all([client.close(), other.close()]);
    }, options(FURTHER));
    expect(loaded).toEqual([...begun, "/dist/complete.js"]);
    expect(await arrived(OFTEN.id)).toBe(2);
    expect(await world.reports(FURTHER.id)).toBe(further + 1);
  });
});

describe("reports of hash-bin", () => {
  const people = 4000;

  /** Reports once for each person, with a fixed seed. */
  async function answered(
    task: string,
    inputs: readonly Record<string, number>[],
  ): Promise<Estimates> {
    const page = await world.page({
      init: () => {
        crypto.getRandomValues = (array) => {
          (array as unknown as Uint8Array).fill(1);
          return array;
        };
      },
    });
    // All reports are in one upload, whose id is drawn last.
    await world.reportAll(task, inputs, page);
    const found = await world.estimates(task, "confidence=0.999");
    expect(found.reports).toBe(inputs.length);
    expect(found.estimates.map(({ item }) => item)).toEqual([...Array(12).keys()]);
    return found;
  }

  /** Checks that every mean is within the simultaneous intervals at 99.9 per cent. */
  function expectMeans({ estimates }: Estimates, truth: Readonly<Record<number, number>>) {
    for (const { item, mean, ...others } of estimates) {
      expect(others).toEqual({});
      const [low, high] = mean.simultaneous_interval;
      expect(low, String(item)).toBeLessThan(truth[Number(item)] ?? 0);
      expect(high, String(item)).toBeGreaterThan(truth[Number(item)] ?? 0);
      expect(high - low).toBeLessThan(0.3);
    }
  }

  it("take in everything at event level, and say what that protects", async () => {
    // Two or three times as many entries as the sparsity.
    const inputs = Array.from({ length: people }, (_, person): Record<string, number> => {
      const all = { 0: 1, 3: -0.5, 7: 0.5, 11: -0.25 };
      return person % 2 === 0 ? all : { ...all, 1: -1, 8: 0.75 };
    });
    const found = await answered(EVENTS.id, inputs);
    expectMeans(found, { 0: 1, 1: -0.5, 3: -0.5, 7: 0.5, 8: 0.375, 11: -0.25 });
    expect(found.privacy.protects).toBe("the value of any single item, not a whole input");
    const shown = await (await fetch(`${world.collector.url}/tasks/${EVENTS.id}`)).json();
    expect(shown).toMatchObject({ task: EVENTS, protects: found.privacy.protects });
    expect(found.privacy.statement).toContain("from 50 % sure of the value of one item");
    expect(found.privacy.statement).toContain(
      "many items of a person say together is not protected",
    );
    expect(found.bias_statement).toBeUndefined();
  });

  it("are clipped at user level, and the answer says what that takes off", async () => {
    const inputs = Array.from(
      { length: people },
      (_, person): Record<string, number> =>
        person % 2 === 0 ? { [person % 4 === 0 ? 7 : 11]: 1 } : { 0: 1, 1: -1 },
    );
    const found = await answered(CLIPPED.id, inputs);
    expect(found.privacy.protects).toBe("a person's whole input");
    expect(found.privacy.statement).toContain("from 50 % sure of the answer to at most");
    expect(found.bias_statement).toContain("clipped to ±1,");
    // Two full entries cancel, or add up to ±2, of which half remains.
    expect(found.bias_statement).toContain(
      "a person with 2 full entries, a fraction 0.500 of each value remains",
    );
    const half = 0.5 * 0.5;
    expectMeans(found, { 0: half, 1: -half, 7: 0.25, 11: 0.25 });
    // The true mean is 0.5.
    expect(found.estimates[0]?.mean.simultaneous_interval[1]).toBeLessThan(0.5);
  });

  it.each([EVENTS.id, CLIPPED.id])(
    "have means alone, of which nothing more is made: %s",
    async (task) => {
      for (const post of ["conditional-mean", "projection"]) {
        const response = await fetch(
          `${world.collector.url}/tasks/${task}/estimates?post_processing=${post}`,
        );
        expect(response.status).toBe(400);
        expect(response.headers.get("content-type")).toBe("application/problem+json");
        expect(await response.json()).toMatchObject({
          type: "urn:hushbin:problem:impossible-post-processing",
          post_processing: post,
          detail: expect.stringContaining("which the task's mechanism does not give"),
        });
      }
    },
  );
});

describe("failures", () => {
  it("are outlived: the same bytes arrive once, whatever got lost", async () => {
    const page = await world.page();
    world.gateway.faults.push("refuse", "lose-answer", "lose-answer", "refuse");
    const made = Array.from({ length: 10 }, (_, number) => answers(number));
    const pending = await page.evaluate(
      async ({ made, ...options }) => {
        const client = hushbin.createClient(options);
        // The client first sends reports of earlier pages, of which there are none here.
        await client.flush();
        for (const answers of made) {
          await client.report(answers);
        }
        const codes: string[] = [];
        for (let tries = 0; tries < 4; tries += 1) {
          await client.flush().catch((error) => codes.push(error.code));
        }
        await client.flush();
        return { pending: client.pending, codes };
      },
      { ...options(OFTEN), made },
    );
    // A request is repeated, because it may have failed for the browser's quota.
    expect(pending).toEqual({ pending: 0, codes: Array(2).fill("network") });
    expect(world.gateway.posts).toHaveLength(5);
    expect(new Set(world.gateway.posts.map(({ body }) => body.toString("hex"))).size).toBe(1);
    expect(await arrived(OFTEN.id)).toBe(10);
  });

  it("of the collector are outlived: killed, restarted, counted once", async () => {
    const page = await world.page();
    await page.evaluate(async (options) => {
      globalThis.client = hushbin.createClient(options);
      await client.report({ 1: 1 });
      await client.flush();
    }, options(OFTEN));
    await world.collector.stop("SIGKILL");
    const code = await page.evaluate(async () => {
      await client.report({ 1: -1 });
      await client.report({ 2: 1 });
      return client.flush().catch((error) => error.code);
    });
    expect(code).toBe("network");
    await world.startCollector();
    expect(await arrived(OFTEN.id)).toBe(1);
    // The client retries by itself.
    await page.waitForFunction(() => client.pending === 0);
    expect(await arrived(OFTEN.id)).toBe(3);
  });

  it("of parameters are final", async () => {
    const page = await world.page();
    const error = await page.evaluate(
      async (options) => {
        const client = hushbin.createClient(options);
        await client.report({ autoplay: 1 });
        const { code, status, problem } = await client.flush().catch((error) => error);
        const again = await client.flush().then(
          () => "nothing left",
          () => "failed",
        );
        return { code, status, problem, again };
      },
      options({ ...SETTINGS, epsilon: 4 }),
    );
    expect(error).toEqual({
      code: "upload-rejected",
      status: 409,
      problem: "urn:hushbin:problem:fingerprint-mismatch",
      again: "nothing left",
    });
    expect(world.gateway.posts).toHaveLength(1);
    expect(await arrived("settings")).toBe(0);
  });
});

describe("a page that goes", () => {
  it.each([
    ["to another page", (page) => page.goto("about:blank")],
    ["to sleep with its tab", (page) => page.close({ runBeforeUnload: true })],
  ] as [string, (page: Awaited<ReturnType<World["page"]>>) => Promise<unknown>][])(
    "%s leaves its reports with the browser",
    async (_, leave) => {
      const page = await world.page();
      await page.evaluate(async (options) => {
        const client = hushbin.createClient({ ...options, delayMs: 1_000_000 });
        // The client first sends reports of earlier pages, of which there are none here.
        await client.flush();
        await client.report({ 1: 1 });
        await client.report({ 2: -1 });
      }, options(OFTEN));
      expect(await arrived(OFTEN.id)).toBe(0);
      await leave(page);
      await expect.poll(() => arrived(OFTEN.id)).toBe(2);
      expect(world.gateway.posts).toHaveLength(1);
    },
  );
});

describe("a later visit", () => {
  it("loads the first file and asks for nothing, if its report is made", async () => {
    const page = await world.page();
    const loaded = loads(page);
    const visit = async () => {
      loaded.length = 0;
      await page.goto(new URL("/alone", world.site).href);
      await page.waitForFunction(() => "hushbin" in globalThis);
      const receipt = await page.evaluate(async (options) => {
        const client = hushbin.createClient(options);
        const receipt = await client.report({ autoplay: 1 });
        await client.close();
        return receipt;
      }, options(SETTINGS));
      return [receipt.reason ?? "sent", ...loaded];
    };
    const files = ["index", "engine", "collision-module"].map((name) => `/dist/${name}.js`);
    expect(await visit()).toEqual(["sent", ...files]);
    expect(await arrived(SETTINGS.id)).toBe(1);
    world.gateway.passed.length = 0;
    expect(await visit()).toEqual(["over-budget", "/dist/index.js"]);
    expect(world.gateway.passed).toEqual([]);
  });
});

describe("named errors", () => {
  /** Returns the code of the failure of creating a client, sending, or reporting. */
  async function codeOf(
    own: Record<string, unknown>,
    input: Record<string, number> = {},
    page?: Awaited<ReturnType<World["page"]>>,
  ): Promise<string> {
    const target = page ?? (await world.page());
    return target.evaluate(
      async ({ options, input }) => {
        try {
          const client = hushbin.createClient(options as never);
          const report = client.report(input);
          // Reports wait for an unreachable collector; the test does not.
          report.catch(() => {});
          await client.flush();
          await report;
          await client.close();
          return "none";
        } catch (error) {
          return error instanceof hushbin.HushbinError ? `${error.name} ${error.code}` : "unnamed";
        }
      },
      { options: { ...options(SETTINGS.id), ...own }, input },
    );
  }

  it("tell unknown items and values out of range", async () => {
    const own = { task: SETTINGS };
    expect(await codeOf(own, { "dark mode": 1 })).toBe("UnknownItemError unknown-item");
    expect(await codeOf(own, { autoplay: 0.5 })).toBe("ValueRangeError value-range");
    expect(world.gateway.posts).toHaveLength(0);
  });

  it("tell unknown tasks, wrong pins and unreachable collectors", async () => {
    expect(await codeOf({ task: "nothing" })).toBe("TaskError unknown-task");
    const { fingerprint } = await world.estimates("settings");
    expect(await codeOf({ fingerprint })).toBe("none");
    expect(await codeOf({ fingerprint: "0".repeat(32) })).toBe("TaskError fingerprint-mismatch");
    expect(await codeOf({ endpoint: "http://127.0.0.1:9" })).toBe("NetworkError network");
  });

  it("tell missing randomness, and nothing is sent", async () => {
    const page = await world.page({
      init: () => {
        crypto.getRandomValues = () => {
          throw new DOMException("no randomness", "OperationError");
        };
      },
    });
    expect(await codeOf({ task: SETTINGS }, {}, page)).toBe("EntropyError no-entropy");
    await page.goto("about:blank");
    expect(world.gateway.passed).toHaveLength(0);
  });
});

describe("the slim entry", () => {
  /** Reports as a first-time visitor. */
  const report = async (options: Hushbin.ClientOptions) => {
    const client = slim.createClient({ ...options, storage: "memory" });
    await client.report({ autoplay: 1 });
    await client.close();
  };

  it.each(["application/wasm", "application/octet-stream"])(
    "loads the module from a URL as %s",
    async (contentType) => {
      const page = await world.page();
      await page.route("**/hushbin.wasm", async (route) => {
        const response = await route.fetch();
        await route.fulfill({ response, headers: { "content-type": contentType } });
      });
      await page.evaluate(() => slim.initialize("/dist/hushbin.wasm"));
      await page.evaluate(report, options(SETTINGS.id));
      expect(await arrived("settings")).toBe(1);
    },
  );

  it("takes a response, bytes or a compiled module", async () => {
    const page = async (initialize: () => Promise<void>) => {
      const fresh = await world.page();
      await fresh.evaluate(initialize);
      await fresh.evaluate(report, options(SETTINGS.id));
    };
    await page(() => slim.initialize(fetch("/dist/hushbin.wasm")));
    await page(async () => {
      const response = await fetch("/dist/hushbin.wasm");
      await slim.initialize(await response.arrayBuffer());
    });
    await page(async () => {
      const response = await fetch("/dist/hushbin.wasm");
      await slim.initialize(await WebAssembly.compileStreaming(response));
    });
    expect(await arrived("settings")).toBe(3);
  });

  it("begins with the smaller module, and fetches the complete one for hash-bin", async () => {
    const page = await world.page();
    const all = loads(page);
    const loaded = () => all.filter((path) => path.endsWith(".wasm"));
    const further = await world.reports(FURTHER.id);
    await page.evaluate(() => slim.initialize("/dist/collision.wasm", "/dist/hushbin.wasm"));
    await page.evaluate(report, options(SETTINGS.id));
    expect(loaded()).toEqual(["/dist/collision.wasm"]);
    await page.evaluate(async (options) => {
      const client = slim.createClient(options);
      await client.report({ 7: 1 });
      await client.close();
    }, options(FURTHER));
    expect(loaded().slice(1)).toEqual(["/dist/hushbin.wasm"]);
    expect(await world.reports(FURTHER.id)).toBe(further + 1);
    await page.evaluate(report, options(SETTINGS.id));
    expect(await arrived("settings")).toBe(2);
  });

  it("says what is missing, and can be tried again", async () => {
    const page = await world.page();
    const codes = await page.evaluate(async (options) => {
      const client = slim.createClient(options);
      const code = (attempt: Promise<unknown>) =>
        attempt.then(
          () => "none",
          (error) => error.code,
        );
      return [
        await code(client.ready()),
        await code(slim.initialize("/nowhere.wasm")),
        await code(slim.initialize("/entry.js")),
        await code(slim.initialize("/dist/hushbin.wasm")),
        await code(client.ready()),
      ];
    }, options(SETTINGS.id));
    expect(codes).toEqual(["wasm", "wasm", "wasm", "none", "none"]);
  });
});
