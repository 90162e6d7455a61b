// The invented people of the chapter on both ways, and the answers of each. The n-th person is
// always the same.

import { PSEUDO_RANDOM_ROLL } from "../habits.js";
import { LANGUAGES } from "./task.js";

/**
 * Smallest purpose that this chapter passes to {@link PSEUDO_RANDOM_ROLL}. Purposes of other chapters are below
 * it.
 */
const FIRST_PURPOSE = 200;

/** Returns the four answers of one invented person. */
export function browsingAnswersOf(person: number): number[] {
  const roll = (purpose: number) => PSEUDO_RANDOM_ROLL(person, FIRST_PURPOSE + purpose);
  // Most pages load fast, a few very slowly. People who stay longer scroll and click more.
  const load = 400 / (0.08 + roll(0)) + 300 * roll(1);
  const stays = roll(2) ** 3;
  const scrolled = 100 * Math.min(0.15 + 0.6 * roll(3) + 0.4 * stays, 1);
  return [load, scrolled, 1 + 55 * stays, Math.floor(2 + 150 * stays * roll(4))];
}

/** Returns the index of one invented person's language. Each is half as frequent as the one before. */
export function languageOf(person: number): number {
  const roll = PSEUDO_RANDOM_ROLL(person, FIRST_PURPOSE + 5);
  return Math.min(Math.floor(-Math.log2(1 - roll)), LANGUAGES.length - 1);
}
