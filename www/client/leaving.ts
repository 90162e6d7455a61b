/**
 * Reports that are made when a page is left, at a time when the page cannot wait for anything.
 *
 * The budget of such a report is reserved in the ledger long before. The page holds a lock for the
 * reservation until the reservation ends. When the page is left, the report is made, written to a
 * journal in local storage, and sent. It is also stored in the database if there is time. Otherwise
 * the next page finds the reservation. If there is a journal entry, that page stores and sends the
 * same bytes again. If not, it frees the budget after the lock is free.
 */

import {
  type BudgetReservation,
  chargeReport,
  ledgerAtTime,
  type TaskAndCollectorLedgers,
} from "./budget.js";
import { bytesFromHex, bytesToHex } from "./bytes.js";
import type { Client } from "./client-interface.js";
import type { Delivery } from "./delivery.js";
import type { HushbinError } from "./errors.js";
import type { PackedEntries } from "./input.js";
import type { ReportMaker } from "./maker.js";
import type { ClientSettings } from "./options.js";
import { isHidden } from "./page.js";
import type { NewReport, ReportWithKey, Store } from "./store/store.js";
import { budgetOf, type FetchedTask } from "./task.js";
import { startTimer } from "./time.js";
import type { UploadTransport } from "./transport.js";

/**
 * Time in milliseconds after which the budget of a reservation without a lock is freed. Browsers do
 * not guarantee that other pages see a journal entry as soon as the lock is free.
 */
const ORPHAN_GRACE_MS = 60_000;

/** Part of a session that this file needs. */
export interface LeavableSession {
  readonly reportMaker: ReportMaker;
  readonly store: Store;
  readonly delivery: Pick<Delivery, "scheduleReport">;
  readonly transport: UploadTransport;
  /** Defined if a report takes several steps, for example because it is sealed. */
  readonly reportInSteps: unknown;
  readonly contextAtOpening: {
    readonly consentGrant: { readonly revocationsAtStart?: number };
    readonly fetchedTask?: FetchedTask | undefined;
    /** Defined if the task's budget has a memo. */
    readonly prepareMemoReport: unknown;
    /** Defined if the task has cover reports. */
    readonly coverReportHolder: unknown;
    /** Called after each change of the budget and the reports. */
    readonly onReportsChange: () => void;
  };
  /** Functions that are called when the session is stopped. */
  readonly stopCallbacks: (() => void)[];
  /** Makes the registered reports when the page is left. Undefined if none are registered. */
  makeReportsAtLeave: (() => void) | undefined;
  validateAnswers(input: unknown): PackedEntries;
  makeSingleReportUpload(entries: PackedEntries): Uint8Array<ArrayBuffer>;
}

/** Function that returns the answers to report, or undefined if there is nothing to report. */
type AnswersFunction = () => unknown;

/** Client that decides whether reports are made, and that makes those without a reservation. */
interface LeavableClient extends Pick<Client, "consent"> {
  record(input: never): void;
}

/** Reservation that this page has made. */
interface OwnReservation {
  readonly id: string;
  /** End of the window to which the report belongs, in milliseconds since 1970. */
  readonly windowEnd: number;
  /** Releases the lock of the reservation. */
  readonly releaseLock: () => void;
}

/**
 * Function that was registered for the time when the page is left. Without a reservation, its
 * report is made in the usual way.
 */
interface RegisteredFunction {
  readonly getAnswers: AnswersFunction;
  readonly reservation?: OwnReservation;
}

/** Report that is made while the page is left. */
interface MadeReport {
  /** Time at which it was made, in milliseconds since 1970. */
  readonly at: number;
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** Releases the lock of the reservation. */
  readonly releaseLock: () => void;
}

/** Reports that are not sent yet, by the ids of their reservations. */
type MadeReports = Map<string, MadeReport>;

const reservationKey = (id: string) => `hushbin ${id}`;

/**
 * Journal in local storage. It has the upload of each reservation, or an empty text if no report
 * will be made.
 */
