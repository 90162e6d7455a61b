// Compares figures of the project, which count cases of a rule, with limits that may only fall.
//
// A limit is a number of cases, or a number of cases and a rate (cases per unit). A limit with a
// rate is exceeded only if both the number and the rate rise: removed text may raise a rate, and
// added text may raise a number. Cases that move from one area to another exceed nothing, as long
// as the sum over all areas does not rise.

/**
 * @typedef {{ place: string, text: string }} Case
 * @typedef {{ found: readonly Case[], count?: number, of?: number }} Figure cases found; `count`:
 * the figure, if it is not the number of cases; `of`: number of units searched
 * @typedef {object} Rule
 * @property {string} what description of a case
 * @property {number} [per] units of a rate, such as 1,000 lines
 * @property {string} [unit] unit of the rate, as text
 * @property {number} [step] limits are multiples of this, so that single lines do not matter
 * @typedef {number | number[]} Limit a number, or a number and its rate
 * @typedef {Record<string, Limit>} Limits by area
 */

/** Name of the only area, for rules that are not divided into areas. */
export const WHOLE_PROJECT = "all";

/**
 * Rounds a rate up to a multiple of 0.1. Subtracting 1e-9 absorbs rounding errors, so that a rate
 * never exceeds itself.
 */
const roundUpToTenths = (rate) => Math.ceil(rate * 10 - 1e-9) / 10;

/**
 * Converts a figure to the lowest limit that the figure does not exceed.
 *
 * @param {Rule} rule
 * @param {Figure} figure
 * @returns {Limit} as it would be stored
 */
export function limitFromFigure({ per, step = 1 }, { found, count = found.length, of = 0 }) {
  const whole = Math.ceil(count / step) * step;
  return per === undefined ? whole : [whole, of === 0 ? 0 : roundUpToTenths((per * count) / of)];
}

/** Returns a limit of zero, which has a rate if the limit `found` has one. */
const zeroLimit = (found) => (typeof found === "number" ? 0 : [0, 0]);
const countOf = (limit) => (typeof limit === "number" ? limit : (limit[0] ?? 0));
const rateOf = (limit) => (typeof limit === "number" ? Number.POSITIVE_INFINITY : (limit[1] ?? 0));
const totalCount = (limits) =>
  Object.values(limits).reduce((all, limit) => all + countOf(limit), 0);

/**
 * Returns the areas in which the figures of a rule exceed its limits.
 *
 * @param {Limits} now
 * @param {Limits} limits
 * @returns {string[]}
 */
export function exceededAreas(now, limits) {
  if (totalCount(now) <= totalCount(limits)) {
    return [];
  }
  return Object.entries(now)
    .filter(([area, found]) => {
      const limit = limits[area] ?? zeroLimit(found);
      const rates = typeof found === "number" || rateOf(found) > rateOf(limit);
      return countOf(found) > countOf(limit) && rates;
    })
    .map(([area]) => area);
}

/**
 * Returns the limits of a rule, lowered to the current figures in areas where these have fallen.
 *
 * @param {Limits} now
 * @param {Limits} limits
 * @returns {Limits}
 */
export function loweredLimits(now, limits) {
  const moved = totalCount(now) <= totalCount(limits);
  const areas = Object.entries(now).map(([area, found]) => {
    const limit = limits[area] ?? zeroLimit(found);
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
 * Formats a limit as text.
 *
 * @param {Rule} rule
 * @param {Limit} limit
 */
export function limitText({ unit }, limit) {
  return typeof limit === "number" || unit === undefined
    ? countOf(limit).toLocaleString("en")
    : `${countOf(limit).toLocaleString("en")} (${limit[1]} ${unit})`;
}
