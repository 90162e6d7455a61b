/** Options of a client: their types, checks and defaults. */

import { deepCopy } from "./entries.js";
import { type HushbinError, OptionError } from "./errors.js";
import { TASK_ID, taskOfLabel } from "./labels.js";
import type { SumTask } from "./sums/task.js";
import type { AnyTask, Task } from "./task.js";

/** Options of every client, except its task. */
export interface CommonOptions {
  /**
   * Base URL of the collector or shuffler. It may be relative to the page, and it may contain a
   * path.
   */
  readonly endpoint: string | URL;
  /**
   * Fingerprint that the task must have, 32 hexadecimal digits. If the task comes from the
   * collector, the fingerprint pins its parameters, including ε.
   */
  readonly fingerprint?: string | undefined;
  /**
   * True if the person has agreed. Without consent, nothing is randomised, stored, fetched or sent.
   * Default false: call `grant` when the person agrees.
   */
  readonly consent?: boolean | undefined;
  /**
   * Makes reports even if the browser sends Global Privacy Control or Do Not Track. Default false.
   */
  readonly ignoreSignals?: boolean | undefined;
  /**
   * Maximum time in milliseconds that a report waits for further reports to share its request.
   * Reports are sent earlier if a request is full or the page is hidden.
   *
   * Default 5000. Through a relay, the default is 0, because a request cannot be sealed while a
   * page closes. A worker always sends at once, because it gets no event before it ends.
   */
  readonly delayMs?: number | undefined;
  /**
   * Place where the budget and waiting reports are stored. Default `"device"`.
   *
   * - `"device"`: the browser's database, shared by all tabs and kept for later visits. Without a
   *   usable database, nothing is reported.
   * - `"spend-again"`: the same, but without a usable database the budget is kept in the page's
   *   memory. Each page view then spends the whole budget again.
   * - `"memory"`: the memory of this client alone, for tests and simulations.
   *
   * Without a usable database, a task with a memo never reports. A memo that is lost with the page
   * would be drawn again, and spend ε again.
   */
  readonly storage?: "device" | "spend-again" | "memory" | undefined;
  /** Logs every call of `report` to the console: answers, bytes and ε. Default false. */
  readonly debug?: boolean | undefined;
  /**
   * Makes reports without sealing, storing or sending them. They count as acknowledged. Default
   * false.
   */
  readonly dryRun?: boolean | undefined;
  /** Function that sends requests, instead of the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /**
   * Function that receives the failures that no promise reports. These are failures of `record`,
   * and failures of sending while no call of `flush` waits for it. By default, failures that lose
   * reports are logged as warnings on the console. Failed attempts that will be repeated are not
   * logged.
   */
  readonly onError?: ((error: HushbinError) => void) | undefined;
}

/** Relay of Oblivious HTTP (RFC 9458). It forwards requests and cannot read them. */
export interface Relay {
  /**
   * URL of the relay. It may be relative to the page.
   *
   * The relay has to be run by a different party than the collector. The operator of the relay
   * configures the address of the gateway. Browsers send a CORS preflight first.
   */
  readonly url: string | URL;
  /**
   * Key configuration of the collector's gateway: the hexadecimal digits that `hushbin key gateway`
   * prints. Requests are sealed to this key only.
   */
  readonly gateway: string;
}

/** Options of clients whose reports are sealed. */
export interface ReportSealingOptions {
  /**
   * Pins of the analyser's keys for this task, as printed by `hushbin key pin`: 32 hexadecimal
   * digits each. Reports are sealed to these keys only, even if the collector names another key.
   * During a key change, pin both the old and the new key.
   */
  readonly analyser: readonly string[];
  /**
   * Relay for all requests, which hides the sender's address from the collector. The page then
   * never connects to `endpoint`, whose address is sealed inside the requests to the gateway.
   * Default: no relay.
   */
  readonly relay?: Relay | undefined;
}

/** Options of clients whose reports are not sealed. */
export interface UnsealedOptions {
  /** Absent, because reports are not sealed. */
  readonly analyser?: undefined;
  /** Absent, because a relay accepts only sealed reports. */
  readonly relay?: undefined;
}

/** Options of clients for tasks with a local ε. */
export type LocalEpsilonOptions = (ReportSealingOptions | UnsealedOptions) & {
  /**
   * Maximum ε that this browser spends on all tasks of the collector together, in the windows that
   * are open. A report that would exceed this ε is not made. A task is refused if the reports of
   * one window alone may exceed it, or the memo of one epoch. Default 2.
   */
  readonly maxEpsilon?: number | undefined;
  /** Absent for tasks with a local ε, which need no trust. */
  readonly trust?: undefined;
  /** Absent for tasks with a local ε. */
  readonly maxCentralEpsilon?: undefined;
};