const journal = {
  read: (id: string) => localStorage.getItem(reservationKey(id)),
  /** Writes an entry. Returns false if that fails, for example because local storage is full. */
  write(id: string, at: number, bytes?: Uint8Array): boolean {
    try {
      localStorage.setItem(reservationKey(id), bytes ? `${at} ${bytesToHex(bytes)}` : "");
      return true;
    } catch {
      return false;
    }
  },
  remove: (id: string) => localStorage.removeItem(reservationKey(id)),
};

/** Parses a journal entry. Returns undefined if no report was made. */
function parseJournalEntry(
  entry: string,
): { at: number; bytes: Uint8Array<ArrayBuffer> } | undefined {
  const [at, digits = ""] = entry.split(" ");
  const bytes = bytesFromHex(digits);
  return bytes.length > 0 ? { at: Number(at), bytes } : undefined;
}

/**
 * Acquires the lock that shows other pages that this page is alive. Returns the function that
 * releases the lock.
 */
function acquireReservationLock(id: string): Promise<() => void> {
  return new Promise((resolve, reject) => {
    // Without locks, a reservation that is not used is never freed.
    const { locks } = navigator;
    if (!locks?.request) {
      resolve(() => {});
      return;
    }
    locks
      .request(reservationKey(id), () => new Promise<void>((release) => resolve(release)))
      .catch(reject);
  });
}

/** Returns the ledgers without the report and the ε that a reservation has charged. */
function refundReservation(
  { taskLedger: ledger, collectorCharges: charges }: TaskAndCollectorLedgers,
  { until, epsilon }: BudgetReservation,
): TaskAndCollectorLedgers {
  const isCurrent = ledger.until === until;
  return {
    taskLedger: {
      ...ledger,
      used: ledger.used - (isCurrent ? 1 : 0),
      spent: ledger.spent - epsilon,
      reports: ledger.reports - 1,
    },
    collectorCharges: charges.map((each) =>
      each.until === until ? { ...each, epsilon: Math.max(0, each.epsilon - epsilon) } : each,
    ),
  };
}

/**
 * Ends a reservation, unless another page has already done so.
 *
 * @param made the report that was made. If it is undefined, the budget is given back
 * @returns the report as it was stored; undefined if none was made
 */
async function endReservation(
  { store, contextAtOpening: begun }: LeavableSession,
  id: string,
  made?: { readonly at: number; readonly bytes: Uint8Array<ArrayBuffer> },
): Promise<ReportWithKey | undefined> {
  const [, stored] = await store.changeLedgers((before) => {
    const found = before.taskLedger.reserved.find((each) => each.id === id);
    if (found === undefined) {
      return { ...before, result: undefined };
    }
    const reserved = before.taskLedger.reserved.filter((each) => each !== found);
    if (made === undefined) {
      const { taskLedger: ledger, collectorCharges: charges } = refundReservation(before, found);
      return { taskLedger: { ...ledger, reserved }, collectorCharges: charges, result: undefined };
    }
    // Consent that was revoked since also withdraws this report.
    const state = found.revoked === before.taskLedger.revoked ? "waiting" : "withdrawn";
    const { epsilon } = found;
    const { at, bytes } = made;
    const report: NewReport = { at, bytes, epsilon, state };
    // The store adds the length, which only reports that wait have.
    const less = state === "waiting" ? 0 : bytes.length;
    const waitingBytes = before.taskLedger.waitingBytes - less;
    const ledger = { ...before.taskLedger, reserved, waitingBytes };
    return {
      taskLedger: ledger,
      collectorCharges: before.collectorCharges,
      newReport: report,
      result: undefined,
    };
  });
  // Only now: until the ledger is stored, the entry is all that remains if the page ends.
  journal.remove(id);
  begun.onReportsChange();
  return stored;
}

/** Ends a reservation for which no report was made. */
function releaseUnusedReservation(
  session: LeavableSession,
  { id, releaseLock: unlock }: OwnReservation,
): void {
  // If the page ends before the ledger is stored, the next page need not wait.
  journal.write(id, 0);
  endReservation(session, id).then(unlock, unlock);
}

/** Forgets registered functions, and ends their reservations. */
function releaseAllReservations(session: LeavableSession, registered: RegisteredFunction[]): void {
  for (const { reservation: reserved } of registered.splice(0)) {
    if (reserved) {
      releaseUnusedReservation(session, reserved);
    }
  }
}

