/** Facts about a task, its budget and its reports. Other modules turn them into text. */

import type { HistoryEntry } from "../results.js";
import type { ReportState } from "../store/store.js";
import type { Task } from "../task.js";

/** Protection that the ε of one report gives to a person's answers. */
export interface Protection {
  /**
   * Information that is protected. `everything`: all answers. `item`: the value of one item,
   * against an observer who knows all other values. `near`: which of two similar inputs the person
   * has.
   */
  readonly about: "everything" | "item" | "near";
  /** Maximum difference between the two inputs for `near`, summed over items. It is 0 otherwise. */
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

export function countReportsByState(
  sent: readonly Pick<HistoryEntry, "state">[],
): Readonly<Record<ReportState, number>> {
  const states = { waiting: 0, acknowledged: 0, refused: 0, withdrawn: 0 };
  for (const { state } of sent) {
    states[state] += 1;
  }
  return states;
}
