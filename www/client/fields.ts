/** Reading the fields of a task, whose ranges are the core's to check. */

import { TaskError } from "./errors.js";

/** An object whose fields are known to be no others than expected. */
export type Fields = Readonly<Record<string, unknown>>;

export function invalid(what: string): TaskError {
  return new TaskError("invalid-task", `task is invalid: ${what}`);
}

export function fields(value: unknown, what: string, known: readonly string[]): Fields {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid(`${what} is not an object`);
  }
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) {
      throw invalid(`${what} has the unknown field ${JSON.stringify(key)}`);
    }
  }
  return value as Fields;
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

/** A whole number below 2³², as which the core reads it. */
export function integer(from: Fields, key: string): number {
  const value = number(from, key);
  if (value !== value >>> 0) {
    throw invalid(`${key} is ${value}, expected a whole number`);
  }
  return value;
}

export function oneOf<T extends string>(from: Fields, key: string, allowed: readonly T[]): T {
  const value = allowed.find((candidate) => candidate === from[key]);
  if (value === undefined) {
    throw invalid(`${key} is ${JSON.stringify(from[key])}, expected ${allowed.join(" or ")}`);
  }
  return value;
}
