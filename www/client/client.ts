/** The client: answers go in, randomised bytes go out. */

import { asOf } from "./budget.js";
import { type Consent, consentOf } from "./consent.js";
import { copied } from "./entries.js";
import { ClosedError, OutboxFullError, TaskError } from "./errors.js";
import { central, type InputOf, type KindOf, local, type Terms } from "./kind.js";
import { type ClientOptions, isSum, type Settings, settingsOf } from "./options.js";
import { isPage } from "./page.js";
import { nothing, type Receipt, say } from "./receipt.js";
import { openSession, type Session, storeOf } from "./session.js";
import type { SumTask } from "./sums/task.js";
import { type AnyTask, budgetOf, type Task } from "./task.js";
import { TaskSource } from "./task-source.js";

/** What a client reports to. */
export interface About<T extends Task | SumTask = Task> {
  /** The URL of the task's resource at the collector. */
  readonly url: string;
  /** The task; undefined until the collector has described it. */
  readonly task: T | undefined;
  /** Whether reports are only made as if, and not sent. */
  readonly dryRun: boolean;
}

/**
 * Reports to one task of one collector. What is asked, and the terms in which ε is told, follow
 * from the task: of sums ε is central, and called so.
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
  /** What it reports to. */
  readonly about: About<T>;
  /** Whether anything may be reported. */
  readonly consent: Consent;
  /** Number of reports made by this client that the collector has not acknowledged yet. */
  readonly pending: number;
  /**
   * The task, complete, and the identity of its parameters, 32 hexadecimal digits: once
   * consent is granted and what the task needs is there: the module, the task where an id was
   * given, the analyser's keys where reports are sealed.
   *
   * @throws TaskError, OptionError, EntropyError, WasmError, SealingError, ClosedError
   */
  ready(): Promise<{ readonly task: T; readonly fingerprint: string }>;
  /**
   * Randomises answers, where consent and budget allow it, and keeps the randomised
   * report until the collector has it. What the answers are is read before this returns,
   * and not kept; where a window has several reports, or answers are permanent, a salted
   * digest of them is, on the device, by which equal ones are known.
   *
   * @param input the answers to all questions, by name; or, of a task without
   * questions, values by item name: 1 or -1, or from -1 to 1 where the task
   * takes real values; 0 is as if absent. Of sums, a number for each name, or all in order
   * where they are counted
   * @returns what was done, once it is stored
   * @throws AnswerError, UnknownItemError, ValueRangeError, OutboxFullError, ClosedError,
   * TaskError, OptionError, EntropyError, WasmError, SealingError, StorageError; nothing is
   * reported then
   */
  report(input: InputOf<T>): Promise<KindOf<T>["receipt"]>;
  /**
   * Like `report`, for callers that do not wait: what goes wrong is told to `onError`, and
   * no promise is left that could reject.
   */
  record(input: InputOf<T>): void;
  /**
   * Sends everything that waits, of other tabs and earlier pages too.
   *
   * @returns when the collector has acknowledged all of it
   * @throws NetworkError when the collector cannot be reached; the reports are
   * kept, and the same bytes are sent again later
   * @throws UploadRejectedError when the collector refused reports for good
   * @throws ClosedError, StorageError, TaskError, OptionError, EntropyError, WasmError,
   * SealingError
   */
  flush(): Promise<void>;
  /** The person agrees: reports are made from now on. */
  grant(): void;
  /**
   * The person does not agree any more: no further report is made, and what waits, of
   * other tabs and earlier pages too, is forgotten. What was spent stays remembered, so
   * that it is not spent again.
   *
   * @throws StorageError
   */
  revoke(): Promise<void>;
  /**
   * What this browser has spent on the task.
   *
   * @throws StorageError
   */
  budget(): Promise<KindOf<T>["spent"]>;
  /**
   * What left this browser, or is to, oldest first: the last thousand reports.
   *
   * @throws StorageError
   */
  history(): Promise<readonly KindOf<T>["sent"][]>;
  /**
   * Calls `changed` whenever `about`, `consent`, `budget` or `history` may have changed by what
   * this client does; of other tabs it hears nothing.
   *
   * @returns ends the calls
   */
  watch(changed: () => void): () => void;
  /**
   * Makes one attempt to send what waits, then frees all resources. What could not be
   * sent waits for the next visit, or is dropped where nothing outlives the page. Never
   * rejects; closing twice is the same as closing once.
   */
  close(): Promise<void>;
  /** Frees all resources at once; sends nothing more. */
  destroy(): void;
}

