// Runs Firefox through WebDriver BiDi: commands and responses as JSON on one WebSocket.
// https://www.w3.org/TR/webdriver-bidi/

import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { WebSocket } from "ws";
import { findFirefox } from "./browser.mjs";
import { ExplainedError, startInBackground } from "./run.mjs";

/** Connection to Firefox that sends commands and matches the responses to them by id. */
class Bidi {
  #socket;
  #lastCommandId = 0;
  /** @type {Map<number, { resolve: (result: any) => void, reject: (error: Error) => void }>} */
  #pendingCommands = new Map();

  /** @param {WebSocket} socket */
  constructor(socket) {
    this.#socket = socket;
    socket.on("message", (text) => this.#settleCommand(JSON.parse(String(text))));
    socket.on("close", () => {
      for (const { reject } of this.#pendingCommands.values()) {
        reject(new Error("Firefox ended"));
      }
    });
  }

  /** @param {string} url */
  static async connect(url) {
    const socket = new WebSocket(url);
    await once(socket, "open");
    return new Bidi(socket);
  }

  #settleCommand({ id, type, result, error, message }) {
    const command = this.#pendingCommands.get(id);
    this.#pendingCommands.delete(id);
    type === "error"
      ? command?.reject(new Error(`Firefox: ${error}: ${message}`))
      : command?.resolve(result);
  }

  /**
   * @param {string} method
   * @param {object} [params]
   * @returns {Promise<any>}
   */
  send(method, params = {}) {
    this.#lastCommandId += 1;
    const id = this.#lastCommandId;
    this.#socket.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve, reject) => this.#pendingCommands.set(id, { resolve, reject }));
  }
}

/**
 * Starts Firefox with a profile.
 *
 * @param {string} profile its directory
 * @param {readonly string[]} [urls] pages that it opens
 */
async function startFirefox(profile, urls = []) {
  const flags = ["--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"];
  const firefox = startInBackground(findFirefox(), [...flags, ...urls], {
    stdio: ["ignore", "ignore", "pipe"],
    detached: urls.length > 0,
  });
  const address = new Promise((resolve) => {
    createInterface({
      input: /** @type {import("node:stream").Readable} */ (firefox.child.stderr),
    }).on("line", (line) => {
      const [, url] = line.match(/^WebDriver BiDi listening on (ws:\S+)/) ?? [];
      if (url !== undefined) {
        resolve(url);
      }
    });
  });
  const url = await Promise.race([address, firefox.exited]);
  if (url === undefined) {
    throw new ExplainedError("Firefox ended before it listened");
  }
  return { ...firefox, url };
}

/**
 * Starts Firefox with a profile that remains on the disk.
 *
 * @param {string} directory directory of the profile
 * @param {string} url the page that it opens
 * @returns {Promise<import("./engines.mjs").Running>}
 */
export async function startPersistentFirefox(directory, url) {
  mkdirSync(directory, { recursive: true });
  return startFirefox(directory, [url]);
}

/** @returns {import("./engines.mjs").Tab} */
function tabOf(bidi, context) {
  const told = (method, params = {}) =>
    bidi.send(`browsingContext.${method}`, { context, ...params });
  return {
    async evaluate(expression) {
      const answer = await bidi.send("script.evaluate", {
        expression: `(async () => JSON.stringify(await (${expression})))()`,
        target: { context },
        awaitPromise: true,
      });
      if (answer.type === "exception") {
        throw new Error(answer.exceptionDetails.text);
      }
      return answer.result.value === undefined ? undefined : JSON.parse(answer.result.value);
    },
    go: (url) => told("navigate", { url, wait: "complete" }),
    reload: () => told("reload", { wait: "complete" }),
    back: () => told("traverseHistory", { delta: -1 }),
    close: () => told("close", { promptUnload: true }),
  };
}

/** @returns {Promise<import("./engines.mjs").Engine>} */
export async function launchFirefox() {
  const directory = mkdtempSync(join(tmpdir(), "hushbin-firefox-"));
  const { url, exited } = await startFirefox(directory);
  const bidi = await Bidi.connect(`${url}/session`);
  const { capabilities } = await bidi.send("session.new", { capabilities: {} });
  return {
    name: "Firefox",
    version: capabilities.browserVersion,
    async profile() {
      const { userContext } = await bidi.send("browser.createUserContext");
      return {
        async open(address) {
          const made = { type: "tab", userContext };
          const { context } = await bidi.send("browsingContext.create", made);
          const tab = tabOf(bidi, context);
          await tab.go(address);
          return tab;
        },
        close: () => bidi.send("browser.removeUserContext", { userContext }),
      };
    },
    async close() {
      await bidi.send("browser.close");
      await exited;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
