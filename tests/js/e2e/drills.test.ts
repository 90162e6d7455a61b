/**
 * Failures between a person and the collector, in Chromium. Every report that resolved to "sent"
 * is counted once, with its original bytes.
 *
 * HUSHBIN_DRILL_REPORTS sets the number of reports of all people together; the default is small.
 */

import type { BrowserContext, Page } from "playwright-core";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Task } from "../../../www/client/index.js";
import { launchPersistentChromium } from "../../../www/scripts/lib/browser.mjs";
import { FAULTS } from "./gateway.js";
import { ALLOWED, answers, OFTEN, type Options, SETTINGS, World } from "./harness.js";
import { crash, fillQuota, kill, numbersOf, Person, type Remembered, settle } from "./person.js";

const REPORTS = Number(process.env.HUSHBIN_DRILL_REPORTS ?? 1200);
const SEED = Number(process.env.HUSHBIN_DRILL_SEED ?? 1);
/** Number of people who share a browser, and number of people with one each, which is killed. */
const TOGETHER = 9;
const ALONE = 3;
/** Most reports of a person: the number that a browser remembers. */
const REMEMBERED = 1000;

/** Tasks of their own for the tests. */
const often = (id: string) => ({ ...OFTEN, id });
const STORM = often("storm");
const KILLED = often("killed");
const REVOKED = often("revoked");
const THRICE = { ...OFTEN, id: "thrice", budget: { reports: 3 } };
const BACKLOGS = [often("backlog-1"), often("backlog-2")] as const;
const QUOTA = often("quota");

let world: World;

beforeAll(async () => {
  world = await World.start(STORM, KILLED, REVOKED, THRICE, ...BACKLOGS, QUOTA, SETTINGS);
});
afterAll(() => world?.stop());

beforeEach(() => world.gateway.clear());

function options<T>(task: T) {
  return { endpoint: world.endpoint, task, ...ALLOWED };
}

describe("whatever happens to pages, browsers, requests and the collector", () => {
  const people: Person[] = [];
  let remembered: readonly Remembered[];

  beforeAll(
    async () => {
      const random = numbersOf(SEED);
      const person = (profile: ConstructorParameters<typeof Person>[0]) =>
        new Person(profile, world.site, options(STORM), numbersOf(2 ** 32 * random()));
      for (let index = 0; index < TOGETHER; index += 1) {
        people.push(person({ open: () => world.context() }));
      }
      for (let index = 0; index < ALONE; index += 1) {
        const directory = world.directory(`profile-${index}`);
        people.push(person({ open: () => launchPersistentChromium(directory), directory }));
      }
      // Two requests of three have a fault.
      world.gateway.weather = () => FAULTS[Math.floor(1.5 * FAULTS.length * random())];
      const share = Math.ceil(REPORTS / people.length);
      expect(share).toBeLessThan(REMEMBERED);
      await Promise.all(people.map((each) => each.live(share / 2)));
      await world.collector.stop("SIGKILL");
      const lives = people.map((each) => each.live(share));
      await Promise.race(lives);
      await world.startCollector();
      await Promise.all(lives);
      world.gateway.clear();
      remembered = await Promise.all(people.map((each) => each.settle()));
      // Timeout of a run that would never end.
    },
    600_000 + 1000 * REPORTS,
  );
  afterAll(() => Promise.all(people.map((each) => each.close())));

  it("each report is counted once", async () => {
    const made = remembered.reduce((sum, { reports }) => sum + reports, 0);
    expect(made).toBeGreaterThanOrEqual(REPORTS);
    expect(world.gateway.uploads(STORM.id).size).toBe(made);
    expect(await world.reports(STORM.id)).toBe(made);
  });

  it("what was said to be queued is among them", () => {
    const sent = [...world.gateway.uploads(STORM.id).values()].flatMap((bytes) => [...bytes]);
    const all = new Set(sent);
    const told = people.flatMap((person) => [...person.told]);
    expect(told.length).toBeGreaterThanOrEqual(REPORTS);
    expect(told.filter((upload) => !all.has(upload))).toEqual([]);
  });

  it("the browser knows, and what it spent", () => {
    for (const [index, { reports, spent, uploads, states }] of remembered.entries()) {
      expect(states).toEqual(["acknowledged"]);
      expect(spent).toBe(STORM.epsilon * reports);
      expect(uploads).toHaveLength(Math.min(reports, REMEMBERED));
      const told = [...(people[index]?.told ?? [])];
      // The oldest uploads beyond the limit are forgotten.
      const missing = told.filter((each) => reports <= REMEMBERED && !uploads.includes(each));
      expect(missing).toEqual([]);
    }
  });

  it("no report is randomised again", () => {
    for (const [id, bytes] of world.gateway.uploads(STORM.id)) {
      expect(bytes.size, id).toBe(1);
    }
  });

  it("and nothing is sent for those who were not asked", () => {
    const paths = new Set(world.gateway.passed.map(({ path }) => path));
    expect([...paths].filter((path) => path !== "/portal")).toEqual(["/tasks/storm/reports"]);
  });

  it("and all of it did happen", () => {
    const fates = new Map<string, number>();
    for (const [fate, often] of people.flatMap((person) => [...person.fates])) {
      fates.set(fate, (fates.get(fate) ?? 0) + often);
    }
    const { posts } = world.gateway;
    if (process.env.HUSHBIN_DRILL_REPORTS !== undefined) {
      const told = people.reduce((sum, person) => sum + person.told.size, 0);
      const made = remembered.reduce((sum, { reports }) => sum + reports, 0);
      console.info({ told, made, requests: posts.length, ...Object.fromEntries(fates) });
    }
    for (const fate of ["offline", "close", "leave", "reload", "crash", "kill"]) {
      expect(fates.get(fate), fate).toBeGreaterThan(0);
    }
  });
});

