// Running programs, and saying what is being done and for how long.

import { AsyncLocalStorage } from "node:async_hooks";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { delimiter } from "node:path";
import { BIN, ROOT } from "./paths.mjs";

/** A step failed in a way that its output has explained. */
export class Failed extends Error {}

const colour = (code, text) => (process.stdout.isTTY ? `\x1b[${code}m${text}\x1b[0m` : text);
export const bold = (text) => colour(1, text);
export const dim = (text) => colour(2, text);

/** @type {AsyncLocalStorage<Buffer[] | "beside">} within a step beside others, what it has said so far */
const held = new AsyncLocalStorage();

export const say = (text) => {
  const output = held.getStore();
  Array.isArray(output) ? output.push(Buffer.from(`${text}\n`)) : console.log(text);
};

export const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

/**
 * What a step cost: `ms` from begin to end, and `cpu`, the processor time in ms of the programs
 * that it ran, with all that these have started and waited for.
 *
 * @typedef {{ name: string, ms: number, cpu: number }} Cost
 */

/** @type {Cost[]} steps that were begun, in order */
export const costs = [];
/** @type {AsyncLocalStorage<Cost>} of the step that runs a program */
const account = new AsyncLocalStorage();

/** Processor time in ms of all programs that have ended; 0 where the system does not say. */
function childrenTime() {
  try {
    const stat = readFileSync("/proc/self/stat", "utf8");
    // After the name: state is field 3, cutime and cstime are 16 and 17, in 1/100 s.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[13]) + Number(fields[14])) * 10;
  } catch {
    return 0;
  }
}

let counted = childrenTime();

/** Adds to a step what the system has counted since a program ended last. */
function charge(cost) {
  const now = childrenTime();
  if (cost !== undefined) {
    cost.cpu += now - counted;
  }
  counted = now;
}

/**
 * Charges a program to the step that starts it. Node learns of the end of programs one by one,
 * so that those of steps side by side are told apart.
 *
 * @template {import("node:child_process").ChildProcess} T
 * @param {T} child
 * @returns {T}
 */
function charged(child) {
  const cost = account.getStore();
  child.on("exit", () => charge(cost));
  return child;
}

/**
 * The table of what each step cost, the most processor time first.
 *
 * @returns {string[]}
 */
export function costTable() {
  const { user, system } = process.cpuUsage();
  const itself = { name: "(the scripts themselves)", ms: 0, cpu: (user + system) / 1000 };
  const rows = [...costs, itself].sort((a, b) => b.cpu - a.cpu);
  const total = rows.reduce((sum, { cpu }) => sum + cpu, 0);
  const row = (cpu, ms, name) => `${cpu.padStart(11)} ${ms.padStart(10)}  ${name}`;
  return [
    row("processor", "from–to", "step"),
    ...rows
      .filter(({ cpu }) => cpu >= 500)
      .map(({ name, ms, cpu }) => row(seconds(cpu), ms === 0 ? "" : seconds(ms), name)),
    row(seconds(total), "", "all, with steps under half a second"),
  ];
}

/** Ends every program, for what has failed. */
const ended = new AbortController();

/**
 * Runs two works side by side. The first says what it does as it does it; of the
 * second each step is told when it has ended. Where one fails both end.
 *
 * @param {() => Promise<unknown>} first
 * @param {() => Promise<unknown>} second
 */
export async function sideBySide(first, second) {
  const works = [first(), held.run("beside", second)];
  try {
    await Promise.all(works);
  } catch (error) {
    ended.abort();
    await Promise.allSettled(works);
    throw error;
  }
}

/**
 * Announces a step, runs it, and prints its duration and processor time.
 *
 * @template T
 * @param {string} name
 * @param {() => Promise<T> | T} work
 * @returns {Promise<T>}
 */
export async function step(name, work) {
  if (held.getStore() !== "beside") {
    return timed(name, work);
  }
  /** @type {Buffer[]} */
  const output = [];
  try {
    return await held.run(output, () => timed(name, work));
  } finally {
    process.stdout.write(Buffer.concat(output));
  }
}

