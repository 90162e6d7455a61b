/** What a client is made with. */

import { copied } from "./entries.js";
import { type HushbinError, OptionError } from "./errors.js";
import type { SumTask } from "./sums/task.js";
import { type AnyTask, parseTask, type Task } from "./task.js";

/** Options of every client, beside its task. */
export interface CommonOptions {
  /**
   * The collector's base URL, or the shuffler's. May be relative to the page, and may have a
   * path.
   */
  readonly endpoint: string | URL;
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
   * How long a report may wait for others before it is sent, in milliseconds.
   * Earlier when a request is full or the page is hidden. Default 5000, and 0 through a relay,
   * since a request cannot be sealed as a page ends; a worker, which nothing tells that it
   * ends, does not wait.
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
   * Does everything but seal, store and send: reports count as acknowledged. Default false.
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

/** A relay of Oblivious HTTP (RFC 9458), which hands requests on and cannot read them. */
export interface Relay {
  /**
   * Where it takes them: whoever runs it is told the gateway's address, and is somebody else
   * than who collects. May be relative to the page. Browsers ask first, by a preflight.
   */
  readonly url: string | URL;
  /**
   * The key configuration of the gateway, which is who collects: hexadecimal, as
   * `hushbin key gateway` prints it. Requests are sealed to it, and to no other.
   */
  readonly gateway: string;
}

/** Options of clients whose reports are sealed. */
export interface Sealing {
  /**
   * Pins of the analyser's keys for this task, 32 hexadecimal digits each, as
   * `hushbin key pin` prints them: reports are sealed to these keys, and to no other that
   * whoever collects them may name. While a key is changed, the old one's and the new one's.
   */
  readonly analyser: readonly string[];
  /**
   * Sends and fetches through this relay, so that who collects does not see who sends.
   * `endpoint` then names it to its gateway, and is never connected to. Default none.
   */
  readonly relay?: Relay | undefined;
}

/** Options of clients whose reports are not sealed. */
export interface Unsealed {
  /** Missing, so that reports are not sealed. */
  readonly analyser?: undefined;
  /** Missing, since a relay takes sealed reports alone. */
  readonly relay?: undefined;
}

/** Options of clients of tasks with a local ε. */
export type LocalOptions = (Sealing | Unsealed) & {
  /**
   * The most ε that the reports of one window may spend together, in this browser: the
   * task's ε times its reports a window. Default 2.
   */
  readonly maxEpsilon?: number | undefined;
  /** Not for tasks with a local ε. */
  readonly trust?: undefined;
  /** Not for tasks with a local ε. */
  readonly maxCentralEpsilon?: undefined;
};

/** Options of clients of sums, whose ε is central. */
export interface SumOptions extends Sealing {
  /**
   * Confirms that people trust a shuffler. There is no local ε: anyone who links a person's
   * messages to the person reads the answer.
   */
  readonly trust: "shuffler";
  /**
   * The most central ε that the reports of one window may spend together, in this browser.
   * It has nothing to do with `maxEpsilon` of other clients, whose ε is local. Default 2.
   */
  readonly maxCentralEpsilon?: number | undefined;
  /** Not for sums, which have no local ε. */
  readonly maxEpsilon?: undefined;
}

/**
 * Options of {@link createClient}.
 *
 * @typeParam T the task's type: a literal's, so that `report` knows its names
 */
export type ClientOptions<T extends Task | SumTask | string = Task | string> = CommonOptions & {
  /**
   * The complete task, which needs no request and cannot be changed by the collector; or the
   * id of one that the collector describes. A task of sums is never asked for: what hides
   * people is how many messages they send, which a page cannot check, so that its author has to.
   */
  readonly task: T;
} & (T extends SumTask ? SumOptions : LocalOptions);

/** Options, checked, with what stands for those left out. */
export interface Settings {
  /** The URL of the task's resource, which its budget in this browser goes by too. */
  readonly url: string;
  /** The task's id. */
  readonly id: string;
  /** Undefined where the collector describes it; of sums, a copy. */
  readonly task: AnyTask | undefined;
  /** Key of the ledger in this browser. */
  readonly ledger: string;
  readonly fingerprint: string | undefined;
  /** Most local ε of a window: no limit where there is none. */
  readonly maxEpsilon: number;
  /** A copy of all options, if reports are to be sealed or an option for that is given. */
  readonly shuffled: object | undefined;
  readonly consent: boolean;
  readonly ignoreSignals: boolean;
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

/**
 * Checks an option.
 *
 * @throws OptionError where it is not right
 */
export function check(option: string, value: unknown, right: boolean, expected: string): void {
  if (!right) {
    throw new OptionError(option, value, expected);
  }
}

/** The collector's URL, without slashes at its end. */
function baseUrl(endpoint: unknown): string {
  const there = typeof endpoint === "string" || endpoint instanceof URL;
  const page: string | undefined = globalThis.location?.href;
  let url = "";
  try {
    url = new URL(there ? endpoint : "", page).href;
  } catch {
    // Named below.
  }
  const expect = (right: boolean, expected: string) =>
    check("endpoint", endpoint, right, `the collector's URL${expected}`);
  expect(there && /^https?:/.test(url), ", with https:// or http://");
  // A host may be called tasks.
  expect(!/[?#]|[^/]\/tasks(\/|$)/.test(url), " without /tasks, query and fragment");
  return url.replace(/\/+$/, "");
}

/** Whether it is a number from `least` to `most`. */
function holds(value: unknown, least: number, most: number): boolean {
  return typeof value === "number" && value >= least && value <= most;
}

/** Returns whether a task says that it is one of sums. */
export const isSum = (task: unknown): task is SumTask => Object(task).trust !== undefined;

/**
 * @throws OptionError
 * @throws TaskError `invalid-task`
 */
export function settingsOf(options: ClientOptions<Task | SumTask | string>): Settings {
  const { task: asked, fingerprint, fetch, onError = warn } = options;
  const { delayMs = DELAY_MS, storage = "device", relay, trust } = options;
  const central = isSum(asked);
  const { maxEpsilon = central ? Infinity : MAX_EPSILON, maxCentralEpsilon } = options;
  const base = baseUrl(options.endpoint);
  const named = typeof asked === "string";
  // The code that reads sums is loaded later.
  const task = named ? undefined : central ? copied(asked) : parseTask(asked);
  const id = String(task ? task.id : asked);
  check("task", id, !named || /^[a-z0-9][a-z0-9-]{0,63}$/.test(id), "a task, or the id of one");
  check("delayMs", delayMs, holds(delayMs, 0, MOST_DELAY_MS), `0 to ${MOST_DELAY_MS}`);
  check("maxEpsilon", maxEpsilon, holds(maxEpsilon, 0, Infinity), "a number from 0");
  check("storage", storage, storage === "device" || storage === "memory", "device or memory");
  const pinned = fingerprint === undefined || /^[0-9a-f]{32}$/i.test(fingerprint);
  check("fingerprint", fingerprint, pinned, "32 digits");
  const url = `${base}/tasks/${id}`;
  // An `analyser` that is undefined by mistake must not lead to unsealed reports.
  const special =
    central ||
    "analyser" in options ||
    [relay, trust, maxCentralEpsilon].some((option) => option !== undefined);
  return {
    url,
    id,
    task,
    // A task of the same name that has a local ε keeps what it spends apart.
    ledger: central ? `${url}#central` : url,
    fingerprint: fingerprint?.toLowerCase(),
    maxEpsilon,
    // The caller may change its own options afterwards.
    shuffled: special ? copied({ ...options }) : undefined,
    consent: options.consent === true,
    ignoreSignals: options.ignoreSignals === true,
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
