// The panel with the time lines: requests the estimates and draws them.

import { el } from "../demo/shared/dom.js";
import { formatCountWithNoun } from "../demo/shared/format.js";
import type { EstimatesResponse } from "./api.js";
import { formatNumber, shareTickText, tickText } from "./labels.js";
import { timeLinePlots } from "./lines.js";
import type { EstimateRow } from "./rows.js";
import type { SectionContent } from "./section.js";
import type { TaskViewContext } from "./significance-view.js";
import {
  confidencePerBatch,
  itemTimeLines,
  labelWithUnit,
  MAX_LINES,
  MAX_RELEASES,
  numberTimeLines,
} from "./timeline.js";

/** Maximum number of parallel requests. */
const MAX_PARALLEL = 3;

/**
 * Requests the estimates of these items separately for each of the latest batches. A few requests
 * run in parallel.
 */
async function requestEstimatesPerBatch(
  context: TaskViewContext,
  items: readonly string[] | null,
): Promise<readonly (readonly [number, EstimatesResponse])[]> {
  const { taskId: task, question, estimatesCache: answers, releasedBatches: released } = context;
  const batches = released.slice(-MAX_RELEASES);
  const confidence = confidencePerBatch(batches.length, context.confidence);
  const found: (readonly [number, EstimatesResponse])[] = [];
  for (let first = 0; first < batches.length; first += MAX_PARALLEL) {
    const some = batches.slice(first, first + MAX_PARALLEL).map(async ({ number }) => {
      const query = { batches: String(number), confidence, items };
      return [number, await answers.getEstimates(task, question, query, "")] as const;
    });
    found.push(...(await Promise.all(some)));
  }
  return found;
}

export async function timelineView(
  context: TaskViewContext,
  shown: readonly EstimateRow[],
): Promise<SectionContent> {
  const { question, releasedBatches: released, rows, confidence } = context;
  if (released.length === 0) return null;
  if (released.length === 1) {
    return [
      el(
        "p",
        {},
        "One batch has been released so far. The time line starts with the second batch.",
      ),
    ];
  }
  // A cross-tabulation with the mean of a number has no shares of cells.
  const number = question.kind === "number" || rows === null;
  const picked = shown.slice(0, MAX_LINES);
  if (!number && picked.length === 0) return null;
  const names = picked.map(({ queryName: query }) => query);
  const items =
    number || names.includes(null)
      ? context.requestedItemNames
      : names.filter((name) => name !== null);
  const answers = await requestEstimatesPerBatch(context, items);
  const units = new Map(picked.map(({ label, unit }) => [label, unit]));
  const labels = picked.map(({ label }) => label);
  const lines = number
    ? numberTimeLines(question, answers)
    : itemTimeLines(labels, rows.estimand, answers).map(({ label, points }) => ({
        label: labelWithUnit(label, units.get(label)),
        points,
      }));
  if (lines.length === 0) return null;
  const first = number ? "" : ` for the first ${formatCountWithNoun(lines.length, "item")} above,`;
  const latest = released.length > MAX_RELEASES ? ` the latest ${MAX_RELEASES} of` : "";
  return [
    el(
      "p",
      {},
      `Estimates${first} from${latest} ${formatCountWithNoun(released.length, "released batch", "released batches")}. Bars are intervals. With ${confidence * 100}% confidence, all of them contain the true values.`,
    ),
    ...timeLinePlots(
      lines,
      number ? formatNumber : rows.format,
      rows?.areShares === true ? shareTickText : tickText,
      {
        zero: !number && question.kind !== "numbers",
        apart: question.kind === "numbers" || number,
      },
    ),
  ];
}
