/** Names and values in what a page hands over. */

type Pairs = readonly (readonly [string, unknown])[];

/**
 * The entries of a plain object or a Map, of whatever window, or of any other iterable
 * of pairs that has some; nothing of anything else, which would be an empty answer.
 */
export function entriesOf(input: unknown): Pairs | undefined {
  if (Object(input) !== input) {
    return undefined;
  }
  const prototype = Object.getPrototypeOf(input);
  if (prototype === null || Object.getPrototypeOf(prototype) === null) {
    return Object.entries(input as object);
  }
  if (typeof (input as Partial<Iterable<unknown>>)[Symbol.iterator] !== "function") {
    return undefined;
  }
  const pairs: unknown[] = [...(input as Iterable<unknown>)];
  const isMap = Object.prototype.toString.call(input) === "[object Map]";
  const paired = pairs.every(
    (each) => Array.isArray(each) && each.length === 2 && typeof each[0] === "string",
  );
  return paired && (isMap || pairs.length > 0) ? (pairs as unknown as Pairs) : undefined;
}

/** Copies plain objects, Maps, Sets and arrays, and all of these in them. */
export function copied<T>(input: T): T;
export function copied(input: unknown): unknown {
  if (Array.isArray(input) || ArrayBuffer.isView(input)) {
    return Array.from(input as ArrayLike<unknown>, copied);
  }
  if (Object.prototype.toString.call(input) === "[object Set]") {
    return new Set(input as Iterable<unknown>);
  }
  const entries = entriesOf(input);
  if (entries === undefined) {
    return input;
  }
  const copies = entries.map(([name, value]) => [name, copied(value)] as const);
  return Symbol.iterator in Object(input) ? new Map(copies) : Object.fromEntries(copies);
}
