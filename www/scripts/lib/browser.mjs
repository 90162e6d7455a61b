// Finds the programs of browsers, and starts Chromium without its background services.

import { existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";

const CHROMIUM_PROGRAM_NAMES = [
  "chromium",
  "chromium-browser",
  "google-chrome",
  "google-chrome-stable",
];

/**
 * Returns the path of the first of the named programs that is on PATH.
 *
 * @param {readonly string[]} names
 * @returns {string | undefined}
 */
export function findOnPath(names) {
  const directories = (process.env.PATH ?? "").split(delimiter);
  return names
    .flatMap((name) => directories.map((directory) => join(directory, name)))
    .find((file) => existsSync(file));
}

/** Finds the program of Chromium or Chrome. HUSHBIN_CHROMIUM takes precedence. */
export const findChromium = () =>
  process.env.HUSHBIN_CHROMIUM ?? findOnPath(CHROMIUM_PROGRAM_NAMES);

export const findChromedriver = () => findOnPath(["chromedriver"]);
export const findFirefox = () => findOnPath(["firefox-esr", "firefox"]);
export const findWebKitDriver = () => findOnPath(["WebKitWebDriver"]);
/** Finds the program of a virtual screen, which WebKitGTK needs because it has no headless mode. */
export const findXvfb = () => findOnPath(["Xvfb"]);

/**
 * Finds the program of WebKitGTK's browser. It is not on PATH but, for example, at
 * /usr/lib/x86_64-linux-gnu/webkit2gtk-4.1/MiniBrowser.
 */
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

const CHROMIUM_FLAGS = [
  // The pages here are our own, and containers provide no sandbox.
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
  return { chromium, options: { executablePath, args: CHROMIUM_FLAGS } };
}

/**
 * Starts Chromium with an empty temporary profile.
 *
 * @param {readonly string[]} [flags] additional flags
 * @returns {Promise<import("playwright-core").Browser>}
 */
export async function launchChromium(flags = []) {
  const { chromium, options } = await playwright();
  return chromium.launch({ ...options, args: [...options.args, ...flags] });
}

/**
 * Starts Chromium with a profile that remains on the disk.
 *
 * @param {string} directory directory of the profile
 * @param {string} [extension] folder of an extension to load
 * @returns {Promise<import("playwright-core").BrowserContext>}
 */
export async function launchPersistentChromium(directory, extension) {
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
