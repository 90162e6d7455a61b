// Views of batches: the progress of the open batch, and a table of closed batches.

import { el } from "../demo/shared/dom.js";
import { formatCount, formatCountWithNoun } from "../demo/shared/format.js";
import type { Batch, BatchesResponse } from "./api.js";
import { type BatchUnit, capitalize, minAndMaxBatchSize } from "./batch-unit.js";
import { formatTime } from "./labels.js";
import { createTable } from "./table.js";

/** Maximum number of closed batches in the table. */
const MAX_LISTED = 50;

export const releasedBatches = ({ batches }: BatchesResponse): readonly Batch[] =>
  batches.filter(({ state }) => state === "released");

export const openBatch = ({ batches }: BatchesResponse): Batch | undefined =>
  batches.find(({ state }) => state === "open");

export const totalReports = (batches: readonly Batch[]): number =>
  batches.reduce((sum, { reports }) => sum + reports, 0);

/** Returns a sentence on the conditions under which the open batch closes. */
export function closingRule(
  { batch_settings: settings }: BatchesResponse,
  unit: BatchUnit,
): string {
  const [least, most] = minAndMaxBatchSize(unit, settings);
  const { hours } = settings;
  const aged = `, or ${formatCountWithNoun(hours, "hour")} after it opened if it has at least ${formatCountWithNoun(least, unit.singularNoun, unit.pluralNoun)}`;
  return `The batch closes at ${formatCountWithNoun(most, unit.singularNoun, unit.pluralNoun)}${hours === 0 ? "" : aged}. It is released soon afterwards.`;
}

function progressBar(name: string, value: number, max: number, words: string): HTMLElement {
  return el(
    "div",
    { class: "filling" },
    el("span", {}, name),
    el("span", { class: "amount" }, words),
    el("progress", { value: Math.min(value, max), max, "aria-label": `${name}: ${words}` }),
  );
}

/**
 * Draws bars that show the progress of the open batch: its size compared with the minimum and the
 * maximum, and its age. `now` is in seconds since 1970.
 */
export function drawOpenBatchProgress(
  all: BatchesResponse,
  unit: BatchUnit,
  now: number,
): readonly HTMLElement[] {
  const open = openBatch(all);
  if (open === undefined) return [];
  const [least, most] = minAndMaxBatchSize(unit, all.batch_settings);
  const { hours } = all.batch_settings;
  const have = open.reports;
  const age = Math.max(now - open.opened, 0) / 3600;
  const to = (limit: number, which: string) =>
    progressBar(
      `${capitalize(unit.pluralNoun)} towards the ${which}`,
      have,
      limit,
      `${formatCount(have)} of ${formatCount(limit)}`,
    );
  const bars = [to(most, "maximum")];
  if (have < least) bars.unshift(to(least, "minimum"));
  if (hours > 0) {
    bars.push(
      progressBar(
        "Age of the batch",
        Math.min(age, hours),
        hours,
        `${formatCount(Math.floor(age))} of ${formatCountWithNoun(hours, "hour")}`,
      ),
    );
  }
  return bars;
}

/**
 * Draws the progress of the open batch as one bar: first towards the minimum, and then towards the
 * maximum.
 */
export function drawOpenBatchBar(all: BatchesResponse, unit: BatchUnit): HTMLElement {
  const have = openBatch(all)?.reports ?? 0;
  const [least, most] = minAndMaxBatchSize(unit, all.batch_settings);
  const max = have < least ? least : most;
  const of = have < least ? "at least" : "at most";
  return progressBar("Open batch", have, max, `${formatCount(have)} of ${of} ${formatCount(max)}`);
}

/** Draws a table of the closed batches, the latest first. Returns null if there are none. */
export function closedBatchTable(all: BatchesResponse, unit: BatchUnit): HTMLElement | null {
  const closed = all.batches.filter(({ state }) => state !== "open").reverse();
  if (closed.length === 0) return null;
  const rows = closed.slice(0, MAX_LISTED).map(({ number, reports, closed: at, state }) => [
    String(number),
    { content: formatCount(reports), style: "amount" },
    {
      content: state === "closed" || at === undefined ? "being counted" : formatTime(at),
      style: "amount",
    },
  ]);
  const more = closed.length - rows.length;
  const caption =
    more > 0
      ? `The latest ${MAX_LISTED} of ${formatCount(closed.length)} closed batches`
      : "Closed batches";
  const heads = [
    "Batch",
    { content: capitalize(unit.pluralNoun), style: "amount" },
    { content: "Closed", style: "amount" },
  ];
  return createTable(caption, heads, rows);
}
