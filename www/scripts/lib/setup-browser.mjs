// Installation of browsers and browser drivers.

import {
  findChromedriver,
  findChromium,
  findFirefox,
  findMiniBrowser,
  findWebKitDriver,
  findXvfb,
} from "./browser.mjs";
import { installPackages } from "./debian.mjs";

/** Functions that find the required programs, each by the name of its Debian package. */
const CHROMIUM_PACKAGES = { chromium: findChromium, "chromium-driver": findChromedriver };
const OTHER_BROWSER_PACKAGES = {
  "firefox-esr": findFirefox,
  "webkit2gtk-driver": () => findMiniBrowser() && findWebKitDriver(),
  xvfb: findXvfb,
};

/**
 * Installs the browsers and browser drivers.
 *
 * @param {{ all?: boolean }} [options] all: Firefox and WebKitGTK, too
 */
export async function setupBrowser({ all = false } = {}) {
  await installPackages({ ...CHROMIUM_PACKAGES, ...(all ? OTHER_BROWSER_PACKAGES : {}) });
}
