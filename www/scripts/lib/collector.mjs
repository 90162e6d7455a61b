// Builds the collector, and runs it as a child process.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { ROOT, TARGET } from "./paths.mjs";
import { captureOutput, ExplainedError, run } from "./run.mjs";

/**
 * Options of cargo that build the demo's collector, without the optional features of released
 * programs.
 */
export const DEMO_COLLECTOR_CARGO_ARGS = ["--package", "hushbin-server", "--no-default-features"];

/**
 * Builds the collector.
 *
 * @param {{ quick?: boolean }} [options] quick: for the demo, with no optional features
 * @returns {Promise<string>} path of the program
 */
export async function buildCollector({ quick = false } = {}) {
  const profile = quick ? "demo" : "release";
  const program = quick ? DEMO_COLLECTOR_CARGO_ARGS : ["--package", "hushbin-server"];
  await run("cargo", ["build", ...program, "--bin", "hushbin", "--profile", profile]);
  return join(TARGET, profile, "hushbin");
}

/**
 * @typedef {object} Collector
 * @property {string} url its address
 * @property {number} pid
 * @property {(signal: NodeJS.Signals) => Promise<number | string>} stop sends a signal to the
 * collector; resolves with its exit status, or the signal that ended it
 */

/**
 * Starts a collector or a relay, and waits until it accepts requests. Creates its journal if there
 * is none.
 *
 * @param {object} options
 * @param {string} options.program
 * @param {string} [options.data] the collector's data directory; a relay has none
 * @param {readonly string[]} [options.tasks] task files
 * @param {string} [options.listen] an address; by default a free port
 * @param {readonly string[]} [options.flags] flags of the collector; by default they give everyone
 * access
 * @param {boolean} [options.verbose] whether its log is shown
 * @returns {Promise<Collector>}
 */
export async function startCollector({
  program,
  data,
  tasks = [],
  listen = "127.0.0.1:0",
  flags = ["--development"],
  verbose = false,
}) {
  const needsJournal = data !== undefined && !flags.includes("--development");
  if (needsJournal && !existsSync(join(data, "tasks.json"))) {
    await captureOutput(program, ["journal", "create", "--data", data]);
  }
  const child = spawn(
    program,
    [
      "serve",
      ...flags,
      ...(data === undefined ? [] : ["--data", data]),
      "--listen",
      listen,
      ...tasks.flatMap((file) => ["--task", file]),
    ],
    { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] },
  );
  // Ends the collector when this process ends.
  const kill = () => child.kill("SIGKILL");
  process.on("exit", kill);
  let log = "";
  child.stderr.on("data", (chunk) => {
    // Only the last 10,000 characters are shown if the start fails.
    log = (log + chunk).slice(-10_000);
    if (verbose) {
      process.stderr.write(chunk);
    }
  });
  const exited = new Promise((resolve) => {
    child.on("error", (error) => {
      log += error.message;
      resolve("error");
    });
    child.on("exit", (code, signal) => {
      process.off("exit", kill);
      resolve(code ?? signal);
    });
  });
  const ready = new Promise((resolve) => {
    createInterface({ input: child.stdout }).on("line", (line) => {
      const found = line.match(
        /^hushbin (?:listening|shuffling|analysing|relaying) on (http:\S+)$/,
      );
      if (found) {
        resolve(found[1]);
      }
    });
  });
  const url = await Promise.race([ready, exited.then(() => undefined)]);
  if (url === undefined) {
    throw new ExplainedError(`the collector did not start: ${await exited}\n${log}`);
  }
  return {
    url,
    pid: child.pid ?? 0,
    stop(signal) {
      child.kill(signal);
      return exited;
    },
  };
}
