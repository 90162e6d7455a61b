/** Checks of the options for sealed reports. */

import {
  type ClientOptions,
  type ClientSettings,
  checkOption,
  isSumTask,
  type Relay,
} from "../options.js";
import type { SumTask } from "../sums/task.js";
import type { Task } from "../task.js";

/** Options for sealing that have been checked. */
export interface SealedSettings {
  /** Pins of the analyser's keys, in lower case. */
  readonly analyserKeyPins: readonly string[];
  readonly relay: Relay | undefined;
  /** Value of the option `delayMs`. Undefined if the page did not set it. */
  readonly delayMs: number | undefined;
}

/**
 * Checks the options for sealing: that they are complete, and match the kind of task.
 *
 * @throws OptionError
 */
export function sealedSettingsOf({
  sealingOptions: shuffled,
  task,
}: ClientSettings): SealedSettings {
  // Each kind of task has its own options.
  const options = shuffled as ClientOptions<Task | SumTask>;
  const { analyser, relay, trust, maxEpsilon, maxCentralEpsilon, delayMs } = options;
  if (isSumTask(task)) {
    checkOption(
      "trust",
      trust,
      trust === "shuffler",
      '"shuffler": of sums there is no local ε, and whoever links messages to a person reads the answer',
    );
    checkOption(
      "maxEpsilon",
      maxEpsilon,
      maxEpsilon === undefined,
      "maxCentralEpsilon: there is no local ε",
    );
  } else {
    checkOption("trust", trust, trust === undefined, "none: the task is not one of sums");
    checkOption(
      "maxCentralEpsilon",
      maxCentralEpsilon,
      maxCentralEpsilon === undefined,
      "maxEpsilon: the task has a local ε",
    );
  }
  // Refuse null and "": without a relay, requests would go straight to the collector.
  checkOption(
    "relay",
    relay,
    relay === undefined || Object(relay) === relay,
    "its url and gateway",
  );
  const pins = Array.isArray(analyser) ? analyser.map((pin) => String(pin).toLowerCase()) : [];
  const pinned = pins.length > 0 && pins.every((pin) => /^[0-9a-f]{32}$/.test(pin));
  checkOption("analyser", analyser, pinned, "an array of pins, of 32 hexadecimal digits each");
  return { analyserKeyPins: pins, relay, delayMs };
}
