// Starts the three browser engines, and gives them one interface.

import { launchFirefox } from "./bidi.mjs";
import { launchChromium } from "./browser.mjs";
import { launchWebKit } from "./webdriver.mjs";

/**
 * @typedef {object} Tab
 * @property {(expression: string) => Promise<any>} evaluate evaluates an expression in the page,
 * awaits it, and passes the value as JSON
 * @property {(url: string) => Promise<unknown>} go resolves when the page has loaded
 * @property {() => Promise<unknown>} reload resolves when the page has loaded
 * @property {() => Promise<unknown>} back goes to the previous page
 * @property {() => Promise<unknown>} close closes the tab as a person would, so that the page gets
 * events
 *
 * @typedef {object} Profile browser profile: its tabs share stored data until the profile is closed
 * @property {(url: string) => Promise<Tab>} open resolves when the page has loaded
 * @property {() => Promise<unknown>} close
 *
 * @typedef {object} Engine
 * @property {string} name
 * @property {string} version
 * @property {() => Promise<Profile>} profile opens a profile; only one may be open, because
 * WebKitGTK's driver has one session
 * @property {() => Promise<void>} close
 *
 * @typedef {object} Running browser that runs without a driver
 * @property {() => Promise<unknown>} kill ends all processes of the browser at once
 */

/** @returns {Promise<Engine>} */
export async function launchBlink() {
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
