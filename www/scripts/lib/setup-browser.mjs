// Chromium and its driver: installed where that is ours to do, asked for elsewhere.

import { existsSync } from "node:fs";
import { findChromedriver, findChromium } from "./browser.mjs";
import { Failed, run, say } from "./run.mjs";

export async function setupBrowser() {
  const chromium = findChromium();
  const driver = findChromedriver();
  if (chromium !== undefined && driver !== undefined) {
    say(`  chromium: ${chromium}, driver: ${driver}`);
    return;
  }
  const missing = [
    ...(chromium === undefined ? ["chromium (or Google Chrome)"] : []),
    ...(driver === undefined ? ["chromedriver"] : []),
  ].join(" and ");
  if (process.getuid?.() !== 0 || !existsSync("/etc/debian_version")) {
    throw new Failed(
      `${missing} not found on PATH. Install it, on Debian or Ubuntu: sudo apt-get install chromium chromium-driver`,
    );
  }
  say(`  ${missing}: installing with apt-get`);
  await run("apt-get", ["update", "-qq"]);
  await run("apt-get", [
    "install",
    "-y",
    "-qq",
    "--no-install-recommends",
    "chromium",
    "chromium-driver",
  ]);
}
