/** Facts about a task, a budget and a history of reports. Other modules turn them into text. */

import type { BudgetStatus, HistoryEntry } from "../results.js";
import type { ReportState } from "../store/store.js";
import { budgetOf, type Task } from "../task.js";

const DAY_MS = 86_400_000;

/** Protection that one report gives a person's answers. */
export interface Protection {
  /**
   * Protected information: all answers (`everything`), the value of one item if the rest is known
   * (`item`), or which of two inputs it was (`near`).
   */
  readonly about: "everything" | "item" | "near";
  /** Maximum difference between the two inputs of `near`, summed over items; otherwise 0. */
  readonly distance: number;
  /** Probability that the protection fails. */
  readonly delta: number;
}

export function protectionOf(task: Task): Protection {
  // A report of several questions always hides all answers.
  const mechanism = "questions" in task ? undefined : task.mechanism;
  const {
    level,
    distance = 0,
    delta = 0,
  } = mechanism?.name === "hash-bin" ? mechanism : { level: "user" as const };
  const abouts = { user: "everything", event: "item", neighbouring: "near" } as const;
  return { about: abouts[level], distance, delta };
}

/** Returns the ε that the current window has spent. */
export function spentInWindow(
  task: Task,
  { used, until }: BudgetStatus,
  sent: readonly HistoryEntry[],
): number {
  const { answers, days } = budgetOf(task);
  // Each report of fresh answers costs the same. A permanent answer that is sent again costs
  // nothing.
  if (answers === "fresh" || until === undefined) {
    return used * task.epsilon;
  }
  const from = until.getTime() - days * DAY_MS;
  const within = sent.filter(({ at }) => at.getTime() >= from);
  return within.reduce((sum, { epsilon }) => sum + epsilon, 0);
}

export function countByState(
  sent: readonly Pick<HistoryEntry, "state">[],
): Readonly<Record<ReportState, number>> {
  const states = { waiting: 0, acknowledged: 0, refused: 0, withdrawn: 0 };
  for (const { state } of sent) {
    states[state] += 1;
  }
  return states;
}
