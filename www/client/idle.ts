/** Decision whether a page has anything to do for a task. */

import {
  DAY_MS,
  EPSILON_TOLERANCE,
  isWindowFull,
  spentInOpenWindows,
  type TaskAndCollectorLedgers,
  withoutEndedMemo,
} from "./budget.js";
import type { ClientSettings } from "./options.js";
import { budgetOf } from "./task.js";
import { startTimer } from "./time.js";

/** End of the time in which a page has nothing to do, and why it reports nothing. */
export interface Idleness {
  /** End in milliseconds since 1970. */
  readonly until: number;
  readonly reason: "over-budget" | "no-storage";
}

/** Time in which a page has nothing to do. */
export class IdleTime {
  readonly #wake: () => void;
  /** Why the page reports nothing in this time. */
  reason: Idleness["reason"] = "over-budget";
  #end = 0;
  #timer: ReturnType<typeof startTimer> | undefined;

  constructor(wake: () => void) {
    this.#wake = wake;
  }

  get isNow(): boolean {
    return Date.now() < this.#end;
  }

  begin({ until, reason }: Idleness): void {
    this.#end = until;
    this.reason = reason;
  }

  /** Calls `wake` when the time is over, or earlier: timers are short, and clocks are set. */
  wakeAtEnd(): void {
    const wake = () => {
      this.end();
      this.#wake();
    };
    this.#timer ??= startTimer(wake, Math.min(this.#end - Date.now(), DAY_MS));
  }

  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#end = 0;
  }
}

/**
 * Returns the time until which there is nothing to do: the budgets allow no report, no report waits,
 * and nothing has to be deleted. Returns undefined if there may be something to do.
 */
export function idleUntil(
  { taskLedger: ledger, collectorCharges }: TaskAndCollectorLedgers,
  { task: given, fingerprint, debug, maxEpsilonAcrossTasks: maxEpsilon }: ClientSettings,
  now: number,
): number | undefined {
  const { described } = ledger;
  const task = given ?? described?.task;
  // Another version of the task may have another budget.
  const isOther = !given && fingerprint !== undefined && fingerprint !== described?.fingerprint;
  // The console shows what becomes of each answer.
  if (task === undefined || isOther || debug) {
    return undefined;
  }
  const budget = budgetOf(task);
  const isIdle =
    // With cover reports, the next window has to begin on time.
    !budget.cover &&
    ledger.held === null &&
    ledger.reserved.length === 0 &&
    ledger.waitingBytes === 0 &&
    withoutEndedMemo(ledger, now) === ledger;
  if (!isIdle) {
    return undefined;
  }
  if (isWindowFull(ledger, budget, now)) {
    return ledger.until;
  }
  const limit = maxEpsilon + EPSILON_TOLERANCE;
  const isOver = spentInOpenWindows(collectorCharges, now) + task.epsilon > limit;
  const ends = collectorCharges.map(({ until }) => until).filter((until) => until > now);
  // A task that exceeds the limit alone is an error, which the session throws.
  return isOver && task.epsilon <= limit ? Math.min(...ends) : undefined;
}
