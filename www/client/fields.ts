/**
 * Readers of the fields of a task. They check which fields exist and which types they have. The
 * core checks ranges.
 */

import { TaskError } from "./errors.js";
import { TASK_ID } from "./labels.js";

/** Object with fields that are not checked yet. */
export type UncheckedFields = Readonly<Record<string, unknown>>;

/** Function that reads and checks one field of an object. */
export type FieldReader<T> = (from: UncheckedFields, key: string) => T;

/** Functions that read and check fields, by field name. */
export type FieldReaders = Readonly<Record<string, FieldReader<unknown>>>;

type ParsedFields<R extends FieldReaders> = { readonly [K in keyof R]: ReturnType<R[K]> };

export function invalidTaskError(what: string): TaskError {
  return new TaskError("invalid-task", `task is invalid: ${what}`);
}

/** Reads the id of a task, with or without a label. The core of pages does not check it. */
export const readTaskId: FieldReader<string> = (from, key) => {
  const id = readString(from, key);
  if (!TASK_ID.test(id)) {
    throw invalidTaskError(`id is ${JSON.stringify(id)}, expected a-z, 0-9 and -`);
  }
  return id;
};

/**
 * Reads an object. It must have all required fields, may have the optional fields, and may have no
 * other fields.
 *
 * @throws TaskError `invalid-task`
 */
export function readFields<R extends FieldReaders, O extends FieldReaders>(
  value: unknown,
  what: string,
  required: R,
  optional: O,
): ParsedFields<R> & Partial<ParsedFields<O>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalidTaskError(`${what} is not an object`);
  }
  const from = value as UncheckedFields;
  const readers = Object.entries<FieldReader<unknown>>({ ...required, ...optional });
  for (const key of Object.keys(from)) {
    if (!readers.some(([known]) => known === key)) {
      throw invalidTaskError(`${what} has the unknown field ${JSON.stringify(key)}`);
    }
  }
  const there = readers.filter(([key]) => key in required || from[key] !== undefined);
  const found: UncheckedFields = Object.fromEntries(
    there.map(([key, reader]) => [key, reader(from, key)]),
  );
  // Each field was read by its own reader.
  return found as ParsedFields<R> & Partial<ParsedFields<O>>;
}

export function readString(from: UncheckedFields, key: string): string {
  const value = from[key];
  if (typeof value !== "string") {
    throw invalidTaskError(`${key} is not a string`);
  }
  return value;
}

export function readNumber(from: UncheckedFields, key: string): number {
  const value = from[key];
  if (typeof value !== "number" || !Number.isFinite(value)) {
    throw invalidTaskError(`${key} is not a number`);
  }
  return value;
}

export function readBoolean(from: UncheckedFields, key: string): boolean {
  const value = from[key];
  if (typeof value !== "boolean") {
    throw invalidTaskError(`${key} is not true or false`);
  }
  return value;
}

/** Reads an integer from 0 to 2³² − 1, the range of the core's integers. */
export function readInteger(from: UncheckedFields, key: string): number {
  const value = readNumber(from, key);
  if (value !== value >>> 0) {
    throw invalidTaskError(`${key} is ${value}, expected a whole number`);
  }
  return value;
}

/** Returns a reader of lists. It reads each element with `reader`. */
export function listReader<T>(reader: FieldReader<T>): FieldReader<readonly T[]> {
  return (from, key) => {
    const value = from[key];
    if (!Array.isArray(value)) {
      throw invalidTaskError(`${key} is not a list`);
    }
    return [...value].map((each: unknown, index) => {
      const place = `${key}[${index}]`;
      return reader({ [place]: each }, place);
    });
  };
}

export function oneOfReader<T extends string>(allowed: readonly T[]): FieldReader<T> {
  return (from, key) => {
    const value = allowed.find((candidate) => candidate === from[key]);
    if (value === undefined) {
      throw invalidTaskError(
        `${key} is ${JSON.stringify(from[key])}, expected ${allowed.join(" or ")}`,
      );
    }
    return value;
  };
}