/** Opens a tab with the package, and a client of the task. */
async function tabOf<T extends Task>(
  context: BrowserContext,
  task: T,
  further: Partial<Options> = {},
): Promise<Page> {
  const page = await context.newPage();
  await enter(page, task, further);
  return page;
}

async function enter<T extends Task>(
  page: Page,
  task: T,
  further: Partial<Options> = {},
): Promise<void> {
  await page.goto(world.site);
  await page.waitForFunction(() => "hushbin" in globalThis);
  await page.evaluate(
    (options) => {
      globalThis.client = hushbin.createClient(options);
    },
    { ...options(task), ...further },
  );
}

describe("a report that was said to be queued", () => {
  it.each([
    ["the tab", (_: string, page: Page) => crash(page)],
    ["the browser", (directory: string, page: Page) => kill(directory, page.context())],
  ])("outlives the process of %s, which ends at that moment", async (name, end) => {
    const directory = world.directory(name.replaceAll(" ", "-"));
    const counted = await world.reports(KILLED.id);
    // No report arrives before the fault ends.
    world.gateway.weather = () => "refuse";
    let told = 0;
    for (let round = 1; round <= 3; round += 1) {
      const context = await launchPersistentChromium(directory);
      const page = await tabOf(context, KILLED);
      const enough = told + 10 * round;
      await new Promise<void>((resolve, reject) => {
        const tell = () => {
          told += 1;
          if (told === enough) {
            end(directory, page).then(resolve, reject);
          }
        };
        const report = async (from: number) => {
          for (let number = from; ; number += 1) {
            await client.report({ 0: 1, 1: number / 1e6 });
            (globalThis as unknown as { tell(): void }).tell();
          }
        };
        // The page may close during the call.
        page
          .exposeFunction("tell", tell)
          .then(() => page.evaluate(report, 1e5 * round).catch(() => {}));
      });
      await context.close();
    }
    const context = await launchPersistentChromium(directory);
    world.gateway.clear();
    const { reports } = await (await tabOf(context, KILLED)).evaluate(settle);
    await context.close();
    expect(reports).toBeGreaterThanOrEqual(told);
    expect((await world.reports(KILLED.id)) - counted).toBe(reports);
  });
});

describe("without consent", () => {
  beforeEach(() => {
    world.gateway.passed.length = 0;
  });

  it("nothing is sent, stored or spent", async () => {
    const context = await world.context();
    const page = await tabOf(context, REVOKED, { consent: false });
    const report = () => client.report({ 0: 1 }).then(({ reason = "sent" }) => reason);
    expect(await page.evaluate(report)).toBe("no-consent");
    await page.evaluate(() => client.flush());
    await context.setOffline(true);
    await context.setOffline(false);
    await page.goto("about:blank");
    await enter(page, REVOKED, { consent: false });
    expect(await page.evaluate(() => client.budget())).toMatchObject({ used: 0, spent: 0 });
    expect(await page.evaluate(() => indexedDB.databases())).toEqual([]);
    await page.close({ runBeforeUnload: true });
    await context.close();
    expect(world.gateway.passed).toEqual([]);
  });

  it("that was given once nothing is sent any more, in any tab", async () => {
    const context = await world.context();
    const [page, other] = [await tabOf(context, REVOKED), await tabOf(context, REVOKED)];
    const report = (first: number) =>
      client.report({ 0: first }).then(
        ({ reason = "sent" }) => reason,
        ({ code }) => code,
      );
    // One request is under way when consent ends.
    world.gateway.weather = () => "silent";
    expect(await page.evaluate(report, 1)).toBe("sent");
    expect(await other.evaluate(report, 0.5)).toBe("sent");
    await page.evaluate(() => void client.flush().catch(() => {}));
    await expect.poll(() => world.gateway.posts.length).toBe(1);
    await page.evaluate(() => client.revoke());
    world.gateway.clear();
    await expect.poll(() => other.evaluate(report, -1)).toBe("no-consent");
    await context.setOffline(true);
    await context.setOffline(false);
    await page.goto("about:blank");
    await enter(page, REVOKED, { consent: false });
    // The spent budget is remembered, so it cannot be spent again.
    expect(await page.evaluate(() => client.budget())).toMatchObject({ used: 2, reports: 2 });
    await page.evaluate(() => client.grant());
    await page.evaluate(() => client.flush());
    await context.close();
    expect(world.gateway.posts).toHaveLength(1);
    expect(await world.reports(REVOKED.id)).toBe(0);
  });
});