/** Options of clients for sum tasks, whose ε is central. */
export interface SumOptions extends ReportSealingOptions {
  /**
   * Confirms that people trust a shuffler. There is no local ε: anyone who links messages to a
   * person reads that person's answer.
   */
  readonly trust: "shuffler";
  /**
   * Maximum central ε that this browser spends on all sum tasks of the collector together, in the
   * windows that are open. It is unrelated to `maxEpsilon` of clients with a local ε. Default 2.
   */
  readonly maxCentralEpsilon?: number | undefined;
  /** Absent for sum tasks, which have no local ε. */
  readonly maxEpsilon?: undefined;
}

/**
 * Options of {@link createClient}.
 *
 * @typeParam T the type of the task. If it is the type of a literal, `report` checks the names in
 * answers
 */
export type ClientOptions<T extends Task | SumTask | string = Task | string> = CommonOptions & {
  /**
   * Complete task, or the id of a task that the collector describes. A complete task needs no
   * request, and the collector cannot change it.
   *
   * A sum task must be complete. Its protection depends on the number of messages that people send,
   * which a page cannot check. The author of the page has to check it.
   */
  readonly task: T;
} & LabelOptions<T> &
  (T extends SumTask ? SumOptions : LocalEpsilonOptions);

/** Option of clients for tasks with labels. */
export interface LabelOption {
  /**
   * Label of this browser's reports, one of the task's `labels`, such as the variant of an
   * experiment. Every report says it, without noise. A browser may get another label later. All
   * labels share the budget.
   */
  readonly label?: string | undefined;
}

type LabelOptions<T> = T extends { readonly labels: readonly (infer L extends string)[] }
  ? { readonly label: L }
  : LabelOption;

/** Options of a client that are checked, with defaults filled in. */
export interface ClientSettings {
  /** URL of the task's resource at the collector. */
  readonly url: string;
  /** URL of the task without its label, for the reports of all labels. */
  readonly reportsUrl: string;
  /** Id of the task, with the label if there is one. */
  readonly id: string;
  /**
   * Copy of the task in the page, which is not checked yet. Undefined if the collector describes
   * the task.
   */
  readonly task: AnyTask | undefined;
  /** Key of the task's ledger in this browser. */
  readonly taskLedgerKey: string;
  readonly fingerprint: string | undefined;
  /** Key of the collector's ledger, which covers all of its tasks. */
  readonly collectorLedgerKey: string;
  /**
   * Maximum ε that all tasks together may spend in the windows that are open. Infinity means no
   * limit.
   */
  readonly maxEpsilonAcrossTasks: number;
  /**
   * Copy of the page's options, for the code that seals. Undefined if reports are not sealed and no
   * option for sealing is set.
   */
  readonly sealingOptions: object | undefined;
  readonly isConsentGiven: boolean;
  readonly ignoreSignals: boolean;
  readonly delayMs: number;
  readonly storage: NonNullable<CommonOptions["storage"]>;
  readonly debug: boolean;
  readonly dryRun: boolean;
  readonly fetch: typeof globalThis.fetch;
  readonly onError: (error: HushbinError) => void;
}

const STORAGES: readonly string[] = ["device", "spend-again", "memory"];
const DEFAULT_DELAY_MS = 5_000;
/** @internal */
export const DEFAULT_MAX_EPSILON = 2;
const MAX_DELAY_MS = 86_400_000;

function warnUnlessNetworkError(error: HushbinError): void {
  if (error.code !== "network") {
    console.warn(`hushbin: ${error.message}`);
  }
}

/** Returns an error handler that calls `tell`, the page's handler, and catches its exceptions. */
function safeErrorHandler(tell: (error: HushbinError) => void): (error: HushbinError) => void {
  return (error) => {
    try {
      tell(error);
    } catch (thrown) {
      console.error(thrown);
    }
  };
}

/**
 * Checks the value of an option.
 *
 * @throws OptionError unless `right` is true
 */
export function checkOption(
  option: string,
  value: unknown,
  right: boolean,
  expected: string,
): void {
  if (!right) {
    throw new OptionError(option, value, expected);
  }
}

