// What batches are counted in: reports, or of sums people, each of whom sends as many messages.

import { count, counted } from "../demo/shared/format.js";
import type { Batches, Task } from "./api.js";

export interface Counting {
  readonly one: string;
  readonly more: string;
  /** How many that is of so many as the collector counts. */
  readonly of: (collected: number) => number;
  /** How many a batch has at least, whatever it is closed with. */
  readonly least: number;
}

export const REPORTS: Counting = {
  one: "report",
  more: "reports",
  of: (reports) => reports,
  least: 0,
};

/** What batches of this task are counted in. */
export function countingOf({ messages, people = 0 }: Task): Counting {
  if (messages === undefined) return REPORTS;
  const each = messages.levels * messages.drawn + messages.noise;
  return { one: "person", more: "people", of: (own) => own / each, least: people };
}

/** How many a batch has at least and at most. */
export function limitsOf({ of, least }: Counting, closes: Batches["closes"]) {
  const own = Math.max(Math.ceil(of(closes.least)), least);
  return [own, Math.max(Math.ceil(of(closes.most)), own)] as const;
}

/** As it begins a sentence or a column. */
export const capital = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** A number of people need not be whole: some messages may not have been opened. */
const about = (value: number) => (Number.isInteger(value) ? "" : "about ");

/** So many, with the noun. */
export function said({ one, more, of }: Counting, collected: number): string {
  const value = of(collected);
  return `${about(value)}${counted(Math.round(value), one, more)}`;
}

/** So many, without the noun. */
export function amount({ of }: Counting, collected: number): string {
  return count(of(collected));
}
