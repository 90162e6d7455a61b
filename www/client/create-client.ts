/** Creation of clients. */

import { HushbinClient } from "./client.js";
import type { Client } from "./client-interface.js";
import { type ClientOptions, isSumTask, settingsFromOptions } from "./options.js";
import { convertLocalResult, createSumConverter } from "./results.js";
import type { SumTask } from "./sums/task.js";
import type { Task } from "./task.js";

/**
 * Creates a client for one task of one collector.
 *
 * Returns at once. The code, the task and the keys are loaded after consent is granted, and reports
 * wait for them. With the option `analyser`, reports are sealed to an analyser, and `endpoint` is
 * the address of a shuffler. The same applies to a sum task, which also needs the option `trust`.
 *
 * @example
 * ```ts
 * const client = createClient({ endpoint: "https://telemetry.example", task });
 * client.grant(); // once the person agrees
 * ```
 *
 * @throws OptionError if an option is invalid. The contents of the task, and options of sealing,
 * sums and relays, are checked later. The error then comes from the calls that wait for the client,
 * and for the task it is a TaskError
 */
export function createClient<const T extends Task | SumTask | string>(
  options: ClientOptions<T>,
): Client<T extends string ? Task : T>;
export function createClient(
  options: ClientOptions<Task | SumTask | string>,
): Client | Client<SumTask> {
  // Without options, the error names the first that is missing.
  const settings = settingsFromOptions(Object(options));
  const { task } = settings;
  return isSumTask(task)
    ? new HushbinClient<SumTask>(settings, createSumConverter(task))
    : new HushbinClient<Task>(settings, convertLocalResult);
}
