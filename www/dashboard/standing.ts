// Panel of significant results: items that differ from 0, and changes since the previous batch.

import { el } from "../demo/shared/dom.js";
import { count, counted, percent } from "../demo/shared/format.js";
import type { Batch, Estimand, Estimates, Question } from "./api.js";
import type { Answers } from "./asking.js";
import { meansOf } from "./cross.js";
import { digits } from "./labels.js";
import { changed, ofEither, standing } from "./outstanding.js";
import { behind, type Row, type Rows, rowsOf, spread } from "./rows.js";
import type { Shown } from "./section.js";
import { table } from "./table.js";
import { quantileName } from "./timeline.js";

/** Maximum number of items in a list. */
const NAMED = 12;

/** Current view of a task, for its panels. */
export interface Context {
  readonly task: string;
  readonly question: Question;
  readonly answers: Answers;
  readonly released: readonly Batch[];
  readonly looked: readonly Batch[];
  /** Items that are requested. `null` means all. */
  readonly items: readonly string[] | null;
  readonly estimand: Estimand | null;
  readonly confidence: number;
  readonly rows: Rows | null;
}

/** Returns the latest batch in view and the batch before it. */
export function compared({ looked, released }: Pick<Context, "looked" | "released">) {
  const after = looked[looked.length - 1];
  const place = released.findIndex(({ number }) => number === after?.number);
  const before = released[place - 1];
  return after === undefined || before === undefined ? null : ([before, after] as const);
}

function clear({ rows, confidence }: Context): readonly Element[] {
  if (rows === null) return [];
  const found = standing(rows.rows);
  const chance = percent(1 - confidence);
  const about =
    found.length === 0
      ? `No interval of ${counted(rows.rows.length, "item")} excludes 0, so all estimates may be noise.`
      : `For ${count(found.length)} of ${counted(rows.rows.length, "item")}, the interval excludes 0. The chance that this list contains a false alarm is at most ${chance}.`;
  const named = found.slice(0, NAMED).map((row) => [
    row.label,
    {
      shown: rows.words(row.estimate.estimate, row.estimate) + behind(row.unit),
      style: "amount estimated",
    },
    { shown: spread(row, rows.words), style: "amount interval" },
  ]);
  const heads = [
    "Item",
    { shown: "Estimate", style: "amount" },
    { shown: "Interval", style: "amount" },
  ];
  const more =
    found.length > NAMED
      ? `The ${NAMED} estimates that differ most clearly from 0`
      : "Estimates that clearly differ from 0";
  return [el("p", {}, about), ...(named.length > 0 ? [table(more, heads, named)] : [])];
}

/**
 * Returns the rows that are compared between two batches: items or, for a number, its mean or
 * quantiles.
 */
function comparable(answer: Estimates, question: Question, estimand: Estimand | null): Rows | null {
  const means = meansOf(answer);
  if (means.length > 0) return { estimand: "mean", shares: false, rows: means, words: digits };
  if (question.kind !== "number") return rowsOf(answer, question, estimand ?? undefined);
  const { mean, quantiles = [], unit } = answer.number ?? {};
  const told = unit === undefined ? {} : { unit };
  const rows: Row[] = mean
    ? [{ label: "mean", query: null, estimate: mean, ...told }]
    : quantiles.map((own) => ({
        label: quantileName(own.quantile),
        query: null,
        estimate: own,
        ...told,
      }));
  return { estimand: "mean", shares: false, rows, words: digits };
}

async function moved(context: Context): Promise<readonly Element[]> {
  const pair = compared(context);
  if (pair === null) return [el("p", {}, "There is no earlier batch for a comparison yet.")];
  const { task, question, answers, items, estimand } = context;
  const confidence = ofEither(context.confidence);
  const [before, after] = await Promise.all(
    pair.map(async ({ number }) => {
      const asked = { batches: String(number), confidence, items };
      return comparable(await answers.estimates(task, question, asked, ""), question, estimand);
    }),
  );
  if (!before || !after) return [];
  const found = changed(before.rows, after.rows);
  const [earlier, later] = pair.map(({ number }) => number);
  const chance = percent(1 - context.confidence);
  const of = counted(after.rows.length, question.kind === "number" ? "estimate" : "item");
  const about =
    found.length === 0
      ? `Between batches ${earlier} and ${later}, none of ${of} changed by more than the noise. There may be smaller changes.`
      : `Between batches ${earlier} and ${later}, ${count(found.length)} of ${of} changed by more than the noise. The chance that this list contains a false alarm is at most ${chance}.`;
  const named = found
    .slice(0, NAMED)
    .map(({ label, unit, before: was, after: is }) => [
      label,
      { shown: after.words(was.estimate, was) + behind(unit), style: "amount" },
      { shown: after.words(is.estimate, is) + behind(unit), style: "amount estimated" },
      { shown: is.estimate > was.estimate ? "▲ more" : "▼ less", style: "amount" },
    ]);
  const amount = (shown: string) => ({ shown, style: "amount" });
  const heads = ["Item", amount(`Batch ${earlier}`), amount(`Batch ${later}`), amount("Change")];
  const more =
    found.length > NAMED ? `Changed items: the ${NAMED} largest changes` : "Changed items";
  return [el("p", {}, about), ...(named.length > 0 ? [table(more, heads, named)] : [])];
}

export async function outstandingView(context: Context): Promise<Shown> {
  if (context.looked.length === 0) return null;
  // For numbers with a unit, a difference from 0 has no special meaning.
  const numbers = ["number", "numbers"].includes(context.question.kind ?? "");
  const own = numbers ? [] : clear(context);
  return [
    el(
      "div",
      { class: "columns" },
      el("div", {}, ...own),
      el("div", {}, ...(await moved(context))),
    ),
  ];
}