/** Most calls of `report` that wait for the task or the module. */
const WAITING = 1000;

/** Tells other tabs that consent was revoked. */
function channelOf({ url }: Settings): BroadcastChannel | undefined {
  const tells = isPage() && typeof BroadcastChannel !== "undefined";
  return tells ? new BroadcastChannel(`hushbin ${url}`) : undefined;
}

class HushbinClient<T extends Task | SumTask> implements Client<T> {
  readonly #settings: Settings;
  readonly #terms: Terms<KindOf<T>>;
  readonly #channel: BroadcastChannel | undefined;
  /** Calls of `report` that are under way. */
  readonly #reports = new Set<Promise<Receipt>>();
  readonly #watchers = new Set<() => void>();
  #granted = false;
  #source: TaskSource;
  #opening: Promise<Session> | undefined;
  #session: Session | undefined;
  #closing: Promise<void> | undefined;
  #tellGranted: () => void = () => {};
  #whenGranted: Promise<void>;

  constructor(settings: Settings, terms: Terms<KindOf<T>>) {
    this.#settings = settings;
    this.#terms = terms;
    this.#source = new TaskSource(settings);
    this.#whenGranted = this.#nextGrant();
    this.#channel = channelOf(settings);
    if (this.#channel !== undefined) {
      this.#channel.onmessage = () => void this.#revoked().catch(() => {});
    }
    if (settings.consent) {
      this.grant();
    }
  }

