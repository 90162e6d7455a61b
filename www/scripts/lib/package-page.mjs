// Opens a page in headless Chromium that has loaded the built package.

import { launchChromium } from "./browser.mjs";
import { DIST } from "./paths.mjs";
import { print, step } from "./run.mjs";
import { serve } from "./serve.mjs";

const EMPTY_PAGE_HTML = '<!doctype html><link rel="icon" href="data:,">';
const PAGE = `${EMPTY_PAGE_HTML}<script type="module" src="/page.js"></script>`;
const SCRIPT = `import * as hushbin from "/dist/index.js";
Object.assign(globalThis, { hushbin });`;

/**
 * Serves the built package and two pages. One page has the package as `globalThis.hushbin`. The
 * other page is empty and has an empty script.
 */
export function packageSite() {
  return serve({
    directories: { "/dist/": DIST },
    documents: {
      "/": { type: "text/html", body: PAGE },
      "/empty": { type: "text/html", body: EMPTY_PAGE_HTML },
      "/empty.js": { type: "text/javascript", body: "" },
      "/page.js": { type: "text/javascript", body: SCRIPT },
    },
  });
}

/**
 * Opens a page that has the package as `globalThis.hushbin`, and runs `work` with it. Closes the
 * page afterwards, even if the work has failed.
 *
 * @template T
 * @param {(page: import("playwright-core").Page) => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withPackagePage(work) {
  const site = await packageSite();
  const browser = await step("start: headless Chromium", launchChromium);
  try {
    const page = await browser.newPage();
    page.on("pageerror", (error) => print(`page: ${error.message}`));
    page.on("console", (message) => print(`page: ${message.text()}`));
    await page.goto(site.url);
    await page.waitForFunction(() => "hushbin" in globalThis);
    return await work(page);
  } finally {
    await browser.close();
    site.close();
  }
}
