/** `<hushbin-history>` in a real browser, with clients of a real collector and with fake ones. */

import type { Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { BudgetStatus, HistoryEntry } from "../../../www/client/index.js";
import { violations } from "./axe.js";
import type { Passed } from "./gateway.js";
import { CLIPPED, EVENTS, SETTINGS, World } from "./harness.js";

/** Folder for screenshots, for manual inspection. */
const SHOTS = process.env.HUSHBIN_SHOTS;

const THRICE = { ...SETTINGS, budget: { reports: 3 } };

let world: World;

beforeAll(async () => {
  world = await World.start(THRICE);
});
afterAll(() => world?.stop());
beforeEach(() => {
  world.gateway.passed.length = 0;
  world.gateway.faults.length = 0;
});

/** Adds an element to a page, possibly before it is defined. */
async function place(page: Page, attributes = ""): Promise<Page> {
  await page.evaluate((attributes) => {
    document.documentElement.lang = "en";
    document.body.innerHTML = `<main><h1>Privacy</h1><hushbin-history ${attributes}></hushbin-history></main>`;
  }, attributes);
  return page;
}

// The import is a string, because the runner rewrites imports.
const define = (page: Page) => page.evaluate(`import("/dist/history.js")`);

/** State of a fake client. */
interface Told {
  readonly task?: unknown;
  readonly consent?: string;
  readonly dryRun?: boolean;
  readonly storage?: "device" | "spend-again";
  readonly spent?: Partial<BudgetStatus>;
  readonly sent?: readonly Pick<HistoryEntry, "state" | "epsilon">[];
  /** Reason why the client cannot be read. */
  readonly failure?: string;
}

/** Shows fake clients with reports an hour apart. */
async function show(page: Page, told: readonly Told[], words = "{}"): Promise<void> {
  await define(page);
  await page.evaluate((told) => {
    const history = document.querySelector("hushbin-history") as HTMLElement & object;
    const clients = told.map(
      ({
        task,
        consent = "granted",
        dryRun = false,
        storage = "spend-again",
        spent,
        sent = [],
        failure,
      }) => ({
        about: { url: "https://collector.example/tasks/settings", task, dryRun, storage },
        consent,
        watch: () => () => {},
        revoke: async () => {},
        budget: async () => {
          if (failure !== undefined) {
            throw new Error(failure);
          }
          return {
            epsilon: 3,
            allowed: 3,
            used: sent.length,
            until: undefined,
            spent: 0,
            reports: sent.length,
            durable: true,
            ...spent,
          };
        },
        history: async () =>
          sent.map((report, index) => ({
            ...report,
            at: new Date(Date.UTC(2026, 10, 22, index)),
            bytes: Uint8Array.from({ length: 43 }, (_, at) => (at === 20 ? index : at)),
          })),
      }),
    );
    Object.assign(history, { clients });
  }, told);
  await page.evaluate(`document.querySelector("hushbin-history").words = ${words}`);
}

const told = (page: Page) => page.locator("hushbin-history");
const text = (page: Page) => told(page).locator(".body").innerText();
const status = (page: Page) => told(page).getByRole("status");
const states = (page: Page) => told(page).locator(".state").allTextContents();
const hex = ({ body }: Passed) => body.toString("hex");
const focused = (page: Page) =>
  page.evaluate(() => document.activeElement?.shadowRoot?.activeElement?.textContent);

describe("of a real client", () => {
  it("follows what is reported, received and withdrawn", async () => {
    const page = await place(await world.page(), "revocable");
    const requests: string[] = [];
    await page.evaluate(
      ({ endpoint, task }) => {
        globalThis.client = hushbin.createClient({ endpoint, task, maxEpsilon: 9 });
        const history = document.querySelector("hushbin-history");
        Object.assign(history ?? {}, { client });
        history?.addEventListener("hushbin-revoke", (event) => {
          document.title = String((event as CustomEvent).detail.client === client);
        });
      },
      { endpoint: world.endpoint, task: THRICE },
    );
    await define(page);
    page.on("request", (request) => requests.push(new URL(request.url()).pathname));
    await expect.poll(() => status(page).textContent()).toBe("Nothing has left this browser.");
    expect(await text(page)).toContain("You have not agreed");
    expect(await told(page).getByRole("button").count()).toBe(0);
    expect(await violations(page)).toEqual([]);

    await page.evaluate(async () => {
      client.grant();
      await client.report({ autoplay: 1 });
      await client.flush();
    });
    await expect
      .poll(() => status(page).textContent())
      .toBe("1 report: 1 received by the collector.");
    const said = await text(page);
    expect(said).toMatch(/Task settings, collected by 127\.0\.0\.1:\d+/);
    expect(said).toMatch(/Reports in this period\s+1 of 3 reports, ε\s3\s/);
    expect(said).toMatch(
      /All reports\s+1 report; someone who links all of them is at most 95\s% sure of an answer that never changed \(ε\s3\)/,
    );
    expect(said).toMatch(/This list is kept\s+on this device/);
    expect(said).toContain("Each report covers: dark-mode, autoplay, captions, telemetry.");
    expect(said).toContain("is at most 95\u00a0% sure after seeing one report");

    await told(page).getByText("Show the 43 bytes").click();
    // The bytes are rendered after the browser's event for opening the element.
    const shown = () => told(page).locator("code").allTextContents();
    await expect
      .poll(async () => (await shown()).map(({ length }) => length))
      .toEqual([2, 32, 32, 2, 18]);
    expect((await shown()).join("")).toBe(world.gateway.posts.map(hex).join());

    // There are more faults than retries during this test.
    world.gateway.faults.push(...Array<"refuse">(1000).fill("refuse"));
    await page.evaluate(async () => {
      await client.report({ autoplay: -1 });
      await client.flush().catch(() => {});
    });
    await expect
      .poll(() => states(page))
      .toEqual(["waiting to be sent", "received by the collector"]);
    // Opened details stay open.
    expect(await told(page).locator("details[open]").count()).toBe(1);
    expect(await violations(page)).toEqual([]);

    await page.keyboard.press("Tab");
    const button = told(page).getByRole("button", { name: "Withdraw my agreement" });
    await button.focus();
    await page.keyboard.press("Enter");
    await expect.poll(() => focused(page)).toMatch(/^You have withdrawn.* 1 withdrawn before/);
    expect(await states(page)).toEqual([
      "withdrawn before the collector confirmed it",
      "received by the collector",
    ]);
    expect(await button.count()).toBe(0);
    expect(await page.title()).toBe("true");
    expect(await page.evaluate(() => client.consent)).toBe("pending");
    expect(await violations(page)).toEqual([]);
    // The element itself makes no requests.
    const own = requests.filter((path) => !path.startsWith("/dist/"));
    expect(new Set(own)).toEqual(new Set(["/tasks/settings/reports"]));
  });

  it("tells of what another tab has reported, once it is looked at", async () => {
    const page = await place(await world.page());
    const other = await page.context().newPage();
    const begin = async (tab: Page) => {
      await tab.evaluate(
        async ({ endpoint, task }) => {
          const options = { endpoint, task, maxEpsilon: 9, consent: true };
          globalThis.client = hushbin.createClient(options);
          await client.ready();
        },
        { endpoint: world.endpoint, task: THRICE },
      );
    };
    await other.goto(world.site);
    await other.waitForFunction(() => "hushbin" in globalThis);
    await begin(page);
    await begin(other);
    await define(page);
    await page.evaluate(() => {
      Object.assign(document.querySelector("hushbin-history") ?? {}, { client });
    });
    await expect.poll(() => status(page).textContent()).toMatch(/^Nothing/);
    await other.evaluate(async () => {
      await client.report({ captions: 1 });
      await client.flush();
    });
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
    await expect.poll(() => states(page)).toEqual(["received by the collector"]);
  });
});

/** A client with reports in every state. */
const FULL: Told = {
  task: { ...THRICE, epsilon: 1 },
  spent: { spent: 4, reports: 4, used: 3, until: new Date(Date.UTC(2026, 11, 22)) },
  sent: [
    { state: "acknowledged", epsilon: 1 },
    { state: "refused", epsilon: 1 },
    { state: "withdrawn", epsilon: 1 },
    { state: "waiting", epsilon: 1 },
  ],
};

describe("of made-up clients", () => {
  let page: Page;
  beforeAll(async () => {
    page = await world.page();
  });

  it.each([
    ["light", 320],
    ["light", 1200],
    ["dark", 320],
    ["dark", 1200],
  ] as const)("fits and reads well, %s, %i pixels wide", async (colorScheme, width) => {
    await place(page, "revocable");
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    await show(page, [FULL, { task: EVENTS, consent: "signal" }]);
    await expect.poll(() => states(page)).toHaveLength(4);
    await told(page).locator("summary").first().click();
    expect(await violations(page)).toEqual([]);
    expect(await page.evaluate(() => document.scrollingElement?.scrollWidth)).toBe(width);
    // The policy forbids inline styles.
    const padding = await told(page).evaluate((element) => getComputedStyle(element).padding);
    expect(padding).toBe("16px");
    if (SHOTS !== undefined) {
      await page.screenshot({
        path: `${SHOTS}/history-${colorScheme}-${width}.png`,
        fullPage: true,
      });
    }
  });

  it.each<[string, Told, RegExp]>([
    [
      "single items",
      { task: EVENTS },
      /sure of your answer about one item, even if they know all others, is at most 95.% sure/,
    ],
    ["people", { task: CLIPPED }, /sure of an answer of yours is at most 95.% sure/],
    [
      "neighbouring inputs",
      {
        task: {
          ...EVENTS,
          epsilon: 0.5,
          mechanism: { name: "hash-bin", level: "neighbouring", distance: 2, delta: 1e-6 },
        },
      },
      /differ by at most 2 in sum, is at most 62.% sure .* probability of at most 0\.000001/,
    ],
    [
      "questions",
      { task: { id: "settings", epsilon: 1, questions: [{ name: "theme" }, { name: "beta" }] } },
      /one of these, chosen at random: theme, beta\./,
    ],
    ["open items", { task: { ...SETTINGS, items: "open" } }, /covers the names in your answers/],
    ["counted items", { task: { ...SETTINGS, items: 12 } }, /covers 12 items\./],
    ["a task that is not known yet", {}, /Nothing has left/],
    [
      "a memo",
      {
        task: {
          id: "settings",
          epsilon: 1,
          questions: [{ name: "beta" }],
          budget: { memo: { epsilon: 2, days: 365 } },
        },
        spent: { allowed: 1, used: 1, spent: 2, reports: 5 },
      },
      /1 of 1 report, ε\s1\s[\s\S]*5 reports; [^(]*88.% sure [^(]*\(ε.2\)[\s\S]*one noisy answer for 365 days/,
    ],
    ["a dry run", { dryRun: true }, /This is a dry run/],
    ["a signal", { consent: "signal" }, /Global Privacy Control/],
    ["what is forgotten", { spent: { durable: false, reports: 1 } }, /until this page is closed/],
    [
      "a browser that stores nothing",
      { storage: "device", spent: { durable: false } },
      /nowhere: this browser stores nothing for this page, so nothing is reported/,
    ],
    ["a database that fails", { failure: "no room" }, /could not be read: no room/],
  ])("tells of %s", async (_, client, expected) => {
    await place(page);
    await show(page, [client]);
    await expect.poll(() => text(page)).toMatch(expected);
  });

  it("says what it is told to say, in its language", async () => {
    await place(page, 'level="1"');
    await show(
      page,
      [FULL],
      `{ lang: "de", title: "Was dieser Browser meldet", state: { acknowledged: "angekommen" }, used: (used, allowed) => used + " von " + allowed }`,
    );
    await expect.poll(() => text(page)).toContain("3 von 3");
    const said = await text(page);
    expect(said).toContain("angekommen");
    expect(said).toContain("22.12.2026");
    expect(await told(page).locator(".body").getAttribute("lang")).toBe("de");
    expect(await told(page).getByRole("heading", { level: 1 }).textContent()).toMatch(/^Was/);
    await page.evaluate(() => {
      Object.assign(document.querySelector("hushbin-history") ?? {}, { words: { title: "" } });
    });
    expect(await told(page).getByRole("heading", { level: 1 }).textContent()).toMatch(
      /^Task settings/,
    );
  });

  it("shows the last ten reports first, and goes on with the eleventh", async () => {
    await place(page);
    const sent = Array.from({ length: 12 }, () => ({ state: "acknowledged", epsilon: 1 }) as const);
    await show(page, [{ sent }]);
    await expect.poll(() => states(page)).toHaveLength(10);
    await told(page).getByRole("button", { name: "Show all 12 reports" }).click();
    await expect.poll(() => focused(page)).toBe("Show the 43 bytes");
    const at = await told(page)
      .locator("time")
      .evaluateAll((times) =>
        times.map((time) => (time as HTMLTimeElement).dateTime.slice(11, 13)),
      );
    expect(at.map(Number)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
    expect(await told(page).getByRole("button").count()).toBe(0);
  });

  it("ends with its place in the page", async () => {
    await place(page);
    await define(page);
    const watched = await page.evaluate(async (endpoint) => {
      let watching = 0;
      const client = hushbin.createClient({ endpoint, task: "settings" });
      const watched = {
        about: client.about,
        consent: client.consent,
        budget: () => client.budget(),
        history: () => client.history(),
        revoke: () => client.revoke(),
        watch(changed: () => void) {
          const stop = client.watch(changed);
          watching += 1;
          return () => {
            watching -= 1;
            stop();
          };
        },
      };
      const history = document.querySelector("hushbin-history") as HTMLElement;
      const counts: number[] = [];
      const count = () => counts.push(watching);
      Object.assign(history, { client: watched });
      count();
      history.remove();
      count();
      document.body.append(history);
      count();
      Object.assign(history, { client: null });
      count();
      return counts;
    }, world.endpoint);
    expect(watched).toEqual([1, 0, 1, 0]);
  });
});
