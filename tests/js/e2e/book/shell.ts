/** A shell in a folder of its own, in which a reader's commands run. */

import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { TARGET } from "../../../../www/scripts/lib/paths.mjs";

const execute = promisify(execFile);

/** An address of this machine, as chapters have them. */
const ADDRESS = /127\.0\.0\.1:(\d+)/g;

async function freePort(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") {
    throw new Error("a server on a port has an address with a port");
  }
  return String(address.port);
}

/** Whether a collector, shuffler or analyser there is ready. */
async function isReady(port: string): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${port}/readyz`)).ok;
  } catch {
    return false;
  }
}

export class Shell {
  readonly folder = mkdtempSync(join(tmpdir(), "hushbin-book-"));
  /** Free ports, by those that are shown. */
  readonly #ports = new Map<string, string>();
  readonly #servers: ReturnType<typeof spawn>[] = [];
  readonly #env = {
    ...process.env,
    PATH: `${join(TARGET, "debug")}${delimiter}${process.env.PATH}`,
    // As for whoever sits at a terminal that has no colours.
    NO_COLOR: "1",
    npm_config_update_notifier: "false",
  };

  /** A text with addresses that nobody else has. */
  async #own(text: string): Promise<string> {
    for (const [, port = ""] of text.matchAll(ADDRESS)) {
      if (!this.#ports.has(port)) {
        this.#ports.set(port, await freePort());
      }
    }
    return text.replace(ADDRESS, (_, port) => `127.0.0.1:${this.#ports.get(port)}`);
  }

  /** A text with addresses as they are shown. */
  #shown(text: string): string {
    return [...this.#ports].reduce(
      (shown, [port, own]) => shown.replaceAll(`127.0.0.1:${own}`, `127.0.0.1:${port}`),
      text,
    );
  }

  async write(name: string, text: string): Promise<void> {
    writeFileSync(join(this.folder, name), await this.#own(text));
  }

  /** What a script prints, both outputs; it has to succeed. */
  async run(script: string): Promise<string> {
    const own = await this.#own(script);
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
    const own = await this.#own(script);
    const server = spawn("bash", ["-euo", "pipefail", "-c", own], {
      cwd: this.folder,
      env: this.#env,
      // A group of its own, to be ended whole.
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#servers.push(server);
    const said: string[] = [];
    server.stdout?.on("data", (data) => said.push(String(data)));
    server.stderr?.on("data", (data) => said.push(String(data)));
    const listens = [...own.matchAll(/--listen 127\.0\.0\.1:(\d+)/g)].map(([, port = ""]) => port);
    for (const port of listens) {
      while (!(await isReady(port))) {
        if (server.exitCode !== null) {
          throw new Error(`${script} ended with ${server.exitCode}: ${said.join("")}`);
        }
        await sleep(20);
      }
    }
  }

  async close(): Promise<void> {
    for (const server of this.#servers) {
      if (server.exitCode === null && server.pid !== undefined) {
        const ended = once(server, "exit");
        process.kill(-server.pid, "SIGTERM");
        await ended;
      }
    }
    rmSync(this.folder, { recursive: true, force: true });
  }
}
