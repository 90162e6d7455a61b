/** A shell in its own folder that runs a reader's commands. */

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { TARGET } from "../../../../www/scripts/lib/paths.mjs";
import { freePort } from "../../../../www/scripts/lib/webdriver.mjs";

const execute = promisify(execFile);

/** A local port in a chapter's text. */
const PORT = /(?<=127\.0\.0\.1:|--port |http\.server )\d+/g;

/**
 * Returns whether a collector, shuffler or analyser at the port is ready, or another server
 * responds.
 */
async function isReady(port: string, ours: boolean): Promise<boolean> {
  try {
    const { ok, status } = await fetch(`http://127.0.0.1:${port}/${ours ? "readyz" : ""}`);
    // A collector that is starting answers with 503.
    return ok || (!ours && status !== 503);
  } catch {
    return false;
  }
}

export class Shell {
  readonly folder = mkdtempSync(join(tmpdir(), "hushbin-book-"));
  readonly #env: NodeJS.ProcessEnv;
  /** Free port for each port of the text. */
  readonly #ports = new Map<string, string>();
  readonly #servers: { child: ReturnType<typeof spawn>; said: string[] }[] = [];

  /** @param env additions to the reader's environment */
  constructor(env: NodeJS.ProcessEnv = {}) {
    // Variables of the test runner are removed.
    const { NODE_ENV: _, VITEST: __, ...ours } = process.env;
    this.#env = {
      ...ours,
      PATH: `${join(TARGET, "debug")}${delimiter}${process.env.PATH}`,
      // The terminal has no colours.
      NO_COLOR: "1",
      npm_config_update_notifier: "false",
      ...env,
    };
  }

  /** Replaces addresses in a text by free ones. */
  async own(text: string): Promise<string> {
    for (const [port] of text.matchAll(PORT)) {
      if (!this.#ports.has(port)) {
        this.#ports.set(port, String(await freePort()));
      }
    }
    return text.replace(PORT, (port) => this.#ports.get(port) ?? port);
  }

  /** Restores the addresses of the text. */
  #shown(text: string): string {
    return [...this.#ports].reduce(
      (shown, [port, own]) => shown.replaceAll(`127.0.0.1:${own}`, `127.0.0.1:${port}`),
      text,
    );
  }

  async write(name: string, text: string): Promise<void> {
    const file = join(this.folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, await this.own(text));
  }

  /** Runs a script, which must succeed. Returns both of its outputs. */
  async run(script: string): Promise<string> {
    const own = await this.own(script);
    const options = { cwd: this.folder, env: this.#env, maxBuffer: 1 << 26 };
    const redirected = `exec 2>&1\n${own}`;
    try {
      const { stdout } = await execute("bash", ["-euo", "pipefail", "-c", redirected], options);
      return this.#shown(stdout);
    } catch (error) {
      const { stdout } = error as { stdout: string };
      throw new Error(`${script}\nfailed, and said\n${stdout}`, { cause: error });
    }
  }

  /** Starts a server, and waits until it is ready at all its addresses. */
  async serve(script: string): Promise<void> {
    const own = await this.own(script);
    const server = spawn("bash", ["-euo", "pipefail", "-c", own], {
      cwd: this.folder,
      env: this.#env,
      // The server has its own process group, so that all of it can be stopped.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const said: string[] = [];
    this.#servers.push({ child: server, said });
    server.stdout?.on("data", (data) => said.push(String(data)));
    server.stderr?.on("data", (data) => said.push(String(data)));
    const addresses = own.matchAll(/(?:(--listen )|# http:\/\/)127\.0\.0\.1:(\d+)/g);
    for (const [, listen, port = ""] of addresses) {
      while (!(await isReady(port, listen !== undefined))) {
        if (server.exitCode !== null) {
          throw new Error(`${script} ended with ${server.exitCode}: ${said.join("")}`);
        }
        await sleep(20);
      }
    }
  }

  /** Adds variables to the reader's environment. */
  lend(env: NodeJS.ProcessEnv): void {
    Object.assign(this.#env, env);
  }

  /** Stops all servers. Resolves to their combined output. */
  async end(): Promise<string> {
    for (const { child } of this.#servers) {
      if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
        const ended = once(child, "close");
        process.kill(-child.pid, "SIGTERM");
        await ended;
      }
    }
    return this.#servers.flatMap(({ said }) => said).join("");
  }

  async close(): Promise<void> {
    await this.end();
    rmSync(this.folder, { recursive: true, force: true });
  }
}
