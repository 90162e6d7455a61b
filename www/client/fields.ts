/**
 * Readers of the fields of a task. They check which fields exist and which types they have. The
 * core checks ranges.
 */

import { TaskError } from "./errors.js";

/** Object with fields that are not checked yet. */
export type Fields = Readonly<Record<string, unknown>>;

/** Function that reads and checks one field of an object. */
export type Reader<T> = (from: Fields, key: string) => T;

/** Functions that read and check fields, by field name. */
export type Readers = Readonly<Record<string, Reader<unknown>>>;

type Read<R extends Readers> = { readonly [K in keyof R]: ReturnType<R[K]> };

export function invalid(what: string): TaskError {
  return new TaskError("invalid-task", `task is invalid: ${what}`);
}

/**
 * Reads an object. It must have all required fields, may have the optional fields, and may have no
 * other fields.
 *
 * @throws TaskError `invalid-task`
 */
export function read<R extends Readers, O extends Readers>(
  value: unknown,
  what: string,
  required: R,
  optional: O,
): Read<R> & Partial<Read<O>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid(`${what} is not an object`);
  }
  const from = value as Fields;
  const readers = Object.entries<Reader<unknown>>({ ...required, ...optional });
  for (const key of Object.keys(from)) {
    if (!readers.some(([known]) => known === key)) {
      throw invalid(`${what} has the unknown field ${JSON.stringify(key)}`);
    }
  }
  const there = readers.filter(([key]) => key in required || from[key] !== undefined);
  const found: Fields = Object.fromEntries(there.map(([key, reader]) => [key, reader(from, key)]));
  // Each field was read by its own reader.
  return found as Read<R> & Partial<Read<O>>;
}

export function text(from: Fields, key: string): string {
  const value = from[key];
  if (typeof value !== "string") {
    throw invalid(`${key} is not a string`);
  }
  return value;
}

export function number(from: Fields, key: string): number {
  const value = from[key];
  if (typeof value !== "number" || !Number.isFinite(value)) {
    throw invalid(`${key} is not a number`);
  }
  return value;
}

/** Reads an integer from 0 to 2³² − 1, the range of the core's integers. */
export function integer(from: Fields, key: string): number {
  const value = number(from, key);
  if (value !== value >>> 0) {
    throw invalid(`${key} is ${value}, expected a whole number`);
  }
  return value;
}

/** Returns a reader of lists. It reads each element with `reader`. */
export function listOf<T>(reader: Reader<T>): Reader<readonly T[]> {
  return (from, key) => {
    const value = from[key];
    if (!Array.isArray(value)) {
      throw invalid(`${key} is not a list`);
    }
    return [...value].map((each: unknown, index) => {
      const place = `${key}[${index}]`;
      return reader({ [place]: each }, place);
    });
  };
}

export function oneOf<T extends string>(allowed: readonly T[]): Reader<T> {
  return (from, key) => {
    const value = allowed.find((candidate) => candidate === from[key]);
    if (value === undefined) {
      throw invalid(`${key} is ${JSON.stringify(from[key])}, expected ${allowed.join(" or ")}`);
    }
    return value;
  };
}
