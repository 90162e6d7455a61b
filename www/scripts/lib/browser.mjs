// Browsers: which ones, and Chromium started without what it does of its own accord.

import { existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";

const NAMES = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/**
 * @param {readonly string[]} names
 * @returns {string | undefined}
 */
export function onPath(names) {
  const directories = (process.env.PATH ?? "").split(delimiter);
  return names
    .flatMap((name) => directories.map((directory) => join(directory, name)))
    .find((file) => existsSync(file));
}

/** Chromium's or Chrome's executable; HUSHBIN_CHROMIUM goes first. */
export const findChromium = () => process.env.HUSHBIN_CHROMIUM ?? onPath(NAMES);

export const findChromedriver = () => onPath(["chromedriver"]);
export const findFirefox = () => onPath(["firefox-esr", "firefox"]);
export const findWebKitDriver = () => onPath(["WebKitWebDriver"]);
/** A screen that nobody sees: WebKitGTK has no headless mode. */
export const findXvfb = () => onPath(["Xvfb"]);

/** WebKitGTK's own browser, which is not on PATH: /usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser. */
export function findMiniBrowser() {
  const folders = ["/usr/lib", "/usr/libexec"];
  const entries = (folder) => (existsSync(folder) ? readdirSync(folder) : []);
  const below = folders.flatMap((folder) => entries(folder).map((name) => join(folder, name)));
  return [...folders, ...below.filter((folder) => folder.endsWith("-gnu"))]
    .flatMap((folder) =>
      entries(folder)
        .filter((name) => /^webkit(2gtk-4|gtk-6)/.test(name))
        .map((name) => join(folder, name, "MiniBrowser")),
    )
    .find(existsSync);
}

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

/**
 * @param {readonly string[]} [flags] that Chromium is started with besides
 * @returns {Promise<import("playwright-core").Browser>}
 */
export async function launchChromium(flags = []) {
  const { chromium, options } = await playwright();
  return chromium.launch({ ...options, args: [...options.args, ...flags] });
}

/**
 * Chromium with a profile on the disk, which outlives it.
 *
 * @param {string} directory the profile's
 * @param {string} [extension] the folder of one that it has loaded
 * @returns {Promise<import("playwright-core").BrowserContext>}
 */
export async function launchProfile(directory, extension) {
  const { chromium, options } = await playwright();
  if (extension === undefined) {
    return chromium.launchPersistentContext(directory, options);
  }
  return chromium.launchPersistentContext(directory, {
    ...options,
    args: [...options.args, `--load-extension=${extension}`],
    ignoreDefaultArgs: ["--disable-extensions"],
  });
}
