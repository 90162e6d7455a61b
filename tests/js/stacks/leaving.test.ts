/**
 * Reports that a page makes as it is left, in three engines. Each is counted once: by the request
 * that the page begins, or at the next visit.
 */

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Task } from "../../../www/client/index.js";
import type { Engine, Profile, Tab } from "../../../www/scripts/lib/engines.mjs";
import { ALLOWED, OFTEN, World } from "../e2e/harness.js";
import { ENGINES, until, within } from "./tabs.js";

const REPORTS = 20;
const EVENTS = ["visibilitychange", "pagehide", "freeze"] as const;
const ENDS = ["leave", "close"] as const;

const taskOf = (event: string, end: string): Task => ({ ...OFTEN, id: `${event}-${end}` });
const TASKS = EVENTS.flatMap((event) => ENDS.map((end) => taskOf(event, end)));

/** Creates the page's client. The given event is the first that tells it that the page is left. */
function begin({ event, options }: { event: string; options: object }): void {
  if (event !== "visibilitychange") {
    const stop = (hidden: Event) => hidden.stopImmediatePropagation();
    document.addEventListener("visibilitychange", stop, { capture: true });
  }
  if (event === "freeze") {
    // Browsers freeze pages in the background after minutes, or not at all.
    addEventListener("pagehide", () => void document.dispatchEvent(new Event("freeze")));
  }
  globalThis.client = hushbin.createClient(options as never);
}

/**
 * Registers reports of different answers, and waits until all are reserved. The first takes 200 ms,
 * because Firefox terminates a script that runs while a tab is closed.
 */
async function register(reports: number): Promise<void> {
  for (let index = 0; index < reports; index += 1) {
    client.atLeave(() => {
      const end = Date.now() + 200;
      while (index === 0 && Date.now() < end) {}
      return { 0: 1, 1: index / 1000 };
    });
  }
  while ((await client.budget()).used < reports) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  // The page learns of the last reservation a moment after the database.
  await new Promise((resolve) => setTimeout(resolve, 100));
}

/**
 * Returns the first events and the ends that an engine supports. As Firefox closes a tab, it may
 * terminate scripts before the first answer is made. That happens only to pages that hear of it as
 * late as `pagehide`, because another script keeps `visibilitychange` from them: in 8 of 240 runs.
 */
const casesOf = (engine: string) =>
  EVENTS.flatMap((event) => ENDS.map((end) => [event, end] as const)).filter(
    ([event, end]) => engine !== "Firefox" || event === "visibilitychange" || end === "leave",
  );

describe.each(ENGINES)("%s", (engineName, launch) => {
  let world: World;
  let engine: Engine;
  let profile: Profile;

  beforeAll(async () => {
    [world, engine] = await Promise.all([World.start(...TASKS), launch()]);
  });
  afterAll(() => Promise.all([world?.stop(), engine?.close()]));
  beforeEach(async () => {
    profile = await engine.profile();
  });
  afterEach(() => profile.close());

  async function enter(tab: Tab, event: string, task: Task): Promise<void> {
    await until(() => tab.evaluate("'hushbin' in globalThis"));
    await within(tab, begin, { event, options: { endpoint: world.endpoint, task, ...ALLOWED } });
  }

  it.each(casesOf(engineName))(
    "counts each report once that is made in %s, by a page that a person may %s",
    async (event, end) => {
      const task = taskOf(event, end);
      const other = await profile.open(world.site);
      const tab = await profile.open(world.site);
      await enter(tab, event, task);
      await within(tab, register, REPORTS);
      expect(await world.reports(task.id)).toBe(0);
      await (end === "leave" ? tab.go(`${world.site}?elsewhere`) : tab.close());
      // The next visit sends what did not arrive.
      await enter(other, "visibilitychange", task);
      await within(other, () => client.ready().then(() => {}), null);
      await until(async () => (await world.reports(task.id)) === REPORTS);
      await until(() => within(other, async () => (await client.history()).length === 20, null));
      await within(other, () => client.flush(), null);
      const states = await within(
        other,
        async () => (await client.history()).map(({ state }) => state),
        null,
      );
      expect([...new Set(states)]).toEqual(["acknowledged"]);
      expect(await world.reports(task.id)).toBe(REPORTS);
      expect(world.gateway.uploads(task.id).size).toBe(REPORTS);
      expect(await within(other, () => client.budget(), null)).toMatchObject({
        used: REPORTS,
        spent: REPORTS * task.epsilon,
      });
    },
  );
});
