/** Reads names and values from the objects that a page passes as answers. */

type NameValuePairs = readonly (readonly [string, unknown])[];

/**
 * Returns the names and values of an input, as pairs. The input is a plain object, a Map, or
 * another iterable of pairs that is not empty. Objects of other windows are accepted. Returns
 * `undefined` for everything else, which would otherwise be taken for an empty answer.
 */
export function namedValuesOf(input: unknown): NameValuePairs | undefined {
  if (Object(input) !== input) {
    return undefined;
  }
  const prototype = Object.getPrototypeOf(input);
  // Plain objects of other windows have a different Object.prototype, which has no prototype
  // either.
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
  // An empty iterable other than a Map could be anything, for example an empty array.
  return paired && (isMap || pairs.length > 0) ? (pairs as unknown as NameValuePairs) : undefined;
}

/** Copies plain objects, Maps, Sets and arrays, including their contents. */
export function deepCopy<T>(input: T): T;
export function deepCopy(input: unknown): unknown {
  if (Array.isArray(input) || ArrayBuffer.isView(input)) {
    return [...(input as Iterable<unknown>)].map((each) => deepCopy(each));
  }
  if (Object.prototype.toString.call(input) === "[object Set]") {
    return new Set(input as Iterable<unknown>);
  }
  const entries = namedValuesOf(input);
  if (entries === undefined) {
    return input;
  }
  const copies = entries.map(([name, value]) => [name, deepCopy(value)] as const);
  return Symbol.iterator in Object(input) ? new Map(copies) : Object.fromEntries(copies);
}
