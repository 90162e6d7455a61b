/**
 * Sums of numbers from headless Chromium, through a shuffler to an analyser. Checks the statement
 * before consent, what either party sees, and the estimates.
 */

import { setTimeout as pause } from "node:timers/promises";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, it } from "vitest";
import type * as Hushbin from "../../../www/client/index.js";
import { launchChromium } from "../../../www/scripts/lib/browser.mjs";
import { DIST } from "../../../www/scripts/lib/paths.mjs";
import { serve } from "../../../www/scripts/lib/serve.mjs";
import { Gateway } from "./gateway.js";
import { newContext } from "./harness.js";
import { Parties } from "./parties.js";

const PEOPLE = 200;
/** Number of people whose clients are in the page at once. */
const TOGETHER = 50;

/** Draft for which the analyser chooses the messages. */
const DRAFT = {
  id: "timings",
  trust: "shuffler",
  epsilon: 2,
  delta: 1e-6,
  people: PEOPLE,
  numbers: [
    { name: "load-time", min: 0, max: 10_000, unit: "ms" },
    { name: "zoom", min: 0.25, max: 4 },
  ],
};

const answersOf = (person: number) => ({ "load-time": 40 * person, zoom: 1 + (person % 3) / 2 });

interface SumEstimates {
  readonly people: number;
  readonly messages: number;
  readonly estimates: readonly {
    readonly item: string;
    readonly mean: { readonly simultaneous_interval: readonly [number, number] };
  }[];
}

const gateway = new Gateway();
const parties = new Parties(DRAFT);
let browser: Browser;
let site: Awaited<ReturnType<typeof serve>>;

beforeAll(async () => {
  // The task itself sets the number of people.
  await parties.start(1, 1);
  gateway.to = parties.shuffler?.url ?? "";
  site = await serve({
    directories: { "/dist/": DIST },
    documents: {
      "/": {
        type: "text/html",
        body: '<!doctype html><title>page</title><script type="module" src="/entry.js"></script>',
      },
      "/entry.js": {
        type: "text/javascript",
        body: `import * as hushbin from "/dist/index.js"; import "/dist/history.js";
          Object.assign(globalThis, { hushbin });`,
      },
    },
  });
  browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  site?.close();
  gateway.close();
  await parties.stop();
});

it("are estimated from messages that nobody can tell the senders of", async () => {
  const endpoint = await gateway.listen();
  const described = (await (await fetch(`${parties.shuffler?.url}/tasks/timings`)).json()) as {
    task: Hushbin.SumTask;
    fingerprint: string;
    privacy: { statement: string; central_epsilon: number };
  };
  const { task, fingerprint } = described;
  const page = await (await newContext(browser)).newPage();
  await page.goto(site.url);
  await page.waitForFunction(() => "hushbin" in globalThis);
  const options = { endpoint, task, fingerprint, analyser: [parties.pin] };

  // The statement before consent equals the shuffler's.
  const privacy = await page.evaluate((task) => hushbin.privacyOf(task), task);
  expect(privacy.statement).toBe(described.privacy.statement);
  expect(privacy.centralEpsilon).toBe(described.privacy.central_epsilon);

  for (let begin = 0; begin < PEOPLE; begin += TOGETHER) {
    const people = Array.from({ length: TOGETHER }, (_, index) => answersOf(begin + index));
    await page.evaluate(
      async ({ people, ...options }) => {
        await Promise.all(
          people.map(async (answers) => {
            const client = hushbin.createClient({
              ...options,
              trust: "shuffler",
              consent: true,
              storage: "memory",
            });
            await client.report(answers as never);
            await client.flush();
            client.destroy();
          }),
        );
      },
      { people, ...options },
    );
  }
  const uploads = gateway.passed
    .filter(({ path }) => path.endsWith("/reports"))
    .map(({ body }) => body);
  expect(uploads).toHaveLength(PEOPLE);
  expect(new Set(uploads.map(({ length }) => length))).toEqual(new Set([privacy.bytes]));

  const messages = PEOPLE * privacy.messages;
  let state = "";
  while (state !== "released") {
    await pause(200);
    const { batches } = (await parties.ask("/tasks/timings/batches")) as {
      batches: { state: string; reports: number }[];
    };
    ({ state = "" } = batches.find(({ reports }) => reports === PEOPLE) ?? {});
  }
  // Both means are missed with a probability of at most 10⁻⁵.
  const estimates = (await parties.ask(
    "/tasks/timings/estimates?confidence=0.99999",
  )) as SumEstimates;
  expect([estimates.people, estimates.messages]).toEqual([PEOPLE, messages]);
  for (const [index, name] of (["load-time", "zoom"] as const).entries()) {
    const [low, high] = estimates.estimates[index]?.mean.simultaneous_interval ?? [1, -1];
    const all = Array.from({ length: PEOPLE }, (_, person) => answersOf(person)[name]);
    const mean = all.reduce((sum, value) => sum + value, 0) / PEOPLE;
    expect(low, name).toBeLessThanOrEqual(mean);
    expect(high, name).toBeGreaterThanOrEqual(mean);
  }
});

it("are shown to people with what hides them, and no local ε", async () => {
  const { task } = (await (await fetch(`${parties.shuffler?.url}/tasks/timings`)).json()) as {
    task: Hushbin.SumTask;
  };
  const page = await (await newContext(browser)).newPage();
  await page.goto(site.url);
  await page.waitForFunction(() => "hushbin" in globalThis);
  const { text, bytes } = await page.evaluate(
    async ({ task, ...options }) => {
      const client = hushbin.createClient({
        ...options,
        task,
        trust: "shuffler",
        consent: true,
        delayMs: 86_400_000,
      });
      const history = document.createElement("hushbin-history");
      history.client = client as never;
      document.body.append(history);
      await client.report({ "load-time": 1, zoom: 1 } as never);
      const item = () => history.shadowRoot?.querySelector("li");
      while (!item()) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      const details = item()?.querySelector("details");
      if (details) {
        details.open = true;
      }
      while (!details?.querySelector("code")) {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      const text = history.shadowRoot?.querySelector("div")?.textContent ?? "";
      const bytes = [...details.querySelectorAll("code")].map(
        (code) => (code.textContent ?? "").length / 2,
      );
      client.destroy();
      return { text: text.replaceAll("\u00a0", " "), bytes };
    },
    {
      task,
      endpoint: parties.shuffler?.url ?? "",
      analyser: [parties.pin],
    },
  );
  expect(text).toContain("There is no local ε");
  expect(text).toContain("central ε 2, δ 0.000001");
  expect(text).toContain("1 of 1 report, central ε 2");
  expect(text).not.toMatch(/randomised/);
  // Every mentioned ε is called central, or is a local one that does not exist.
  expect(text.match(/ε/g)?.length).toBe(text.match(/(central|local) ε/g)?.length);
  const { levels, drawn, noise } = task.messages as Hushbin.SumMessages;
  const messages = levels * drawn + noise;
  expect(bytes).toEqual([1, 16, 16, messages < 128 ? 1 : 2, messages * 53]);
});
