/** Client of one task. It takes the answers of a person and sends randomised reports. */

import { ledgerAtTime, spentInOpenWindows } from "./budget.js";
import type { Client, ClientInfo } from "./client-interface.js";
import { type Consent, consentState } from "./consent.js";
import { deepCopy } from "./entries.js";
import {
  ClosedError,
  type HushbinError,
  OptionError,
  OutboxFullError,
  StorageError,
  TaskError,
} from "./errors.js";
import { loadExtras, loadLeavingCode } from "./loaders.js";
import {
  type ClientOptions,
  type ClientSettings,
  isSumTask,
  settingsFromOptions,
} from "./options.js";
import { isNodeLikeProcess, isPage } from "./page.js";
import { emptyReceipt, type Receipt } from "./receipt.js";
import {
  convertLocalResult,
  createSumConverter,
  type InputOf,
  type ResultConverter,
  type ResultsOf,
} from "./results.js";
import { type ConsentGrant, openSession, openStore, type Session } from "./session.js";
import { SessionRequests } from "./session-requests.js";
import type { SumTask } from "./sums/task.js";
import { type AnyTask, budgetOf, type Task } from "./task.js";
import { backoffMs, startTimer } from "./time.js";

/** Maximum number of `report` calls that wait for the task or the module. */
const MAX_WAITING_CALLS = 1000;

/**
 * Returns the channel that informs other tabs and workers when consent is revoked. Returns
 * undefined in processes, and for clients that share nothing with other tabs.
 */
function openRevocationChannel({
  url,
  storage,
  dryRun,
}: ClientSettings): BroadcastChannel | undefined {
  try {
    // A channel would keep a process from ending.
    const shares = !isNodeLikeProcess() && storage !== "memory" && !dryRun;
    return shares ? new BroadcastChannel(`hushbin ${url}`) : undefined;
  } catch {
    // Old browsers have no channels. At Next.js's edge, the constructor throws.
    return undefined;
  }
}

class HushbinClient<T extends Task | SumTask> implements Client<T> {
  readonly #settings: ClientSettings;
  readonly #convertResult: ResultConverter<ResultsOf<T>>;
  readonly #channel: BroadcastChannel | undefined;
  /** Calls of `report` that are in progress. */
  readonly #reportCalls = new Set<Promise<Receipt>>();
  readonly #watchers = new Set<() => void>();
  /** Functions of `atLeave` that were not called yet. Each session registers them when it opens. */
  readonly #functionsAtLeave = new Set<() => unknown>();
  #granted = false;
  #sessionRequests: SessionRequests;
  #sessionPromise: Promise<Session> | undefined;
  /** Number of failures to begin a session since the last success. */
  #failureCount = 0;
  /** Latest session that could not begin and is tried again later. */
  #failedSessionPromise: Promise<Session> | undefined;
  #session: Session | undefined;
  #closePromise: Promise<void> | undefined;
  /** The latest consent that this client was granted. */
  #consentGrant: ConsentGrant = {};
  /**
   * Resolves when all revocations of consent are stored. They would end a session that began
   * earlier.
   */
  #revocationsPromise: Promise<unknown> | undefined;
  #resolveGrant: () => void = () => {};
  #grantPromise: Promise<void>;

  constructor(settings: ClientSettings, convert: ResultConverter<ResultsOf<T>>) {
    this.#settings = settings;
    this.#convertResult = convert;
    this.#sessionRequests = new SessionRequests(settings);
    this.#grantPromise = this.#createGrantPromise();
    this.#channel = openRevocationChannel(settings);
    if (this.#channel !== undefined) {
      this.#channel.onmessage = this.#onRevokedElsewhere;
    }
    if (settings.isConsentGiven) {
      this.grant();
    }
  }

  get about(): ClientInfo<T> {
    const { url, task, dryRun, storage } = this.#settings;
    // A client is made for one kind of task, so the cast is safe.
    const current = this.#session?.reportMaker.task ?? task;
    return { url, task: current as T | undefined, dryRun, storage };
  }

