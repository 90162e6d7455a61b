/** Interface of clients. */

import type { Consent } from "./consent-state.js";
import type { CommonOptions } from "./options.js";
import type { InputOf, ResultsOf } from "./results.js";
import type { SumTask } from "./sums/task.js";
import type { Task } from "./task.js";

/** Value, or a promise of it. */
export type Awaitable<V> = V | PromiseLike<V>;

/** Information about a client: its task and its collector. */
export interface ClientInfo<T extends Task | SumTask = Task> {
  /** URL of the task's resource at the collector. */
  readonly url: string;
  /** Complete task. Undefined until the collector has described it. */
  readonly task: T | undefined;
  /** True for a dry run: reports are made but not sent. */
  readonly dryRun: boolean;
  /** The option `storage`: where the budget and the reports of this client are stored. */
  readonly storage: NonNullable<CommonOptions["storage"]>;
}

/**
 * Client that reports to one task of one collector.
 *
 * The type of the task determines which answers `report` accepts. It also determines whether
 * results state a local or a central ε. For a sum task, ε is central, and the names of the fields
 * contain `central`.
 *
 * @example
 * ```ts
 * const client = createClient({ endpoint: "https://telemetry.example", task, consent: true });
 * await client.report({ theme: "dark", features: ["search"], loadMs: 1830 });
 * ```
 *
 * @typeParam T the task's type
 */
export interface Client<T extends Task | SumTask = Task> {
  /** Information about this client's task and collector. */
  readonly about: ClientInfo<T>;
  /** State of consent. Reports are made only if it is `granted`. */
  readonly consent: Consent;
  /** Number of reports made by this client that the collector has not acknowledged yet. */
  readonly pending: number;
  /**
   * Returns the complete task and its fingerprint. The fingerprint has 32 hexadecimal digits and
   * identifies the task's parameters.
   *
   * Resolves after consent is granted and everything is loaded: the module, the task if the page
   * gave only its id, and the analyser's keys if reports are sealed.
   *
   * @throws TaskError, OptionError, EntropyError, WasmError, SealingError, ClosedError
   * @throws NetworkError if a process is about to end before the collector can be reached
   */
  ready(): Promise<{ readonly task: T; readonly fingerprint: string }>;
  /**
   * Randomises answers if consent and budget allow it, and stores the report until the collector
   * has acknowledged it.
   *
   * The answers are read before this call returns, and they are not stored. If the task's budget
   * has a memo, a randomised answer is stored on the device, until its epoch ends or consent is
   * revoked.
   *
   * @param input answers to all questions, by name. For a task without questions: values by item
   * name, each 1 or −1, or any number from −1 to 1 if the task takes real values; an item with
   * value 0 counts as absent. For a sum task: a number for each name, or an array of all numbers if
   * the task gives only the number of them
   * @returns receipt that says what was done, after that is stored
   * @throws AnswerError, UnknownItemError, ValueRangeError, OutboxFullError, ClosedError,
   * TaskError, OptionError, EntropyError, WasmError, SealingError, StorageError; in these cases
   * nothing is reported. After a TaskError or an OptionError, all later calls throw it too, until
   * consent is revoked and granted again
   * @throws NetworkError if a process is about to end before the collector can be reached; nothing
   * is reported
   */
  report(input: InputOf<T>): Promise<ResultsOf<T>["receipt"]>;
  /** Does the same as `report`, but returns no promise. Failures are passed to `onError`. */
  record(input: InputOf<T>): void;
  /**
   * Calls a function as soon as consent and budget allow a report, and reports the answers that it
   * returns. Meant for answers that take work to compute. If the budget is spent, the function is
   * not called in this page. Failures are passed to `onError`.
   *
   * @param answers returns the answers or a promise of them, or undefined if there is nothing to
   * report; called at most once, with nothing reserved
   * @throws ClosedError
   */
  once(answers: () => Awaitable<InputOf<T> | undefined>): void;
  /**
   * Calls a function when the person leaves, and reports the answers that it returns. A person
   * leaves when the page is hidden or closed for the first time after this call, or when the client
   * is closed. Meant for values that are known only then, for example the time on a page. Calls of
   * `report` at that time may be lost.
   *
   * The budget of the report is reserved when this is called and consent is granted. If there is no
   * budget, or if consent is revoked, the function is not called. It is not called either while the
   * browser's privacy signals refuse. In a page that stays open, it remains registered in the next
   * window. Failures are passed to `onError`.
   *
   * Sealed reports, and reports from a memo, are not made in one step. No budget is reserved for these
   * reports, and they may be lost. So may all reports of a tab that is closed in Firefox, if another
   * script keeps the event `visibilitychange` from this one.
   *
   * @param answers returns the answers, or undefined if there is nothing to report. It is called
   * again if the browser terminates it, as Firefox does when a tab is closed
   * @throws ClosedError
   */
  atLeave(answers: () => InputOf<T> | undefined): void;
  /**
   * Sends all waiting reports, including those of other tabs and earlier pages.
   *
   * @returns a promise that resolves when the collector has acknowledged all of them
   * @throws NetworkError if the collector cannot be reached; the reports are kept, and the same
   * bytes are sent again later
   * @throws UploadRejectedError if the collector permanently refused reports
   * @throws ClosedError, StorageError, TaskError, OptionError, EntropyError, WasmError,
   * SealingError
   */
  flush(): Promise<void>;
  /**
   * Grants consent. From now on, reports are made. While the browser's privacy signals refuse, the
   * client waits. It looks at the signals every minute, so a report may then wait for a minute.
   */
  grant(): void;
  /**
   * Revokes consent. No further report is made, and waiting reports of all tabs and earlier pages
   * are withdrawn. The ledger is kept, so that the budget cannot be spent again. If the task's
   * budget has a memo, the memo is deleted, and no report is made until its epoch ends, even if
   * consent is granted again.
   *
   * @throws StorageError
   */
  revoke(): Promise<void>;
  /**
   * Returns the budget of the task, and what this browser has spent of it.
   *
   * @throws StorageError
   */
  budget(): Promise<ResultsOf<T>["budget"]>;
  /**
   * Returns the reports of this browser, the oldest first. These are all waiting reports, and up to
   * a thousand of the latest reports that no longer wait.
   *
   * @throws StorageError
   */
  history(): Promise<readonly ResultsOf<T>["entry"][]>;
  /**
   * Calls `changed` whenever `about`, `consent`, `budget` or `history` may have changed because of
   * this client. Changes by other tabs are not observed.
   *
   * @returns a function that stops the calls
   */
  watch(changed: () => void): () => void;
  /**
   * Makes one attempt to send the waiting reports, then frees all resources. Reports that could not
   * be sent wait for the next visit, or are dropped if they are only in memory. Never rejects.
   * Further calls have no effect.
   */
  close(): Promise<void>;
  /** Frees all resources at once and sends nothing more. */
  destroy(): void;
}
