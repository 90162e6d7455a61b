/** Client of one task. It takes the answers of a person and sends randomised reports. */

import { budgetStatus } from "./budget-status.js";
import type { Awaitable, Client, ClientInfo } from "./client-interface.js";
import { type Consent, consentState } from "./consent-state.js";
import { deepCopy } from "./entries.js";
import {
  ClosedError,
  type HushbinError,
  OptionError,
  OutboxFullError,
  StorageError,
  TaskError,
} from "./errors.js";
import { IdleTime } from "./idle.js";
import { loadExtras, loadLeavingCode } from "./loaders.js";
import { openStore } from "./open-store.js";
import type { ClientSettings } from "./options.js";
import { isPage } from "./page.js";
import { emptyReceipt, type Receipt } from "./receipt.js";
import type { InputOf, ResultConverter, ResultsOf } from "./results.js";
import { openRevocationChannel } from "./revocation-channel.js";
import type { ConsentGrant, Session } from "./session.js";
import { openSessionUnlessIdle } from "./session-opening.js";
import { SessionRequests } from "./session-requests.js";
import type { SumTask } from "./sums/task.js";
import { type AnyTask, budgetOf, type Task } from "./task.js";
import { backoffMs, startTimer } from "./time.js";

/** Maximum number of `report` calls that wait for the task or the module. */
const MAX_WAITING_CALLS = 1000;

export class HushbinClient<T extends Task | SumTask> implements Client<T> {
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
  #sessionPromise: Promise<Session | undefined> | undefined;
  /** Number of failures to begin a session since the last success. */
  #failureCount = 0;
  /** Latest session that could not begin and is tried again later. */
  #failedSessionPromise: Promise<unknown> | undefined;
  #session: Session | undefined;
  #closePromise: Promise<void> | undefined;
  /** The latest consent that this client was granted. */
  #consentGrant: ConsentGrant = {};
  /**
   * Resolves when all revocations of consent are stored. They would end a session that began
   * earlier.
   */
  #revocationsPromise: Promise<unknown> | undefined;
  readonly #idleTime = new IdleTime(() => void this.#getOrBeginSession().catch(() => {}));
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
    let session: Session | undefined;
    // A session that is opening already may find nothing to do.
    while (session === undefined) {
      session = await this.#getOrBeginSession(true);
    }
    const { task, fingerprint } = session.reportMaker;
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

  once(answers: () => Awaitable<InputOf<T> | undefined>): void {
    this.#checkOpen();
    const run = async () => {
      await this.#grantPromise;
      const session = await this.#getOrBeginSession();
      const given = (await session?.isReportAllowed()) ? await answers() : undefined;
      await (given === undefined || this.report(given));
    };
    run().catch((error) => {
      // Consent was revoked in the meantime, or the client was closed.
      if (!(error instanceof ClosedError)) {
        this.#settings.onError(error);
      }
    });
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
    if (this.consent !== "granted") {
      return emptyReceipt("no-consent");
    }
    return session?.report(answers) ?? emptyReceipt(this.#idleTime.reason);
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
    await session?.delivery.flush();
  }

  grant(): void {
    this.#checkOpen();
    this.#granted = true;
    // The ledger shows whether consent is revoked elsewhere from here on.
    this.#idleTime.end();
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
    const { maxEpsilonAcrossTasks: maxEpsilon } = this.#settings;
    const status = await this.#withStore(async (store) =>
      budgetStatus(this.about.task, await store.readLedgers(), maxEpsilon, store.durable),
    );
    return this.#convertResult(status);
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
   * The result is undefined while the page has nothing to do. In this case little code is loaded and
   * nothing is fetched.
   *
   * @param evenIfIdle true if a session begins even though there is nothing to do
   * @throws ClosedError without consent, and once the client is closed
   */
  async #getOrBeginSession(evenIfIdle = false): Promise<Session | undefined> {
    if (this.#sessionPromise === undefined) {
      this.#checkOpen(this.#granted);
      if (!evenIfIdle && this.#idleTime.isNow) {
        return this.#stayIdle();
      }
    }
    this.#sessionPromise ??= this.#beginSession(evenIfIdle);
    return this.#sessionPromise;
  }

  #beginSession(evenIfIdle: boolean): Promise<Session | undefined> {
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
    const renew = () => {
      if (this.#session !== undefined && !requests.stopped) {
        this.#endSession()?.free();
        this.#getOrBeginSession().catch((error) => {
          // Other errors are passed on where they are tried again.
          if (error instanceof TaskError) {
            onError(error);
          }
        });
      }
    };
    const open = async () => {
      const session = await openSessionUnlessIdle({
        settings: this.#settings,
        requests,
        evenIfIdle,
        revocationsStored: this.#revocationsPromise,
        opened,
        onReportsChange: this.#notifyWatchers,
        renew,
        onRevokedElsewhere: this.#onRevokedElsewhere,
        consentGrant: this.#consentGrant,
      });
      if (!("until" in session)) {
        return session;
      }
      if (this.#sessionPromise === opening) {
        this.#sessionPromise = undefined;
      }
      this.#idleTime.begin(session);
      return this.#stayIdle();
    };
    const opening = open().catch((cause) => {
      const error = requests.stopped ? new ClosedError("client") : cause;
      requests.stop();
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

  /** Ends the idle time when it is over, if a function waits to be called at leaving. */
  #stayIdle(): undefined {
    if (this.#functionsAtLeave.size > 0) {
      this.#idleTime.wakeAtEnd();
    }
  }

  /** Begins a session again after a failure, unless another one has begun. */
  #reopenLater(failed: Promise<unknown>): void {
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
    this.#idleTime.end();
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
