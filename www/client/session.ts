/**
 * Session of one task in this browser, which lasts while consent does: budget, randomiser and
 * delivery.
 */

import {
  chargeReport,
  EPSILON_TOLERANCE,
  emptyLedger,
  ledgerAtTime,
  type TaskAndCollectorLedgers,
} from "./budget.js";
import { concatBytes } from "./bytes.js";
import { consentState } from "./consent.js";
import type { CoverReports } from "./cover.js";
import { Delivery } from "./delivery.js";
import type { CollectorDescribedTask } from "./described.js";
import { ClosedError, OutboxFullError, StorageError, TaskError } from "./errors.js";
import type { PackedEntries } from "./input.js";
import { loadExtras, loadLeavingCode, loadShuffledCode } from "./loaders.js";
import type { ReportMaker } from "./maker.js";
import type { MemoFunction } from "./memo.js";
import { type ClientSettings, isTaskPinnedByPage } from "./options.js";
import { hasEndEvent, onLifeCycle, onPageCacheChange, waitUntilPageShown } from "./page.js";
import { createLocalMaker, type LocalReportMaker } from "./randomizer.js";
import { emptyReceipt, type Receipt } from "./receipt.js";
import type {
  ReportFunction,
  ReportResult,
  SealableSession,
  SessionOverrides,
} from "./session-overrides.js";
import type { SessionRequests } from "./session-requests.js";
import { IndexedStore } from "./store/indexed.js";
import type { Store } from "./store/store.js";
import { type AnyTask, budgetOf, epsilonPerWindowOrEpoch, parseTask, type Task } from "./task.js";
import { FetchTransport, type UploadTransport } from "./transport.js";

/** Maximum total size in bytes of a task's waiting reports, which is about ten thousand reports. */
const OUTBOX_BYTES = 1024 * 1024;

/**
 * Time in milliseconds after which the browser's privacy signals are read again, if they refuse.
 * Browsers have no event for them.
 */
const SIGNAL_CHECK_MS = 60_000;

const resolveEmptyList = async () => [];

/**
 * Store for browsers without a database. It is empty and stores nothing, and sessions make no
 * report with it.
 */
const EMPTY_STORE = {
  durable: false,
  readLedgers: async () => ({ taskLedger: emptyLedger(), collectorCharges: [] }),
  readWaitingReports: resolveEmptyList,
  withdrawReportsAndConsent: async () => {},
  readAllReports: resolveEmptyList,
  close: () => {},
  // A session asks for nothing else if its store does not last.
} satisfies Partial<Store> as unknown as Store;

/**
 * Opens the store of a task's budget and reports.
 *
 * @param create whether to create a database if there is none. If not, the result is then an empty
 * store
 * @throws StorageError if the database does not respond
 * @throws WasmError if the store in memory is needed and cannot be loaded
 */
export async function openStore(settings: ClientSettings, create = true): Promise<Store> {
  const { storage, dryRun, taskLedgerKey: ledger, collectorLedgerKey: collector } = settings;
  // A dry run must not change the real ledger.
  if (storage !== "memory" && !dryRun) {
    try {
      if (create || (await IndexedStore.exists())) {
        return await IndexedStore.open(ledger, collector);
      }
    } catch (error) {
      if (error instanceof StorageError) {
        // The database exists and contains what was spent. In memory, this would be spent again.
        throw error;
      }
      // A database that exists contains what was spent, and reports that may have to be withdrawn.
      if (await IndexedStore.exists().catch(() => false)) {
        throw new StorageError(error);
      }
      // There is no database, or it may not be used here.
      return storage === "device" ? EMPTY_STORE : (await loadExtras()).sharedMemory(settings);
    }
    return EMPTY_STORE;
  }
  return (await loadExtras()).ownMemory(settings);
}

/** Transport of dry runs, which acknowledges all uploads and sends nothing. */
const DRY_RUN_TRANSPORT: UploadTransport = { sendUploads: async () => ({ kind: "acknowledged" }) };

