/** The task: what is asked, at which budget. */

import { CanonicalBytes } from "./canonical.js";
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

/** How often one browser may report to a task. */
export interface Budget {
  /** How long a window lasts, which begins with its first report, 1 to 3650. */
  readonly days: number;
  /** How many reports a window may hold, 1 to 10000. */
  readonly reports: number;
  /**
   * What tells of answers that stay the same over windows: a new report in each, which
   * spends ε again, or the same report again, which spends nothing more, and shows whoever
   * receives both that one person sent them.
   */
  readonly answers: "fresh" | "permanent";
}

/** As the core has it: the same as no budget, also in {@link canonicalBytes}. */
export const DEFAULT_BUDGET: Budget = { days: 30, reports: 1, answers: "fresh" };

export function budgetOf(task: AnyTask): Budget {
  return { ...DEFAULT_BUDGET, ...task.budget };
}

/** Returns the most reports that a person sends in the 365 days from the first. */
export function reportsAYear({ days, reports }: Budget): number {
  return Math.ceil(365 / days) * reports;
}

/** @internal */
export const budget: Reader<Partial<Budget>> = (from, key) =>
  read(from[key], key, {}, { days: integer, reports: integer, answers: oneOf(ANSWERS) });

const ANSWERS = ["fresh", "permanent"] as const;

/** What tasks of any kind have. */
export interface AnyTask {
  /** Name of the task, in URLs too: `a-z`, `0-9` and `-`. */
  readonly id: string;
  /** ε of one report. */
  readonly epsilon: number;
  /** How often one browser may report. */
  readonly budget?: Partial<Budget>;
}

interface Budgeted extends AnyTask {
  /** Local privacy budget ε of one report, 0.001 to 12. */
  readonly epsilon: number;
}

/** A task that asks one question, for ratings, which has no name. */
export interface RatingsTask extends Budgeted, Ratings {
  /** How inputs are randomised. */
  readonly mechanism: Mechanism;
}

/**
 * A task that asks questions by their names. A report answers one of them, with
 * all of ε; which one, chance decides before the answers are looked at.
 */
export interface QuestionsTask extends Budgeted {
  /** What is asked, 1 to 64 questions. */
  readonly questions: readonly Question[];
}

/**
 * A complete task, as in the collector's task file and in its
 * `GET /tasks/{id}`. All parameters are public; changing any of them makes
 * another task with another fingerprint.
 */
export type Task = RatingsTask | QuestionsTask;

/** Of the core, which a test holds equal; said here as it is what most often is wrong. */
const LEAST_EPSILON = 0.001;
const MOST_EPSILON = 12;

const epsilon: Reader<number> = (from, key) => {
  const value = number(from, key);
  if (value < LEAST_EPSILON || value > MOST_EPSILON) {
    throw invalid(`${key} is ${value}, expected ${LEAST_EPSILON} to ${MOST_EPSILON}`);
  }
  return value;
};

/**
 * Checks the shape of a task; ranges are the core's to check.
 *
 * @throws TaskError `invalid-task`
 */
export function parseTask(value: unknown): Task {
  const asked =
    Object(value).questions === undefined ? RATINGS : { questions: listOf(parseQuestion) };
  return read(value, "it", { id: text, epsilon, ...asked }, { budget }) as Task;
}

/**
 * What a task's canonical bytes begin with: its budget, unless that is the usual one.
 *
 * @internal
 */
export function budgetBytes(task: AnyTask): CanonicalBytes {
  const bytes = new CanonicalBytes();
  const { days, reports, answers } = budgetOf(task);
  const { days: window, reports: allowed, answers: usual } = DEFAULT_BUDGET;
  if (days !== window || reports !== allowed || answers !== usual) {
    bytes.text("hushbin budget 1");
    bytes.number(days);
    bytes.number(reports);
    bytes.number(ANSWERS.indexOf(answers));
  }
  return bytes;
}

/**
 * The bytes that a task's fingerprint is the hash of, as the core writes them.
 *
 * @throws TaskError `invalid-task` for what has no canonical bytes
 * @internal
 */
export function canonicalBytes(task: Task): Uint8Array {
  const bytes = budgetBytes(task);
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
