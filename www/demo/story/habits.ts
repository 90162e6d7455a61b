// The invented people of the crowd, and the random numbers that decide on each answer. The
// reports are randomised and sent as usual.

import type { TrueCounts } from "./ledger.js";

/** Shares of people who answer yes and no to each item. The other people do not answer it. */
export type AnswerShares = readonly { readonly yes: number; readonly no: number }[];

/**
 * Answers of people as packed arrays, and the true counts. The package randomises many people in
 * this format.
 */
export interface PackedPeople {
  readonly lengths: Uint32Array;
  readonly items: Uint32Array;
  readonly values: Float64Array;
  readonly trueCounts: TrueCounts;
}

/** Function that returns a pseudo-random number in [0, 1) for a person and a purpose. */
export type PseudoRandomFunction = (person: number, purpose: number) => number;

/**
 * Pseudo-random numbers that are equal in every browser and for every mechanism, so the n-th person
 * is always the same. They only decide on true answers, so they need not be secure. The package's
 * generator randomises the reports.
 */
export const PSEUDO_RANDOM_ROLL: PseudoRandomFunction = (person, purpose) =>
  mix32(Math.imul(mix32(person ^ 0x5bd1e995), 0x9e3779b1) + purpose) / 2 ** 32;

/** Finaliser of the hash murmur3, on 32 bits. */
function mix32(word: number): number {
  let h = word;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/**
 * Draws `people` people, starting with the one whose number is `first`. If a person has more than
 * `most` answers, a random selection of `most` answers is kept.
 */
export function drawPeople(
  habits: AnswerShares,
  { first, people, most }: { first: number; people: number; most: number },
  rolls: PseudoRandomFunction = PSEUDO_RANDOM_ROLL,
): PackedPeople {
  const lengths = new Uint32Array(people);
  const items = new Uint32Array(people * most);
  const values = new Float64Array(people * most);
  const yes = habits.map(() => 0);
  const no = habits.map(() => 0);
  let at = 0;
  for (let index = 0; index < people; index++) {
    const person = first + index;
    const wanted = habits.flatMap((habit, item) => {
      const roll = rolls(person, item);
      if (roll >= habit.yes + habit.no) return [];
      return [{ item, says: roll < habit.yes, keen: rolls(person, habits.length + item) }];
    });
    const bar = wanted.map(({ keen }) => keen).sort((a, b) => a - b)[most] ?? Infinity;
    const start = at;
    for (const { item, says, keen } of wanted) {
      if (keen >= bar) continue;
      const counts = says ? yes : no;
      counts[item] = (counts[item] ?? 0) + 1;
      items[at] = item;
      values[at++] = says ? 1 : -1;
    }
    lengths[index] = at - start;
  }
  return {
    lengths,
    items: items.subarray(0, at),
    values: values.subarray(0, at),
    trueCounts: { people, yes, no },
  };
}

/** Sets the share of yes or of no. If both shares together exceed 1, the other share is lowered. */
export function withAnswerShare(
  habit: AnswerShares[number],
  side: "yes" | "no",
  share: number,
): { yes: number; no: number } {
  const other = side === "yes" ? habit.no : habit.yes;
  const rest = Math.min(other, 1 - share);
  return side === "yes" ? { yes: share, no: rest } : { yes: rest, no: share };
}
