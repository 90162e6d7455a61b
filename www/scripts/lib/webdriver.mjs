// WebKitGTK, by WebDriver: commands and answers as JSON over HTTP.
// https://www.w3.org/TR/webdriver2/

import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { createInterface } from "node:readline";
import { findMiniBrowser, findWebKitDriver, findXvfb } from "./browser.mjs";
import { Failed } from "./run.mjs";

/** A port that was free a moment ago. */
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

/** A program that is not left behind, however this process ends. */
function background(program, args, options) {
  if (program === undefined) {
    throw new Failed("WebKitGTK, its driver or Xvfb is missing; run npm run setup");
  }
  const child = spawn(program, args, options);
  const kill = () => child.kill("SIGKILL");
  process.on("exit", kill);
  const exited = once(child, "exit").then(() => process.off("exit", kill));
  return {
    child,
    stop() {
      child.kill();
      return exited;
    },
  };
}

/** A screen in memory; resolves when it is there, to its name for DISPLAY. */
async function startScreen() {
  const screen = background(findXvfb(), ["-displayfd", "1", "-nolisten", "tcp"], {
    stdio: ["ignore", "pipe", "ignore"],
  });
  const [number] = await once(createInterface({ input: screen.child.stdout }), "line");
  return { ...screen, name: `:${number}` };
}

/**
 * @param {string} base the driver's address
 * @param {string} method
 * @param {string} path
 * @param {object} [body]
 * @returns {Promise<any>} the answer's value
 */
async function command(base, method, path, body) {
  const response = await fetch(base + path, {
    method,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const { value } = await response.json();
  if (!response.ok) {
    throw new Error(`WebKitGTK: ${value.error}: ${value.message}`);
  }
  return value;
}

/** Waits until the driver listens, or has ended. */
async function ready(base, child) {
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

/** The driver takes one session at a time; each is a browser of its own that keeps nothing. */
const BROWSER = {
  capabilities: {
    alwaysMatch: {
      "webkitgtk:browserOptions": { binary: findMiniBrowser(), args: ["--automation"] },
    },
  },
};

/** @returns {Promise<import("./engines.mjs").Engine>} */
export async function launchWebKit() {
  const screen = await startScreen();
  const port = await freePort();
  const base = `http://127.0.0.1:${port}`;
  const driver = background(findWebKitDriver(), [`--port=${port}`], {
    stdio: "ignore",
    env: { ...process.env, DISPLAY: screen.name },
  });
  await ready(base, driver.child);
  const begin = () => command(base, "POST", "/session", BROWSER);
  const end = (id) => command(base, "DELETE", `/session/${id}`);
  const { sessionId, capabilities } = await begin();
  await end(sessionId);
  return {
    name: "WebKitGTK",
    version: capabilities.browserVersion,
    async open(address) {
      const { sessionId } = await begin();
      const path = `/session/${sessionId}`;
      await command(base, "POST", `${path}/url`, { url: address });
      return {
        evaluate: (expression) =>
          command(base, "POST", `${path}/execute/sync`, {
            script: `return (async () => (${expression}))()`,
            args: [],
          }),
        close: () => end(sessionId),
      };
    },
    async close() {
      await driver.stop();
      await screen.stop();
    },
  };
}
