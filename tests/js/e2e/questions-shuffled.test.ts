/**
 * Answers counted through a shuffler: from headless Chromium to the estimates and the dashboard of
 * the analyser.
 *
 * The first people each have a client. The others are in one page, whose randomiser and sealer are
 * those of the clients: about 20,000 clients would take minutes.
 */

import { setTimeout as pause } from "node:timers/promises";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import type * as Hushbin from "../../../www/client/index.js";
import { launchChromium } from "../../../www/scripts/lib/browser.mjs";
import { DIST } from "../../../www/scripts/lib/paths.mjs";
import { serve } from "../../../www/scripts/lib/serve.mjs";
import { expectForEverybody } from "./axe.js";
import { Gateway } from "./gateway.js";
import { newContext } from "./harness.js";
import { Parties } from "./parties.js";

/** Number of people with a client of their own, of each task. */
const CLIENTS = 50;
/** Number of people whose reports are in one request. */
const TOGETHER = 500;

const PROMISE = { trust: "shuffler", epsilon: 1, delta: 1e-6 } as const;
const BROWSERS = Array.from({ length: 16 }, (_, index) => `browser-${index + 1}`);
const FEATURES = Array.from({ length: 12 }, (_, index) => `feature-${index + 1}`);
const BINS = 64;

/** Part of the people that come before this person. */
const part = (person: number, people: number) => (person + 0.5) / people;

/** Tasks of 20,000 people in all: their drafts, answers in each release, and items of an answer. */
const CASES = [
  {
    draft: {
      ...PROMISE,
      id: "browser",
      people: 6_000,
      questions: [{ name: "browser", kind: "choice", options: BROWSERS }],
    },
    releases: 2,
    // In the second release, popular options are more popular.
    answerOf: (person: number, people: number, release: number) => ({
      browser: BROWSERS[Math.floor(16 * part(person, people) ** (1 + release))] ?? "",
    }),
    itemsOf: ({ browser = "" }: Record<string, unknown>) => [browser],
  },
  {
    draft: {
      ...PROMISE,
      id: "features",
      people: 4_000,
      questions: [{ name: "features", kind: "set", options: FEATURES, sparsity: 3 }],
    },
    releases: 1,
    answerOf: (person: number) => ({
      features: FEATURES.filter((_, index) => person % (index + 2) === 0).slice(0, 3),
    }),
    itemsOf: ({ features }: Record<string, unknown>) => features as string[],
  },
  {
    draft: {
      ...PROMISE,
      id: "load-time",
      people: 2_000,
      questions: [{ name: "load", kind: "number", min: 0, max: 6_400, bins: BINS, unit: "ms" }],
    },
    releases: 1,
    answerOf: (person: number, people: number) => ({ load: 6_400 * part(person, people) ** 2 }),
    itemsOf: ({ load }: Record<string, unknown>) => [Math.floor(Number(load) / 100)],
  },
  {
    draft: {
      ...PROMISE,
      id: "settings",
      people: 2_000,
      questions: [
        { name: "beta", kind: "flag" },
        { name: "dark", kind: "flag" },
      ],
    },
    releases: 1,
    answerOf: (person: number) => ({ beta: person % 10 === 0, dark: person % 3 > 0 }),
    itemsOf: (flags: Record<string, unknown>) => Object.keys(flags).filter((name) => flags[name]),
  },
] as const;

interface Estimate {
  readonly estimate: number;
  readonly simultaneous_interval: readonly [number, number];
}

interface Counts {
  readonly people: number;
  readonly estimates: readonly {
    readonly item: string | number;
    readonly mean: Estimate;
    readonly sum: Estimate;
  }[];
  readonly number?: {
    readonly quantiles: readonly (Estimate & { readonly quantile: number })[];
  };
}

let browser: Browser;
let site: Awaited<ReturnType<typeof serve>>;
const complaints: string[] = [];

beforeAll(async () => {
  site = await serve({
    directories: { "/dist/": DIST },
    documents: {
      "/": {
        type: "text/html",
        body: '<!doctype html><title>page</title><script type="module" src="/entry.js"></script>',
      },
      "/entry.js": {
        type: "text/javascript",
        body: `import * as hushbin from "/dist/index.js"; import * as sealing from "/dist/sealing.js";
          Object.assign(globalThis, { hushbin, sealing });`,
      },
    },
  });
  browser = await launchChromium();
});

afterAll(async () => {
  await browser?.close();
  site?.close();
});

afterEach(() => {
  expect(complaints.splice(0)).toEqual([]);
});

