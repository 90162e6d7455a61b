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

/**
 * Draws people. `random` only decides who they are, so it need not be secure;
 * their reports are randomised by the package's generator.
 */
export function draw(habits: Habits, people: number, random: () => number = Math.random): People {
  const lengths = new Uint32Array(people);
  const items = new Uint32Array(people * habits.length);
  const values = new Float64Array(people * habits.length);
  const yes = habits.map(() => 0);
  const no = habits.map(() => 0);
  let at = 0;
  for (let person = 0; person < people; person++) {
    const start = at;
    habits.forEach((habit, item) => {
      const roll = random();
      if (roll >= habit.yes + habit.no) return;
      const says = roll < habit.yes;
      const counts = says ? yes : no;
      counts[item] = (counts[item] ?? 0) + 1;
      items[at] = item;
      values[at++] = says ? 1 : -1;
    });
    lengths[person] = at - start;
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
