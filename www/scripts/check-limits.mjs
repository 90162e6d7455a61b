// Checks rules that have a figure, such as a number of cases, which may only fall. The limits of
// the figures are in www/scripts/limits.json.
//
//   npm run limits                          the table: now, limit, goal
//   npm run limits -- --list RULE [AREA]    the cases of a rule
//   npm run limits -- --lower               stores the figures that have fallen
//
// Measuring needs no compiler. If a figure exceeds its limit, the worst cases are shown.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { figures, RULES } from "./lib/figures.mjs";
import {
  exceededAreas,
  limitFromFigure,
  limitText,
  loweredLimits,
  WHOLE_PROJECT,
} from "./lib/limits.mjs";
import { ROOT } from "./lib/paths.mjs";
import { ExplainedError, main, print, run } from "./lib/run.mjs";

const FILE = "www/scripts/limits.json";
const LIMITS_FILE_PATH = join(ROOT, FILE);
/**
 * Maximum number of cases that are shown if a limit is exceeded, and maximum length of each in
 * characters.
 */
const MAX_CASES = 10;
const MAX_CASE_LENGTH = 160;

/**
 * Reads the goals and the limits from the file limits.json.
 *
 * @returns {{ goals: Record<string, number>, limits: Record<string, import("./lib/limits.mjs").Limits> }}
 */
const readLimits = () => JSON.parse(readFileSync(LIMITS_FILE_PATH, "utf8"));

const mapAreaValues = (areas, each) =>
  Object.fromEntries(Object.entries(areas).map(([area, value]) => [area, each(value)]));

/** Returns the current figure and the limit of each rule. */
async function currentAndLimits() {
  const { limits } = readLimits();
  const measured = await figures();
  return Object.entries(RULES).map(([name, rule]) => ({
    name,
    rule,
    areas: measured[name] ?? {},
    now: mapAreaValues(measured[name] ?? {}, (figure) => limitFromFigure(rule, figure)),
    limits: limits[name] ?? {},
  }));
}

const label = (name, area) => (area === WHOLE_PROJECT ? name : `${name}, ${area}`);

/**
 * Returns a complaint for each area in which a rule exceeds its limit.
 *
 * @param {Awaited<ReturnType<typeof currentAndLimits>>[number]} compared
 */
function complaints({ name, rule, areas, now, limits }) {
  return exceededAreas(now, limits).map((area) => {
    const { found = [] } = areas[area] ?? {};
    const worst = found
      .slice(0, MAX_CASES)
      .map(({ place, text }) => `    ${place} ${text}`.slice(0, MAX_CASE_LENGTH).trimEnd());
    const numbers = `${limitText(rule, now[area] ?? 0)}, expected at most ${limitText(rule, limits[area] ?? 0)}`;
    const all = `npm run limits -- --list ${name}${area === WHOLE_PROJECT ? "" : ` ${area}`}`;
    return `${label(name, area)}: ${numbers}\n${worst.join("\n")}\n    all ${found.length}: ${all}`;
  });
}

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** Fails if a figure exceeds its limit. Otherwise prints the limits that may be lowered. */
export async function checkLimits() {
  const all = await currentAndLimits();
  const found = all.flatMap(complaints);
  if (found.length > 0) {
    throw new ExplainedError(`over the limits of ${FILE}:\n${found.join("\n")}`);
  }
  const fallen = all.filter(({ now, limits }) => !same(loweredLimits(now, limits), limits));
  if (fallen.length > 0) {
    const names = fallen.map(({ name }) => name).join(", ");
    print(`  may be lowered by npm run limits -- --lower: ${names}`);
  }
}

async function lowerLimits() {
  const { goals } = readLimits();
  const all = await currentAndLimits();
  const limits = {};
  for (const { name, rule, now, limits: before } of all) {
    // A new rule starts with the current figures.
    limits[name] = Object.keys(before).length === 0 ? now : loweredLimits(now, before);
    for (const [area, limit] of Object.entries(limits[name])) {
      if (!same(limit, before[area])) {
        print(
          `${label(name, area)}: ${limitText(rule, before[area] ?? 0)} → ${limitText(rule, limit)}`,
        );
      }
    }
  }
  writeFileSync(LIMITS_FILE_PATH, JSON.stringify({ goals, limits }));
  await run("biome", ["format", "--write", LIMITS_FILE_PATH], { quiet: true });
}

async function printTable() {
  const { goals } = readLimits();
  const rows = (await currentAndLimits()).flatMap(({ name, rule, now, limits }) =>
    Object.keys(now).map((area) => [
      label(name, area),
      limitText(rule, now[area] ?? 0),
      limitText(rule, limits[area] ?? 0),
      goals[name] === undefined ? "" : `${goals[name]}${rule.unit ? ` ${rule.unit}` : ""}`,
    ]),
  );
  const all = [["rule", "now", "limit", "goal"], ...rows];
  const widths = [0, 1, 2].map((at) => Math.max(...all.map((row) => row[at]?.length ?? 0)));
  for (const row of all) {
    print(
      row
        .map((text, at) => text.padEnd(widths[at] ?? 0))
        .join("  ")
        .trimEnd(),
    );
  }
}

/**
 * Prints the cases of a rule.
 *
 * @param {string} rule
 * @param {string | undefined} area all areas if undefined
 */
async function printCases(rule, area) {
  if (!(rule in RULES)) {
    throw new ExplainedError(`rule is ${rule}, expected one of ${Object.keys(RULES).join(", ")}`);
  }
  const { [rule]: areas = {} } = await figures();
  print(`${RULES[rule]?.what}:`);
  for (const [name, { found }] of Object.entries(areas)) {
    if (area === undefined || area === name) {
      for (const { place, text } of found) {
        print(`${place} ${text}`.trimEnd());
      }
    }
  }
}

if (process.argv[1] === import.meta.filename) {
  await main(async () => {
    const [option, rule, area] = process.argv.slice(2);
    if (option === undefined) {
      return printTable();
    }
    if (option === "--lower") {
      return lowerLimits();
    }
    if (option === "--list" && rule !== undefined) {
      return printCases(rule, area);
    }
    throw new ExplainedError("expected nothing, --lower, or --list RULE [AREA]");
  });
}