/** Consent that a client was granted. All sessions share this object until consent is revoked. */
export interface ConsentGrant {
  /**
   * Number of times that consent had been revoked when the first of these sessions read the ledger.
   * Undefined until then.
   */
  revocationsAtStart?: number;
}

/** Objects and state with which a session begins. */
interface SessionStart extends Partial<CollectorDescribedTask> {
  readonly reportMaker: ReportMaker;
  readonly store: Store;
  readonly consentGrant: ConsentGrant;
  /** End of the delay that the collector requested, in milliseconds since 1970. */
  readonly requestedDelayEnd: number;
  /** Prepares reports from memos. Undefined if the task's budget has no memo. */
  readonly prepareMemoReport: MemoFunction | undefined;
  /** Holds reports until they may be sent. Undefined if the task has no cover reports. */
  readonly coverReportHolder: CoverReports | undefined;
  /** Called after each change of the session's reports. */
  readonly onReportsChange: () => void;
  /** Called to replace the session by one with the task that the collector has now. */
  readonly renew: () => void;
  /** Called when another tab or worker has revoked consent. */
  readonly onRevokedElsewhere: () => void;
  /** Resolves after revocations by this client are stored. The session begins only then. */
  readonly whenRevocationsStored: Promise<unknown> | undefined;
}

export class Session implements SealableSession {
  // Only declared, which makes the compiled code smaller, as in `errors.ts`.
  declare readonly reportMaker: ReportMaker;
  declare readonly store: Store;
  declare readonly delivery: Delivery;
  declare readonly transport: UploadTransport;
  /** Functions that are called when the session is stopped. */
  declare readonly stopCallbacks: (() => void)[];
  /**
   * Makes the reports that the page has registered for the time when it is left. Undefined if none
   * are registered.
   */
  declare makeReportsAtLeave: (() => void) | undefined;
  /**
   * Sends the report that is held, or begins a window, if a timer is late. Undefined if the task has
   * no cover reports.
   */
  declare resumeWindow: (() => void) | undefined;
  /**
   * Function that reports answers in several steps, for example because it seals the report.
   * Undefined if one step is enough.
   */
  declare reportInSteps: ReportFunction | undefined;
  readonly #settings: ClientSettings;
  readonly #requests: SessionRequests;
  /** Objects and state with which the session began. */
  readonly contextAtOpening: SessionStart;

  constructor(settings: ClientSettings, requests: SessionRequests, begun: SessionStart) {
    const {
      reportMaker,
      store,
      onReportsChange: changed,
      consentGrant: grant,
      onRevokedElsewhere: ended,
    } = begun;
    this.reportMaker = reportMaker;
    this.store = store;
    this.#settings = settings;
    this.#requests = requests;
    this.contextAtOpening = begun;
    const { url, fetch, dryRun, onError, delayMs } = settings;
    this.transport = dryRun ? DRY_RUN_TRANSPORT : new FetchTransport(`${url}/reports`, fetch);
    this.delivery = new Delivery({
      store,
      sessionRequests: requests,
      transport: this.transport,
      lockName: `hushbin ${url}`,
      // A worker may end without an event, so its reports do not wait.
      maxBatchDelayMs: hasEndEvent() ? delayMs : 0,
      onError,
      onReportStatesStored: changed,
      // A page that is loaded again honours the delay, too.
      onDelayRequested: (notBefore) => {
        const delayed = ({ taskLedger: ledger, ...rest }: TaskAndCollectorLedgers) => ({
          taskLedger: { ...ledger, notBefore },
          ...rest,
          result: undefined,
        });
        store.changeLedgers(delayed).catch(() => {});
      },
    });
    this.stopCallbacks = [
      onLifeCycle({
        onHide: () => {
          this.makeReportsAtLeave?.();
          this.delivery.sendOnPageHide();
        },
        onWake: () => {
          this.delivery.resumeSending();
          this.resumeWindow?.();
        },
      }),
      // While the page is kept for its return, it does not hear of revocations elsewhere. Called
      // after `hide`, whose requests cannot wait.
      onPageCacheChange(() => {
        requests.confirmConsent = async () => {
          const { taskLedger: ledger } = await store.readLedgers();
          requests.confirmConsent = undefined;
          if (ledger.revoked !== grant.revocationsAtStart) {
            ended();
          }
        };
      }),
    ];
    requests.onStop = () => {
      this.stopCallbacks.forEach((stop) => void stop());
      this.delivery.stop();
    };
    this.delivery.start(begun.requestedDelayEnd);
  }

