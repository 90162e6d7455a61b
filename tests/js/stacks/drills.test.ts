/**
 * Failures between a person and the collector in which engines differ, in Firefox and WebKitGTK.
 * Every report that resolved to "sent" is counted once, with its original bytes.
 * `tests/js/e2e/drills.test.ts` has the common failures, in Chromium.
 *
 * HUSHBIN_DRILL_REPORTS sets the number of reports per engine and kind; the default is small.
 */

import { setTimeout as pause } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Task } from "../../../www/client/index.js";
import { launchFirefox, startPersistentFirefox } from "../../../www/scripts/lib/bidi.mjs";
import type { Engine, Profile, Tab } from "../../../www/scripts/lib/engines.mjs";
import { DIST } from "../../../www/scripts/lib/paths.mjs";
import { serve } from "../../../www/scripts/lib/serve.mjs";
import { launchWebKit, startPersistentWebKit } from "../../../www/scripts/lib/webdriver.mjs";
import { FAULTS, Gateway } from "../e2e/gateway.js";
import { ALLOWED, answers, OFTEN, World } from "../e2e/harness.js";
import { begin, fillQuota, numbersOf, type Remembered, report, settle } from "../e2e/person.js";
import { until, within } from "./tabs.js";

const REPORTS = Number(process.env.HUSHBIN_DRILL_REPORTS ?? 200);
const SEED = Number(process.env.HUSHBIN_DRILL_SEED ?? 1);
/** Several requests that together exceed what browsers let outlive a page. */
const BACKLOG = Math.min(Math.max(2000, REPORTS), 20_000);
/** Number of sent reports that a client remembers. */
const REMEMBERED = 1000;

const often = (id: string) => ({ ...OFTEN, id });
const STORM = often("storm");
const BACKLOGS = [often("backlog-1"), often("backlog-2")] as const;
const CLOSED = often("closed");
const LEFT = often("left");
const BACK = often("back");
const STORED = often("stored");
const QUOTA = often("quota");
const KILLED = often("killed");

const FATES = ["stay", "reload", "leave", "leave and return", "close"] as const;

const ENGINES = [
  ["Firefox", launchFirefox, startPersistentFirefox],
  ["WebKitGTK", launchWebKit, startPersistentWebKit],
] as const;

