/**
 * Cover reports: each window has one report, also in a browser that has no answer. It leaves at a
 * time that does not depend on answers, so the collector does not learn who has answered.
 *
 * The report of a window is made at its beginning, from "no answer", and held in the ledger. An
 * answer replaces it there. Only the store decides which of them leaves, so that several tabs never
 * send both.
 */

import { DAY_MS, ledgerAtTime, type TaskAndCollectorLedgers } from "./budget.js";
import { consentState } from "./consent-state.js";
import type { Delivery } from "./delivery.js";
import type { HushbinError } from "./errors.js";
import type { PackedEntries } from "./input.js";
import type { ReportMaker } from "./maker.js";
import type { ClientSettings } from "./options.js";
import type { Question } from "./question.js";
import type { ReportFunction, SealableSession } from "./session-overrides.js";
import type { Store } from "./store/store.js";
import type { Cover, Task } from "./task.js";
import { startTimer } from "./time.js";
import { headerSharedByTask } from "./upload.js";

const MINUTE_MS = 60_000;

/**
 * Time in milliseconds until the next attempt to begin a window or to send the report, if an
 * attempt fails or is not allowed.
 */
const WINDOW_RETRY_MS = 60 * MINUTE_MS;

/** Part of a session that holds and releases reports. */
export interface CoverableSession extends SealableSession {
  readonly store: Store;
  readonly delivery: Pick<Delivery, "scheduleReport">;
  readonly reportInSteps: ReportFunction | undefined;
  readonly contextAtOpening: {
    readonly consentGrant: { readonly revocationsAtStart?: number };
    /** Called after each change of the budget and the reports. */
    readonly onReportsChange: () => void;
    /** Called to replace the session by one with the task that the collector has now. */
    readonly renew: () => void;
    /** Task as the collector described it. Undefined if the page contains the task. */
    readonly fetchedTask?: unknown;
  };
  /** Functions that are called when the session is stopped. */
  readonly stopCallbacks: (() => void)[];
  /** Called when the page or the network is available again. */
  resumeWindow: (() => void) | undefined;
}

/** Cover reports of a task in one session. */
export interface CoverReports {
  /**
   * Returns the ledgers that hold the report of these answers. Returns undefined if the window has
   * no report left for them.
   *
   * @param before ledgers as they are at the time `now`
   * @param charge returns the ledgers after a further report, or undefined if the budgets forbid it
   * @param pack returns an upload of the report
   */
  holdReport(
    before: TaskAndCollectorLedgers,
    entries: PackedEntries,
    now: number,
    charge: () => TaskAndCollectorLedgers | undefined,
    pack: () => Uint8Array<ArrayBuffer>,
  ): TaskAndCollectorLedgers | undefined;
  /**
   * Begins a window if none is open, and sends the held report when its time has come. Does so
   * until the session is stopped. Does nothing while the browser's privacy signals refuse reports.
   *
   * @throws StorageError, EntropyError, WasmError, SealingError if the first window cannot begin
   */
  start(
    session: CoverableSession,
    settings: Pick<ClientSettings, "onError" | "ignoreSignals">,
  ): Promise<void>;
}

/** Returns the input that stands for "no answer" to a question. */
function inputMeaningNoAnswer(question: Question): unknown {
  switch (question.kind) {
    case "flag":
      return false;
    case "choice": {
      const { options } = question;
      return typeof options === "number" ? options - 1 : options[options.length - 1];
    }
    case "set":
      return [];
    default:
      // The core allows only ratings besides.
      return {};
  }
}

/** Returns the input that stands for "no answer" to all questions of a task. */
function inputForNoAnswers(task: Task): unknown {
  return "questions" in task
    ? new Map(task.questions.map((question) => [question.name, inputMeaningNoAnswer(question)]))
    : {};
}

/**
 * Sends the report that is held, if its time has come.
 *
 * @throws StorageError
 */
export async function releaseHeldReport(session: CoverableSession): Promise<void> {
  const { store, contextAtOpening: begun, delivery } = session;
  const [, released] = await store.changeLedgers(
    ({ taskLedger: ledger, collectorCharges: charges }) => {
      const { held, revoked } = ledger;
      if (!held || Date.now() < held.due || revoked !== begun.consentGrant.revocationsAtStart) {
        return { taskLedger: ledger, collectorCharges: charges, result: undefined };
      }
      const { at, epsilon, bytes } = held;
      return {
        taskLedger: { ...ledger, held: null },
        collectorCharges: charges,
        newReport: { at, epsilon, bytes, state: "waiting" },
        result: undefined,
      };
    },
  );
  if (released) {
    delivery.scheduleReport(released);
    begun.onReportsChange();
  }
}

