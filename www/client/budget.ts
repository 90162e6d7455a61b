/** What a browser may spend on a task, and what it has spent. */

import { joined } from "./bytes.js";
import type { Budget } from "./task.js";

/** How many answers are kept with the report that was made of them, where they are permanent. */
const PERMANENT = 64;

const DAY_MS = 86_400_000;

/** The report of an answer that is permanent. */
interface Permanent {
  readonly digest: bigint;
  /** Of the task under whose parameters it was made. */
  readonly fingerprint: string;
  readonly report: Uint8Array;
}

/** What a browser remembers of one task. */
export interface Ledger {
  /**
   * Random, so that digests of equal answers differ between browsers and tasks, and, where
   * answers are fresh, between windows; see {@link saltOf}.
   */
  readonly salt: Uint8Array;
  /** When the window began, and when it ends, in milliseconds since 1970. */
  readonly from: number;
  readonly until: number;
  /** Digests of the answers of this window's reports. */
  readonly given: Set<bigint>;
  /** ε spent and reports made since the beginning. */
  readonly spent: number;
  readonly reports: number;
  readonly permanent: readonly Permanent[];
  /** Size of what waits to be sent. */
  readonly waitingBytes: number;
}

export function newLedger(): Ledger {
  return {
    salt: crypto.getRandomValues(new Uint8Array(16)),
    from: 0,
    until: 0,
    given: new Set(),
    spent: 0,
    reports: 0,
    permanent: [],
    waitingBytes: 0,
  };
}

/** One that is kept nowhere but in this page. */
let ofPage: Ledger | undefined;

/**
 * What the answers' digest begins with: another for each task, so that equal answers to two of
 * them do not show.
 *
 * Only for a window's further reports, and for permanent answers, has a later page to know
 * answers again. Otherwise what is kept says nothing of them once this page is gone: a part of
 * their salt is gone with it, without which nobody can find them by trying.
 */
export function saltOf({ salt }: Ledger, { reports, answers }: Budget): Uint8Array {
  if (reports > 1 || answers === "permanent") {
    return salt;
  }
  ofPage ??= newLedger();
  return joined([ofPage.salt, salt]);
}

/**
 * The ledger as of now: without what an ended window held.
 *
 * A clock that was set back before the window's beginning does not end the window,
 * which would let the budget be spent again; its end is then counted from now, so that
 * a clock that was once far ahead does not hold it open for ever.
 */
export function asOf(ledger: Ledger, { days, answers }: Budget, now: number): Ledger {
  if (now < ledger.from) {
    return { ...ledger, from: now, until: now + days * DAY_MS };
  }
  if (now < ledger.until || ledger.given.size === 0) {
    return ledger;
  }
  const { salt } = answers === "permanent" ? ledger : newLedger();
  return { ...ledger, salt, from: 0, until: 0, given: new Set() };
}

/** What to do with answers. */
export type Decision =
  /** To randomise them, which spends ε. */
  | "draw"
  /** To send again the report that was made of them before. */
  | Permanent
  /** Nothing: they were reported in this window. */
  | "unchanged"
  /** Nothing: the window's reports are made. */
  | "over-budget";

/** What to do with answers of this digest under a ledger {@link asOf} now. */
export function decide(
  ledger: Ledger,
  budget: Budget,
  fingerprint: string,
  digest: bigint,
): Decision {
  if (ledger.given.has(digest)) {
    return "unchanged";
  }
  if (ledger.given.size >= budget.reports) {
    return "over-budget";
  }
  const before = ledger.permanent.find(
    (each) => each.digest === digest && each.fingerprint === fingerprint,
  );
  return (budget.answers === "permanent" && before) || "draw";
}

/**
 * The ledger after a report. Digests are added in place: a copy for each of many reports
 * would take longer than randomising them.
 *
 * @param epsilon what it spent: 0 where it was made before
 */
export function charged(
  ledger: Ledger,
  { days, answers }: Budget,
  epsilon: number,
  made: Permanent,
  now: number,
): Ledger {
  const begins = ledger.given.size === 0;
  const others = ledger.permanent.filter((each) => each.digest !== made.digest);
  return {
    ...ledger,
    from: begins ? now : ledger.from,
    until: begins ? now + days * DAY_MS : ledger.until,
    given: ledger.given.add(made.digest),
    spent: ledger.spent + epsilon,
    reports: ledger.reports + 1,
    permanent: answers === "permanent" ? [...others, made].slice(-PERMANENT) : [],
  };
}
