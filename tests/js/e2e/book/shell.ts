/** A shell in a folder of its own, in which a reader's commands run. */

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

/** A port of this machine, as chapters have them. */
const PORT = /(?<=127\.0\.0\.1:|--port |http\.server )\d+/g;

/** Whether a collector, shuffler or analyser there is ready, or whatever else is there answers. */
async function isReady(port: string, ours: boolean): Promise<boolean> {
  try {
    const { ok } = await fetch(`http://127.0.0.1:${port}/${ours ? "readyz" : ""}`);
    return ok || !ours;
  } catch {
    return false;
  }
}

export class Shell {
  readonly folder = mkdtempSync(join(tmpdir(), "hushbin-book-"));
  readonly #env: NodeJS.ProcessEnv;
  /** Free ports, by those that are shown. */
  readonly #ports = new Map<string, string>();
  readonly #servers: { child: ReturnType<typeof spawn>; said: string[] }[] = [];

  /** @param env what the reader's environment has besides */
  constructor(env: NodeJS.ProcessEnv = {}) {
    // Nothing of this runner's.
    const { NODE_ENV: _, VITEST: __, ...ours } = process.env;
    this.#env = {
      ...ours,
      PATH: `${join(TARGET, "debug")}${delimiter}${process.env.PATH}`,
      // As for whoever sits at a terminal that has no colours.
      NO_COLOR: "1",
      npm_config_update_notifier: "false",
      ...env,
    };
  }

  /** A text with addresses that nobody else has. */
  async own(text: string): Promise<string> {
    for (const [port] of text.matchAll(PORT)) {
      if (!this.#ports.has(port)) {
        this.#ports.set(port, String(await freePort()));
      }
    }
    return text.replace(PORT, (port) => this.#ports.get(port) ?? port);
  }

  /** A text with addresses as they are shown. */
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

  /** What a script prints, both outputs; it has to succeed. */
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

  /** Starts what serves, and waits until it is ready at all its addresses. */
  async serve(script: string): Promise<void> {
    const own = await this.own(script);
    const server = spawn("bash", ["-euo", "pipefail", "-c", own], {
      cwd: this.folder,
      env: this.#env,
      // A group of its own, to be ended whole.
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

  /** Adds to what the reader's environment has. */
  lend(env: NodeJS.ProcessEnv): void {
    Object.assign(this.#env, env);
  }

  /** Ends whatever serves; resolves to what all of it has said. */
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
