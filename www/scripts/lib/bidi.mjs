// Firefox, by WebDriver BiDi: commands and answers as JSON on one WebSocket.
// https://www.w3.org/TR/webdriver-bidi/

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { WebSocket } from "ws";
import { findFirefox } from "./browser.mjs";
import { Failed } from "./run.mjs";

/** A connection: commands in, and what has no id, events, to whoever listens. */
class Bidi {
  #socket;
  #last = 0;
  /** @type {Map<number, { resolve: (result: any) => void, reject: (error: Error) => void }>} */
  #waiting = new Map();

  /** @param {WebSocket} socket */
  constructor(socket) {
    this.#socket = socket;
    socket.on("message", (text) => this.#answered(JSON.parse(String(text))));
    socket.on("close", () => {
      for (const { reject } of this.#waiting.values()) {
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

  #answered({ id, type, result, error, message }) {
    const command = this.#waiting.get(id);
    this.#waiting.delete(id);
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
    this.#last += 1;
    const id = this.#last;
    this.#socket.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve, reject) => this.#waiting.set(id, { resolve, reject }));
  }
}

/** Starts Firefox with a profile of its own; resolves to its address for BiDi. */
async function start(profile) {
  const program = findFirefox();
  if (program === undefined) {
    throw new Failed("firefox is missing; run npm run setup");
  }
  const child = spawn(
    program,
    ["--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"],
    { stdio: ["ignore", "ignore", "pipe"] },
  );
  const kill = () => child.kill("SIGKILL");
  process.on("exit", kill);
  const exited = once(child, "exit").then(() => process.off("exit", kill));
  const address = new Promise((resolve) => {
    createInterface({ input: child.stderr }).on("line", (line) => {
      const [, url] = line.match(/^WebDriver BiDi listening on (ws:\S+)/) ?? [];
      if (url !== undefined) {
        resolve(url);
      }
    });
  });
  const url = await Promise.race([address, exited]);
  if (url === undefined) {
    throw new Failed("Firefox ended before it listened");
  }
  return { url, exited };
}

/** @returns {Promise<import("./engines.mjs").Engine>} */
export async function launchFirefox() {
  const profile = mkdtempSync(join(tmpdir(), "hushbin-firefox-"));
  const { url, exited } = await start(profile);
  const bidi = await Bidi.connect(`${url}/session`);
  const { capabilities } = await bidi.send("session.new", { capabilities: {} });
  return {
    name: "Firefox",
    version: capabilities.browserVersion,
    async open(address) {
      const { userContext } = await bidi.send("browser.createUserContext");
      const { context } = await bidi.send("browsingContext.create", { type: "tab", userContext });
      await bidi.send("browsingContext.navigate", { context, url: address, wait: "complete" });
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
        close: () => bidi.send("browser.removeUserContext", { userContext }),
      };
    },
    async close() {
      await bidi.send("browser.close");
      await exited;
      rmSync(profile, { recursive: true, force: true });
    },
  };
}
