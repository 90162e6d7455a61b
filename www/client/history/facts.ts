/** What a task, a budget and a history come to, before they are said. */

import type { Sent, Spent } from "../kind.js";
import type { ReportState } from "../store/store.js";
import { budgetOf, type Task } from "../task.js";

const DAY_MS = 86_400_000;

/** What of a person's answers a report hides, and how surely. */
export interface Protection {
  /**
   * All of them together; or what is said of any one item, the others being given; or which
   * of two inputs it was.
   */
  readonly about: "everything" | "item" | "near";
  /** How far inputs may be apart, in sum, where it is about which of two it was. */
  readonly distance: number;
  /** With which probability it may fail. */
  readonly delta: number;
}

export function protectionOf(task: Task): Protection {
  // Of several questions each hides all answers.
  const mechanism = "questions" in task ? undefined : task.mechanism;
  const {
    level,
    distance = 0,
    delta = 0,
  } = mechanism?.name === "hash-bin" ? mechanism : { level: "user" as const };
  const abouts = { user: "everything", event: "item", neighbouring: "near" } as const;
  return { about: abouts[level], distance, delta };
}

/**
 * ε that the running window has spent: of each report the same, but for those that were
 * made of permanent answers before.
 */
export function spentInWindow(task: Task, { used, until }: Spent, sent: readonly Sent[]): number {
  const { answers, days } = budgetOf(task);
  if (answers === "fresh" || until === undefined) {
    return used * task.epsilon;
  }
  const from = until.getTime() - days * DAY_MS;
  const within = sent.filter(({ at }) => at.getTime() >= from);
  return within.reduce((sum, { epsilon }) => sum + epsilon, 0);
}

export function countedBy(
  sent: readonly Pick<Sent, "state">[],
): Readonly<Record<ReportState, number>> {
  const states = { waiting: 0, acknowledged: 0, refused: 0, withdrawn: 0 };
  for (const { state } of sent) {
    states[state] += 1;
  }
  return states;
}