/** Functions that were registered in each session. */
const functionsBySession = new WeakMap<LeavableSession, RegisteredFunction[]>();

/**
 * Registers the function `answers`. This function is called when the page is hidden or left, or
 * when the client is closed. If the browser terminates the call, the function is called again.
 *
 * @returns false if the budget allows no further report. The function is not called then
 */
export async function registerAnswersAtLeave(
  session: LeavableSession,
  answers: AnswersFunction,
  settings: ClientSettings,
  client: LeavableClient,
): Promise<boolean> {
  const registered =
    functionsBySession.get(session) ?? watchForLeaving(session, settings.onError, client);
  const wasHidden = isHidden();
  // A sealed report takes several steps. A memo is read from the database, and so is the cover
  // report that an answer replaces.
  const { prepareMemoReport: memo, coverReportHolder: cover } = session.contextAtOpening;
  const isOneStep = session.store.durable && !session.reportInSteps && !memo && !cover;
  const reserved = isOneStep ? await reserveBudget(session, settings) : undefined;
  if (reserved === "over-budget") {
    return false;
  }
  registered.push({ getAnswers: answers, ...(reserved && { reservation: reserved }) });
  if (!functionsBySession.has(session)) {
    // The session was stopped while its budget was reserved.
    releaseAllReservations(session, registered);
  }
  if (isHidden() && !wasHidden) {
    session.makeReportsAtLeave?.();
  }
  return true;
}

/**
 * Reserves the budget of one report.
 *
 * @returns the reservation; `over-budget` if the budget does not allow a further report; undefined
 * if the browser does not allow local storage or locks
 */
async function reserveBudget(
  session: LeavableSession,
  { maxEpsilonAcrossTasks: maxEpsilon }: ClientSettings,
): Promise<OwnReservation | "over-budget" | undefined> {
  const id = bytesToHex(crypto.getRandomValues(new Uint8Array(16)));
  let unlock: () => void;
  try {
    // Without a journal, a report must be in the database before it is sent.
    journal.remove(id);
    unlock = await acquireReservationLock(id);
  } catch {
    return undefined;
  }
  const { consentGrant: grant, fetchedTask: described = null } = session.contextAtOpening;
  const { task } = session.reportMaker;
  const { epsilon } = task;
  const budget = budgetOf(task);
  let until = 0;
  try {
    [until] = await session.store.changeLedgers(
      ({ taskLedger: before, collectorCharges: charges }) => {
        const now = Date.now();
        const ledger = ledgerAtTime(before, now);
        const { revoked } = before;
        // The same conditions as for a report that is made now.
        const after = chargeReport(
          { taskLedger: ledger, collectorCharges: charges },
          budget,
          epsilon,
          epsilon,
          maxEpsilon,
          now,
        );
        if (revoked !== grant.revocationsAtStart || after === undefined) {
          return { taskLedger: before, collectorCharges: charges, result: 0 };
        }
        const { until } = after.taskLedger;
        const reserved = [...ledger.reserved, { id, until, epsilon, revoked, orphaned: 0 }];
        return {
          taskLedger: { ...after.taskLedger, described, reserved },
          collectorCharges: after.collectorCharges,
          result: until,
        };
      },
      true,
    );
  } finally {
    if (until === 0) {
      unlock();
    }
  }
  if (until === 0) {
    return "over-budget";
  }
  session.contextAtOpening.onReportsChange();
  return { id, windowEnd: until, releaseLock: unlock };
}

/**
 * Makes the session call registered functions when the page is left, until the session is stopped.
 */
function watchForLeaving(
  session: LeavableSession,
  onError: (error: HushbinError) => void,
  client: LeavableClient,
): RegisteredFunction[] {
  const registered: RegisteredFunction[] = [];
  const made: MadeReports = new Map();
  functionsBySession.set(session, registered);
  const leave = () => {
    if (client.consent === "granted" && registered.length + made.size > 0) {
      // Firefox terminates the script that runs while a tab is closed, but only that one. This
      // call continues where it stopped.
      Promise.resolve().then(leave);
      makeRegisteredReports(session, registered, made, client, onError);
      sendMadeReports(session, made, onError);
    }
  };
  session.makeReportsAtLeave = leave;
  session.stopCallbacks.push(() => {
    functionsBySession.delete(session);
    releaseAllReservations(session, registered);
  });
  return registered;
}

