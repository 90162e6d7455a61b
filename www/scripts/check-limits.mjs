// Checks rules with a number that may only fall. The numbers are in www/scripts/limits.json.
//
//   npm run limits                          the table: now, limit, goal
//   npm run limits -- --list RULE [AREA]    the cases of a rule
//   npm run limits -- --lower               stores the figures that have fallen
//
// Figures need no compiler. If a figure exceeds its limit, the worst cases are shown.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { figures, RULES } from "./lib/figures.mjs";
import { exceeded, limitOf, lowered, shown, WHOLE } from "./lib/limits.mjs";
import { ROOT } from "./lib/paths.mjs";
import { Failed, main, run, say } from "./lib/run.mjs";

const FILE = "www/scripts/limits.json";
const PATH = join(ROOT, FILE);
/**
 * Number of cases that are shown if a limit is exceeded, and maximum length of each in characters.
 */
const WORST = 10;
const SHOWN = 160;

/**
 * Reads the limits.
 *
 * @returns {{ goals: Record<string, number>, limits: Record<string, import("./lib/limits.mjs").Limits> }}
 */
const readLimits = () => JSON.parse(readFileSync(PATH, "utf8"));

const byArea = (areas, each) =>
  Object.fromEntries(Object.entries(areas).map(([area, value]) => [area, each(value)]));

/** Returns the current figures and the limits of each rule. */
async function compared() {
  const { limits } = readLimits();
  const measured = await figures();
  return Object.entries(RULES).map(([name, rule]) => ({
    name,
    rule,
    areas: measured[name] ?? {},
    now: byArea(measured[name] ?? {}, (figure) => limitOf(rule, figure)),
    limits: limits[name] ?? {},
  }));
}

const label = (name, area) => (area === WHOLE ? name : `${name}, ${area}`);

/**
 * Returns a complaint for each area that exceeds its limit.
 *
 * @param {Awaited<ReturnType<typeof compared>>[number]} compared
 */
function complaints({ name, rule, areas, now, limits }) {
  return exceeded(now, limits).map((area) => {
    const { found = [] } = areas[area] ?? {};
    const worst = found
      .slice(0, WORST)
      .map(({ place, text }) => `    ${place} ${text}`.slice(0, SHOWN).trimEnd());
    const numbers = `${shown(rule, now[area] ?? 0)}, expected at most ${shown(rule, limits[area] ?? 0)}`;
    const all = `npm run limits -- --list ${name}${area === WHOLE ? "" : ` ${area}`}`;
    return `${label(name, area)}: ${numbers}\n${worst.join("\n")}\n    all ${found.length}: ${all}`;
  });
}

const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** Fails if a figure exceeds its limit, and lists the limits that may be lowered. */
export async function checkLimits() {
  const all = await compared();
  const found = all.flatMap(complaints);
  if (found.length > 0) {
    throw new Failed(`over the limits of ${FILE}:\n${found.join("\n")}`);
  }
  const fallen = all.filter(({ now, limits }) => !same(lowered(now, limits), limits));
  if (fallen.length > 0) {
    const names = fallen.map(({ name }) => name).join(", ");
    say(`  may be lowered by npm run limits -- --lower: ${names}`);
  }
}

async function lower() {
  const { goals } = readLimits();
  const all = await compared();
  const limits = {};
  for (const { name, rule, now, limits: before } of all) {
    // A new rule starts with the current figures.
    limits[name] = Object.keys(before).length === 0 ? now : lowered(now, before);
    for (const [area, limit] of Object.entries(limits[name])) {
      if (!same(limit, before[area])) {
        say(`${label(name, area)}: ${shown(rule, before[area] ?? 0)} → ${shown(rule, limit)}`);
      }
    }
  }
  writeFileSync(PATH, JSON.stringify({ goals, limits }));
  await run("biome", ["format", "--write", PATH], { quiet: true });
}

async function table() {
  const { goals } = readLimits();
  const rows = (await compared()).flatMap(({ name, rule, now, limits }) =>
    Object.keys(now).map((area) => [
      label(name, area),
      shown(rule, now[area] ?? 0),
      shown(rule, limits[area] ?? 0),
      goals[name] === undefined ? "" : `${goals[name]}${rule.unit ? ` ${rule.unit}` : ""}`,
    ]),
  );
  const all = [["rule", "now", "limit", "goal"], ...rows];
  const widths = [0, 1, 2].map((at) => Math.max(...all.map((row) => row[at]?.length ?? 0)));
  for (const row of all) {
    say(
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
async function list(rule, area) {
  if (!(rule in RULES)) {
    throw new Failed(`rule is ${rule}, expected one of ${Object.keys(RULES).join(", ")}`);
  }
  const { [rule]: areas = {} } = await figures();
  say(`${RULES[rule]?.what}:`);
  for (const [name, { found }] of Object.entries(areas)) {
    if (area === undefined || area === name) {
      for (const { place, text } of found) {
        say(`${place} ${text}`.trimEnd());
      }
    }
  }
}

if (process.argv[1] === import.meta.filename) {
  await main(async () => {
    const [option, rule, area] = process.argv.slice(2);
    if (option === undefined) {
      return table();
    }
    if (option === "--lower") {
      return lower();
    }
    if (option === "--list" && rule !== undefined) {
      return list(rule, area);
    }
    throw new Failed("expected nothing, --lower, or --list RULE [AREA]");
  });
}
