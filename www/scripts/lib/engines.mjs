// The three engines that pages run in, driven alike.

import { launchFirefox } from "./bidi.mjs";
import { launchChromium } from "./browser.mjs";
import { launchWebKit } from "./webdriver.mjs";

/**
 * @typedef {object} Tab a page in a profile of its own
 * @property {(expression: string) => Promise<any>} evaluate the value of an expression, awaited, as JSON can hold it
 * @property {() => Promise<void>} close
 *
 * @typedef {object} Engine
 * @property {string} name
 * @property {string} version
 * @property {(url: string) => Promise<Tab>} open resolves when the page has loaded; one at a
 * time, as WebKitGTK's driver has one session
 * @property {() => Promise<void>} close
 */

/** @returns {Promise<Engine>} */
async function launchBlink() {
  const browser = await launchChromium();
  return {
    name: "Chromium",
    version: browser.version(),
    async open(url) {
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(url);
      return {
        evaluate: (expression) => page.evaluate(expression),
        close: () => context.close(),
      };
    },
    close: () => browser.close(),
  };
}

/** @returns {Promise<Engine[]>} */
export const launchEngines = () => Promise.all([launchBlink(), launchFirefox(), launchWebKit()]);
