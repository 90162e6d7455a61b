/**
 * Reads a person's numbers or answers, which have names, and puts them into the order in which the
 * core takes them. Options become indices.
 */

import { namedValuesOf } from "../entries.js";
import { AnswerError, UnknownItemError } from "../errors.js";
import type { OptionName, PackedEntries } from "../input.js";
import {
  type CountedQuestion,
  itemNamesOrCount,
  type NumbersTask,
  type QuestionsSumTask,
  type SumTask,
  type VectorTask,
} from "./task.js";

type NumbersByName<Name extends string> =
  | Readonly<Record<Name, number>>
  | ReadonlyMap<string, number>;

/** Type of the answer to a question. */
type CountedAnswer<Q> = Q extends { readonly kind: "set"; readonly options: infer O }
  ? readonly OptionName<O>[] | ReadonlySet<OptionName<O>>
  : Q extends { readonly kind: "choice"; readonly options: infer O }
    ? OptionName<O>
    : Q extends { readonly kind: "flag" }
      ? boolean
      : number;

type AnswersByQuestion<Q extends CountedQuestion> = {
  readonly [Name in Q["name"]]: CountedAnswer<Extract<Q, { readonly name: Name }>>;
};

/**
 * Answers of one person: a number for each name. For a vector whose `items` is a number, an array
 * of all its numbers. For questions, an answer to each by name, as in tasks with a local ε: an
 * option's name, an array or Set of option names, a boolean for a flag, or a number.
 *
 * Numbers beyond a limit are clipped to it. Vectors longer than the maximum length are shortened.
 * If a set has more options than its sparsity, a random part of it is sent.
 *
 * @typeParam T the task; its names are checked if its type is that of a literal
 */
export type SumInput<T extends SumTask = SumTask> = T extends NumbersTask
  ? NumbersByName<T["numbers"][number]["name"]>
  : T extends VectorTask
    ? T["vector"]["items"] extends number
      ? readonly number[] | Float32Array | Float64Array
      : T["vector"]["items"] extends readonly (infer Name extends string)[]
        ? NumbersByName<Name>
        : NumbersByName<string> | readonly number[] | Float32Array | Float64Array
    : T extends QuestionsSumTask
      ? AnswersByQuestion<T["questions"][number]> | ReadonlyMap<string, unknown>
      : never;

/**
 * Returns whether an input is an array or a typed array. An input that can be read only once was
 * already copied to a Map or an array.
 */
const isList = (input: unknown): input is Iterable<unknown> =>
  Array.isArray(input) || (ArrayBuffer.isView(input) && "length" in input);

/**
 * Returns the values of an input by name, after checking that the task has all the names.
 *
 * @throws AnswerError, UnknownItemError
 */
function valuesByName(
  task: SumTask,
  names: readonly string[],
  input: unknown,
  expected: string,
): ReadonlyMap<string, unknown> {
  const entries = namedValuesOf(input);
  if (entries === undefined) {
    throw new AnswerError(undefined, input, expected);
  }
  for (const [name] of entries) {
    if (!names.includes(name)) {
      throw new UnknownItemError(name, `task ${task.id}`);
    }
  }
  return new Map(entries);
}

/** Returns a person's numbers in the order of the task's items, after checking that they are finite. */
function numbersInOrder(task: SumTask, input: unknown): number[] {
  const items = itemNamesOrCount(task);
  let values: unknown[];
  if (typeof items === "number") {
    values = isList(input) ? [...input] : [];
    if (values.length !== items) {
      throw new AnswerError(undefined, input, `${items} numbers in an array`);
    }
  } else {
    const given = valuesByName(task, items, input, "numbers by name, in an object or Map");
    values = items.map((name) => given.get(name));
  }
  values.forEach((value, index) => {
    if (!Number.isFinite(value)) {
      const name = typeof items === "number" ? String(index) : items[index];
      throw new AnswerError(name, value, "a finite number");
    }
  });
  return values as number[];
}

/**
 * Returns the index of an option of a question.
 *
 * @throws AnswerError, UnknownItemError
 */
function optionIndex(
  { name, options }: Extract<CountedQuestion, { readonly options: unknown }>,
  given: unknown,
  expected: string,
): number {
  const index = typeof options === "number" ? given : options.indexOf(given as string);
  const count = typeof options === "number" ? options : options.length;
  if (Number.isInteger(index) && (index as number) >= 0 && (index as number) < count) {
    return index as number;
  }
  throw typeof given === "string"
    ? new UnknownItemError(given, `question ${JSON.stringify(name)}`)
    : new AnswerError(name, given, expected);
}

/**
 * Returns the numbers by which the core knows the answer to a question.
 *
 * @throws AnswerError, UnknownItemError
 */
function codedAnswer(question: CountedQuestion, answer: unknown): number[] {
  const { name, kind } = question;
  if (kind === "flag") {
    if (typeof answer !== "boolean") {
      throw new AnswerError(name, answer, "true or false");
    }
    return [Number(answer)];
  }
  if (kind === "number") {
    if (!Number.isFinite(answer)) {
      throw new AnswerError(name, answer, "a finite number");
    }
    return [answer as number];
  }
  if (kind === "choice") {
    return [optionIndex(question, answer, "an option's name")];
  }
  const expected = "names of different options, in an array or Set";
  // Recognises Sets of other windows too.
  const isSet = Object.prototype.toString.call(answer) === "[object Set]";
  const options = Array.isArray(answer) || isSet ? [...(answer as Iterable<unknown>)] : undefined;
  if (options === undefined || new Set(options).size < options.length) {
    throw new AnswerError(name, answer, expected);
  }
  return options.map((option) => optionIndex(question, option, expected));
}

function codedAnswers(task: QuestionsSumTask, input: unknown): number[] {
  const names = task.questions.map(({ name }) => name);
  const given = valuesByName(task, names, input, "an object of answers by question");
  return task.questions.flatMap((question) => codedAnswer(question, given.get(question.name)));
}

/**
 * Reads a person's numbers or answers, and checks them.
 *
 * @throws AnswerError, UnknownItemError
 * @internal
 */
export function readAnswers(task: SumTask, input: unknown): PackedEntries {
  const values = "questions" in task ? codedAnswers(task, input) : numbersInOrder(task, input);
  return {
    entryCounts: new Uint32Array(),
    items: new Uint32Array(),
    values: Float64Array.from(values),
    clippedCount: 0,
    unknownAnswerErrors: [],
  };
}