  get consent(): Consent {
    return consentState(this.#granted, this.#settings.ignoreSignals);
  }

  get pending(): number {
    return this.#session?.delivery.pendingCount ?? 0;
  }

  async ready(): Promise<{ task: T; fingerprint: string }> {
    this.#checkOpen();
    await this.#grantPromise;
    this.#forgetFailure();
    const { task, fingerprint } = (await this.#getOrBeginSession()).reportMaker;
    return { task: task as AnyTask as T, fingerprint };
  }

  async report(input: InputOf<T>): Promise<ResultsOf<T>["receipt"]> {
    const report = this.#reportWithRawReceipt(input);
    this.#reportCalls.add(report);
    try {
      return this.#convertResult(await report);
    } finally {
      this.#reportCalls.delete(report);
    }
  }

  record(input: InputOf<T>): void {
    this.report(input).catch(this.#settings.onError);
  }

  atLeave(answers: () => InputOf<T> | undefined): void {
    this.#checkOpen();
    const once = () => {
      this.#functionsAtLeave.delete(once);
      return answers();
    };
    this.#functionsAtLeave.add(once);
    const session = this.#usableSession();
    if (session) {
      this.#registerAtLeave(session, once);
    } else {
      // The session registers the function when it opens.
      this.#grantPromise.then(() => this.#getOrBeginSession()).catch(this.#settings.onError);
    }
  }

  /** Makes a session call a function when the page is left. */
  #registerAtLeave(session: Session, answers: () => unknown): void {
    loadLeavingCode()
      .then(async ({ registerAnswersAtLeave: register }) => {
        if (!(await register(session, answers, this.#settings, this))) {
          this.#functionsAtLeave.delete(answers);
        }
      })
      .catch(this.#settings.onError);
  }

  async #reportWithRawReceipt(input: unknown): Promise<Receipt> {
    this.#checkOpen();
    if (this.consent !== "granted") {
      const receipt = emptyReceipt("no-consent");
      if (this.#settings.debug) {
        await (await loadExtras()).log(this.#settings, input, receipt);
      }
      return receipt;
    }
    if (this.#session === undefined && this.#reportCalls.size >= MAX_WAITING_CALLS) {
      throw new OutboxFullError(`${MAX_WAITING_CALLS} reports wait for the task`);
    }
    // The caller may change its object once this function has returned.
    const session = this.#usableSession();
    const report = session?.report(input) ?? this.#reportAfterOpening(deepCopy(input));
    const requests = this.#sessionRequests;
    try {
      return await report;
    } catch (error) {
      // Consent was revoked in the meantime, which closes the store and frees the randomiser.
      const isEnded = error instanceof ClosedError || (session && error instanceof StorageError);
      if (isEnded && requests.stopped && this.#closePromise === undefined) {
        return emptyReceipt("no-consent");
      }
      throw error;
    }
  }

  async #reportAfterOpening(answers: unknown): Promise<Receipt> {
    const session = await this.#getOrBeginSession();
    // The browser may refuse since the call.
    return this.consent === "granted" ? session.report(answers) : emptyReceipt("no-consent");
  }

  async flush(): Promise<void> {
    this.#checkOpen();
    if (this.consent !== "granted") {
      return;
    }
    await this.#sendAllReports();
  }

  /** Sends all waiting reports, including those that are still being made. */
  async #sendAllReports(): Promise<void> {
    this.#sessionRequests.endUnrequestedPause();
    this.#forgetFailure();
    // A collector that cannot be reached must not block this call forever.
    const session =
      this.#session ??
      (await Promise.race([this.#getOrBeginSession(), this.#sessionRequests.nextFailure()]));
    await Promise.allSettled(this.#reportCalls);
    await session.delivery.flush();
  }

  grant(): void {
    this.#checkOpen();
    this.#granted = true;
    this.#notifyWatchers();
    this.#resolveGrant();
    // Start loading now, so that the first report need not wait. That report also throws any error.
    // If the browser refuses, the session waits: its time must not depend on answers.
    this.#getOrBeginSession().catch(() => {});
  }

  async revoke(): Promise<void> {
    this.#checkOpen();
    this.#channel?.postMessage("revoked");
    // A worker that was granted may be about to create the database, and must find the revocation.
    const create = this.#granted;
    const session = this.#endConsentAndSession();
    const withdrawn = this.#withStore(
      (store) => store.withdrawReportsAndConsent(),
      session,
      create,
    );
    this.#revocationsPromise = Promise.allSettled([this.#revocationsPromise, withdrawn]);
    try {
      await withdrawn;
    } finally {
      session?.free();
      this.#notifyWatchers();
    }
  }

  /** Ends consent and the session, because consent was revoked in another tab or worker. */
  readonly #onRevokedElsewhere = (): void => {
    const session = this.#endConsentAndSession();
    // Reports in this page's memory were not withdrawn elsewhere.
    const withdrawn =
      this.#settings.storage === "spend-again" &&
      this.#withStore(async (store) => store.durable || store.withdrawReportsAndConsent(), session);
    this.#revocationsPromise = Promise.allSettled([this.#revocationsPromise, withdrawn]);
    session?.free();
    this.#notifyWatchers();
  };

  /** Ends consent and the session. Returns the ended session, if there was one. */
  #endConsentAndSession(): Session | undefined {
    this.#consentGrant = {};
    if (this.#granted) {
      this.#granted = false;
      this.#functionsAtLeave.clear();
      this.#grantPromise = this.#createGrantPromise();
    }
    // End the session first: from here on it stores and sends nothing.
    return this.#endSession();
  }

  async budget(): Promise<ResultsOf<T>["budget"]> {
    const { task } = this.about;
    const [durable, { taskLedger: ledger, collectorCharges: charges }] = await this.#withStore(
      async (store) => [store.durable, await store.readLedgers()] as const,
    );
    const allowed = task && budgetOf(task);
    const now = Date.now();
    const { used, until, spent, reports, held } = ledgerAtTime(ledger, now);
    return this.#convertResult({
      epsilon: task?.epsilon,
      allowed: allowed?.reports,
      used,
      until: used > 0 ? new Date(until) : undefined,
      ...(held && { heldUntil: new Date(held.due) }),
      spent,
      reports,
      spentOnAll: spentInOpenWindows(charges, now),
      maxEpsilon: this.#settings.maxEpsilonAcrossTasks,
      durable,
    });
  }

  async history(): Promise<readonly ResultsOf<T>["entry"][]> {
    const reports = await this.#withStore((store) => store.readAllReports());
    return reports.map(({ at, epsilon, bytes, state }) =>
      this.#convertResult({ at: new Date(at), epsilon, bytes, state }),
    );
  }

  watch(changed: () => void): () => void {
    // A new function, in case the same one is passed twice.
    const watcher = () => changed();
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  close(): Promise<void> {
    this.#closePromise ??= this.#flushAndDestroy();
    return this.#closePromise;
  }

  destroy(): void {
    const session = this.#endSession();
    session?.free();
    this.#channel?.close();
    this.#closePromise ??= Promise.resolve();
  }

  async #flushAndDestroy(): Promise<void> {
    try {
      if (this.#sessionPromise !== undefined && this.consent === "granted") {
        this.#session?.makeReportsAtLeave?.();
        await this.#sendAllReports();
      }
    } catch (error) {
      // One attempt was promised, and it was made.
      this.#settings.onError(error as HushbinError);
    }
    this.destroy();
  }

  /**
   * Runs `look` with the session's store. If there is no session, opens a store for this call.
   * Creates no database unless `create` is true.
   */
  async #withStore<R>(
    look: (store: Session["store"]) => Promise<R>,
    session = this.#session,
    create = false,
  ): Promise<R> {
    if (session !== undefined) {
      return look(session.store);
    }
    const store = await openStore(this.#settings, create);
    try {
      return await look(store);
    } finally {
      store.close();
    }
  }

  /** Returns the session that is open. Ends it first if its task is outdated. */
  #usableSession(): Session | undefined {
    // With cover reports, a request for the task at the time of an answer would reveal the answer.
    if (this.#session?.isTaskExpired && !this.#session.contextAtOpening.coverReportHolder) {
      this.#endSession()?.free();
    }
    return this.#session;
  }

