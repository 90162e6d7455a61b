// The three browser engines, behind one interface.

import { launchFirefox } from "./bidi.mjs";
import { launchChromium } from "./browser.mjs";
import { launchWebKit } from "./webdriver.mjs";

/**
 * @typedef {object} Tab
 * @property {(expression: string) => Promise<any>} evaluate the value of an expression, awaited, as
 * JSON
 * @property {(url: string) => Promise<unknown>} go resolves when the page has loaded
 * @property {() => Promise<unknown>} reload resolves when the page has loaded
 * @property {() => Promise<unknown>} back to the previous page
 * @property {() => Promise<unknown>} close as people do, with events for the page
 *
 * @typedef {object} Profile tabs that share stored data, until it is closed
 * @property {(url: string) => Promise<Tab>} open resolves when the page has loaded
 * @property {() => Promise<unknown>} close
 *
 * @typedef {object} Engine
 * @property {string} name
 * @property {string} version
 * @property {() => Promise<Profile>} profile one at a time, because WebKitGTK's driver has one
 * session
 * @property {() => Promise<void>} close
 *
 * @typedef {object} Running a browser without a driver
 * @property {() => Promise<unknown>} kill ends all its processes at once
 */

/** @returns {Promise<Engine>} */
async function launchBlink() {
  const browser = await launchChromium();
  return {
    name: "Chromium",
    version: browser.version(),
    async profile() {
      const context = await browser.newContext();
      return {
        async open(url) {
          const page = await context.newPage();
          await page.goto(url);
          return {
            evaluate: (expression) => page.evaluate(expression),
            go: (url) => page.goto(url),
            reload: () => page.reload(),
            back: () => page.goBack(),
            close: () => page.close({ runBeforeUnload: true }),
          };
        },
        close: () => context.close(),
      };
    },
    close: () => browser.close(),
  };
}

/** @returns {Promise<Engine[]>} */
export const launchEngines = () => Promise.all([launchBlink(), launchFirefox(), launchWebKit()]);
