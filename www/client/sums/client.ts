/** The client of sums: numbers go in, sealed messages go out. */

import { hex } from "../bytes.js";
import { HushbinClient, type Spent } from "../client.js";
import type { Consent } from "../consent.js";
import { OptionError } from "../errors.js";
import { type ClientOptions, settingsOf } from "../options.js";
import type { Receipt } from "../receipt.js";
import { type Sealing, sealedSettingsOf } from "../sealed/options.js";
import type { Stored } from "../store/store.js";
import type { SumInput } from "./input.js";
import { privacyOf, type SumPrivacy } from "./privacy.js";
import { openDrySums, openSealedSums, type SumSettings } from "./session.js";
import { parseSumTask, type SumTask } from "./task.js";

/**
 * Options of `createClient`.
 *
 * @typeParam T the task's type: a literal's, so that `report` knows its names
 */
export interface SumClientOptions<T extends SumTask = SumTask>
  extends Omit<ClientOptions, "task" | "maxEpsilon">,
    Sealing {
  /**
   * The complete task. It is never asked for: what hides people is how many messages they
   * send, which a page cannot check, so that its author has to.
   */
  readonly task: T;
  /**
   * That people trust a shuffler, which has to be said: there is no local ε, and whoever
   * links a person's messages to them reads the answer.
   */
  readonly trust: "shuffler";
  /**
   * The most central ε that the reports of one window may spend together, in this browser.
   * It has nothing to do with `maxEpsilon` of other clients, whose ε is local. Default 2.
   */
  readonly maxCentralEpsilon?: number | undefined;
}

/** What a client of sums reports to. */
export interface SumAbout<T extends SumTask = SumTask> {
  /** The URL of the task's resource at the shuffler. */
  readonly url: string;
  /** The task. */
  readonly task: T;
  /** Whether reports are only made as if, and not sent. */
  readonly dryRun: boolean;
}

/** What a call of `report` came to. */
export interface SumReceipt extends Pick<Receipt, "outcome"> {
  /** Central ε that this call spent. */
  readonly centralEpsilon: number;
  /** With which probability that may fail; 0 where nothing was spent. */
  readonly delta: number;
}

/** A central budget in this browser, as it stands; no local ε is in it. */
export interface SumSpent extends Pick<Spent, "used" | "until" | "reports" | "durable"> {
  /** Central ε of one report. */
  readonly centralEpsilon: number;
  /** With which probability that may fail. */
  readonly delta: number;
  /** How many reports a window may hold. */
  readonly allowed: number;
  /** Central ε that all reports have spent, as far as this browser remembers. */
  readonly centralSpent: number;
}

/** A report that left this browser, or is to: all messages of one input. */
export interface SumSent extends Pick<Stored, "bytes" | "state"> {
  /** Central ε that it spent. */
  readonly centralEpsilon: number;
  /** When it was made. */
  readonly at: Date;
}

/**
 * Reports to one task of sums through one shuffler.
 *
 * @example
 * ```ts
 * const client = createClient({
 *   endpoint: "https://shuffler.example",
 *   task,
 *   trust: "shuffler",
 *   analyser: ["8f1c5b0e63a7d2940b5e7c1f2a9d4e60"],
 * });
 * client.grant(); // once the person agrees
 * await client.report({ "load-time": 1830 });
 * ```
 *
 * @typeParam T the task's type
 */
export interface SumClient<T extends SumTask = SumTask> {
  /** What it reports to. */
  readonly about: SumAbout<T>;
  /** What a report costs a person, and what hides it: known before they agree. */
  readonly privacy: SumPrivacy;
  /** Whether anything may be reported. */
  readonly consent: Consent;
  /** Number of reports made by this client that the shuffler has not acknowledged yet. */
  readonly pending: number;
  /**
   * The task, and the identity of its parameters, 32 hexadecimal digits: once consent is
   * granted and the module and the analyser's keys are there.
   *
   * @throws TaskError, EntropyError, WasmError, SealingError, ClosedError
   */
  ready(): Promise<{ readonly task: T; readonly fingerprint: string }>;
  /**
   * Makes and seals the messages of a person's numbers, where consent and budget allow it,
   * and keeps them until the shuffler has them. The numbers are kept nowhere; what they are
   * is read before this returns.
   *
   * @param input a number for each name; of a vector whose numbers are counted, all of them
   * in order
   * @returns what was done, once it is stored
   * @throws AnswerError, UnknownItemError, OutboxFullError, ClosedError, TaskError,
   * EntropyError, WasmError, SealingError, StorageError; nothing is reported then
   */
  report(input: SumInput<T>): Promise<SumReceipt>;
  /**
   * Like `report`, for callers that do not wait: what goes wrong is told to `onError`, and
   * no promise is left that could reject.
   */
  record(input: SumInput<T>): void;
  /**
   * Sends everything that waits, of other tabs and earlier pages too.
   *
   * @returns when the shuffler has acknowledged all of it
   * @throws NetworkError when the shuffler cannot be reached; the reports are kept, and the
   * same bytes are sent again later
   * @throws UploadRejectedError when the shuffler refused reports for good
   * @throws ClosedError, StorageError, TaskError, EntropyError, WasmError, SealingError
   */
  flush(): Promise<void>;
  /** The person agrees: reports are made from now on. */
  grant(): void;
  /**
   * The person does not agree any more: no further report is made, and what waits, of
   * other tabs and earlier pages too, is forgotten. What was spent stays remembered.
   *
   * @throws StorageError
   */
  revoke(): Promise<void>;
  /**
   * What this browser has spent on the task, of central ε.
   *
   * @throws StorageError
   */
  budget(): Promise<SumSpent>;
  /**
   * What left this browser, or is to, oldest first: the last thousand reports.
   *
   * @throws StorageError
   */
  history(): Promise<readonly SumSent[]>;
  /**
   * Calls `changed` whenever `about`, `consent`, `budget` or `history` may have changed by what
   * this client does; of other tabs it hears nothing.
   *
   * @returns ends the calls
   */
  watch(changed: () => void): () => void;
  /**
   * Makes one attempt to send what waits, then frees all resources. Never rejects; closing
   * twice is the same as closing once.
   */
  close(): Promise<void>;
  /** Frees all resources at once; sends nothing more. */
  destroy(): void;
}

