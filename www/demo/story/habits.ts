// The crowd is invented: who its people are is drawn here. What they report is
// randomised and sent like any report.

import type { Truth } from "./ledger.js";

/** For every item, the shares of people that answer yes and no. */
export type Habits = readonly { readonly yes: number; readonly no: number }[];

/** People in the shape of the packed-array API, with the truth about them. */
export interface People {
  readonly lengths: Uint32Array;
  readonly items: Uint32Array;
  readonly values: Float64Array;
  readonly truth: Truth;
}

/** A number below 1 for every person and every purpose of theirs. */
export type Rolls = (person: number, purpose: number) => number;

/**
 * The same for every browser and mechanism, so that the n-th person is always
 * the same one. It only decides who people are, so it need not be secure; their
 * reports are randomised by the package's generator.
 */
export const ROLLS: Rolls = (person, purpose) =>
  mix32(Math.imul(mix32(person ^ 0x5bd1e995), 0x9e3779b1) + purpose) / 2 ** 32;

/** murmur3's finaliser. */
function mix32(word: number): number {
  let h = word;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

/**
 * The people from number `first` on. One who would answer more than `most`
 * questions answers a random `most` of them.
 */
export function draw(
  habits: Habits,
  { first, people, most }: { first: number; people: number; most: number },
  rolls: Rolls = ROLLS,
): People {
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
    truth: { people, yes, no },
  };
}

/** Sets one share and, where both would exceed all people, lowers the other. */
export function adjust(
  habit: Habits[number],
  side: "yes" | "no",
  share: number,
): { yes: number; no: number } {
  const other = side === "yes" ? habit.no : habit.yes;
  const rest = Math.min(other, 1 - share);
  return side === "yes" ? { yes: share, no: rest } : { yes: rest, no: share };
}