  /**
   * True once the session may no longer use its task, because the collector may have replaced it.
   */
  get isTaskExpired(): boolean {
    return Date.now() >= Number(this.contextAtOpening.usableUntil);
  }

  /**
   * Randomises answers and reports them if the budget allows it. The answers are read before this
   * call returns.
   *
   * @throws AnswerError, UnknownItemError, ValueRangeError, OutboxFullError, StorageError,
   * EntropyError, WasmError; in these cases nothing is spent
   */
  async report(input: unknown): Promise<Receipt> {
    const entries = this.validateAnswers(input);
    // Loaded first: if that fails, nothing must have been spent.
    const extras = this.#settings.debug ? await loadExtras() : undefined;
    const [receipt, made] = await (this.reportInSteps?.(this, entries) ??
      this.makeAndChargeReport(entries));
    if (made !== undefined) {
      this.delivery.scheduleReport(made);
      this.contextAtOpening.onReportsChange();
    }
    await extras?.log(this.#settings, input, receipt, this, made);
    return receipt;
  }

  /**
   * Reads a person's answers. Unknown answers are an error, or are left out and passed to `onError`
   * if the collector chose the task.
   *
   * @throws AnswerError, UnknownItemError, ValueRangeError
   */
  validateAnswers(input: unknown): PackedEntries {
    const entries = this.reportMaker.packAnswers(input);
    const { prepareMemoReport: memo } = this.contextAtOpening;
    for (const error of entries.unknownAnswerErrors) {
      if (!isTaskPinnedByPage(this.#settings)) {
        // Without this report, the collector would learn that the person has an answer which the
        // task does not list. It could choose tasks to find out.
        this.#settings.onError(error);
      } else if (!memo) {
        throw error;
      }
    }
    return entries;
  }

  /** Randomises answers unless a report is given. Returns an upload of only this report. */
  makeSingleReportUpload(
    entries: PackedEntries,
    report = this.reportMaker.makeReport(entries),
  ): Uint8Array<ArrayBuffer> {
    return concatBytes([
      this.reportMaker.uploadHeader(this.reportMaker.countMessages(report)),
      report,
    ]);
  }

  async makeAndChargeReport(
    entries: PackedEntries,
    pack = (report?: Uint8Array) => this.makeSingleReportUpload(entries, report),
  ): Promise<ReportResult> {
    const { length: dropped } = entries.unknownAnswerErrors;
    const { maxEpsilonAcrossTasks: maxEpsilon, dryRun } = this.#settings;
    const {
      consentGrant: grant,
      fetchedTask: described = null,
      prepareMemoReport: memo,
      coverReportHolder: cover,
    } = this.contextAtOpening;
    // After a stop, the store is closed.
    if (this.#requests.stopped) {
      return [emptyReceipt("no-consent", dropped), undefined];
    }
    // A memo that is lost with the page would be drawn again, and spend its ε again.
    if (this.store === EMPTY_STORE || (memo && !this.store.durable && !dryRun)) {
      return [emptyReceipt("no-storage", dropped), undefined];
    }
    const { task } = this.reportMaker;
    const budget = budgetOf(task);
    const { epsilon } = task;
    const changed = await this.store.changeLedgers<Receipt | undefined>(
      ({ taskLedger: before, collectorCharges: charges }) => {
        const now = Date.now();
        const ledger = ledgerAtTime(before, now);
        // Checked again: consent may have been revoked while this change waited for the store, also by
        // another tab or worker.
        if (this.#requests.stopped || before.revoked !== grant.revocationsAtStart) {
          return { taskLedger: before, collectorCharges: charges, result: undefined };
        }
        const own = memo?.(ledger, entries, now);
        const { epsilonAddedToTotal: lifetime = epsilon } = own ?? {};
        const [unknown] = entries.unknownAnswerErrors;
        // If there is a memo, the report is made from it and not from the answer.
        if (unknown && own?.epsilonAddedToTotal && isTaskPinnedByPage(this.#settings)) {
          throw unknown;
        }
        const current = { taskLedger: ledger, collectorCharges: charges };
        const charge = () => {
          const charged = chargeReport(current, budget, epsilon, lifetime, maxEpsilon, now);
          // Checked before anything is drawn: a report that is drawn and then dropped would have to
          // be drawn again.
          if (charged && ledger.waitingBytes >= OUTBOX_BYTES) {
            throw new OutboxFullError(
              `${ledger.waitingBytes} bytes of reports wait to be sent already`,
            );
          }
          return charged;
        };
        const held = cover && (() => cover.holdReport(current, entries, now, charge, pack));
        const after = memo && !own ? undefined : (held ?? charge)();
        if (after === undefined) {
          // Unchanged: with a clock that is wrong now, a window that seems to have ended may be open.
          return {
            taskLedger: before,
            collectorCharges: charges,
            result: emptyReceipt("over-budget", dropped),
          };
        }
        const [report, kept = ledger.memo] = own?.make() ?? [];
        return {
          taskLedger: {
            ...after.taskLedger,
            // An answer that replaces the held report must not change when the task is fetched.
            described: cover && ledger.held ? ledger.described : described,
            memo: kept,
          },
          collectorCharges: after.collectorCharges,
          ...(!cover && {
            newReport: { at: now, epsilon, bytes: pack(report), state: "waiting" },
          }),
          result: { outcome: "queued", epsilon, dropped },
        };
      },
      // A memo or a charge that is lost after its report was sent would be made again.
      true,
    );
    const [receipt, made] = changed;
    // A session that was stopped already must not end the one after it.
    if (receipt === undefined && !this.#requests.stopped) {
      this.contextAtOpening.onRevokedElsewhere();
    }
    return [receipt ?? emptyReceipt("no-consent", dropped), made];
  }

  /** Frees the resources of the session. No call of the session may be in progress. */
  free(): void {
    this.reportMaker.free();
    this.store.close();
  }
}

/**
 * Loads the code and the task, and begins a session, once the browser's privacy signals allow it.
 *
 * @param requests requests of the session; this function stops them if the session cannot begin
 * @param opened receives the session, unless the session was stopped in the meantime
 * @param events functions to call after a change of the reports and after a revocation elsewhere,
 * and state of the client's consent
 * @throws TaskError, WasmError, EntropyError, OptionError, SealingError
 * @throws ClosedError after the session was stopped
 */
export async function openSession(
  settings: ClientSettings,
  requests: SessionRequests,
  opened: (session: Session) => void,
  events: Pick<
    SessionStart,
    "onReportsChange" | "renew" | "onRevokedElsewhere" | "whenRevocationsStored" | "consentGrant"
  >,
): Promise<Session> {
  let engine: ReportMaker | undefined;
  let storing: Promise<Store> | undefined;
  try {
    // A page that is prerendered and never shown must spend nothing.
    await Promise.all([waitUntilPageShown(), events.whenRevocationsStored]);
    requests.throwIfStopped();
    while (consentState(true, settings.ignoreSignals) !== "granted") {
      await requests.interruptibleDelay(SIGNAL_CHECK_MS);
      requests.throwIfStopped();
    }
    const parts = settings.sealingOptions && (await loadShuffledCode());
    requests.throwIfStopped();
    const {
      createMaker: maker,
      createReportFunction: reporter,
      ...overrides
    }: SessionOverrides = parts?.overrides(settings, requests) ?? {};
    const own = { ...settings, fetch: requests.fetchUnlessStopped, ...overrides };
    // Opened in parallel with the engine: each takes about 20 ms in a page that has just loaded.
    storing = openStore(settings);
    // The promise may reject before it is awaited, which must not count as an unhandled rejection.
    storing.catch(() => {});
    // Read before anything is loaded, so that a later revocation by another context has an effect.
    const reading = storing.then(async (store) => {
      const { taskLedger: ledger } = await store.readLedgers();
      // A session that begins later must not grant again what was revoked elsewhere.
      const { consentGrant: grant } = events;
      grant.revocationsAtStart ??= ledger.revoked;
      if (grant.revocationsAtStart !== ledger.revoked) {
        events.onRevokedElsewhere();
      }
      return ledger;
    });
    reading.catch(() => {});
    const fromCollector: Partial<CollectorDescribedTask> = settings.task
      ? {}
      : await (await loadExtras()).describe(own, requests, await reading, parseTask);
    const { fetchedTask: described } = fromCollector;
    const { fingerprint: said } = described ?? {};
    // One of them is there.
    const task = (settings.task ?? described?.task) as AnyTask;
    requests.throwIfStopped();
    const isWithin =
      epsilonPerWindowOrEpoch(task) <= settings.maxEpsilonAcrossTasks + EPSILON_TOLERANCE;
    if (!isWithin || !isTaskPinnedByPage(settings)) {
      (await loadExtras()).checkBudget(task, settings);
    }
    engine = await (maker?.() ?? createLocalMaker(task as Task));
    const { fingerprint } = engine;
    // The fingerprint must match the pinned one, and the one that the collector states.
    for (const pin of [settings.fingerprint, said]) {
      if ((pin ?? fingerprint) !== fingerprint) {
        throw new TaskError(
          "fingerprint-mismatch",
          `task ${task.id} has the fingerprint ${fingerprint}, expected ${pin}`,
        );
      }
    }
    const { memo: asked, cover } = budgetOf(task);
    const store = await storing;
    const ledger = await reading;
    // The core has checked that a task with a memo has a local ε.
    const memo =
      asked &&
      (await (await loadExtras()).prepareMemo(engine as LocalReportMaker, asked, store, ledger));
    requests.throwIfStopped();
    // Reports of earlier pages are sent in the meantime.
    const session = new Session(own, requests, {
      reportMaker: engine,
      store,
      requestedDelayEnd: ledger.notBefore,
      ...fromCollector,
      prepareMemoReport: memo,
      coverReportHolder: cover && (await loadExtras()).prepareCover(engine, cover),
      ...events,
    });
    session.reportInSteps = await reporter?.(engine);
    if (store !== EMPTY_STORE) {
      await session.contextAtOpening.coverReportHolder?.start(session, settings);
    }
    requests.throwIfStopped();
    opened(session);
    if (!cover && ledger.held) {
      // An earlier version of the task had cover reports.
      loadExtras()
        .then(({ releaseHeldReport }) => releaseHeldReport(session))
        .catch(() => {});
    }
    if (ledger.reserved.length > 0) {
      loadLeavingCode()
        .then(({ endOrphanedReservations }) => endOrphanedReservations(session))
        .catch(() => {});
    }
    return session;
  } catch (error) {
    const { stopped } = requests;
    requests.stop();
    engine?.free();
    storing?.then((store) => store.close()).catch(() => {});
    throw stopped ? new ClosedError("client") : error;
  }
}