describe.each(ENGINES)("%s", (_, launch, run) => {
  let world: World;
  let engine: Engine;
  let profile: Profile;

  beforeAll(async () => {
    const tasks = [STORM, ...BACKLOGS, CLOSED, LEFT, BACK, STORED, QUOTA, KILLED];
    [world, engine] = await Promise.all([World.start(...tasks), launch()]);
  });
  afterAll(() => Promise.all([world?.stop(), engine?.close()]));

  beforeEach(async () => {
    world.gateway.clear();
    profile = await engine.profile();
  });
  afterEach(() => profile.close());

  const options = <T extends Task>(task: T) => ({ endpoint: world.endpoint, task, ...ALLOWED });

  /** Waits for the package, and creates this page's clients. */
  async function enter(tab: Tab, task: Task, delayMs?: number): Promise<void> {
    await until(() => tab.evaluate("'hushbin' in globalThis"));
    await within(tab, begin, { ...options(task), ...(delayMs === undefined ? {} : { delayMs }) });
  }

  async function tabOf(task: Task, delayMs?: number): Promise<Tab> {
    const tab = await profile.open(world.site);
    await enter(tab, task, delayMs);
    return tab;
  }

  /** Checks that browser, gateway and collector agree on a task. */
  async function expectCountedOnce(
    { id, epsilon }: Task,
    { reports, spent, uploads, states }: Remembered,
    told: Iterable<string>,
  ): Promise<void> {
    const sent = world.gateway.uploads(id);
    const bytes = new Set([...sent.values()].flatMap((each) => [...each]));
    // Each id has the same bytes in every request.
    expect(bytes.size).toBe(sent.size);
    expect(sent.size).toBe(reports);
    expect(await world.reports(id)).toBe(reports);
    expect(spent).toBe(epsilon * reports);
    expect(states).toEqual(["acknowledged"]);
    expect(uploads).toHaveLength(Math.min(reports, REMEMBERED));
    expect([...told, ...uploads].filter((upload) => !bytes.has(upload))).toEqual([]);
  }

  it("counts each report once, whatever happens to pages, requests and the collector", async () => {
    const random = numbersOf(SEED);
    const below = (most: number) => Math.floor(most * random());
    const told = new Set<string>();
    const fates = new Map<string, number>();
    let tabs: Tab[] = [];
    let made = 0;

    const making = async (tab: Tab, most: number) => {
      const all = Array.from({ length: 1 + below(most) }, (_, index) => answers(made + index));
      made += all.length;
      const given = { all, since: Date.now() };
      // The event may come before the reports are made; then they may be missing.
      if (random() < 0.3) {
        await tab.evaluate(`void (${report})(${JSON.stringify(given)}).catch(() => {})`);
        await pause(below(50));
        return;
      }
      const { durable, outcomes, uploads } = await within(tab, report, given);
      expect({ durable, outcomes }).toEqual({ durable: true, outcomes: ["sent"] });
      expect(uploads.length).toBeGreaterThanOrEqual(all.length);
      uploads.forEach((upload) => void told.add(upload));
    };

    const meet = async (tab: Tab) => {
      const fate = FATES[below(FATES.length)] ?? "stay";
      fates.set(fate, 1 + (fates.get(fate) ?? 0));
      if (fate === "reload") {
        await tab.reload();
        await enter(tab, STORM);
      } else if (fate === "leave" || fate === "leave and return") {
        await tab.go(world.elsewhere);
        await (fate === "leave" ? tab.go(world.site) : tab.back());
        await until(() => tab.evaluate("'hushbin' in globalThis"));
        if (!(await tab.evaluate("'client' in globalThis"))) {
          await enter(tab, STORM);
        }
      } else if (fate === "close") {
        tabs = tabs.filter((other) => other !== tab);
        await tab.close();
      }
    };

    const live = async (reports: number) => {
      while (told.size < reports) {
        let tab = tabs[below(3)];
        if (tab === undefined) {
          tab = await tabOf(STORM, below(2) * 3000);
          tabs.push(tab);
        }
        await making(tab, Math.max(20, REPORTS / 20));
        await meet(tab);
      }
    };

    // Two requests of three have a fault.
    world.gateway.weather = () => FAULTS[below(1.5 * FAULTS.length)];
    await live(REPORTS / 3);
    await world.collector.stop("SIGKILL");
    await live((2 * REPORTS) / 3);
    await world.startCollector();
    await live(REPORTS);
    // Requests use the same random numbers as pages, in an order that the seed does not determine.
    while (fates.size < FATES.length) {
      await live(told.size + 1);
    }
    world.gateway.clear();
    const remembered = await within(await tabOf(STORM), settle, undefined);
    await expectCountedOnce(STORM, remembered, told);
    tell("whatever happens", remembered, { told: told.size, ...Object.fromEntries(fates) });
  });

  /** Prints the results of a larger drill. */
  function tell(name: string, { reports }: Remembered, further: object): void {
    if (process.env.HUSHBIN_DRILL_REPORTS !== undefined) {
      const requests = world.gateway.posts.length;
      console.info(engine.name, engine.version, name, { reports, requests, ...further });
    }
  }

  it("loses nothing of a backlog as the page is left", async () => {
    const tab = await tabOf(BACKLOGS[0]);
    expect(await tab.evaluate("document.visibilityState")).toBe("visible");
    world.gateway.weather = () => "refuse";
    await within(
      tab,
      async ({ all, each }) => {
        client.destroy();
        const clients = all.map((options) => hushbin.createClient(options));
        for (let from = 0; from < each; from += 500) {
          const numbers = Array.from({ length: 500 }, (_, index) => from + index);
          const made = clients.flatMap((own) =>
            numbers.map((number) => own.report({ 0: 1, 1: number / 1e6 })),
          );
          await Promise.all(made);
        }
      },
      { all: BACKLOGS.map((task) => options(task)), each: BACKLOG / 2 },
    );
    world.gateway.clear();
    await tab.go(world.elsewhere);
    const arrived = BACKLOGS.map(({ id }) => world.gateway.uploads(id).size);
    for (const task of BACKLOGS) {
      const remembered = await within(await tabOf(task), settle, undefined);
      expect(remembered.reports).toBe(BACKLOG / 2);
      await expectCountedOnce(task, remembered, []);
      tell("backlog", remembered, { arrived });
    }
  });

  it.each([
    ["closed", CLOSED, (tab: Tab) => tab.close()],
    ["left", LEFT, (tab: Tab) => tab.go(world.elsewhere)],
  ])("sends what waits as the page is %s, and nobody comes back", async (_, task, go) => {
    const tab = await tabOf(task, 600_000);
    // The client has finished the work for earlier pages.
    await within(tab, () => client.flush(), undefined);
    const { uploads } = await within(tab, report, { all: [answers(1), answers(2)], since: 0 });
    expect(world.gateway.uploads(task.id).size).toBe(0);
    await go(tab);
    await until(async () => (await world.reports(task.id)) === 2);
    const remembered = await within(await tabOf(task), settle, undefined);
    await expectCountedOnce(task, remembered, uploads);
  });

  it("goes on in a page that comes back as it was", async () => {
    const tab = await tabOf(BACK);
    const { uploads } = await within(tab, report, { all: [answers(1)], since: 0 });
    // Firefox does not keep a page with a pending request.
    await within(tab, () => client.flush(), undefined);
    const isKept = () => tab.evaluate("'client' in globalThis");
    // The browser decides whether to keep a page, so a dropped page leaves once more.
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      await tab.go(world.elsewhere);
      await tab.back();
      await until(() => tab.evaluate("'hushbin' in globalThis"));
      if (await isKept()) {
        break;
      }
      await enter(tab, BACK);
      await within(tab, () => client.flush(), undefined);
    }
    expect(await isKept()).toBe(true);
    const later = await within(tab, report, { all: [answers(2)], since: 0 });
    expect(later.uploads[0]).toBe(uploads[0]);
    await expectCountedOnce(BACK, await within(tab, settle, undefined), later.uploads);
  });

  it("keeps no other page waiting for one that was left as it stored reports", async () => {
    const [tab, other] = [await tabOf(STORED), await tabOf(STORED)];
    for (const each of [tab, other]) {
      await within(each, () => client.ready(), undefined);
    }
    // Reports are stored one after another, so the page leaves in the middle of one.
    await within(
      tab,
      () => {
        const store = async () => {
          for (let number = 1; number === 1 || "working" in globalThis; number += 1) {
            await client.report({ 0: 1, 1: number / 1e6 });
          }
        };
        Object.assign(globalThis, { working: store() });
      },
      undefined,
    );
    await tab.go(world.elsewhere);
    const { uploads } = await within(other, report, { all: [answers(5000)], since: Date.now() });
    await tab.back();
    await until(() => tab.evaluate("'hushbin' in globalThis"));
    await tab.evaluate("((working) => (delete globalThis.working, working))(globalThis.working)");
    await expectCountedOnce(STORED, await within(other, settle, undefined), uploads);
  });

  it("sends, though another script has all that may outlive the page", async () => {
    const tab = await tabOf(QUOTA);
    world.gateway.faults.push("silent");
    world.gateway.weather = () => world.gateway.faults.shift();
    expect(await within(tab, fillQuota, world.endpoint)).toBe("refused");
    const { uploads } = await within(tab, report, { all: [answers(1)], since: 0 });
    await expectCountedOnce(QUOTA, await within(tab, settle, undefined), uploads);
  });

  it("keeps what was said to be queued as the browser is killed", async () => {
    const directory = world.directory("profile");
    // No report arrives before the fault ends.
    world.gateway.weather = () => "refuse";
    const said = new Gateway();
    const words = await said.listen();
    said.weather = () => "portal";
    // The test does not drive these pages: they act on their own and report back.
    const page = (script: string) => ({
      type: "text/html",
      body: `<!doctype html><title>page</title><script type="module">
        import * as hushbin from "/dist/index.js";
        globalThis.hushbin = hushbin;
        const say = (words) => fetch("${words}", { method: "POST", body: JSON.stringify(words) });
        (${begin})(${JSON.stringify(options(KILLED))});
        ${script}</script>`,
    });
    const site = await serve({
      directories: { "/dist/": DIST },
      documents: {
        "/report": page(`for (let from = 1e4 * location.search.slice(1); ; from += 5) {
          const all = [0, 1, 2, 3, 4].map((plus) => ({ 0: 1, 1: (from + plus) / 1e6 }));
          await say((await (${report})({ all, since: 0 })).uploads.slice(-5));
        }`),
        "/settle": page(`await say(await (${settle})());`),
      },
      policy: "connect-src *",
    });
    const wordsOf = async (path: string, many: number) => {
      said.passed.length = 0;
      const browser = await run(directory, site.url + path);
      try {
        await until(async () => said.posts.length >= many);
      } finally {
        await browser.kill();
      }
      return said.posts.map(({ body }) => JSON.parse(String(body)));
    };
    try {
      const told = new Set<string>();
      for (let round = 1; round <= 3; round += 1) {
        for (const uploads of await wordsOf(`/report?${round}`, Math.ceil(REPORTS / 30))) {
          uploads.forEach((upload: string) => void told.add(upload));
        }
      }
      expect(told.size).toBeGreaterThanOrEqual(REPORTS / 2);
      expect(await world.reports(KILLED.id)).toBe(0);
      world.gateway.clear();
      const [remembered] = await wordsOf("/settle", 1);
      expect(remembered.reports).toBeGreaterThanOrEqual(told.size);
      await expectCountedOnce(KILLED, remembered, told);
      tell("killed", remembered, { told: told.size });
    } finally {
      said.close();
      site.close();
    }
  });
});
