/** The task: what is asked, of which items, at which budget. */

import { CanonicalBytes } from "./canonical.js";
import { NetworkError, TaskError } from "./errors.js";
import { type Fields, fields, integer, invalid, number, oneOf, text } from "./fields.js";
import { type Mechanism, parseMechanism, writeMechanism } from "./mechanism/index.js";

/**
 * A complete task, as in the collector's task file and in its
 * `GET /tasks/{id}`. All parameters are public; changing any of them makes
 * another task with another fingerprint.
 */
export interface Task {
  /** Name of the task, in URLs too: `a-z`, `0-9` and `-`. */
  readonly id: string;
  /**
   * Names of the items; or how many there are, when they are named "0", "1"
   * and so on; or `"open"` for arbitrary names.
   */
  readonly items: readonly string[] | number | "open";
  /**
   * Greatest number of items in one input that is reported in full, 1 to 1024.
   * Hash-bin takes every entry; this many are what it was planned for.
   */
  readonly sparsity: number;
  /** Local privacy budget ε of one report, 0.001 to 12. */
  readonly epsilon: number;
  /** Whether values are 1 and -1, or any number from -1 to 1. */
  readonly value: "sign" | "real";
  /** How inputs are randomised. */
  readonly mechanism: Mechanism;
}

/** A task as the collector describes it. */
export interface FetchedTask {
  readonly task: Task;
  readonly fingerprint: string;
}

function parseItems(task: Fields): Task["items"] {
  const { items } = task;
  if (items === "open") {
    return items;
  }
  if (!Array.isArray(items)) {
    return integer(task, "items");
  }
  return items.map((name: unknown) => {
    if (typeof name !== "string") {
      throw invalid(`${JSON.stringify(name)} is not the name of an item`);
    }
    return name;
  });
}

/**
 * Checks the shape of a task; ranges are the core's to check.
 *
 * @throws TaskError `invalid-task`
 */
export function parseTask(value: unknown): Task {
  const task = fields(value, "it", ["id", "items", "sparsity", "epsilon", "value", "mechanism"]);
  return {
    id: text(task, "id"),
    items: parseItems(task),
    sparsity: integer(task, "sparsity"),
    epsilon: number(task, "epsilon"),
    value: oneOf(task, "value", ["sign", "real"]),
    mechanism: parseMechanism(task.mechanism),
  };
}

/**
 * The bytes that a task's fingerprint is the hash of, as the core writes them.
 *
 * @throws TaskError `invalid-task` for what has no canonical bytes
 * @internal
 */
export function canonicalBytes(task: Task): Uint8Array {
  const bytes = new CanonicalBytes();
  bytes.text("hushbin task 1");
  bytes.text(task.id);
  const { items } = task;
  if (items === "open") {
    bytes.number(2);
  } else if (typeof items === "number") {
    bytes.number(1);
    bytes.number(items);
  } else {
    bytes.number(0);
    bytes.number(items.length);
    for (const name of items) {
      bytes.text(name);
    }
  }
  bytes.number(task.sparsity);
  bytes.float(task.epsilon);
  bytes.number(Number(task.value === "real"));
  writeMechanism(task.mechanism, bytes);
  return bytes.toBytes();
}

/**
 * Fetches a task from the collector. A plain GET without headers of our own,
 * so no preflight.
 *
 * @throws NetworkError when the collector cannot be reached or fails
 * @throws TaskError `unknown-task`, or `invalid-task` when the answer is not a task
 */
export async function fetchTask(
  url: string,
  id: string,
  fetch: typeof globalThis.fetch,
): Promise<FetchedTask> {
  let response: Response;
  try {
    response = await fetch(url, { credentials: "omit", referrerPolicy: "no-referrer" });
  } catch (cause) {
    throw new NetworkError(`task ${id} could not be fetched from ${url}`, { cause });
  }
  const { status } = response;
  if (status === 404) {
    throw new TaskError("unknown-task", `the collector has no task ${id}`);
  }
  if (!response.ok) {
    throw new NetworkError(`the collector answered ${status} when asked for task ${id}`, {
      status,
    });
  }
  let answer: Partial<Record<"task" | "fingerprint", unknown>> | null;
  try {
    answer = await response.json();
  } catch (cause) {
    throw new TaskError("invalid-task", `${url} did not answer with JSON`, { cause });
  }
  const task = parseTask(answer?.task);
  if (task.id !== id) {
    throw invalid(`asked for ${id}, got ${task.id}`);
  }
  if (typeof answer?.fingerprint !== "string") {
    throw invalid("the collector gave no fingerprint");
  }
  return { task, fingerprint: answer.fingerprint };
}