async function timed(name, work) {
  say(bold(`▸ ${name}`));
  const begun = performance.now();
  const cost = { name, ms: 0, cpu: 0 };
  costs.push(cost);
  const end = () => {
    charge(cost);
    cost.ms = performance.now() - begun;
  };
  try {
    const result = await account.run(cost, async () => work());
    end();
    say(dim(`  done in ${seconds(cost.ms)}, processor ${seconds(cost.cpu)}: ${name}`));
    return result;
  } catch (error) {
    end();
    say(`  failed after ${seconds(cost.ms)}: ${name}`);
    throw error;
  }
}

/**
 * The environment for programs: ours, with the given directories first on
 * PATH, and the packages' programs.
 *
 * @param {readonly string[]} directories
 * @returns {NodeJS.ProcessEnv}
 */
export function withPath(...directories) {
  return { ...process.env, PATH: [...directories, BIN, process.env.PATH].join(delimiter) };
}

/**
 * Runs a program with its output on ours.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, cwd?: string, quiet?: boolean }} [options] quiet: output only on failure
 */
export async function run(program, args, { env = withPath(), cwd = ROOT, quiet = false } = {}) {
  const told = held.getStore();
  const shown = !quiet && !Array.isArray(told);
  const child = charged(
    spawn(program, args, {
      cwd,
      env,
      stdio: shown ? ["ignore", "inherit", "inherit"] : ["ignore", "pipe", "pipe"],
      signal: ended.signal,
    }),
  );
  const output = [];
  child.stdout?.on("data", (chunk) => output.push(chunk));
  child.stderr?.on("data", (chunk) => output.push(chunk));
  const status = await new Promise((resolve, reject) => {
    child.on("error", (cause) => reject(new Failed(`${program}: ${cause.message}`, { cause })));
    child.on("close", (code, signal) => resolve(code ?? signal));
  });
  if (!quiet || status !== 0) {
    Array.isArray(told) ? told.push(...output) : process.stderr.write(Buffer.concat(output));
  }
  if (status !== 0) {
    throw new Failed(`${program} ${args.join(" ")} ended with ${status}`);
  }
}

/**
 * What a program prints, or undefined when it cannot be run or fails.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @returns {Promise<string | undefined>}
 */
export async function capture(program, args, env = withPath(), cwd = ROOT) {
  const child = charged(spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "ignore"] }));
  let text = "";
  child.stdout.on("data", (chunk) => {
    text += chunk;
  });
  return new Promise((resolve) => {
    child.on("error", () => resolve(undefined));
    child.on("close", (code) => resolve(code === 0 ? text.trim() : undefined));
  });
}

/**
 * Runs a script's work; a failure that was explained ends it with status 1 and
 * one line.
 *
 * @param {() => Promise<void>} work
 */
export async function main(work) {
  try {
    await work();
  } catch (error) {
    console.error(error instanceof Failed ? `\n${error.message}` : error);
    process.exitCode = 1;
  }
}

/**
 * A program in the background, which is not left behind, however this process ends.
 *
 * @param {string | undefined} program undefined where it was not found
 * @param {readonly string[]} args
 * @param {import("node:child_process").SpawnOptions} options detached: it can be killed with
 * whatever it has started
 */
export function background(program, args, options) {
  if (program === undefined) {
    throw new Failed("a browser, its driver or Xvfb is missing; run npm run setup");
  }
  const child = charged(spawn(program, args, options));
  const kill = () => {
    const { pid = 0, exitCode, signalCode } = child;
    if (exitCode === null && signalCode === null) {
      process.kill(options.detached ? -pid : pid, "SIGKILL");
    }
  };
  process.on("exit", kill);
  const exited = once(child, "exit").then(() => void process.off("exit", kill));
  return {
    child,
    exited,
    stop() {
      child.kill();
      return exited;
    },
    kill() {
      kill();
      return exited;
    },
  };
}
