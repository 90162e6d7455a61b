/** Types, readers and canonical bytes of tasks with a local ε. */

import { CanonicalBytes } from "./canonical.js";
import {
  type FieldReader,
  invalidTask,
  readFields,
  readInteger,
  readListOf,
  readNumber,
  readOneOf,
  readString,
} from "./fields.js";
import { type Mechanism, writeMechanism } from "./mechanism/index.js";
import {
  parseQuestion,
  type Question,
  RATINGS_FIELDS,
  type RatingsFields,
  VALUES,
  writeItems,
  writeQuestion,
} from "./question.js";

/** Limit on the number of reports that one browser makes for a task. */
export interface Budget {
  /** Duration of a window in days, 1 to 3650. A window begins with its first report. */
  readonly days: number;
  /** Number of reports that a window may contain, 1 to 10000. */
  readonly reports: number;
  /**
   * Treatment of answers that are still the same in a later window.
   *
   * `fresh` makes a new report in each window, which spends ε again. `permanent` sends the same
   * report again, which spends nothing more. Equal reports show the receiver that one person sent
   * them.
   */
  readonly answers: "fresh" | "permanent";
}

/**
 * Default budget of the core. A task with this budget has the same {@link canonicalBytes} as a task
 * that states no budget.
 */
export const DEFAULT_BUDGET: Budget = { days: 30, reports: 1, answers: "fresh" };

export function budgetOf(task: AnyTask): Budget {
  return { ...DEFAULT_BUDGET, ...task.budget };
}

/**
 * Returns the maximum number of reports that a person can send in the 365 days after the first
 * report.
 */
export function reportsPerYear({ days, reports }: Budget): number {
  return Math.ceil(365 / days) * reports;
}

/** @internal */
export const budget: FieldReader<Partial<Budget>> = (from, key) =>
  readFields(
    from[key],
    key,
    {},
    { days: readInteger, reports: readInteger, answers: readOneOf(ANSWERS) },
  );

const ANSWERS = ["fresh", "permanent"] as const;

/** Fields that every task has, with a local or a central ε. */
export interface AnyTask {
  /** Id of the task, which is also in URLs: `a-z`, `0-9` and `-`. */
  readonly id: string;
  /** ε of one report. */
  readonly epsilon: number;
  /** Limit on the reports of one browser. */
  readonly budget?: Partial<Budget>;
}

interface TaskBase extends AnyTask {
  /** Local ε of one report, 0.001 to 12. */
  readonly epsilon: number;
}

/** Task that only asks for ratings of items. It has one question, without a name. */
export interface RatingsTask extends TaskBase, RatingsFields {
  /** Mechanism that randomises inputs. */
  readonly mechanism: Mechanism;
}

/**
 * Task that asks several named questions. A report answers one of them, with the whole ε. The
 * question is drawn at random, before the answers are read.
 */
export interface QuestionsTask extends TaskBase {
  /** Questions, 1 to 64. */
  readonly questions: readonly Question[];
}

/**
 * Complete task, as in the collector's task file and in the response of `GET /tasks/{id}`. All
 * parameters are public. Changing any parameter makes another task, with another fingerprint.
 */
export type Task = RatingsTask | QuestionsTask;

/** Task that the collector describes, and the fingerprint that the collector states for it. */
export interface FetchedTask {
  readonly task: Task;
  readonly fingerprint: string;
}

/**
 * Limits of ε in the core; a test compares them. This package checks them too, because a wrong ε is
 * the most common mistake.
 */
const MIN_EPSILON = 0.001;
const MAX_EPSILON = 12;

const epsilon: FieldReader<number> = (from, key) => {
  const value = readNumber(from, key);
  if (value < MIN_EPSILON || value > MAX_EPSILON) {
    throw invalidTask(`${key} is ${value}, expected ${MIN_EPSILON} to ${MAX_EPSILON}`);
  }
  return value;
};

/**
 * Reads a task, and checks its fields and the range of ε. The core checks all other ranges.
 *
 * @throws TaskError `invalid-task`
 */
export function parseTask(value: unknown): Task {
  const asked =
    Object(value).questions === undefined
      ? RATINGS_FIELDS
      : { questions: readListOf(parseQuestion) };
  return readFields(value, "it", { id: readString, epsilon, ...asked }, { budget }) as Task;
}

/**
 * Returns the start of a task's canonical bytes: the budget, unless it is the default.
 *
 * @internal
 */
export function canonicalBudgetBytes(task: AnyTask): CanonicalBytes {
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
 * Returns the canonical bytes of a task, as the core writes them. The fingerprint is a hash
 * of these bytes.
 *
 * @throws TaskError `invalid-task` for a task without canonical bytes
 * @internal
 */
export function canonicalBytes(task: Task): Uint8Array {
  const bytes = canonicalBudgetBytes(task);
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