describe("one browser", () => {
  it("reports once in a window: two tabs, clients made twice, reloads", async () => {
    const context = await world.context();
    const tabs = [await tabOf(context, SETTINGS), await tabOf(context, SETTINGS)] as const;
    /** Mounts, unmounts and mounts again, as frameworks do in development. */
    const mount = async (options: Options) => {
      const reports = [0, 1].map(() => {
        globalThis.client.destroy();
        globalThis.client = hushbin.createClient(options);
        return client.report({ autoplay: 1 }).then(
          ({ reason = "sent" }) => reason,
          ({ code }) => code,
        );
      });
      return Promise.all(reports);
    };
    const all = await Promise.all(tabs.map((tab) => tab.evaluate(mount, options(SETTINGS))));
    expect(all.map((outcomes) => outcomes[0])).toEqual(["closed", "closed"]);
    // The other tab's outcome is only known to be one of the two.
    expect(all.map((outcomes) => outcomes[1]).sort()).toEqual(["over-budget", "sent"]);
    const [first, second] = tabs;
    await enter(first, SETTINGS);
    const report = (plus: string) =>
      client.report({ [plus]: 1 }).then(({ reason = "sent" }) => reason);
    expect(await first.evaluate(report, "autoplay")).toBe("over-budget");
    expect(await second.evaluate(report, "captions")).toBe("over-budget");
    const { reports, spent } = await first.evaluate(settle);
    expect({ reports, spent }).toEqual({ reports: 1, spent: SETTINGS.epsilon });
    await context.close();
    expect(world.gateway.uploads(SETTINGS.id).size).toBe(1);
    expect(await world.reports(SETTINGS.id)).toBe(1);
  });

  it("reports no more than a window holds, whichever tabs ask", async () => {
    const context = await world.context();
    const tabs = await Promise.all([1, 2, 3].map(() => tabOf(context, THRICE)));
    const report = async (all: Record<string, number>[]) => {
      const receipts = await Promise.all(all.map((answers) => client.report(answers)));
      await client.flush();
      return receipts.map(({ reason = "sent" }) => reason);
    };
    const outcomes = await Promise.all(
      tabs.map((tab, index) => tab.evaluate(report, [answers(2 * index), answers(2 * index + 1)])),
    );
    const over = Array(3).fill("over-budget");
    expect(outcomes.flat().sort()).toEqual([...over, ...Array(3).fill("sent")]);
    await context.close();
    expect(await world.reports(THRICE.id)).toBe(3);
  });
});

describe("a page that goes", () => {
  it("loses nothing of twenty thousand reports that wait", async () => {
    const context = await world.context();
    const page = await tabOf(context, BACKLOGS[0]);
    world.gateway.weather = () => "refuse";
    await page.evaluate(
      async (all) => {
        client.destroy();
        const clients = all.map((options) => hushbin.createClient(options));
        for (let from = 0; from < 10_000; from += 500) {
          const numbers = Array.from({ length: 500 }, (_, index) => from + index);
          const made = clients.flatMap((own) =>
            numbers.map((number) => own.report({ 0: 1, 1: number / 1e6 })),
          );
          await Promise.all(made);
        }
      },
      BACKLOGS.map((task) => options(task)),
    );
    world.gateway.clear();
    await page.goto("about:blank");
    for (const task of BACKLOGS) {
      const tab = await tabOf(context, task);
      expect(await tab.evaluate(settle)).toMatchObject({
        reports: 10_000,
        states: ["acknowledged"],
      });
      expect(world.gateway.uploads(task.id).size).toBe(10_000);
      expect(await world.reports(task.id)).toBe(10_000);
    }
    await context.close();
  });

  it("sends, though another script has all that may outlive the page", async () => {
    const context = await world.context();
    const page = await tabOf(context, QUOTA);
    world.gateway.faults.push("silent");
    world.gateway.weather = () => world.gateway.faults.shift();
    expect(await page.evaluate(fillQuota, world.endpoint)).toBe("refused");
    await page.evaluate(async () => {
      await client.report({ 0: 1 });
      await client.flush();
    });
    expect(await world.reports(QUOTA.id)).toBe(1);
    world.gateway.clear();
    await context.close();
  });
});
