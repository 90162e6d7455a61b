/** Fetches and remembers tasks that the collector describes. */

import { isWindowFull, type TaskLedger } from "./budget.js";
import { NetworkError, TaskError } from "./errors.js";
import { invalidTaskError } from "./fields.js";
import type { ClientSettings } from "./options.js";
import type { SessionRequests } from "./session-requests.js";
import { budgetOf, type FetchedTask, type parseTask } from "./task.js";
import { PROBLEM_PREFIX, sendRequest, unreachableReason } from "./transport.js";

/**
 * Fetches a task from the collector, in one attempt. A plain GET without additional headers needs
 * no preflight.
 *
 * @throws NetworkError if there is no response, or it is not from the collector
 * @throws TaskError `unknown-task`, or `invalid-task` if the response contains another task
 */
async function fetchTask(
  url: string,
  id: string,
  fetch: typeof globalThis.fetch,
  parse: typeof parseTask,
): Promise<FetchedTask> {
  const { status, retryAfterMs, body } = await sendRequest(fetch, url).catch((cause: unknown) => {
    throw new NetworkError(`task ${id} could not be fetched: ${unreachableReason(cause)}`, {
      cause,
    });
  });
  if (body.type === `${PROBLEM_PREFIX}unknown-task`) {
    throw new TaskError("unknown-task", `the collector has no task ${id}, perhaps it has labels`);
  }
  const { fingerprint } = body;
  if (status !== 200 || body.task === undefined || typeof fingerprint !== "string") {
    throw new NetworkError(`${url} answered ${status} and no task`, { status, retryAfterMs });
  }
  const task = parse(body.task);
  if (task.id !== id) {
    throw invalidTaskError(`asked for ${id}, got ${task.id}`);
  }
  return { task, fingerprint };
}

/** Task as the collector describes it now, or described it earlier. */
export interface CollectorDescribedTask {
  readonly fetchedTask: FetchedTask;
  /**
   * Time until which a session may use the task, in milliseconds since 1970. For a remembered task,
   * this is the end of the full window: after it, the collector may have another task. Undefined if
   * the task was fetched.
   */
  readonly usableUntil?: number;
}

/**
 * Returns the task that the collector describes. If the window is full and the label is the same,
 * returns the remembered task. Otherwise, fetches the task until that succeeds.
 *
 * @param parse parses a task. It is an argument because every page already has this code
 * @throws TaskError `unknown-task`, `invalid-task`
 * @throws ClosedError after the session was stopped
 */
export async function taskFromCollector(
  { url, id, fetch }: ClientSettings,
  requests: SessionRequests,
  ledger: TaskLedger,
  parse: typeof parseTask,
): Promise<CollectorDescribedTask> {
  const { described, until } = ledger;
  // The remembered task may have another label.
  return described?.task.id === id && isWindowFull(ledger, budgetOf(described.task), Date.now())
    ? { fetchedTask: described, usableUntil: until }
    : { fetchedTask: await requests.retryUntilSuccess(() => fetchTask(url, id, fetch, parse)) };
}
