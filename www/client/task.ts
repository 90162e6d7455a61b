/** The task: what is asked, at which budget. */

import { CanonicalBytes } from "./canonical.js";
import { NetworkError, TaskError } from "./errors.js";
import { integer, invalid, listOf, number, oneOf, type Reader, read, text } from "./fields.js";
import { type Mechanism, writeMechanism } from "./mechanism/index.js";
import {
  parseQuestion,
  type Question,
  RATINGS,
  type Ratings,
  VALUES,
  writeItems,
  writeQuestion,
} from "./question.js";

/** How much one person reports; the client keeps to it, in the person's own browser. */
export interface Budget {
  /** Length of a window, which begins with its first report: 1 to 3650 days; 30 if left out. */
  readonly days?: number;
  /** Reports in a window, at most: 1 to 10000; 1 if left out. */
  readonly reports?: number;
  /**
   * What tells of answers that have not changed since an earlier window: a new report
   * (`fresh`, if left out), which spends ε again; or the same one again (`permanent`),
   * which spends nothing more, and shows whoever receives both that one person sent them.
   */
  readonly answers?: "fresh" | "permanent";
}

interface Common {
  /** Name of the task, in URLs too: `a-z`, `0-9` and `-`. */
  readonly id: string;
  /** Local privacy budget ε of one report, 0.001 to 12. */
  readonly epsilon: number;
  /** How much one person reports. */
  readonly budget?: Budget;
}

/** A task that asks one question, for ratings, which has no name. */
export interface RatingsTask extends Common, Ratings {
  /** How inputs are randomised. */
  readonly mechanism: Mechanism;
}

/**
 * A task that asks questions by their names. A report answers one of them, with
 * all of ε; which one, chance decides before the answers are looked at.
 */
export interface QuestionsTask extends Common {
  /** What is asked, 1 to 64 questions. */
  readonly questions: readonly Question[];
}

/**
 * A complete task, as in the collector's task file and in its
 * `GET /tasks/{id}`. All parameters are public; changing any of them makes
 * another task with another fingerprint.
 */
export type Task = RatingsTask | QuestionsTask;

/** A task as the collector describes it. */
export interface FetchedTask {
  readonly task: Task;
  readonly fingerprint: string;
}

const ANSWERS = ["fresh", "permanent"] as const;

/** As the core has it; what is left out of a budget, or all of it, is this. */
const DEFAULT: Required<Budget> = { days: 30, reports: 1, answers: "fresh" };

/** How much one person reports under a task. */
export function budgetOf({ budget }: Task): Required<Budget> {
  return { ...DEFAULT, ...budget };
}

const readBudget: Reader<Budget> = (from, key) =>
  read(from[key], key, {}, { days: integer, reports: integer, answers: oneOf(ANSWERS) });

/**
 * Checks the shape of a task; ranges are the core's to check.
 *
 * @throws TaskError `invalid-task`
 */
export function parseTask(value: unknown): Task {
  const asked =
    Object(value).questions === undefined ? RATINGS : { questions: listOf(parseQuestion) };
  return read(value, "it", { id: text, epsilon: number, ...asked }, { budget: readBudget }) as Task;
}

/**
 * The bytes that a task's fingerprint is the hash of, as the core writes them.
 *
 * @throws TaskError `invalid-task` for what has no canonical bytes
 * @internal
 */
export function canonicalBytes(task: Task): Uint8Array {
  const bytes = new CanonicalBytes();
  const { days, reports, answers } = budgetOf(task);
  if (days !== DEFAULT.days || reports !== DEFAULT.reports || answers !== DEFAULT.answers) {
    bytes.text("hushbin budget 1");
    bytes.number(days);
    bytes.number(reports);
    bytes.number(ANSWERS.indexOf(answers));
  }
  const named = "questions" in task;
  bytes.text(named ? "hushbin task 2" : "hushbin task 1");
  bytes.text(task.id);
  if (named) {
    bytes.float(task.epsilon);
    bytes.number(task.questions.length);
    for (const question of task.questions) {
      writeQuestion(question, bytes);
    }
  } else {
    writeItems(task.items, bytes);
    bytes.number(task.sparsity);
    bytes.float(task.epsilon);
    bytes.number(VALUES.indexOf(task.value));
    writeMechanism(task.mechanism, bytes);
  }
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
