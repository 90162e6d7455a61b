/** A task from the collector. */

import { NetworkError, TaskError } from "./errors.js";
import { invalid } from "./fields.js";
import type { Settings } from "./options.js";
import { parseTask, type Task } from "./task.js";
import { backoffMs, later } from "./time.js";
import { type Answer, answerTo, PROBLEM, unreachable } from "./transport.js";

/** A task as the collector describes it. */
export interface FetchedTask {
  readonly task: Task;
  readonly fingerprint: string;
}

/**
 * Asks once. A plain GET without headers of our own, so no preflight.
 *
 * @throws NetworkError when something that is not the collector answers, or nothing
 * @throws TaskError `unknown-task`, or `invalid-task` when the answer holds another task
 */
export async function fetchTask(
  url: string,
  id: string,
  fetch: typeof globalThis.fetch,
): Promise<FetchedTask> {
  let answer: Answer;
  try {
    answer = await answerTo(fetch, url);
  } catch (cause) {
    throw new NetworkError(`task ${id} could not be fetched: ${unreachable(cause)}`, { cause });
  }
  const { status, retryAfterMs, body } = answer;
  if (body.type === `${PROBLEM}unknown-task`) {
    throw new TaskError("unknown-task", `the collector has no task ${id}`);
  }
  const { fingerprint } = body;
  if (status !== 200 || body.task === undefined || typeof fingerprint !== "string") {
    throw new NetworkError(`${url} answered ${status} and no task`, { status, retryAfterMs });
  }
  const task = parseTask(body.task);
  if (task.id !== id) {
    throw invalid(`asked for ${id}, got ${task.id}`);
  }
  return { task, fingerprint };
}

/** Fetches the task of a client, or what else it needs, as often as it takes. */
export class TaskSource {
  readonly #onError: Settings["onError"];
  /** Who waits for the next failure. */
  readonly #told = new Set<(error: NetworkError) => void>();
  #notBefore = 0;
  #endPause = () => {};
  /** Whether no further attempt is made. */
  stopped = false;

  constructor({ onError }: Settings) {
    this.#onError = onError;
  }

  /**
   * @param ask asks once
   * @throws what `ask` throws that is no NetworkError
   */
  async fetch<R>(ask: () => Promise<R>): Promise<R> {
    for (let failures = 1; ; failures += 1) {
      try {
        return await ask();
      } catch (error) {
        if (!(error instanceof NetworkError) || this.stopped) {
          throw error;
        }
        this.#tell(error);
        this.#notBefore = Date.now() + (error.retryAfterMs ?? 0);
        await this.#pause(backoffMs(failures, error.retryAfterMs));
        if (this.stopped) {
          throw error;
        }
      }
    }
  }

  /** Rejects at the next attempt that fails. */
  failure(): Promise<never> {
    return new Promise((_, reject) => {
      this.#told.add(reject);
    });
  }

  /** Tries again now, unless the collector asked to wait. */
  wake(): void {
    if (Date.now() >= this.#notBefore) {
      this.#endPause();
    }
  }

  /** Makes no further attempt. */
  stop(): void {
    this.stopped = true;
    this.#endPause();
  }

  #tell(error: NetworkError): void {
    if (this.#told.size === 0) {
      this.#onError(error);
    }
    this.#told.forEach((told) => void told(error));
    this.#told.clear();
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = later(resolve, ms);
      this.#endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}
