/** State of a task's budget as clients show it. */

import { ledgerAtTime, spentInOpenWindows, type TaskAndCollectorLedgers } from "./budget.js";
import type { BudgetStatus } from "./results.js";
import { type AnyTask, budgetOf } from "./task.js";

/**
 * Returns the state of a task's budget now.
 *
 * @param task undefined while the task is not known
 */
export function budgetStatus(
  task: AnyTask | undefined,
  { taskLedger, collectorCharges }: TaskAndCollectorLedgers,
  maxEpsilon: number,
  durable: boolean,
): BudgetStatus {
  const now = Date.now();
  const { used, until, spent, reports, held } = ledgerAtTime(taskLedger, now);
  return {
    epsilon: task?.epsilon,
    allowed: task && budgetOf(task).reports,
    used,
    until: used > 0 ? new Date(until) : undefined,
    ...(held && { heldUntil: new Date(held.due) }),
    spent,
    reports,
    spentOnAll: spentInOpenWindows(collectorCharges, now),
    maxEpsilon,
    durable,
  };
}
