// Runs programs and steps. Prints the name and the duration of each step.

import { AsyncLocalStorage } from "node:async_hooks";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { delimiter } from "node:path";
import { NPM_BIN_DIR, ROOT } from "./paths.mjs";

/** Error of a step whose output or message has already explained the failure. */
export class ExplainedError extends Error {}

const colour = (code, text) => (process.stdout.isTTY ? `\x1b[${code}m${text}\x1b[0m` : text);
export const bold = (text) => colour(1, text);
export const dim = (text) => colour(2, text);

/**
 * @type {AsyncLocalStorage<Buffer[] | "beside">} output so far of a step that runs concurrently
 * with another; "beside" outside of its steps
 */
const concurrentOutput = new AsyncLocalStorage();

export const print = (text) => {
  const output = concurrentOutput.getStore();
  Array.isArray(output) ? output.push(Buffer.from(`${text}\n`)) : console.log(text);
};

export const seconds = (ms) => `${(ms / 1000).toFixed(1)} s`;

/**
 * Cost of a step: `ms` from begin to end, and `cpu`, the processor time in ms. The processor time
 * covers all programs that the step ran, and the programs that these started and waited for.
 *
 * @typedef {{ name: string, ms: number, cpu: number }} Cost
 */

/** @type {Cost[]} costs of the steps so far, in the order in which they began */
export const stepCosts = [];
/** @type {AsyncLocalStorage<Cost>} cost of the step that is running a program */
const runningStepCost = new AsyncLocalStorage();

/**
 * Returns the processor time in ms of all programs that have ended, or 0 if the system does not
 * provide it.
 */
function childrenTime() {
  try {
    const stat = readFileSync("/proc/self/stat", "utf8");
    // Fields after the name of the program. The first is field 3, the state. cutime and cstime are
    // fields 16 and 17, in 1/100 s.
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return (Number(fields[13]) + Number(fields[14])) * 10;
  } catch {
    return 0;
  }
}

let chargedTime = childrenTime();

/**
 * Adds processor time to the cost of a step: the time that the system has counted since another
 * program ended.
 */
function addProcessorTimeToStep(cost) {
  const now = childrenTime();
  if (cost !== undefined) {
    cost.cpu += now - chargedTime;
  }
  chargedTime = now;
}

/**
 * Adds the processor time of a program, when it ends, to the cost of the step that has started it.
 * Node reports the ends of programs one by one, so the times of concurrent steps can be separated.
 *
 * @template {import("node:child_process").ChildProcess} T
 * @param {T} child
 * @returns {T}
 */
function chargeToStep(child) {
  const cost = runningStepCost.getStore();
  child.on("exit", () => addProcessorTimeToStep(cost));
  return child;
}

/**
 * Returns the lines of a table with the cost of each step, the highest processor time first.
 *
 * @returns {string[]}
 */
