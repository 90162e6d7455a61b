/** A copy of an example, in which the commands of its README are typed. */

import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { ROOT } from "../../../www/scripts/lib/paths.mjs";
import { tracked } from "../../../www/scripts/lib/tracked.mjs";
import { chapter } from "../e2e/book/chapters.js";
import { Shell } from "../e2e/book/shell.js";
import { serveRegistry } from "./registry.js";

export class Example {
  readonly #shell: Shell;
  readonly #folder: string;
  readonly #closers: (() => unknown)[];

  private constructor(shell: Shell, folder: string, closers: (() => unknown)[]) {
    this.#shell = shell;
    this.#folder = folder;
    this.#closers = closers;
  }

  /**
   * Copies an example to a folder of its own.
   *
   * @param folder from the root of the repository
   * @param env what its reader's environment has besides
   */
  static async copy(folder: string, env: NodeJS.ProcessEnv = {}): Promise<Example> {
    const closers: (() => unknown)[] = [];
    const shell = new Shell({
      NEXT_TELEMETRY_DISABLED: "1",
      npm_config_audit: "false",
      npm_config_fund: "false",
      ...env,
    });
    closers.push(() => shell.close());
    for (const file of await tracked(new RegExp(`^${folder}/`))) {
      await shell.write(relative(folder, file), readFileSync(join(ROOT, file), "utf8"));
    }
    return new Example(shell, folder, closers);
  }

  /** The same, of an example that installs packages of npm. */
  static async withPackages(folder: string, env: NodeJS.ProcessEnv = {}): Promise<Example> {
    const registry = await serveRegistry();
    // What is on this machine is not in npm's own cache.
    const example = await Example.copy(folder, {
      ...env,
      npm_config_registry: registry.url,
      npm_config_cache: registry.cache,
    });
    example.#closers.push(registry.close);
    return example;
  }

  /** Its copy. */
  get folder(): string {
    return this.#shell.folder;
  }

  /** Adds to what its reader's environment has. */
  lend(env: NodeJS.ProcessEnv): void {
    this.#shell.lend(env);
  }

  /** Ends what serves; resolves to what it has said. */
  end(): Promise<string> {
    return this.#shell.end();
  }

  /** The commands of the README, in turn: what serves is ready, and goes on until the end. */
  async follow(): Promise<void> {
    const { steps } = chapter(`${this.#folder}/README.md`);
    for (const step of steps) {
      if (step.kind === "run") {
        await this.#shell.run(step.script);
      } else if (step.kind === "serve") {
        await this.#shell.serve(step.script);
      } else {
        throw new Error(`the README of an example has a step of kind ${step.kind}`);
      }
    }
  }

  /** What is at an address that the README names. */
  at(address: string): Promise<string> {
    return this.#shell.own(`http://${address}`);
  }

  async #ask<T>(path: string): Promise<T> {
    const url = await this.at(`127.0.0.1:8080/${path}`);
    const response = await fetch(url);
    if (!response.ok) {
      throw new Error(`${url}: ${response.status} ${await response.text()}`);
    }
    return response.json() as Promise<T>;
  }

  /**
   * Reports that the collector has counted, which is at the port that all READMEs name; each
   * is of one question.
   */
  async counted(path: string): Promise<number> {
    const { task } = await this.#ask<{ task: { questions?: { name: string }[] } }>(path);
    const queries = task.questions?.map(({ name }) => `?question=${name}`) ?? [""];
    const answers = queries.map((query) =>
      this.#ask<{ reports: number }>(`${path}/estimates${query}`),
    );
    return (await Promise.all(answers)).reduce((sum, { reports }) => sum + reports, 0);
  }

  async close(): Promise<void> {
    for (const close of this.#closers) {
      await close();
    }
  }
}
