/** Options of clients whose reports are sealed. */

import { TaskError } from "../errors.js";
import { type ClientOptions, check, isSum, type Relay, type Settings } from "../options.js";
import type { SumTask } from "../sums/task.js";
import { budgetOf, type Task } from "../task.js";

const MAX_CENTRAL_EPSILON = 2;

/** Options for sealing that have been checked. */
export interface SealedSettings {
  /** Pins of the analyser's keys, in lower case. */
  readonly analyser: readonly string[];
  readonly relay: Relay | undefined;
  /** Option `delayMs` as the page gave it. */
  readonly delayMs: number | undefined;
}

/** Checks that a task of sums spends no more than the page allows. */
function checkSpending(task: SumTask, maxCentralEpsilon: number): void {
  const { days, reports } = budgetOf(task);
  const spends = task.epsilon * reports;
  if (spends > maxCentralEpsilon) {
    throw new TaskError(
      "over-max-epsilon",
      `task ${task.id} may spend central ε = ${spends} in ${days} days, maxCentralEpsilon is ${maxCentralEpsilon}`,
    );
  }
}

/**
 * Checks that the options match the kind of task, and are complete for sealing.
 *
 * @throws OptionError
 * @throws TaskError `over-max-epsilon`
 */
export function sealedSettingsOf({ shuffled, task }: Settings): SealedSettings {
  // Each kind of task has its own options.
  const options = shuffled as ClientOptions<Task | SumTask>;
  const { analyser, relay, trust, maxEpsilon, maxCentralEpsilon, delayMs } = options;
  if (isSum(task)) {
    check(
      "trust",
      trust,
      trust === "shuffler",
      '"shuffler": of sums there is no local ε, and whoever links messages to a person reads the answer',
    );
    check(
      "maxEpsilon",
      maxEpsilon,
      maxEpsilon === undefined,
      "maxCentralEpsilon: there is no local ε",
    );
    const most: unknown = maxCentralEpsilon ?? MAX_CENTRAL_EPSILON;
    check("maxCentralEpsilon", most, typeof most === "number" && most >= 0, "a number from 0");
    checkSpending(task, Number(most));
  } else {
    check("trust", trust, trust === undefined, "none: the task is not one of sums");
    check(
      "maxCentralEpsilon",
      maxCentralEpsilon,
      maxCentralEpsilon === undefined,
      "maxEpsilon: the task has a local ε",
    );
  }
  // Refuse null and "": without a relay, requests would go straight to the collector.
  check("relay", relay, relay === undefined || Object(relay) === relay, "its url and gateway");
  const pins = Array.isArray(analyser) ? analyser.map((pin) => String(pin).toLowerCase()) : [];
  const pinned = pins.length > 0 && pins.every((pin) => /^[0-9a-f]{32}$/.test(pin));
  check("analyser", analyser, pinned, "an array of pins, of 32 hexadecimal digits each");
  return { analyser: pins, relay, delayMs };
}
