/** Engines whose pages are tested, and what tests do in their tabs. */

import { setTimeout as pause } from "node:timers/promises";
import { launchFirefox } from "../../../www/scripts/lib/bidi.mjs";
import { launchBlink, type Tab } from "../../../www/scripts/lib/engines.mjs";
import { launchWebKit } from "../../../www/scripts/lib/webdriver.mjs";

export const ENGINES = [
  ["Chromium", launchBlink],
  ["Firefox", launchFirefox],
  ["WebKitGTK", launchWebKit],
] as const;

/** Runs a function in a page, with JSON arguments. */
export const within = <A, R>(tab: Tab, run: (given: A) => R | Promise<R>, given: A): Promise<R> =>
  tab.evaluate(`(${run})(${JSON.stringify(given)})`);

/** Time after which a wait fails and names its condition. It ends what would never end. */
const BACKSTOP_MS = 300_000;

/** Waits until a condition on a page or a collector is true. */
export async function until(holds: () => Promise<unknown>): Promise<void> {
  const begun = performance.now();
  while (!(await holds())) {
    if (performance.now() - begun > BACKSTOP_MS) {
      throw new Error(`never true: ${holds}`);
    }
    await pause(50);
  }
}