/** Makes the reports of the registered functions, and writes them to the journal. */
function makeRegisteredReports(
  session: LeavableSession,
  registered: RegisteredFunction[],
  made: MadeReports,
  client: LeavableClient,
  onError: (error: HushbinError) => void,
): void {
  const at = Date.now();
  for (let next = registered[0]; next; next = registered[0]) {
    const { getAnswers: answers, reservation: reserved } = next;
    let input: unknown;
    let isMade = false;
    try {
      input = answers();
      if (input !== undefined && reserved && at < reserved.windowEnd) {
        const bytes = session.makeSingleReportUpload(session.validateAnswers(input));
        isMade = journal.write(reserved.id, at, bytes);
        if (isMade) {
          made.set(reserved.id, { at, bytes, releaseLock: reserved.releaseLock });
        }
      }
    } catch (error) {
      input = undefined;
      onError(error as HushbinError);
    }
    // Only now: if the script is terminated before, the function is called again.
    registered.shift();
    // A window that has ended cannot contain this report, and a report without a journal entry
    // must be stored before it is sent.
    if (input !== undefined && !isMade) {
      client.record(input as never);
    }
    if (reserved && !isMade) {
      releaseUnusedReservation(session, reserved);
    }
  }
}

/** Sends reports. The request has started when this function returns. */
function sendMadeReports(
  session: LeavableSession,
  made: MadeReports,
  onError: (error: HushbinError) => void,
): void {
  const reports = [...made];
  made.clear();
  if (reports.length === 0) {
    return;
  }
  const sending = session.transport.sendUploads(reports.map(([, { bytes }]) => bytes));
  for (const [id, report] of reports) {
    const storing = endReservation(session, id, report);
    storing.then(report.releaseLock, report.releaseLock);
    Promise.all([storing, sending])
      .then(async ([stored, { kind }]) => {
        if (stored && kind === "acknowledged") {
          await session.store.setFinalState([stored.key], kind);
          session.contextAtOpening.onReportsChange();
        } else if (stored) {
          // Sent again. If it was refused, it is refused again, and then settled.
          session.delivery.scheduleReport(stored, true);
        }
      })
      .catch(onError);
  }
}

/**
 * Ends the reservations of other pages that are gone. Repeats this after increasing delays, for
 * pages that are just being left.
 *
 * @param delayMs time until the next check, in milliseconds
 */
export async function endOrphanedReservations(
  session: LeavableSession,
  delayMs = 1_000,
): Promise<void> {
  const locks = await navigator.locks?.query?.();
  const { taskLedger: ledger } = await session.store.readLedgers();
  const now = Date.now();
  const own = functionsBySession.get(session) ?? [];
  const others = ledger.reserved.filter(
    ({ id }) => !own.some((each) => each.reservation?.id === id),
  );
  for (const { id, orphaned } of others) {
    const entry = journal.read(id);
    const isAlone = locks && !locks.held?.some(({ name }) => name === reservationKey(id));
    if (entry !== null) {
      const stored = await endReservation(session, id, parseJournalEntry(entry));
      if (stored?.state === "waiting") {
        session.delivery.scheduleReport(stored, false);
      }
    } else if (isAlone && orphaned > 0 && Math.abs(now - orphaned) >= ORPHAN_GRACE_MS) {
      await endReservation(session, id);
    } else if (isAlone && orphaned === 0) {
      await session.store.changeLedgers(({ taskLedger: before, collectorCharges: charges }) => {
        const reserved = before.reserved.map((each) =>
          each.id === id ? { ...each, orphaned: now } : each,
        );
        return {
          taskLedger: { ...before, reserved },
          collectorCharges: charges,
          result: undefined,
        };
      });
    }
  }
  if (others.length > 0 && delayMs <= 2 * ORPHAN_GRACE_MS) {
    startTimer(() => void endOrphanedReservations(session, 4 * delayMs).catch(() => {}), delayMs);
  }
}
