// Batches: how far the open one is, and those before it.

import { el } from "../demo/shared/dom.js";
import { count, counted } from "../demo/shared/format.js";
import type { Batch, Batches } from "./api.js";
import { amount, type Counting, capital, limitsOf } from "./counting.js";
import { moment } from "./labels.js";
import { table } from "./table.js";

/** Most batches that are listed. */
const LISTED = 50;

export const releasedOf = ({ batches }: Batches): readonly Batch[] =>
  batches.filter(({ state }) => state === "released");

export const openOf = ({ batches }: Batches): Batch | undefined =>
  batches.find(({ state }) => state === "open");

export const reportsOf = (batches: readonly Batch[]): number =>
  batches.reduce((sum, { reports }) => sum + reports, 0);

/** When the open batch is closed, in a sentence. */
export function rule({ closes }: Batches, counting: Counting): string {
  const [least, most] = limitsOf(counting, closes);
  const { hours } = closes;
  const aged = `or ${counted(hours, "hour")} after it was opened, with ${count(least)} at least`;
  return `It is closed, and soon released, with ${counted(most, counting.one, counting.more)}${hours === 0 ? "" : `, ${aged}`}.`;
}

function bar(name: string, value: number, max: number, words: string): HTMLElement {
  return el(
    "div",
    { class: "filling" },
    el("span", {}, name),
    el("span", { class: "amount" }, words),
    el("progress", { value: Math.min(value, max), max, "aria-label": `${name}: ${words}` }),
  );
}

/** How far the open batch is: by reports to the least and to the most, and by age. */
export function filling(all: Batches, counting: Counting, now: number): readonly HTMLElement[] {
  const open = openOf(all);
  if (open === undefined) return [];
  const [least, most] = limitsOf(counting, all.closes);
  const { hours } = all.closes;
  const have = counting.of(open.reports);
  const age = Math.max(now - open.opened, 0) / 3600;
  const to = (limit: number, which: string) =>
    bar(
      `${capital(counting.more)} to the ${which}`,
      have,
      limit,
      `${count(have)} of ${count(limit)}`,
    );
  const bars = [to(most, "most")];
  if (have < least) bars.unshift(to(least, "least"));
  if (hours > 0) {
    bars.push(
      bar(
        "Age",
        Math.min(age, hours),
        hours,
        `${count(Math.floor(age))} of ${counted(hours, "hour")}`,
      ),
    );
  }
  return bars;
}

/** The bar that says most: to the least, and from there on to the most. */
export function brief(all: Batches, counting: Counting): HTMLElement {
  const have = counting.of(openOf(all)?.reports ?? 0);
  const [least, most] = limitsOf(counting, all.closes);
  const max = have < least ? least : most;
  const of = have < least ? "at least" : "at most";
  return bar("Open batch", have, max, `${count(have)} of ${of} ${count(max)}`);
}

/** Batches that are no longer open, the latest first. */
export function listed(all: Batches, counting: Counting): HTMLElement | null {
  const closed = all.batches.filter(({ state }) => state !== "open").reverse();
  if (closed.length === 0) return null;
  const rows = closed.slice(0, LISTED).map(({ number, reports, closed: at, state }) => [
    String(number),
    { shown: amount(counting, reports), style: "amount" },
    {
      shown: state === "closed" || at === undefined ? "being counted" : moment(at),
      style: "amount",
    },
  ]);
  const more = closed.length - rows.length;
  const caption = more > 0 ? `The latest ${LISTED} of ${count(closed.length)}` : "Closed batches";
  const heads = [
    "Batch",
    { shown: capital(counting.more), style: "amount" },
    { shown: "Closed", style: "amount" },
  ];
  return table(caption, heads, rows);
}
