/**
 * Apps as people would write them, with the package as npm installs it, against a real collector.
 */

import { type ChildProcess, spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { expect } from "vitest";
import { type Collector, startCollector } from "../../../www/scripts/lib/collector.mjs";
import { type Engine, launchEngines } from "../../../www/scripts/lib/engines.mjs";
import { ROOT, TARGET } from "../../../www/scripts/lib/paths.mjs";
import { serve } from "../../../www/scripts/lib/serve.mjs";
import { stackToolsFolder } from "../../../www/scripts/lib/stack-tools.mjs";
import { freePort } from "../../../www/scripts/lib/webdriver.mjs";
import type { Stack } from "./list.mjs";
import { sums, task } from "./survey.js";

/**
 * Environment of servers and commands: with the packages' programs, without variables of the test
 * runner.
 */
const { NODE_ENV: _, VITEST: __, ...OURS } = process.env;
const TOOLS = stackToolsFolder();
const ENV = {
  ...OURS,
  PATH: [join(TOOLS, "node_modules/.bin"), process.env.PATH].join(delimiter),
  NEXT_TELEMETRY_DISABLED: "1",
  DO_NOT_TRACK: "1",
};

/** A running program and its output. */
class Program {
  readonly #child: ChildProcess;
  #said = "";
  readonly ended: Promise<number | string>;

  constructor(command: string, cwd: string) {
    const [program = "", ...args] = command.split(" ");
    // The program has its own process group, so that its children are stopped, too.
    this.#child = spawn(program, args, { cwd, env: ENV, detached: true, stdio: "pipe" });
    this.#child.stdin?.end();
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on("data", (chunk) => {
        this.#said += chunk;
      });
    }
    this.ended = new Promise((resolve) => {
      this.#child.on("error", (error) => resolve(error.message));
      this.#child.on("close", (code, signal) => resolve(code ?? signal ?? "unknown"));
    });
  }

  get said(): string {
    return this.#said;
  }

  async stop(): Promise<void> {
    if (this.#child.pid !== undefined && this.#child.exitCode === null) {
      process.kill(-this.#child.pid);
    }
    await this.ended;
  }
}

/** URL of a stack's server, and the server's output. */
interface Site {
  readonly url: string;
  close(): unknown;
  said(): string;
}

async function run(command: string, cwd: string): Promise<void> {
  const program = new Program(command, cwd);
  const status = await program.ended;
  if (status !== 0) {
    throw new Error(`${command} ended with ${status}:\n${program.said}`);
  }
}

/** Polls until a value is found. */
async function until<T>(poll: () => Promise<T | undefined>): Promise<T> {
  for (;;) {
    const found = await poll();
    if (found !== undefined) {
      return found;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Name of a stack in URLs and of the folder of its app's copy. */
export const idOf = ({ name }: Stack): string =>
  name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/-$/, "");

/** Returns the README's line that imports the module as a file with this tool. */
function importOfModule(tool: string): string {
  const readme = readFileSync(join(ROOT, "www/client/README.md"), "utf8");
  const rows = readme.matchAll(/^\| ([^|`]+) \| `([^`]+)`/gm);
  for (const [, names = "", line] of rows) {
    if (line && names.split(", ").some((name) => name.toLowerCase().startsWith(tool))) {
      return `${line};`;
    }
  }
  throw new Error(`the package's README says of ${tool} nothing`);
}

/** Changes an app as in the package's README, so that its module is a file. */
function slim(folder: string, file: string, tool: string): void {
  const settings = join(folder, "slim");
  if (existsSync(settings)) {
    cpSync(settings, folder, { recursive: true });
  }
  const source = readFileSync(join(folder, file), "utf8");
  const changed = source
    .replace(
      /import \{ (.*) \} from "hushbin";/,
      (_, names) => `import { ${names}, initialize } from "hushbin/slim";\n${importOfModule(tool)}`,
    )
    .replace("async function report() {", "$&\n  await initialize(url);");
  expect(changed).toMatch(/hushbin\/slim[\s\S]*initialize\(url\)/);
  writeFileSync(join(folder, file), changed);
}

/** A collector with a task for each stack, the three engines, and copies of the stacks' apps. */
export class Stacks {
  engines: Engine[] = [];
  #collector!: Collector;
  readonly #data = mkdtempSync(join(tmpdir(), "hushbin-stacks-"));
  /**
   * Folder below the tools, so that apps find them. No package of this project is on the path
   * above.
   */
  readonly #work = mkdtempSync(join(TOOLS, "run-"));
  /** End of each engine's current work, because an engine runs one page at a time. */
  readonly #turns = new Map<Engine, Promise<unknown>>();

  static async start(stacks: readonly Stack[]): Promise<Stacks> {
    const world = new Stacks();
    await world.#install();
    world.#collector = await startCollector({
      program: join(TARGET, "debug/hushbin"),
      data: join(world.#data, "journal"),
      tasks: stacks.map((stack) => {
        const id = idOf(stack);
        const file = join(world.#data, `${id}.json`);
        writeFileSync(file, JSON.stringify({ ...task, id }));
        return file;
      }),
    });
    world.engines = await launchEngines();
    return world;
  }

  /** Installs the tarball's files as npm would. */
  async #install(): Promise<void> {
    const installed = join(this.#work, "node_modules/hushbin");
    mkdirSync(installed, { recursive: true });
    await run(`npm pack --silent --ignore-scripts --pack-destination ${this.#data}`, ROOT);
    const [tarball = ""] = readdirSync(this.#data);
    await run(`tar -xzf ${join(this.#data, tarball)} --strip-components=1`, installed);
  }

  /** Returns the number of reports that the collector has counted. */
  async counted(stack: Stack): Promise<number> {
    const response = await fetch(`${this.#collector.url}/tasks/${idOf(stack)}/estimates`);
    const { reports } = (await response.json()) as { reports: number };
    return reports;
  }

  /** Copies the app, with the survey of this collector. */
  #copy(stack: Stack): string {
    const folder = join(this.#work, idOf(stack));
    cpSync(join(import.meta.dirname, stack.folder), folder, { recursive: true });
    if (stack.slim !== undefined) {
      slim(folder, stack.slim, stack.tool ?? "");
    }
    const survey = readFileSync(join(import.meta.dirname, "survey.js"), "utf8");
    writeFileSync(
      join(folder, "survey.js"),
      this.#told(survey).replace('"the-app"', `"${idOf(stack)}"`),
    );
    const endpoint = this.#collector.url;
    const page = join(folder, "index.html");
    const html = existsSync(page) ? readFileSync(page, "utf8") : "";
    if (html.includes("the-integrity")) {
      writeFileSync(page, html.replace("the-integrity", this.#integrity()));
    }
    const json = JSON.stringify({ endpoint, sums, task: { ...task, id: idOf(stack) } });
    writeFileSync(join(folder, "survey.json"), json);
    return folder;
  }

  /** Returns the script's integrity, as the package states it for script tags. */
  #integrity(): string {
    const file = join(this.#work, "node_modules/hushbin/dist/integrity.json");
    return JSON.parse(readFileSync(file, "utf8"))["hushbin.script.js"];
  }

  #told(text: string): string {
    return text.replaceAll("http://collector.invalid", this.#collector.url);
  }

  /** Runs a stack. Resolves to the number of reports that it claims. */
  async run(stack: Stack): Promise<number> {
    const folder = this.#copy(stack);
    if (stack.build !== undefined) {
      await run(stack.build, folder);
    }
    if (stack.run !== undefined) {
      await run(stack.run, folder);
      return 1;
    }
    const site = await this.#serve(stack, folder);
    try {
      for (const path of stack.asks ?? []) {
        expectReported(path, await (await fetch(site.url + path)).text(), site.said());
      }
      const engines = stack.page ? this.engines : [];
      await Promise.all(
        engines.map((engine) => this.#inTurn(engine, () => reportsIn(engine, site.url))),
      );
      return engines.length + (stack.asks?.length ?? 0);
    } finally {
      await site.close();
    }
  }

  #inTurn(engine: Engine, work: () => Promise<void>): Promise<void> {
    const done = (this.#turns.get(engine) ?? Promise.resolve()).then(work);
    this.#turns.set(
      engine,
      done.catch(() => undefined),
    );
    return done;
  }

  async #serve(stack: Stack, folder: string): Promise<Site> {
    if (stack.start === undefined) {
      const packages = join(this.#work, "node_modules/hushbin");
      const site = await serve({
        directories: {
          "/": `${join(folder, stack.site ?? "")}/`,
          "/node_modules/hushbin/": `${packages}/`,
        },
        policy: this.#told(stack.policy ?? "connect-src *"),
      });
      return { ...site, said: () => "" };
    }
    const port = await freePort();
    const program = new Program(stack.start.replace("PORT", String(port)), folder);
    const url = `http://localhost:${port}`;
    let status: number | string | undefined;
    program.ended.then((ended) => {
      status = ended;
    });
    await until(async () => {
      if (status !== undefined) {
        throw new Error(`${stack.start} ended with ${status}:\n${program.said}`);
      }
      return fetch(`${url}/favicon.ico`).catch(() => undefined);
    });
    return { url, close: () => program.stop(), said: () => program.said };
  }

  async stop(): Promise<void> {
    await Promise.all(this.engines.map((engine) => engine.close()));
    await this.#collector?.stop("SIGKILL");
    for (const folder of [this.#data, this.#work]) {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

function expectReported(who: string, answer: string, server = ""): void {
  if (answer !== "reported") {
    throw new Error(`${who} says ${answer}\n${server}`);
  }
}

/** Opens a page and waits until it shows that it has reported. */
async function reportsIn(engine: Engine, url: string): Promise<void> {
  const profile = await engine.profile();
  try {
    const tab = await profile.open(url);
    const output = "document.querySelector('output').value";
    expectReported(engine.name, await until(async () => (await tab.evaluate(output)) || undefined));
  } finally {
    await profile.close();
  }
}