const MAX_CENTRAL_EPSILON = 2;

/**
 * @throws OptionError
 * @throws TaskError `invalid-task`
 */
function sumSettingsOf(options: SumClientOptions): SumSettings {
  const { trust, maxCentralEpsilon = MAX_CENTRAL_EPSILON } = options;
  if (trust !== "shuffler") {
    throw new OptionError(
      "trust",
      trust,
      '"shuffler": of sums there is no local ε, and whoever links messages to a person reads the answer',
    );
  }
  if (typeof options.task !== "object") {
    throw new OptionError("task", options.task, "a complete task: a page cannot check another");
  }
  if ((options as { maxEpsilon?: unknown }).maxEpsilon !== undefined) {
    throw new OptionError("maxEpsilon", "given", "maxCentralEpsilon: there is no local ε");
  }
  if (!(typeof maxCentralEpsilon === "number" && maxCentralEpsilon >= 0)) {
    throw new OptionError("maxCentralEpsilon", maxCentralEpsilon, "a number from 0");
  }
  const task = parseSumTask(options.task);
  // What is said of a report says that its ε is central, which others' words do not.
  const settings = settingsOf({ ...options, debug: false, task }, () => task);
  return {
    ...sealedSettingsOf(options, settings),
    task,
    maxCentralEpsilon,
    // A task of the same name that has a local ε keeps what it spends apart.
    ledger: `${settings.url}#central`,
  };
}

/** The caller's to change as soon as a call returns: others copy what is no typed array. */
const copied = (input: SumInput) =>
  ArrayBuffer.isView(input) ? Array.from(input as ArrayLike<number>) : input;

/** @internal */
export class HushbinSumClient implements SumClient {
  readonly privacy: SumPrivacy;
  readonly #client: HushbinClient;
  readonly #settings: SumSettings;
  readonly #debug: boolean;

  constructor(options: SumClientOptions) {
    const settings = sumSettingsOf(options);
    this.#settings = settings;
    this.#debug = options.debug === true;
    this.privacy = privacyOf(settings.task);
    const open = settings.dryRun ? openDrySums : openSealedSums;
    this.#client = new HushbinClient(settings, open, options.consent === true);
  }

  get about(): SumAbout {
    const { url, task, dryRun } = this.#settings;
    return { url, task, dryRun };
  }

  get consent(): Consent {
    return this.#client.consent;
  }

  get pending(): number {
    return this.#client.pending;
  }

  async ready(): Promise<{ task: SumTask; fingerprint: string }> {
    const { fingerprint } = await this.#client.ready();
    return { task: this.#settings.task, fingerprint };
  }

  async report(input: SumInput): Promise<SumReceipt> {
    // Read by this kind of task's own reader.
    const { outcome, epsilon } = await this.#client.report(copied(input) as never);
    const delta = epsilon > 0 ? this.privacy.delta : 0;
    const receipt = { outcome, centralEpsilon: epsilon, delta };
    if (this.#debug) {
      await this.#say(input, receipt);
    }
    return receipt;
  }

  record(input: SumInput): void {
    this.report(input).catch(this.#settings.onError);
  }

  flush(): Promise<void> {
    return this.#client.flush();
  }

  grant(): void {
    this.#client.grant();
  }

  revoke(): Promise<void> {
    return this.#client.revoke();
  }

  async budget(): Promise<SumSpent> {
    const { used, until, reports, durable, spent, allowed = 1 } = await this.#client.budget();
    const { centralEpsilon, delta } = this.privacy;
    return { centralEpsilon, delta, allowed, used, until, centralSpent: spent, reports, durable };
  }

  async history(): Promise<readonly SumSent[]> {
    const all = await this.#client.history();
    return all.map(({ at, epsilon, bytes, state }) => ({
      at,
      centralEpsilon: epsilon,
      bytes,
      state,
    }));
  }

  watch(changed: () => void): () => void {
    return this.#client.watch(changed);
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  destroy(): void {
    this.#client.destroy();
  }

  /** Says what a call came to, in a line that opens: behind it stand numbers and bytes. */
  async #say(input: SumInput, { outcome, centralEpsilon, delta }: SumReceipt): Promise<void> {
    const { id, dryRun } = this.#settings;
    const line = [outcome + (dryRun ? " (a dry run: nothing is sent)" : "")];
    const last = outcome === "queued" ? (await this.#client.history()).at(-1) : undefined;
    if (last !== undefined) {
      line.push(`central ε ${centralEpsilon} but for ${delta}, no local ε`);
      line.push(`${this.privacy.messages} messages in ${last.bytes.length} bytes`);
    }
    console.groupCollapsed(`hushbin ${id}: ${line.join(", ")}`);
    console.log(input);
    if (last !== undefined) {
      console.log(hex(last.bytes));
    }
    console.groupEnd();
  }
}
