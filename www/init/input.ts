// Input of the command: errors about it, and the numbers and lists in it.

/** Answer or flag that cannot be used. The message says what was wrong and what was expected. */
export class InputError extends Error {}

/** Range of a number question, with its unit. */
export interface NumberRange {
  readonly min: number;
  readonly max: number;
  /** Empty if the number has no unit. */
  readonly unit: string;
}

const NUMBER = String.raw`[-−]?\d+(?:\.\d+)?`;

const toNumber = (digits: string | undefined) => Number(digits?.replace("−", "-"));

/** Parses a number of people, such as `10000` or `10,000`. */
export function parsePeople(text: string): number {
  const people = /^\d[\d,_ ]*$/.test(text) ? Number(text.replaceAll(/[,_ ]/g, "")) : 0;
  if (people < 1 || !Number.isSafeInteger(people)) {
    throw new InputError(`"${text}" is no number of people, expected for example 10000`);
  }
  return people;
}

/**
 * Parses an error, such as `2`, `±2` or `0.5 s`.
 *
 * @param text
 * @param unit unit of the error, "points" for shares
 * @param limit error that every guess stays below
 */
export function parseError(text: string, unit: string, limit: number): number {
  const [, digits, ownUnit = ""] = /^±?\s*(\d+(?:\.\d+)?|\.\d+)\s*(.*)$/.exec(text) ?? [];
  const error = toNumber(digits);
  const isOther = ownUnit !== "" && ownUnit !== unit && !(ownUnit === "%" && unit === "points");
  if (isOther || !(error > 0 && error < limit)) {
    const expected = `more than 0 and less than ${limit}${unit === "" ? "" : ` ${unit}`}`;
    throw new InputError(`"${text}" is no error, expected ${expected}`);
  }
  return error;
}

/** Parses a range with a unit, such as `0..30s`. */
export function parseRange(text: string): NumberRange {
  const [, from, to, unit = ""] =
    new RegExp(`^(${NUMBER})\\s*\\.\\.\\s*(${NUMBER})\\s*(.*)$`).exec(text) ?? [];
  const [min, max] = [toNumber(from), toNumber(to)];
  if (!(min < max)) {
    throw new InputError(`"${text}" is no range, expected for example 0..30s`);
  }
  return { min, max, unit };
}

/** Parses how many options a person has at most. `limit` is the number of all options. */
export function parseAtMost(text: string, limit = Number.MAX_SAFE_INTEGER): number {
  const atMost = /^\d+$/.test(text) ? Number(text) : 0;
  if (atMost < 1 || atMost > limit) {
    const expected = limit < Number.MAX_SAFE_INTEGER ? `1 to ${limit}` : "for example 2";
    throw new InputError(`"${text}" is no possible number of options, expected ${expected}`);
  }
  return atMost;
}

/** Parses names that are separated by commas. `least` is the minimum number of names. */
export function parseNames(text: string, least: number): string[] {
  const names = text.split(",").map((name) => name.trim());
  if (names.includes("") || names.length < least) {
    const expected = least > 1 ? `at least ${least} names` : "names";
    throw new InputError(`"${text}" is no list, expected ${expected} separated by commas`);
  }
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice !== undefined) {
    throw new InputError(`"${twice}" is listed twice, expected different names`);
  }
  return names;
}
