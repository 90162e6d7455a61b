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

/** Waits until a condition on a page or a collector is true. */
export async function until(holds: () => Promise<unknown>): Promise<void> {
  while (!(await holds())) {
    await pause(50);
  }
}
