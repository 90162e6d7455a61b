/** A shuffler, an analyser and a relay of one task, with their keys, on temporary files. */

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "vitest";
import { type Collector, startCollector } from "../../../www/scripts/lib/collector.mjs";
import { TARGET } from "../../../www/scripts/lib/paths.mjs";

const program = join(TARGET, "debug/hushbin");

/** Runs the command and returns its output. */
export const hushbin = (...words: string[]) => execFileSync(program, words, { encoding: "utf8" });

export class Parties {
  readonly #directory = mkdtempSync(join(tmpdir(), "hushbin-sealed-"));
  readonly #task: object;
  analyser: Collector | undefined;
  shuffler: Collector | undefined;
  relay: Collector | undefined;
  /** Pin of the analyser for pages. */
  pin = "";

  constructor(task: object) {
    this.#task = task;
  }

  /** Path of a temporary file. */
  file(name: string): string {
    return join(this.#directory, name);
  }

  /** Creates a pair of keys. */
  createKey(name: string, purpose: string): void {
    const made = hushbin("key", "create", "--for", purpose, this.file(`${name}.pem`));
    writeFileSync(this.file(`${name}.pub`), made);
  }

  /**
   * Starts both. The shuffler's batches have `batch` reports, and estimates need the reports of
   * `people` people.
   */
  async start(batch: number, people: number, more: readonly string[] = []): Promise<void> {
    writeFileSync(this.file("task.json"), JSON.stringify(this.#task));
    this.createKey("analyser", "signing");
    this.createKey("shuffler", "signing");
    this.createKey("sealing", "sealing");
    const sealing = ["--task", this.file("task.json"), this.file("sealing.pub")];
    this.pin = hushbin("key", "pin", ...sealing).slice(0, 32);
    const start = (data: string, most: number, flags: readonly string[]) =>
      startCollector({
        program,
        data: this.file(data),
        tasks: [this.file("task.json")],
        flags: [
          ...[...flags, "--batch-least", `${most}`, "--batch-most", `${most}`],
          ...["--batch-min-minutes", "0"],
        ],
      });
    const key = (name: string) => ["--signing-key", this.file(`${name}.pem`)];
    const ofAnalyser = ["--sealing-key", this.file("sealing.pem")];
    this.analyser = await start("analysed", people, [
      ...["--role", "analyser", ...key("analyser"), ...ofAnalyser],
      ...["--shuffler-key", this.file("shuffler.pub")],
    ]);
    this.shuffler = await start("shuffled", batch, [
      ...["--role", "shuffler", ...key("shuffler"), "--analyser", this.analyser.url],
      ...["--analyser-key", this.file("analyser.pub"), ...more],
    ]);
  }

  /** Starts a relay to the shuffler, and returns its address for pages. */
  async startRelay(): Promise<string> {
    const gateway = this.shuffler?.url ?? "";
    this.relay = await startCollector({
      program,
      flags: ["--role", "relay", "--gateway", gateway],
    });
    return `${this.relay.url}/gateways/${new URL(gateway).host}`;
  }

  /** Creates a token of an analyst at the analyser. */
  createToken(): string {
    const name = crypto.randomUUID();
    const whose = ["--data", this.file("analysed"), "--role", "analyst", "--name", name];
    return hushbin("token", "create", ...whose).trim();
  }

  /** Requests a path of the analyser with an analyst's token. */
  async ask(path: string): Promise<unknown> {
    const headers = { authorization: `Bearer ${this.createToken()}` };
    const answer = await fetch(`${this.analyser?.url}${path}`, { headers });
    expect(answer.status).toBe(200);
    return answer.json();
  }

  async stop(): Promise<void> {
    await this.relay?.stop("SIGKILL");
    await this.shuffler?.stop("SIGKILL");
    await this.analyser?.stop("SIGKILL");
    rmSync(this.#directory, { recursive: true, force: true });
  }
}