/** Returns the cover reports of a task, whose budget has the parameters `cover`. */
export function createCoverReports(engine: ReportMaker, { minutes }: Cover): CoverReports {
  // The core has checked that a task with cover reports has a local ε.
  const nothing = engine.packAnswers(inputForNoAnswers(engine.task as Task));
  // Reports of answers that are held. A change is applied again if the page was left in between.
  const made = new WeakMap<PackedEntries, string>();
  return {
    holdReport({ taskLedger: ledger, collectorCharges: charges }, entries, now, charge, pack) {
      const { held } = ledger;
      if (entries === nothing) {
        const after = ledger.used > 0 || held ? undefined : charge();
        if (after === undefined) {
          return undefined;
        }
        const due = now + minutes * MINUTE_MS;
        const { epsilon } = engine.task;
        const cover = { due, at: now, epsilon, bytes: pack(), isCover: true };
        return { ...after, taskLedger: { ...after.taskLedger, held: cover } };
      }
      if (held && made.get(entries) === String(held.bytes)) {
        return { taskLedger: ledger, collectorCharges: charges };
      }
      // An answer never begins a window. Otherwise the time of the report would reveal it.
      if (!held?.isCover || now >= held.due) {
        return undefined;
      }
      const bytes = pack();
      // Another version of the task was not charged. Another version or another key would show that
      // this is not the cover report.
      if (headerSharedByTask(bytes) !== headerSharedByTask(held.bytes)) {
        return undefined;
      }
      made.set(entries, String(bytes));
      // The time stays that of the cover report, so that the history does not show who has answered.
      return {
        taskLedger: { ...ledger, held: { ...held, bytes, isCover: false } },
        collectorCharges: charges,
      };
    },

    async start(session, { onError, ignoreSignals }) {
      const { store, contextAtOpening: begun, stopCallbacks: stops } = session;
      let isStopped = false;
      let timer: ReturnType<typeof setTimeout> | undefined;
      /** Time of the next run, in milliseconds since 1970. */
      let planned = Number.POSITIVE_INFINITY;
      const runAt = (next: number) => {
        clearTimeout(timer);
        planned = next;
        if (!isStopped) {
          // Timers of browsers overflow after 24 days.
          timer = startTimer(runLater, Math.min(next - Date.now(), DAY_MS));
        }
      };
      /** Returns the ledger of the task at the current time. */
      const currentLedger = async () =>
        ledgerAtTime((await store.readLedgers()).taskLedger, Date.now());
      const begin = async () => {
        try {
          await (session.reportInSteps?.(session, nothing) ?? session.makeAndChargeReport(nothing));
        } catch (error) {
          const failure = error as HushbinError;
          if (failure.code !== "outbox-full") {
            throw error;
          }
          // The session must go on, because it sends the reports that fill the outbox.
          onError(failure);
        }
        begun.onReportsChange();
      };
      const run = async (isFirst: boolean) => {
        if (consentState(true, ignoreSignals) !== "granted") {
          return runAt(Date.now() + WINDOW_RETRY_MS);
        }
        await releaseHeldReport(session);
        // The collector may have replaced the task since the last window. It is fetched at the end
        // of each window, so that the time of the request does not depend on answers.
        if (!isFirst && begun.fetchedTask && (await currentLedger()).used === 0) {
          return isStopped || begun.renew();
        }
        await begin();
        const { held, until, used } = await currentLedger();
        return runAt(held?.due ?? (used > 0 ? until : Date.now() + WINDOW_RETRY_MS));
      };
      const runLater = () => {
        run(false).catch((error) => {
          // A session that has ended has closed its store.
          if (!isStopped) {
            onError(error);
            runAt(Date.now() + WINDOW_RETRY_MS);
          }
        });
      };
      stops.push(() => {
        isStopped = true;
        clearTimeout(timer);
      });
      session.resumeWindow = () => {
        // Timers may be late, for example after the machine has slept.
        if (Date.now() >= planned) {
          runLater();
        }
      };
      await run(true);
    },
  };
}
