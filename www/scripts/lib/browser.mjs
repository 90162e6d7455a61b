// Chromium: which one, and started without what it does of its own accord.

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/**
 * @param {readonly string[]} names
 * @returns {string | undefined}
 */
function onPath(names) {
  const directories = (process.env.PATH ?? "").split(delimiter);
  return names
    .flatMap((name) => directories.map((directory) => join(directory, name)))
    .find((file) => existsSync(file));
}

/** Chromium's or Chrome's executable; HUSHBIN_CHROMIUM goes first. */
export const findChromium = () => process.env.HUSHBIN_CHROMIUM ?? onPath(NAMES);

export const findChromedriver = () => onPath(["chromedriver"]);

const ARGS = [
  // Pages here are our own, and containers have no sandbox to give.
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--no-first-run",
];

async function playwright() {
  const executablePath = findChromium();
  if (executablePath === undefined) {
    throw new Error("chromium is missing; run npm run setup");
  }
  const { chromium } = await import("playwright-core");
  return { chromium, options: { executablePath, args: ARGS } };
}

/** @returns {Promise<import("playwright-core").Browser>} */
export async function launchChromium() {
  const { chromium, options } = await playwright();
  return chromium.launch(options);
}

/**
 * Chromium with a profile on the disk, which outlives it.
 *
 * @param {string} directory the profile's
 * @returns {Promise<import("playwright-core").BrowserContext>}
 */
export async function launchProfile(directory) {
  const { chromium, options } = await playwright();
  return chromium.launchPersistentContext(directory, options);
}