  /**
   * Returns the session. If there is none, begins one. After a failure, a later call tries again. If
   * the task may have cover reports, this is tried again after a delay, or by `ready`.
   *
   * @throws ClosedError without consent, and once the client is closed
   */
  #getOrBeginSession(): Promise<Session> {
    this.#sessionPromise ??= this.#beginSession();
    return this.#sessionPromise;
  }

  #beginSession(): Promise<Session> {
    this.#checkOpen(this.#granted);
    const { task, onError } = this.#settings;
    const requests = new SessionRequests(this.#settings);
    this.#sessionRequests = requests;
    const opened = (session: Session) => {
      this.#session = session;
      this.#failureCount = 0;
      // Earlier sessions did not call these functions.
      this.#functionsAtLeave.forEach((answers) => void this.#registerAtLeave(session, answers));
      this.#notifyWatchers();
    };
    const events = {
      onReportsChange: this.#notifyWatchers,
      renew: () => {
        if (this.#session !== undefined && !requests.stopped) {
          this.#endSession()?.free();
          this.#getOrBeginSession().catch((error) => {
            // Other errors are passed on where they are tried again.
            if (error instanceof TaskError) {
              onError(error);
            }
          });
        }
      },
      onRevokedElsewhere: this.#onRevokedElsewhere,
      whenRevocationsStored: this.#revocationsPromise,
      consentGrant: this.#consentGrant,
    };
    const opening = openSession(this.#settings, requests, opened, events).catch((error) => {
      // An invalid task or option stays invalid. A module may load at the next attempt.
      const isFinal = error instanceof TaskError || error instanceof OptionError;
      if (this.#sessionPromise === opening && !isFinal) {
        // Where no timers run, as at the edge, there are no cover reports either.
        if (task ? !budgetOf(task).cover : !isPage() && typeof indexedDB === "undefined") {
          this.#sessionPromise = undefined;
        } else {
          // The task may have cover reports. Then an attempt must not depend on answers.
          this.#failedSessionPromise = opening;
          onError(error);
          this.#reopenLater(opening);
        }
      }
      throw error;
    });
    return opening;
  }

  /** Begins a session again after a failure, unless another one has begun. */
  #reopenLater(failed: Promise<Session>): void {
    this.#failureCount += 1;
    startTimer(() => {
      if (this.#sessionPromise === failed) {
        this.#sessionPromise = undefined;
        this.#getOrBeginSession().catch(() => {});
      }
    }, backoffMs(this.#failureCount));
  }

  /** Forgets the failure of the last session, so that the next call tries again at once. */
  #forgetFailure(): void {
    if (this.#sessionPromise === this.#failedSessionPromise) {
      this.#sessionPromise = undefined;
    }
  }

  /**
   * Ends the session, so that no part of it starts new work. Returns the ended session, if there
   * was one.
   */
  #endSession(): Session | undefined {
    const session = this.#session;
    this.#sessionRequests.stop();
    this.#sessionPromise = undefined;
    this.#session = undefined;
    return session;
  }

  readonly #notifyWatchers = (): void => {
    // Run in a microtask: an error of a watcher goes to the page and affects nothing here.
    this.#watchers.forEach((watcher) => void queueMicrotask(watcher));
  };

  #createGrantPromise(): Promise<void> {
    return new Promise((resolve) => {
      this.#resolveGrant = resolve;
    });
  }

  #checkOpen(granted = true): void {
    if (!granted || this.#closePromise !== undefined) {
      throw new ClosedError("client");
    }
  }
}

/**
 * Creates a client for one task of one collector.
 *
 * Returns at once. The code, the task and the keys are loaded after consent is granted, and reports
 * wait for them. With the option `analyser`, reports are sealed to an analyser, and `endpoint` is
 * the address of a shuffler. The same applies to a sum task, which also needs the option `trust`.
 *
 * @example
 * ```ts
 * const client = createClient({ endpoint: "https://telemetry.example", task });
 * client.grant(); // once the person agrees
 * ```
 *
 * @throws OptionError if an option is invalid. Options of sealing, sums and relays are checked
 * later; the error then comes from the calls that wait for the client
 * @throws TaskError if the task is malformed. For a sum task, the calls that wait for the client
 * throw this error
 */
export function createClient<const T extends Task | SumTask | string>(
  options: ClientOptions<T>,
): Client<T extends string ? Task : T>;
export function createClient(
  options: ClientOptions<Task | SumTask | string>,
): Client | Client<SumTask> {
  // Without options, the error names the first that is missing.
  const settings = settingsFromOptions(Object(options));
  const { task } = settings;
  return isSumTask(task)
    ? new HushbinClient<SumTask>(settings, createSumConverter(task))
    : new HushbinClient<Task>(settings, convertLocalResult);
}
