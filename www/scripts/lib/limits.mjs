// Compares figures of the project with limits that may only fall.
//
// A limit is a number of places, or that number and its rate. One that has a rate is
// exceeded when both rise: text that is removed may raise a rate, and text that is added
// may raise a number. What moves between areas exceeds nothing, as long as the sum over
// all areas does not rise.

/**
 * @typedef {{ place: string, text: string }} Case
 * @typedef {{ found: readonly Case[], count?: number, of?: number }} Figure
 * `count`, where it is not the number of cases; `of`: units among which they were found
 * @typedef {object} Rule
 * @property {string} what is counted
 * @property {number} [per] units of a rate, such as 1,000 lines
 * @property {string} [unit] of a rate
 * @property {number} [step] limits are multiples of it, so that not every line counts
 * @typedef {number | number[]} Limit a number, or that and its rate
 * @typedef {Record<string, Limit>} Limits by area
 */

/** The area of rules that have no others. */
export const WHOLE = "all";

/** A rate that no rounding makes exceed itself. */
const tenths = (rate) => Math.ceil(rate * 10 - 1e-9) / 10;

/**
 * @param {Rule} rule
 * @param {Figure} figure
 * @returns {Limit} as it would be written down
 */
export function limitOf({ per, step = 1 }, { found, count = found.length, of = 0 }) {
  const whole = Math.ceil(count / step) * step;
  return per === undefined ? whole : [whole, of === 0 ? 0 : tenths((per * count) / of)];
}

/** Nothing of the kind that a figure is. */
const none = (found) => (typeof found === "number" ? 0 : [0, 0]);
const countOf = (limit) => (typeof limit === "number" ? limit : (limit[0] ?? 0));
const rateOf = (limit) => (typeof limit === "number" ? Number.POSITIVE_INFINITY : (limit[1] ?? 0));
const sum = (limits) => Object.values(limits).reduce((all, limit) => all + countOf(limit), 0);

/**
 * The areas in which a rule's figures exceed its limits.
 *
 * @param {Limits} now
 * @param {Limits} limits
 * @returns {string[]}
 */
export function exceeded(now, limits) {
  if (sum(now) <= sum(limits)) {
    return [];
  }
  return Object.entries(now)
    .filter(([area, found]) => {
      const limit = limits[area] ?? none(found);
      const rates = typeof found === "number" || rateOf(found) > rateOf(limit);
      return countOf(found) > countOf(limit) && rates;
    })
    .map(([area]) => area);
}

/**
 * The limits after a rule's figures have fallen.
 *
 * @param {Limits} now
 * @param {Limits} limits
 * @returns {Limits}
 */
export function lowered(now, limits) {
  const moved = sum(now) <= sum(limits);
  const areas = Object.entries(now).map(([area, found]) => {
    const limit = limits[area] ?? none(found);
    if (moved && countOf(found) > countOf(limit)) {
      return [area, found];
    }
    const count = Math.min(countOf(found), countOf(limit));
    const rate = Math.min(rateOf(found), rateOf(limit));
    return [area, typeof found === "number" ? count : [count, rate]];
  });
  return Object.fromEntries(areas);
}

/**
 * A limit as people read it.
 *
 * @param {Rule} rule
 * @param {Limit} limit
 */
export function shown({ unit }, limit) {
  return typeof limit === "number" || unit === undefined
    ? countOf(limit).toLocaleString("en")
    : `${countOf(limit).toLocaleString("en")} (${limit[1]} ${unit})`;
}
