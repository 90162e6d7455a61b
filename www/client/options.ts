/** What a client is made with. */

import { type HushbinError, OptionError } from "./errors.js";
import { type AnyTask, parseTask, type Task } from "./task.js";

/**
 * Options of {@link createClient}.
 *
 * @typeParam T the task's type: a literal's, so that `report` knows its names
 */
export interface ClientOptions<T extends Task | string = Task | string> {
  /**
   * The collector's base URL. May be relative to the page, and may have a
   * path.
   */
  readonly endpoint: string | URL;
  /**
   * The complete task, which needs no request and cannot be changed by the collector;
   * or the id of one that the collector describes.
   */
  readonly task: T;
  /**
   * The fingerprint that the task must have, 32 hexadecimal digits. Pins its
   * parameters, ε included, when the task comes from the collector.
   */
  readonly fingerprint?: string | undefined;
  /**
   * Whether the person agrees. Until then nothing is drawn, stored, fetched or sent.
   * Default false: call `grant` once they do.
   */
  readonly consent?: boolean | undefined;
  /**
   * Reports although the browser says no for its person, by Global Privacy Control or Do
   * Not Track. Default false.
   */
  readonly ignoreSignals?: boolean | undefined;
  /**
   * The most ε that the reports of one window may spend together, in this browser: the
   * task's ε times its reports a window. Default 2.
   */
  readonly maxEpsilon?: number | undefined;
  /**
   * How long a report may wait for others before it is sent, in milliseconds.
   * Earlier when a request is full or the page is hidden. Default 5000; a worker, which
   * nothing tells that it ends, does not wait.
   */
  readonly delayMs?: number | undefined;
  /**
   * Where the budget and what waits are kept: in the browser's database, where there is
   * one that may be used, for all its tabs and for later visits; or in memory, for
   * this client alone. Default `"device"`.
   */
  readonly storage?: "device" | "memory" | undefined;
  /**
   * Says on the console what every call of `report` does: answers, bytes and ε. Default
   * false.
   */
  readonly debug?: boolean | undefined;
  /**
   * Does everything but store and send: reports count as acknowledged. Default false.
   */
  readonly dryRun?: boolean | undefined;
  /** Sends requests in place of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /**
   * Told of every failure that no promise tells: of calls of `record`, and of sending that
   * no call of `flush` waits for. By default the console warns of those that lose
   * reports; what is tried again is not mentioned.
   */
  readonly onError?: ((error: HushbinError) => void) | undefined;
}

/** Options, checked, with what stands for those left out. */
export interface Settings {
  /** The URL of the task's resource, which its budget in this browser goes by too. */
  readonly url: string;
  /** The task's id. */
  readonly id: string;
  /** Undefined where the collector describes it. */
  readonly task: AnyTask | undefined;
  /** What the ledger goes by, where it is not the URL. */
  readonly ledger?: string;
  readonly fingerprint: string | undefined;
  readonly ignoreSignals: boolean;
  readonly maxEpsilon: number;
  readonly delayMs: number;
  readonly storage: "device" | "memory";
  readonly debug: boolean;
  readonly dryRun: boolean;
  readonly fetch: typeof globalThis.fetch;
  readonly onError: (error: HushbinError) => void;
}

const DELAY_MS = 5_000;
const MAX_EPSILON = 2;
const MOST_DELAY_MS = 86_400_000;

function warn(error: HushbinError): void {
  if (error.code !== "network") {
    console.warn(`hushbin: ${error.message}`);
  }
}

/** Tells a page of errors, whatever it does with them. */
function contained(tell: (error: HushbinError) => void): (error: HushbinError) => void {
  return (error) => {
    try {
      tell(error);
    } catch (thrown) {
      console.error(thrown);
    }
  };
}

/** The collector's URL, without slashes at its end. */
function baseUrl(endpoint: unknown): string {
  const wrong = (expected: string) => new OptionError("endpoint", endpoint, expected);
  const there = typeof endpoint === "string" || endpoint instanceof URL;
  const page: string | undefined = globalThis.location?.href;
  let url: URL;
  try {
    url = new URL(there ? endpoint : "", page);
  } catch {
    throw wrong("the collector's URL, with https://, or relative to the page");
  }
  if (!there || !/^https?:$/.test(url.protocol)) {
    throw wrong("the collector's URL, with https:// or http://");
  }
  if (url.search || url.hash || /\/tasks(\/|$)/.test(url.pathname)) {
    throw wrong("the collector's URL without /tasks, query and fragment");
  }
  return url.href.replace(/\/+$/, "");
}

function check(option: string, value: unknown, right: boolean, expected: string): void {
  if (!right) {
    throw new OptionError(option, value, expected);
  }
}

/** Whether it is a number from `least` to `most`. */
function holds(value: unknown, least: number, most: number): boolean {
  return typeof value === "number" && value >= least && value <= most;
}

/**
 * @param parse reads a task of the client's kind
 * @throws OptionError
 * @throws TaskError `invalid-task`
 */
export function settingsOf(
  options: Omit<ClientOptions, "task"> & { readonly task: unknown },
  parse: (value: unknown) => AnyTask,
): Settings {
  const { delayMs = DELAY_MS, maxEpsilon = MAX_EPSILON, storage = "device" } = options;
  const { fingerprint, fetch, onError = warn } = options;
  const base = baseUrl(options.endpoint);
  const named = typeof options.task === "string";
  const task = named ? undefined : parse(options.task);
  const id = String(task?.id ?? options.task);
  check("task", id, !named || /^[a-z0-9][a-z0-9-]{0,63}$/.test(id), "a task, or the id of one");
  check("delayMs", delayMs, holds(delayMs, 0, MOST_DELAY_MS), `0 to ${MOST_DELAY_MS}`);
  check("maxEpsilon", maxEpsilon, holds(maxEpsilon, 0, Infinity), "a number from 0");
  check("storage", storage, storage === "device" || storage === "memory", "device or memory");
  const pin = fingerprint?.toLowerCase();
  check("fingerprint", pin, /^[0-9a-f]{32}$/.test(pin ?? "0".repeat(32)), "32 digits");
  return {
    url: `${base}/tasks/${id}`,
    id,
    task,
    fingerprint: pin,
    ignoreSignals: options.ignoreSignals === true,
    maxEpsilon,
    delayMs,
    storage,
    debug: options.debug === true,
    dryRun: options.dryRun === true,
    // Of the window, which it insists on; looked up at each call where it is the global
    // one, so that a page may replace it at any time.
    fetch: (input, init) => (fetch ?? globalThis.fetch).call(globalThis, input, init),
    onError: contained(onError),
  };
}

/**
 * Those of tasks under local differential privacy.
 *
 * @throws OptionError
 * @throws TaskError `invalid-task`
 */
export const reportSettingsOf = (options: ClientOptions): Settings =>
  settingsOf(options, parseTask);
