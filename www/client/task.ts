/** Types, readers and canonical bytes of tasks with a local ε. */

import { CanonicalBytesBuilder } from "./canonical.js";
import {
  type FieldReader,
  invalidTaskError,
  listReader,
  readFields,
  readInteger,
  readNumber,
  readTaskId,
} from "./fields.js";
import { type Mechanism, writeMechanism } from "./mechanism/index.js";
import {
  parseQuestion,
  type Question,
  RATING_VALUE_KINDS,
  RATINGS_FIELD_READERS,
  type RatingsFields,
  writeItems,
  writeQuestion,
} from "./question.js";

/** Limit on the number of reports that one browser makes for a task. */
export interface ReportBudget {
  /** Duration of a window in days, 1 to 3650. A window begins with its first report. */
  readonly days: number;
  /** Number of reports that a window may contain, 1 to 10000. */
  readonly reports: number;
  /**
   * Memo from which reports are made. A window then has one report. Without a memo, each report is
   * made from the answers and spends ε again.
   */
  readonly memo?: MemoParameters;
  /**
   * Cover reports, which hide who has answered. A window then has one report, and there is no memo.
   */
  readonly cover?: Cover;
}

/**
 * Cover reports: a browser with consent that has no answer also sends a report, made from "no
 * answer". All reports of a window leave at a time that does not depend on answers.
 *
 * A window begins when a page is first opened, and its report is made at once from "no answer". An
 * answer that is given before the report leaves replaces it. "No answer" is `false` for a flag, the
 * last option of a choice, and nothing for a set or ratings. Other kinds of questions have none.
 */
export interface Cover {
  /**
   * Minutes from the beginning of a window until its report is sent, 1 to all of the window. If no
   * page is open then, the report is sent when the next one is opened.
   */
  readonly minutes: number;
}

/**
 * Randomised answer that stays in the browser for an epoch. All reports of the epoch are made from
 * it. It is for tasks with one question of the kind `flag` or `choice`.
 *
 * All reports of an epoch together reveal at most ε = `epsilon`, and one report reveals at most the
 * task's ε. The answer is read once, at the first report of the epoch, so later changes show only
 * in the next epoch.
 */
export interface MemoParameters {
  /**
   * Local ε of all reports of an epoch together, 0.001 to 12. It must exceed the ε of one report.
   */
  readonly epsilon: number;
  /** Duration of an epoch in days. It is at least the budget's `days`, and at most 3650. */
  readonly days: number;
}

/**
 * Default budget of the core. A task with this budget has the same {@link canonicalBytes} as a task
 * that states no budget.
 */
export const DEFAULT_BUDGET: ReportBudget = { days: 30, reports: 1 };

export function budgetOf(task: AnyTask): ReportBudget {
  return { ...DEFAULT_BUDGET, ...task.budget };
}

/**
 * Returns the ε that a page limits by `maxEpsilon`: that of all reports of a window, or that of all
 * reports of an epoch if there is a memo.
 */
export function epsilonPerWindowOrEpoch(task: AnyTask): number {
  const { reports, memo } = budgetOf(task);
  return memo?.epsilon ?? task.epsilon * reports;
}

/**
 * Returns the maximum number of reports that a person can send in the 365 days after the first
 * report.
 */
export function maxReportsPerYear({ days, reports }: ReportBudget): number {
  return Math.ceil(365 / days) * reports;
}

/** @internal */
export const readBudget: FieldReader<Partial<ReportBudget>> = (from, key) =>
  readFields(
    from[key],
    key,
    {},
    { days: readInteger, reports: readInteger, memo: readMemo, cover: readCover },
  );

const readMemo: FieldReader<MemoParameters> = (from, key) =>
  readFields(from[key], key, { epsilon: readEpsilon, days: readInteger }, {});

const readCover: FieldReader<Cover> = (from, key) =>
  readFields(from[key], key, { minutes: readInteger }, {});

/** Fields that every task has, with a local or a central ε. */
export interface AnyTask {
  /**
   * Id of the task, which is also in URLs: `a-z`, `0-9` and `-`. A task of one label has the label
   * after a colon.
   */
  readonly id: string;
  /** Public labels of reports. The option `label` of a client chooses one. */
  readonly labels?: readonly string[];
  /** ε of one report. */
  readonly epsilon: number;
  /** Limit on the reports of one browser. */
  readonly budget?: Partial<ReportBudget>;
}

interface LocalTaskBase extends AnyTask {
  /** Local ε of one report, 0.001 to 12. */
  readonly epsilon: number;
}

/** Task that only asks for ratings of items. It has one question, without a name. */
export interface RatingsTask extends LocalTaskBase, RatingsFields {
  /** Mechanism that randomises inputs. */
  readonly mechanism: Mechanism;
}

/**
 * Task that asks several named questions. A report answers one of them, with the whole ε. The
 * question is drawn at random, before the answers are read.
 */
export interface QuestionsTask extends LocalTaskBase {
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

const readEpsilon: FieldReader<number> = (from, key) => {
  const value = readNumber(from, key);
  if (value < MIN_EPSILON || value > MAX_EPSILON) {
    throw invalidTaskError(`${key} is ${value}, expected ${MIN_EPSILON} to ${MAX_EPSILON}`);
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
      ? RATINGS_FIELD_READERS
      : { questions: listReader(parseQuestion) };
  return readFields(
    value,
    "it",
    { id: readTaskId, epsilon: readEpsilon, ...asked },
    { budget: readBudget },
  ) as Task;
}

/**
 * Returns the start of a task's canonical bytes: the budget, unless it is the default.
 *
 * @internal
 */
export function canonicalBuilderWithBudget(task: AnyTask): CanonicalBytesBuilder {
  const bytes = new CanonicalBytesBuilder();
  const { days, reports, memo, cover } = budgetOf(task);
  const { days: window, reports: allowed } = DEFAULT_BUDGET;
  if (days !== window || reports !== allowed || memo || cover) {
    bytes.appendText("hushbin budget 1");
    bytes.appendInteger(days);
    bytes.appendInteger(reports);
    bytes.appendInteger(Number(memo !== undefined) + 2 * Number(cover !== undefined));
    if (memo) {
      bytes.appendFloat(memo.epsilon);
      bytes.appendInteger(memo.days);
    }
    if (cover) {
      bytes.appendInteger(cover.minutes);
    }
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
  const bytes = canonicalBuilderWithBudget(task);
  const named = "questions" in task;
  bytes.appendText(named ? "hushbin task 2" : "hushbin task 1");
  bytes.appendText(task.id);
  if (named) {
    bytes.appendFloat(task.epsilon);
    bytes.appendInteger(task.questions.length);
    for (const question of task.questions) {
      writeQuestion(question, bytes);
    }
  } else {
    writeItems(task.items, bytes);
    bytes.appendInteger(task.sparsity);
    bytes.appendFloat(task.epsilon);
    bytes.appendInteger(RATING_VALUE_KINDS.indexOf(task.value));
    writeMechanism(task.mechanism, bytes);
  }
  return bytes.toBytes();
}