  get about(): About<T> {
    const { url, task, dryRun } = this.#settings;
    // Of the kind that the client was made for.
    return { url, task: (this.#session?.engine.task ?? task) as T | undefined, dryRun };
  }

  get consent(): Consent {
    return consentOf(this.#granted, this.#settings.ignoreSignals);
  }

  get pending(): number {
    return this.#session?.delivery.pending ?? 0;
  }

  async ready(): Promise<{ task: T; fingerprint: string }> {
    this.#checkOpen();
    await this.#whenGranted;
    const { task, fingerprint } = (await this.#open()).engine;
    return { task: task as AnyTask as T, fingerprint };
  }

  async report(input: InputOf<T>): Promise<KindOf<T>["receipt"]> {
    const report = this.#report(input);
    this.#reports.add(report);
    try {
      return this.#terms(await report);
    } finally {
      this.#reports.delete(report);
    }
  }

  record(input: InputOf<T>): void {
    this.report(input).catch(this.#settings.onError);
  }

  async #report(input: unknown): Promise<Receipt> {
    this.#checkOpen();
    if (this.consent !== "granted") {
      const receipt = nothing("no-consent");
      if (this.#settings.debug) {
        say(this.#settings, input, receipt);
      }
      return receipt;
    }
    if (this.#session !== undefined) {
      return this.#session.report(input);
    }
    if (this.#reports.size >= WAITING) {
      throw new OutboxFullError(`${WAITING} reports wait for the task`);
    }
    // The caller's to change as soon as this returns.
    const answers = copied(input);
    const session = await this.#open();
    return session.report(answers);
  }

  async flush(): Promise<void> {
    this.#checkOpen();
    if (this.consent !== "granted") {
      return;
    }
    await this.#flush();
  }

  /** Also what is being reported. */
  async #flush(): Promise<void> {
    this.#source.wake();
    const session = this.#session ?? (await Promise.race([this.#open(), this.#source.failure()]));
    await Promise.allSettled(this.#reports);
    await session.delivery.flush();
  }

  grant(): void {
    this.#checkOpen();
    this.#granted = true;
    this.#changed();
    if (this.consent === "granted") {
      this.#tellGranted();
      // So that the first report need not wait; it tells what goes wrong.
      this.#open().catch(() => {});
    }
  }

  async revoke(): Promise<void> {
    this.#checkOpen();
    this.#channel?.postMessage("revoked");
    await this.#revoked();
  }

  async #revoked(): Promise<void> {
    if (this.#granted) {
      this.#granted = false;
      this.#whenGranted = this.#nextGrant();
    }
    const session = this.#end();
    try {
      await this.#looked(async (store) => {
        const waiting = await store.waiting();
        const keys = waiting.map(({ key }) => key);
        await store.settle(keys, "withdrawn");
      }, session);
    } finally {
      session?.free();
      this.#changed();
    }
  }

  async budget(): Promise<KindOf<T>["spent"]> {
    const { task } = this.about;
    const [durable, ledger] = await this.#looked(
      async (store) => [store.durable, await store.ledger()] as const,
    );
    const allowed = task && budgetOf(task);
    const { given, until, spent, reports } = allowed ? asOf(ledger, allowed, Date.now()) : ledger;
    return this.#terms({
      epsilon: task?.epsilon,
      allowed: allowed?.reports,
      used: given.size,
      until: given.size > 0 ? new Date(until) : undefined,
      spent,
      reports,
      durable,
    });
  }

  async history(): Promise<readonly KindOf<T>["sent"][]> {
    const reports = await this.#looked((store) => store.history());
    return reports.map(({ at, epsilon, bytes, state }) =>
      this.#terms({ at: new Date(at), epsilon, bytes, state }),
    );
  }

  watch(changed: () => void): () => void {
    // One of its own, should it be given twice.
    const watcher = () => changed();
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  destroy(): void {
    const session = this.#end();
    session?.free();
    this.#channel?.close();
    this.#closing ??= Promise.resolve();
  }

  async #close(): Promise<void> {
    try {
      if (this.#opening !== undefined) {
        await this.#flush();
      }
    } catch {
      // An attempt was promised, and made.
    }
    this.destroy();
  }

  /** Looks at the store, without making one. */
  async #looked<R>(
    look: (store: Session["store"]) => Promise<R>,
    session = this.#session,
  ): Promise<R> {
    if (session !== undefined) {
      return look(session.store);
    }
    const store = await storeOf(this.#settings, false);
    try {
      return await look(store);
    } finally {
      store.close();
    }
  }

  /**
   * Returns the session, which begins with consent. Tries again after a failure.
   *
   * @throws ClosedError without consent, and once the client is closed
   */
  #open(): Promise<Session> {
    this.#opening ??= this.#begin();
    return this.#opening;
  }

  #begin(): Promise<Session> {
    this.#checkOpen(this.#granted);
    const source = new TaskSource(this.#settings);
    this.#source = source;
    const opened = (session: Session) => {
      this.#session = session;
      this.#changed();
    };
    return openSession(this.#settings, source, opened, this.#changed).catch((error: unknown) => {
      // A task does not get better; a module may load another time.
      if (this.#source === source && !(error instanceof TaskError)) {
        this.#opening = undefined;
      }
      throw error;
    });
  }

  /** Ends the session; nothing of it starts any more. */
  #end(): Session | undefined {
    const session = this.#session;
    this.#source.stop();
    this.#opening = undefined;
    this.#session = undefined;
    return session;
  }

  readonly #changed = (): void => {
    // One that throws is the page's to hear of, and nothing here depends on it.
    this.#watchers.forEach((watcher) => void queueMicrotask(watcher));
  };

  #nextGrant(): Promise<void> {
    return new Promise((resolve) => {
      this.#tellGranted = resolve;
    });
  }

  #checkOpen(granted = true): void {
    if (!granted || this.#closing !== undefined) {
      throw new ClosedError("client");
    }
  }
}

/**
 * Makes a client for one task of one collector. Returns at once: reports wait for what
 * they need, which is loaded as soon as consent is granted. With `analyser`, reports are sealed
 * to an analyser, and what collects them is a shuffler; so it is with a task of sums, whose
 * `trust` is that shuffler.
 *
 * @example
 * ```ts
 * const client = createClient({ endpoint: "https://telemetry.example", task });
 * client.grant(); // once the person agrees
 * ```
 *
 * @throws OptionError when an option cannot be used; of a relay, what waits for it throws
 * @throws TaskError when the task is malformed; of sums, what waits for it throws
 */
export function createClient<const T extends Task | SumTask | string>(
  options: ClientOptions<T>,
): Client<T extends string ? Task : T>;
export function createClient(
  options: ClientOptions<Task | SumTask | string>,
): Client | Client<SumTask> {
  const settings = settingsOf(options);
  const { task } = settings;
  return isSum(task)
    ? new HushbinClient<SumTask>(settings, central(task))
    : new HushbinClient<Task>(settings, local);
}
