/**
 * Session of one task in this browser, which lasts while consent does: budget, randomiser and
 * delivery.
 */

import {
  chargeReport,
  EPSILON_TOLERANCE,
  ledgerAtTime,
  type TaskAndCollectorLedgers,
  type TaskLedger,
} from "./budget.js";
import { concatBytes } from "./bytes.js";
import type { CoverReports } from "./cover.js";
import { Delivery } from "./delivery.js";
import type { CollectorDescribedTask } from "./described.js";
import { OutboxFullError, TaskError } from "./errors.js";
import type { PackedEntries } from "./input.js";
import { loadExtras, loadLeavingCode, loadShuffledCode } from "./loaders.js";
import type { ReportMaker } from "./maker.js";
import type { MemoFunction } from "./memo.js";
import { EMPTY_STORE } from "./open-store.js";
import { type ClientSettings, isSumTask, isTaskPinnedByPage } from "./options.js";
import { hasEndEvent, onLifeCycle, onPageCacheChange } from "./page.js";
import { createLocalMaker, type LocalReportMaker } from "./randomizer.js";
import { emptyReceipt, type Receipt } from "./receipt.js";
import type {
  ReportFunction,
  ReportResult,
  SealableSession,
  SessionOverrides,
} from "./session-overrides.js";
import type { SessionRequests } from "./session-requests.js";
import type { Store } from "./store/store.js";
import { type AnyTask, budgetOf, epsilonPerWindowOrEpoch, parseTask, type Task } from "./task.js";
import { FetchTransport, type UploadTransport } from "./transport.js";

/** Maximum total size in bytes of a task's waiting reports, which is about ten thousand reports. */
const OUTBOX_BYTES = 1024 * 1024;

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

/** Parts of a session that its client provides. */
export interface SessionContext {
  readonly store: Store;
  readonly consentGrant: ConsentGrant;
  /** Called after each change of the session's reports. */
  readonly onReportsChange: () => void;
  /** Called to replace the session by one with the task that the collector has now. */
  readonly renew: () => void;
  /** Called when another tab or worker has revoked consent. */
  readonly onRevokedElsewhere: () => void;
}

/** Objects and state with which a session begins. */
interface SessionStart extends SessionContext, Partial<CollectorDescribedTask> {
  readonly reportMaker: ReportMaker;
  /** End of the delay that the collector requested, in milliseconds since 1970. */
  readonly requestedDelayEnd: number;
  /** Prepares reports from memos. Undefined if the task's budget has no memo. */
  readonly prepareMemoReport: MemoFunction | undefined;
  /** Holds reports until they may be sent. Undefined if the task has no cover reports. */
  readonly coverReportHolder: CoverReports | undefined;
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
    const { reportsUrl, fetch, dryRun, onError, delayMs } = settings;
    this.transport = dryRun
      ? DRY_RUN_TRANSPORT
      : new FetchTransport(`${reportsUrl}/reports`, fetch);
    this.delivery = new Delivery({
      store,
      sessionRequests: requests,
      transport: this.transport,
      lockName: `hushbin ${reportsUrl}`,
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
   * Returns whether consent and budget allow a report now. A memo that may no longer be used can
   * still prevent it.
   *
   * @throws StorageError
   */
  async isReportAllowed(): Promise<boolean> {
    if (this.#requests.stopped || this.store === EMPTY_STORE) {
      return false;
    }
    const { taskLedger: before, collectorCharges } = await this.store.readLedgers();
    const now = Date.now();
    if (this.contextAtOpening.coverReportHolder) {
      // An answer only replaces a cover report.
      return before.held?.isCover === true && now < before.held.due;
    }
    const { task } = this.reportMaker;
    const { maxEpsilonAcrossTasks: maxEpsilon } = this.#settings;
    const current = { taskLedger: ledgerAtTime(before, now), collectorCharges };
    return chargeReport(current, budgetOf(task), task.epsilon, 0, maxEpsilon, now) !== undefined;
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
          result: { sent: true, epsilon, dropped },
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
 * Loads the core and the task, and begins a session.
 *
 * @param requests requests of the session. The caller stops them, and closes the store, if the
 * session cannot begin
 * @param opened receives the session, unless the session was stopped in the meantime
 * @param ledger ledger of the task as the store contains it
 * @throws TaskError, WasmError, EntropyError, OptionError, SealingError
 * @throws ClosedError after the session was stopped
 */
export async function openSession(
  settings: ClientSettings,
  requests: SessionRequests,
  opened: (session: Session) => void,
  context: SessionContext,
  ledger: TaskLedger,
): Promise<Session> {
  const { store } = context;
  let engine: ReportMaker | undefined;
  try {
    const parts = settings.sealingOptions && (await loadShuffledCode());
    requests.throwIfStopped();
    const {
      createMaker: maker,
      createReportFunction: reporter,
      ...overrides
    }: SessionOverrides = parts?.overrides(settings, requests) ?? {};
    const own = { ...settings, fetch: requests.fetchUnlessStopped, ...overrides };
    const fromCollector: Partial<CollectorDescribedTask> = settings.task
      ? {}
      : await (await loadExtras()).describe(own, requests, ledger, parseTask);
    const { fetchedTask: described } = fromCollector;
    const { fingerprint: said } = described ?? {};
    // One of them is there. The code of sums checks its own tasks.
    const given = settings.task ?? described?.task;
    const task: AnyTask = isSumTask(given) ? given : parseTask(given);
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
    // The core has checked that a task with a memo has a local ε.
    const memo =
      asked &&
      (await (await loadExtras()).prepareMemo(engine as LocalReportMaker, asked, store, ledger));
    requests.throwIfStopped();
    // Reports of earlier pages are sent in the meantime.
    const session = new Session(own, requests, {
      reportMaker: engine,
      requestedDelayEnd: ledger.notBefore,
      ...fromCollector,
      prepareMemoReport: memo,
      coverReportHolder: cover && (await loadExtras()).prepareCover(engine, cover),
      ...context,
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
    engine?.free();
    throw error;
  }
}
