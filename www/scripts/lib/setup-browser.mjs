// Browsers and their drivers: installed where that is ours to do, asked for elsewhere.

import { existsSync } from "node:fs";
import {
  findChromedriver,
  findChromium,
  findFirefox,
  findMiniBrowser,
  findWebKitDriver,
  findXvfb,
} from "./browser.mjs";
import { Failed, run, say } from "./run.mjs";

/** What is needed, under the names of Debian's packages. */
const CHROMIUM = { chromium: findChromium, "chromium-driver": findChromedriver };
const OTHERS = {
  "firefox-esr": findFirefox,
  "webkit2gtk-driver": () => findMiniBrowser() && findWebKitDriver(),
  xvfb: findXvfb,
};

/** @param {{ all?: boolean }} [options] all: Firefox and WebKitGTK, too */
export async function setupBrowser({ all = false } = {}) {
  const needed = Object.entries({ ...CHROMIUM, ...(all ? OTHERS : {}) });
  const missing = needed.filter(([, find]) => find() === undefined).map(([name]) => name);
  if (missing.length === 0) {
    say(needed.map(([name, find]) => `  ${name}: ${find()}`).join("\n"));
    return;
  }
  const names = missing.join(" ");
  if (process.getuid?.() !== 0 || !existsSync("/etc/debian_version")) {
    throw new Failed(
      `${names}: not found. Install, on Debian or Ubuntu: sudo apt-get install ${names}`,
    );
  }
  say(`  ${names}: installing with apt-get`);
  await run("apt-get", ["update", "-qq"]);
  await run("apt-get", ["install", "-y", "-qq", "--no-install-recommends", ...missing]);
}