/** Sends a report of each person from a client of its own. */
const reportByClients = (page: Page, answers: readonly object[], options: object) =>
  page.evaluate(
    async ({ answers, options }) => {
      await Promise.all(
        answers.map(async (own) => {
          const client = hushbin.createClient({
            ...(options as Pick<Hushbin.ClientOptions<Hushbin.SumTask>, "endpoint" | "task">),
            trust: "shuffler",
            consent: true,
            storage: "memory",
          } as Hushbin.ClientOptions<Hushbin.SumTask>);
          await client.report(own as never);
          await client.flush();
          client.destroy();
        }),
      );
    },
    { answers, options },
  );

/** Randomises and seals the answers in the page, and sends all reports in one request. */
const reportTogether = (page: Page, answers: readonly object[], url: string, key: string) =>
  page.evaluate(
    async ({ answers, url, key }) => {
      const { task, fingerprint } = await (await fetch(url)).json();
      const bytesOf = (digits: string) =>
        Uint8Array.from(digits.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
      const { createSealer } = (globalThis as unknown as { sealing: { createSealer: Sealing } })
        .sealing;
      type Sealing = (key: Uint8Array) => Promise<(message: Uint8Array) => Promise<Uint8Array>>;
      const seal = await createSealer(bytesOf(key));
      const randomizer = await hushbin.createRandomizer({ task: task as Hushbin.SumTask });
      const parts: Uint8Array[] = [];
      for (const own of answers) {
        // The task has fewer than 127 cells, so that a message has one byte.
        const messages = [...randomizer.randomize(own as never)];
        const id = crypto.getRandomValues(new Uint8Array(16));
        parts.push(Uint8Array.of(2, ...bytesOf(fingerprint), ...id, messages.length));
        parts.push(...(await Promise.all(messages.map((code) => seal(Uint8Array.of(code))))));
      }
      randomizer.free();
      const body = new Blob(parts as Uint8Array<ArrayBuffer>[]);
      const answer = await fetch(`${url}/reports`, { method: "POST", body });
      return answer.status;
    },
    { answers, url, key },
  );

/** Bytes of a sealed message of a task with fewer than 127 cells. */
const SEALED_BYTES = 53;

interface Batches {
  readonly batches: readonly { readonly state: string }[];
}

async function signedIn(parties: Parties, task: string): Promise<Page> {
  const page = await (await newContext(browser, { reducedMotion: "reduce" })).newPage();
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("console", (message) => {
    // The browser also logs that the analyser asks for a token.
    if (!message.text().includes("status of 401")) complaints.push(message.text());
  });
  await page.goto(`${parties.analyser?.url}/dashboard/#task=${task}`);
  await page.getByLabel("Analyst’s token").fill(parties.createToken());
  await page.getByLabel("Analyst’s token").press("Enter");
  await page.waitForFunction(
    () =>
      document.querySelector("#uploads p") !== null &&
      document.querySelector("[aria-busy=true]") === null,
  );
  return page;
}

const percent = (shown: string) => Number.parseFloat(shown.replace("−", "-")) / 100;

describe.each(CASES)("answers to $draft.questions.0.kind", (own) => {
  const { draft, releases } = own;
  const { id, people } = draft;
  const gateway = new Gateway();
  const parties = new Parties(draft);
  /** Number of people behind each item, over all releases. */
  const truth = new Map<unknown, number>();

  beforeAll(async () => {
    // The task itself sets the number of people.
    await parties.start(1, 1, ["--max-reports-per-request", "0"]);
    gateway.to = parties.shuffler?.url ?? "";
  });

  afterAll(async () => {
    gateway.close();
    await parties.stop();
  });

  it("are counted within the intervals of the analyser", async () => {
    const endpoint = await gateway.listen();
    const url = `${endpoint}/tasks/${id}`;
    const { task, fingerprint, privacy } = await (await fetch(url)).json();
    const { keys } = (await (await fetch(`${url}/keys`)).json()) as { keys: string[] };
    const page = await (await newContext(browser)).newPage();
    page.on("pageerror", (error) => complaints.push(error.message));
    await page.goto(site.url);
    await page.waitForFunction(() => "hushbin" in globalThis);

    // The statement before consent equals the shuffler's.
    const stated = await page.evaluate((task) => hushbin.privacyOf(task), task as Hushbin.SumTask);
    expect(stated.statement).toBe(privacy.statement);
    expect(stated.centralEpsilon).toBe(1);

    for (let release = 1; release <= releases; release += 1) {
      const answers = Array.from({ length: people }, (_, person) =>
        own.answerOf(person, people, release),
      );
      for (const item of answers.flatMap(own.itemsOf)) {
        truth.set(item, (truth.get(item) ?? 0) + 1);
      }
      const options = { endpoint, task, fingerprint, analyser: [parties.pin] };
      await reportByClients(page, answers.slice(0, CLIENTS), options);
      const uploads = gateway.passed
        .filter(({ path }) => path.endsWith("/reports"))
        .slice(-CLIENTS);
      expect(uploads).toHaveLength(CLIENTS);
      // Noise messages vary in number, and all messages have the same length.
      const { draws } = (task as { messages: { draws: number } }).messages;
      for (const { body } of uploads) {
        const missing = (stated.bytes - body.length) / SEALED_BYTES;
        expect(Number.isInteger(missing) && missing >= 0 && missing <= draws).toBe(true);
      }
      for (let begin = CLIENTS; begin < people; begin += TOGETHER) {
        const some = answers.slice(begin, begin + TOGETHER);
        expect(await reportTogether(page, some, url, keys[0] ?? "")).toBe(201);
      }
      const states = async () =>
        ((await parties.ask(`/tasks/${id}/batches`)) as Batches).batches.filter(
          ({ state }) => state === "released",
        );
      while ((await states()).length < release) await pause(200);
    }

    // An interval is missed with a probability of at most 10⁻⁵.
    const path = `/tasks/${id}/estimates?confidence=0.99999`;
    const counts = (await parties.ask(path)) as Counts;
    expect(counts.people).toBe(releases * people);
    const { length } = counts.estimates;
    expect(length).toBe({ choice: 16, set: 12, number: BINS, flag: 2 }[draft.questions[0].kind]);
    for (const { item, mean, sum } of counts.estimates) {
      const exact = truth.get(item) ?? 0;
      for (const [found, by] of [
        [sum, 1],
        [mean, releases * people],
      ] as const) {
        const [low, high] = found.simultaneous_interval;
        expect(low, `${item}`).toBeLessThanOrEqual(exact / by);
        expect(high, `${item}`).toBeGreaterThanOrEqual(exact / by);
      }
      // An interval that says something: with a local ε of 1, it would be at least 10 points wide.
      const [low, high] = mean.simultaneous_interval;
      expect(high - low).toBeLessThan(0.05);
    }
    for (const { quantile, simultaneous_interval: ends } of counts.number?.quantiles ?? []) {
      expect(ends[0]).toBeLessThanOrEqual(6_400 * quantile ** 2);
      expect(ends[1]).toBeGreaterThanOrEqual(6_400 * quantile ** 2);
    }
  });

  it("are shown to everybody with their intervals", async () => {
    const page = await signedIn(parties, id);
    const text = async (selector: string) =>
      (await page.locator(selector).innerText()).replaceAll(/\s+/g, " ");
    const all = (releases * people).toLocaleString("en-GB");
    expect(await text(".facts")).toContain(`${all} people in`);
    expect(await text("#estimates")).toContain(`${all} people, counted by`);
    const privacy = await text("#privacy");
    for (const words of [
      "there is no local ε",
      "central ε = 1, δ = 10⁻⁶",
      "The promise holds.",
      "The batches were shuffled by",
    ]) {
      expect(privacy).toContain(words);
    }
    expect(await text("#influence")).toContain("can move a count by up to");
    expect(await text("#uploads")).toMatch(/has accepted [\d,]+ messages/);
    for (const summary of await page.locator("summary").all()) await summary.click();

    const { estimates, number } = (await parties.ask(`/tasks/${id}/estimates`)) as Counts;
    const shares = await page
      .locator("#estimates table")
      .last()
      .locator("tbody tr")
      .evaluateAll((rows) =>
        rows.map((row) => {
          const cells = [...row.querySelectorAll("th, td")].map((cell) => cell.textContent ?? "");
          return [cells[0] ?? "", row.querySelector(".estimated")?.textContent ?? cells[1] ?? ""];
        }),
      );
    expect(shares).toHaveLength(estimates.length);
    const shown = new Map(shares as [string, string][]);
    for (const { item, mean } of estimates) {
      const bin = Number(item) * 100;
      const label = number
        ? `${bin.toLocaleString("en-GB")} to ${(bin + 100).toLocaleString("en-GB")} ms`
        : `${item}`;
      const [low, high] = mean.simultaneous_interval;
      const off = Math.abs(percent(shown.get(label) ?? "") - mean.estimate);
      expect(off, label).toBeLessThan((high - low) / 30);
    }
    if (number) {
      expect(await text("#estimates")).toContain("median");
      expect(await page.locator("#estimates svg.histogram rect.bar").count()).toBe(BINS);
    } else {
      await page.getByRole("combobox", { name: "Estimate" }).selectOption("sum");
      await expect.poll(() => text("#estimates")).toContain("Number of people");
      await page.getByRole("combobox", { name: "Estimate" }).selectOption("share");
      await expect.poll(() => text("#estimates")).toContain("Share of people: ");
    }
    await page.evaluate(() => scrollTo(0, 0));
    await expectForEverybody(page, 320, `counted-${id}`);
    // It would ask the analyser again after the analyser has stopped.
    await page.close();
  });
});