export function costTable() {
  const { user, system } = process.cpuUsage();
  const itself = { name: "(the scripts themselves)", ms: 0, cpu: (user + system) / 1000 };
  const rows = [...stepCosts, itself].sort((a, b) => b.cpu - a.cpu);
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

/** Controller that ends all running programs after a failure. */
const abortAll = new AbortController();

/**
 * Runs two functions at the same time. The first prints its output immediately. The output of each
 * step of the second is printed when the step ends. If one function fails, the programs of both are
 * ended.
 *
 * @param {() => Promise<unknown>} first
 * @param {() => Promise<unknown>} second
 */
export async function runConcurrently(first, second) {
  const works = [first(), concurrentOutput.run("beside", second)];
  try {
    await Promise.all(works);
  } catch (error) {
    abortAll.abort();
    await Promise.allSettled(works);
    throw error;
  }
}

/**
 * Prints the name of a step, runs it, and prints its duration and processor time.
 *
 * @template T
 * @param {string} name
 * @param {() => Promise<T> | T} work
 * @returns {Promise<T>}
 */
export async function step(name, work) {
  if (concurrentOutput.getStore() !== "beside") {
    return timeStep(name, work);
  }
  /** @type {Buffer[]} */
  const output = [];
  try {
    return await concurrentOutput.run(output, () => timeStep(name, work));
  } finally {
    process.stdout.write(Buffer.concat(output));
  }
}

async function timeStep(name, work) {
  print(bold(`▸ ${name}`));
  const begun = performance.now();
  const cost = { name, ms: 0, cpu: 0 };
  stepCosts.push(cost);
  const end = () => {
    addProcessorTimeToStep(cost);
    cost.ms = performance.now() - begun;
  };
  try {
    const result = await runningStepCost.run(cost, async () => work());
    end();
    print(dim(`  done in ${seconds(cost.ms)}, processor ${seconds(cost.cpu)}: ${name}`));
    return result;
  } catch (error) {
    end();
    print(`  failed after ${seconds(cost.ms)}: ${name}`);
    throw error;
  }
}

/**
 * Returns the environment for programs. It is the environment of this process, with the given
 * directories and the npm packages' programs first on PATH.
 *
 * @param {readonly string[]} directories
 * @returns {NodeJS.ProcessEnv}
 */
export function withPath(...directories) {
  return { ...process.env, PATH: [...directories, NPM_BIN_DIR, process.env.PATH].join(delimiter) };
}

/**
 * Runs a program, and shows its output. Throws if the program fails.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @param {{ env?: NodeJS.ProcessEnv, cwd?: string, quiet?: boolean }} [options] quiet: output only
 * on failure
 */
export async function run(program, args, { env = withPath(), cwd = ROOT, quiet = false } = {}) {
  const told = concurrentOutput.getStore();
  const shown = !quiet && !Array.isArray(told);
  const child = chargeToStep(
    spawn(program, args, {
      cwd,
      env,
      stdio: shown ? ["ignore", "inherit", "inherit"] : ["ignore", "pipe", "pipe"],
      signal: abortAll.signal,
    }),
  );
  const output = [];
  child.stdout?.on("data", (chunk) => output.push(chunk));
  child.stderr?.on("data", (chunk) => output.push(chunk));
  const status = await new Promise((resolve, reject) => {
    child.on("error", (cause) =>
      reject(new ExplainedError(`${program}: ${cause.message}`, { cause })),
    );
    child.on("close", (code, signal) => resolve(code ?? signal));
  });
  if (!quiet || status !== 0) {
    Array.isArray(told) ? told.push(...output) : process.stderr.write(Buffer.concat(output));
  }
  if (status !== 0) {
    throw new ExplainedError(`${program} ${args.join(" ")} ended with ${status}`);
  }
}

/**
 * Returns a program's output, or undefined if it cannot be run or fails.
 *
 * @param {string} program
 * @param {readonly string[]} args
 * @returns {Promise<string | undefined>}
 */
export async function captureOutput(program, args, env = withPath(), cwd = ROOT) {
  const child = chargeToStep(
    spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "ignore"] }),
  );
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
 * Runs the main function of a script. A failure that is already explained ends the script with
 * status 1 and one line.
 *
 * @param {() => Promise<void>} work
 */
export async function main(work) {
  try {
    await work();
  } catch (error) {
    console.error(error instanceof ExplainedError ? `\n${error.message}` : error);
    process.exitCode = 1;
  }
}

/**
 * Starts a program in the background. The program is ended when this process ends.
 *
 * @param {string | undefined} program undefined if it was not found
 * @param {readonly string[]} args
 * @param {import("node:child_process").SpawnOptions} options detached: it can be killed with all
 * programs that it has started
 */
export function startInBackground(program, args, options) {
  if (program === undefined) {
    throw new ExplainedError("a browser, its driver or Xvfb is missing; run npm run setup");
  }
  const child = chargeToStep(spawn(program, args, options));
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
