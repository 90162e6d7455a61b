/**
 * Reads a person's numbers, which have names, and puts them into the order in which the core takes
 * them.
 */

import { namedValuesOf } from "../entries.js";
import { AnswerError, UnknownItemError } from "../errors.js";
import type { PackedEntries } from "../input.js";
import { itemNamesOrCount, type NumbersTask, type SumTask, type VectorTask } from "./task.js";

type NumbersByName<Name extends string> =
  | Readonly<Record<Name, number>>
  | ReadonlyMap<string, number>;

/**
 * Answers of one person: a number for each name. For a vector whose `items` is a number, an array
 * of all its numbers.
 *
 * Numbers beyond a limit are clipped to it. Vectors longer than the maximum length are shortened.
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
    : never;

/**
 * Returns whether an input is an array or a typed array. An input that can be read only once was
 * already copied to a Map or an array.
 */
const isList = (input: unknown): input is Iterable<unknown> =>
  Array.isArray(input) || (ArrayBuffer.isView(input) && "length" in input);

/** Returns the given numbers in the order of the task's items. */
function valuesInOrder(task: SumTask, input: unknown): unknown[] {
  const items = itemNamesOrCount(task);
  if (typeof items === "number") {
    const values = isList(input) ? [...input] : [];
    if (values.length !== items) {
      throw new AnswerError(undefined, input, `${items} numbers in an array`);
    }
    return values;
  }
  const entries = namedValuesOf(input);
  if (entries === undefined) {
    throw new AnswerError(undefined, input, "numbers by name, in an object or Map");
  }
  const given = new Map(entries);
  for (const name of given.keys()) {
    if (!items.includes(name)) {
      throw new UnknownItemError(name, `task ${task.id}`);
    }
  }
  return items.map((name) => given.get(name));
}

/**
 * Reads a person's numbers, and checks that all are finite.
 *
 * @throws AnswerError, UnknownItemError
 * @internal
 */
export function readNumbers(task: SumTask, input: unknown): PackedEntries {
  const values = valuesInOrder(task, input);
  values.forEach((value, index) => {
    if (!Number.isFinite(value)) {
      const items = itemNamesOrCount(task);
      const name = typeof items === "number" ? String(index) : items[index];
      throw new AnswerError(name, value, "a finite number");
    }
  });
  return {
    entryCounts: new Uint32Array(),
    items: new Uint32Array(),
    values: Float64Array.from(values as number[]),
    clippedCount: 0,
    unknownAnswerErrors: [],
  };
}
