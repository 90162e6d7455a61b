/** A copy of an example, in which the commands of its README run. */

import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { ROOT } from "../../../www/scripts/lib/paths.mjs";
import { nonIgnoredFiles } from "../../../www/scripts/lib/tracked-files.mjs";
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
   * Copies an example to a new folder.
   *
   * @param folder path from the root of the repository
   * @param env additions to the reader's environment
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
    for (const file of await nonIgnoredFiles(new RegExp(`^${folder}/`))) {
      await shell.write(relative(folder, file), readFileSync(join(ROOT, file), "utf8"));
    }
    return new Example(shell, folder, closers);
  }

  /** Copies an example that installs npm packages. */
  static async withPackages(folder: string, env: NodeJS.ProcessEnv = {}): Promise<Example> {
    const registry = await serveRegistry();
    // Packages of the local registry must not enter npm's own cache.
    const example = await Example.copy(folder, {
      ...env,
      npm_config_registry: registry.url,
      npm_config_cache: registry.cache,
    });
    example.#closers.push(registry.close);
    return example;
  }

  /** Folder of the copy. */
  get folder(): string {
    return this.#shell.folder;
  }

  /** Adds variables to the reader's environment. */
  lend(env: NodeJS.ProcessEnv): void {
    this.#shell.lend(env);
  }

  /** Stops the servers. Resolves to the combined output. */
  end(): Promise<string> {
    return this.#shell.end();
  }

  /** Runs the commands of the README in turn. Servers become ready and run until the end. */
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

  /** Returns the URL of an address in the README. */
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
   * Returns the number of reports that the collector has counted, at the port of the README. Each
   * report answers one question.
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
