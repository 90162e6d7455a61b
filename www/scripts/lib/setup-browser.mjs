// Browsers and drivers.

import {
  findChromedriver,
  findChromium,
  findFirefox,
  findMiniBrowser,
  findWebKitDriver,
  findXvfb,
} from "./browser.mjs";
import { installPackages } from "./debian.mjs";

/** Required programs, by the names of Debian's packages. */
const CHROMIUM = { chromium: findChromium, "chromium-driver": findChromedriver };
const OTHERS = {
  "firefox-esr": findFirefox,
  "webkit2gtk-driver": () => findMiniBrowser() && findWebKitDriver(),
  xvfb: findXvfb,
};

/**
 * Installs browsers and drivers.
 *
 * @param {{ all?: boolean }} [options] all: Firefox and WebKitGTK, too
 */
export async function setupBrowser({ all = false } = {}) {
  await installPackages({ ...CHROMIUM, ...(all ? OTHERS : {}) });
}