/** Returns the collector's URL, without slashes at its end. */
function collectorUrl(endpoint: unknown): string {
  const there = typeof endpoint === "string" || endpoint instanceof URL;
  const page: string | undefined = globalThis.location?.href;
  let url = "";
  try {
    url = new URL(there ? endpoint : "", page).href;
  } catch {
    // Not a valid URL. The check below throws.
  }
  const expect = (right: boolean, expected: string) =>
    checkOption("endpoint", endpoint, right, `the collector's URL${expected}`);
  // "127.0.0.1:8080" would be a path.
  const isUrl = /^https?:/.test(url) && /^(https?:|\.{0,2}\/)/i.test(String(endpoint));
  expect(there && isUrl, ", with https:// or http://, or a path from /");
  // A host may have the name `tasks`.
  expect(!/[?#]|[^/]\/tasks(\/|$)/.test(url), " without /tasks, query and fragment");
  return url.replace(/\/+$/, "");
}

/** Returns whether a value is a number from `least` to `most`. */
function isBetween(value: unknown, least: number, most: number): boolean {
  return typeof value === "number" && value >= least && value <= most;
}

/** Returns whether a task is a sum task. Only sum tasks have a field `trust`. */
export const isSumTask = (task: unknown): task is SumTask => Object(task).trust !== undefined;

/** Returns the name of the option that limits the ε which a task may spend. */
export const epsilonLimitOptionName = (task: unknown) =>
  isSumTask(task) ? "maxCentralEpsilon" : "maxEpsilon";

/** Returns whether the page fixes the task's parameters, so that the collector cannot choose them. */
export const isTaskPinnedByPage = ({ task, fingerprint }: ClientSettings) =>
  (task ?? fingerprint) !== undefined;

/**
 * Checks the options of a client and fills in defaults.
 *
 * @throws OptionError
 */
export function settingsFromOptions(
  options: ClientOptions<Task | SumTask | string>,
): ClientSettings {
  const { task: asked, fingerprint, fetch, onError = warnUnlessNetworkError } = options;
  const { delayMs = DEFAULT_DELAY_MS, storage = "device", relay, trust, label } = options;
  const central = isSumTask(asked);
  const limit = epsilonLimitOptionName(asked);
  const { [limit]: maxEpsilon = DEFAULT_MAX_EPSILON, maxCentralEpsilon } = options;
  const base = collectorUrl(options.endpoint);
  const named = typeof asked === "string";
  // The code that checks tasks is loaded later.
  const own: AnyTask = named ? { id: asked } : deepCopy(Object(asked));
  const isId = typeof own.id === "string" && TASK_ID.test(own.id);
  checkOption("task", asked, isId, "a task, or the id of one");
  const task = taskOfLabel(own, label, named && TASK_ID.test(`a:${label}`));
  const reportsUrl = `${base}/tasks/${own.id.split(":")[0]}`;
  checkOption("delayMs", delayMs, isBetween(delayMs, 0, MAX_DELAY_MS), `0 to ${MAX_DELAY_MS}`);
  checkOption(limit, maxEpsilon, isBetween(maxEpsilon, 0, Infinity), "a number from 0");
  const stored = STORAGES.includes(storage);
  checkOption("storage", storage, stored, STORAGES.join(", "));
  const pinned = fingerprint === undefined || /^[0-9a-f]{32}$/i.test(fingerprint);
  checkOption("fingerprint", fingerprint, pinned, "32 digits");
  const { id } = task;
  // An `analyser` that is undefined by mistake must not lead to unsealed reports.
  const special =
    central ||
    "analyser" in options ||
    [relay, trust, maxCentralEpsilon].some((option) => option !== undefined);
  return {
    url: `${base}/tasks/${id}`,
    reportsUrl,
    id,
    task: named ? undefined : task,
    // A task with a local ε has a separate ledger, even under the same name.
    taskLedgerKey: central ? `${reportsUrl}#central` : reportsUrl,
    collectorLedgerKey: central ? `${base}#central` : base,
    fingerprint: fingerprint?.toLowerCase(),
    maxEpsilonAcrossTasks: maxEpsilon,
    // The caller may change its own options afterwards.
    sealingOptions: special ? deepCopy({ ...options }) : undefined,
    // Only `true` itself is consent, not any truthy value.
    isConsentGiven: options.consent === true,
    ignoreSignals: options.ignoreSignals === true,
    delayMs,
    storage,
    debug: options.debug === true,
    dryRun: options.dryRun === true,
    // `fetch` has to be called on the window. The global one is looked up at each call, so that a
    // page may replace it at any time.
    fetch: (input, init) => (fetch ?? globalThis.fetch).call(globalThis, input, init),
    onError: safeErrorHandler(onError),
  };
}
