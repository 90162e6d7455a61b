// Runs WebKitGTK through WebDriver: commands and responses as JSON over HTTP.
// https://www.w3.org/TR/webdriver2/

import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { findMiniBrowser, findWebKitDriver, findXvfb } from "./browser.mjs";
import { startInBackground } from "./run.mjs";

/** Returns a port that no program was using a moment ago. */
export async function freePort() {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") {
    throw new Error("a server on a port has an address with a port");
  }
  return address.port;
}

/**
 * Starts a virtual screen. Resolves with its name, which programs need as DISPLAY, when it is
 * ready.
 */
async function startScreen() {
  const screen = startInBackground(findXvfb(), ["-displayfd", "1", "-nolisten", "tcp"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [number] = await once(
    createInterface({ input: /** @type {import("node:stream").Readable} */ (screen.child.stdout) }),
    "line",
  );
  return { ...screen, name: `:${number}` };
}

/**
 * Sends a command to the driver.
 *
 * @param {string} base the driver's address
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 * @param {AbortSignal | null} [signal] aborts waiting
 * @returns {Promise<any>} the response's value
 */
async function command(base, method, path, body, signal = null) {
  const response = await fetch(base + path, {
    method,
    signal,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const { value } = await response.json();
  if (!response.ok) {
    throw new Error(`WebKitGTK: ${value.error}: ${value.message}`);
  }
  return value;
}

/** Waits until the driver accepts connections, or has ended. */
async function waitUntilReady(base, child) {
  for (;;) {
    try {
      return await command(base, "GET", "/status");
    } catch (error) {
      if (child.exitCode !== null) {
        throw error;
      }
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** Requested capabilities of a session. Each session is a separate browser that stores nothing. */
const SESSION_CAPABILITIES = {
  capabilities: {
    alwaysMatch: {
      "webkitgtk:browserOptions": { binary: findMiniBrowser(), args: ["--automation"] },
    },
  },
};

/**
 * Time in ms after which opening a session fails. Some drivers never respond. Opening usually takes
 * a second or two.
 */
const SESSION_TIMEOUT_MS = 120_000;
const MAX_DRIVER_ATTEMPTS = 3;

/**
 * Starts a driver and opens a session. A driver can have only one session. If no browser opens,
 * another driver is tried.
 *
 * @param {string} display
 * @param {number} [left] number of drivers that may still be tried
 */
async function startSession(display, left = MAX_DRIVER_ATTEMPTS) {
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const driver = startInBackground(findWebKitDriver(), [`--port=${port}`], {
    stdio: "ignore",
    // Killed together with a browser that it may have started.
    detached: true,
    env: { ...process.env, DISPLAY: display },
  });
  await waitUntilReady(base, driver.child);
  try {
    const signal = AbortSignal.timeout(SESSION_TIMEOUT_MS);
    const { sessionId, capabilities } = await command(
      base,
      "POST",
      "/session",
      SESSION_CAPABILITIES,
      signal,
    );
    const told = (method, name, body) =>
      command(base, method, `/session/${sessionId}${name}`, body);
    return {
      capabilities,
      told,
      async end() {
        await told("DELETE", "");
        await driver.stop();
      },
    };
  } catch (error) {
    await driver.kill();
    const timedOut = error instanceof DOMException && error.name === "TimeoutError";
    if (!timedOut || left === 1) {
      throw error;
    }
    return startSession(display, left - 1);
  }
}

/**
 * Opens a session whose windows are the tabs of one profile. Commands run one after another,
 * because each command first selects its window.
 *
 * @param {string} display
 * @returns {Promise<import("./engines.mjs").Profile>}
 */
async function profileOf(display) {
  const { told, end } = await startSession(display);
  // Timeout for scripts, which may wait long for requests.
  await told("POST", "/timeouts", { script: 600_000 });
  // The first window stays open, because the browser ends with its last one.
  const first = await told("GET", "/window");
  let last = Promise.resolve();
  const to = (handle, method, name, body) => {
    const done = last.then(async () => {
      await told("POST", "/window", { handle });
      return told(method, name, body);
    });
    last = done.catch(() => {});
    return done;
  };
  return {
    async open(address) {
      // A window is opened, because a tab would count as hidden.
      const { handle } = await to(first, "POST", "/window/new", { type: "window" });
      /** @type {import("./engines.mjs").Tab} */
      const tab = {
        evaluate: (expression) =>
          to(handle, "POST", "/execute/sync", {
            script: `return (async () => (${expression}))()`,
            args: [],
          }),
        go: (url) => to(handle, "POST", "/url", { url }),
        reload: () => to(handle, "POST", "/refresh", {}),
        back: () => to(handle, "POST", "/back", {}),
        close: () => to(handle, "DELETE", "/window"),
      };
      await tab.go(address);
      return tab;
    },
    close: end,
  };
}

/** @returns {Promise<import("./engines.mjs").Engine>} */
export async function launchWebKit() {
  const screen = await startScreen();
  const { capabilities, end } = await startSession(screen.name);
  await end();
  return {
    name: "WebKitGTK",
    version: capabilities.browserVersion,
    profile: () => profileOf(screen.name),
    close: () => screen.stop(),
  };
}

/**
 * Starts WebKitGTK's browser with a profile that remains on the disk. The browser runs without a
 * driver, because it stores nothing under WebDriver.
 *
 * @param {string} directory directory of the profile
 * @param {string} url the page that it opens
 * @returns {Promise<import("./engines.mjs").Running>}
 */
export async function startPersistentWebKit(directory, url) {
  const screen = await startScreen();
  const homes = ["HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"];
  const browser = startInBackground(findMiniBrowser(), [url], {
    stdio: "ignore",
    detached: true,
    env: {
      ...process.env,
      ...Object.fromEntries(homes.map((name) => [name, join(directory, name)])),
      DISPLAY: screen.name,
    },
  });
  return {
    async kill() {
      await browser.kill();
      await screen.stop();
    },
  };
}
