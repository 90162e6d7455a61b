// The panel of significant results: items whose estimates differ from 0, and changes since the
// previous batch.

import { el } from "../demo/shared/dom.js";
import { formatCount, formatCountWithNoun, formatPercent } from "../demo/shared/format.js";
import type { Batch, Estimand, EstimatesResponse, Question } from "./api.js";
import { conditionalMeanRows } from "./cross.js";
import type { EstimatesCache } from "./estimates-cache.js";
import { formatNumber } from "./labels.js";
import {
  type EstimandRows,
  type EstimateRow,
  estimandRows,
  intervalText,
  unitSuffix,
} from "./rows.js";
import type { SectionContent } from "./section.js";
import { confidencePerBatchOfTwo, significantChanges, significantRows } from "./significance.js";
import { createTable } from "./table.js";
import { quantileName } from "./timeline.js";

/** Maximum number of items in one table. */
const MAX_LISTED = 12;

/**
 * State of the page that its panels need: the task, the selected batches and the displayed rows.
 */
export interface TaskViewContext {
  readonly taskId: string;
  readonly question: Question;
  readonly estimatesCache: EstimatesCache;
  readonly releasedBatches: readonly Batch[];
  readonly selectedBatches: readonly Batch[];
  /** Names of the requested items. `null` means all items. */
  readonly requestedItemNames: readonly string[] | null;
  readonly estimand: Estimand | null;
  readonly confidence: number;
  readonly rows: EstimandRows | null;
}

/**
 * Returns two batches to compare: the latest selected batch, preceded by the released batch before
 * it. Returns null if there is no earlier batch.
 */
export function previousAndLatestBatch({
  selectedBatches: selected,
  releasedBatches: released,
}: Pick<TaskViewContext, "selectedBatches" | "releasedBatches">) {
  const after = selected[selected.length - 1];
  const place = released.findIndex(({ number }) => number === after?.number);
  const before = released[place - 1];
  return after === undefined || before === undefined ? null : ([before, after] as const);
}

function nonZeroItemsView({ rows, confidence }: TaskViewContext): readonly Element[] {
  if (rows === null) return [];
  const found = significantRows(rows.rows);
  const chance = formatPercent(1 - confidence);
  const about =
    found.length === 0
      ? `No interval of ${formatCountWithNoun(rows.rows.length, "item")} excludes 0, so all estimates may be noise.`
      : `For ${formatCount(found.length)} of ${formatCountWithNoun(rows.rows.length, "item")}, the interval excludes 0. The chance that this list contains a false alarm is at most ${chance}.`;
  const named = found.slice(0, MAX_LISTED).map((row) => [
    row.label,
    {
      content: rows.format(row.estimate.estimate, row.estimate) + unitSuffix(row.unit),
      style: "amount estimated",
    },
    { content: intervalText(row, rows.format), style: "amount interval" },
  ]);
  const heads = [
    "Item",
    { content: "Estimate", style: "amount" },
    { content: "Interval", style: "amount" },
  ];
  const more =
    found.length > MAX_LISTED
      ? `The ${MAX_LISTED} estimates that differ most clearly from 0`
      : "Estimates that clearly differ from 0";
  return [el("p", {}, about), ...(named.length > 0 ? [createTable(more, heads, named)] : [])];
}

/**
 * Returns the rows that can be compared between two batches. They are items or, for a number, its
 * mean or its quantiles.
 */
function comparableRows(
  answer: EstimatesResponse,
  question: Question,
  estimand: Estimand | null,
): EstimandRows | null {
  const means = conditionalMeanRows(answer);
  if (means.length > 0)
    return { estimand: "mean", areShares: false, rows: means, format: formatNumber };
  if (question.kind !== "number") return estimandRows(answer, question, estimand ?? undefined);
  const { mean, quantiles = [], unit } = answer.number ?? {};
  const unitField = unit === undefined ? {} : { unit };
  const rows: EstimateRow[] = mean
    ? [{ label: "mean", queryName: null, estimate: mean, ...unitField }]
    : quantiles.map((own) => ({
        label: quantileName(own.quantile),
        queryName: null,
        estimate: own,
        ...unitField,
      }));
  return { estimand: "mean", areShares: false, rows, format: formatNumber };
}

async function changedItemsView(context: TaskViewContext): Promise<readonly Element[]> {
  const pair = previousAndLatestBatch(context);
  if (pair === null) return [el("p", {}, "There is no earlier batch for a comparison yet.")];
  const {
    taskId: task,
    question,
    estimatesCache: answers,
    requestedItemNames: items,
    estimand,
  } = context;
  const confidence = confidencePerBatchOfTwo(context.confidence);
  const [before, after] = await Promise.all(
    pair.map(async ({ number }) => {
      const query = { batches: String(number), confidence, items };
      return comparableRows(
        await answers.getEstimates(task, question, query, ""),
        question,
        estimand,
      );
    }),
  );
  if (!before || !after) return [];
  const found = significantChanges(before.rows, after.rows);
  const [earlier, later] = pair.map(({ number }) => number);
  const chance = formatPercent(1 - context.confidence);
  const of = formatCountWithNoun(
    after.rows.length,
    question.kind === "number" ? "estimate" : "item",
  );
  const about =
    found.length === 0
      ? `Between batches ${earlier} and ${later}, none of ${of} changed by more than the noise. There may be smaller changes.`
      : `Between batches ${earlier} and ${later}, ${formatCount(found.length)} of ${of} changed by more than the noise. The chance that this list contains a false alarm is at most ${chance}.`;
  const named = found
    .slice(0, MAX_LISTED)
    .map(({ label, unit, before: was, after: is }) => [
      label,
      { content: after.format(was.estimate, was) + unitSuffix(unit), style: "amount" },
      { content: after.format(is.estimate, is) + unitSuffix(unit), style: "amount estimated" },
      { content: is.estimate > was.estimate ? "▲ more" : "▼ less", style: "amount" },
    ]);
  const amount = (content: string) => ({ content, style: "amount" });
  const heads = ["Item", amount(`Batch ${earlier}`), amount(`Batch ${later}`), amount("Change")];
  const more =
    found.length > MAX_LISTED
      ? `Changed items: the ${MAX_LISTED} largest changes`
      : "Changed items";
  return [el("p", {}, about), ...(named.length > 0 ? [createTable(more, heads, named)] : [])];
}

export async function significanceView(context: TaskViewContext): Promise<SectionContent> {
  if (context.selectedBatches.length === 0) return null;
  // For numbers with a unit, a difference from 0 has no special meaning.
  const numbers = ["number", "numbers"].includes(context.question.kind ?? "");
  const own = numbers ? [] : nonZeroItemsView(context);
  return [
    el(
      "div",
      { class: "columns" },
      el("div", {}, ...own),
      el("div", {}, ...(await changedItemsView(context))),
    ),
  ];
}
