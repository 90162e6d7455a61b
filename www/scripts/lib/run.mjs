// Running programs, and saying what is being done and for how long.

import { AsyncLocalStorage } from "node:async_hooks";
import { spawn } from "node:child_process";
import { once } from "node:events";
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

/** Ends every program, for what has failed. */
const ended = new AbortController();

/**
 * Runs two works side by side. The first says what it does as it does it; of the
 * second each step is told when it has ended. Where one fails both end.
 *
 * @param {() => Promise<void>} first
 * @param {() => Promise<void>} second
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
 * Announces a step, runs it, tells its duration.
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
  try {
    const result = await work();
    say(dim(`  done in ${seconds(performance.now() - begun)}: ${name}`));
    return result;
  } catch (error) {
    say(`  failed after ${seconds(performance.now() - begun)}: ${name}`);
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
  const child = spawn(program, args, {
    cwd,
    env,
    stdio: shown ? ["ignore", "inherit", "inherit"] : ["ignore", "pipe", "pipe"],
    signal: ended.signal,
  });
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
  const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "ignore"] });
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
  const child = spawn(program, args, options);
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
