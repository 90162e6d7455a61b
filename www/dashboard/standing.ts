// What stands out, shown: clear of 0, and other than in the batch before.

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

/** Most items that are named. */
const NAMED = 12;

/** What is looked at, as its parts need to know. */
export interface Context {
  readonly task: string;
  readonly question: Question;
  readonly answers: Answers;
  readonly released: readonly Batch[];
  readonly looked: readonly Batch[];
  /** Items that are asked for; all if null. */
  readonly items: readonly string[] | null;
  readonly estimand: Estimand | null;
  readonly confidence: number;
  readonly rows: Rows | null;
}

/** The latest batch that is looked at, and the one released before it. */
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
      ? `No interval of ${counted(rows.rows.length, "item")} lies clear of 0: all of it may be noise.`
      : `The intervals of ${count(found.length)} of ${counted(rows.rows.length, "item")} lie clear of 0. They hold all together: that any of these is here by chance has a probability of ${chance} at most.`;
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
  const more = found.length > NAMED ? `Clear of 0: the farthest ${NAMED}` : "Clear of 0";
  return [el("p", {}, about), ...(named.length > 0 ? [table(more, heads, named)] : [])];
}

/** What is compared of a question: its items, or of a number its mean or quantiles. */
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
  if (pair === null) return [el("p", {}, "There is no batch before to compare with yet.")];
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
  const of = counted(after.rows.length, question.kind === "number" ? "figure" : "item");
  const about =
    found.length === 0
      ? `Between batches ${earlier} and ${later} none of ${of} changed by more than the noise explains. Smaller changes may be there.`
      : `Between batches ${earlier} and ${later}, ${count(found.length)} of ${of} changed beyond their intervals in both, which hold all together: that any is here by chance has a probability of ${chance} at most.`;
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
  const more = found.length > NAMED ? `Changed: the ${NAMED} that moved most` : "Changed";
  return [el("p", {}, about), ...(named.length > 0 ? [table(more, heads, named)] : [])];
}

export async function outstandingView(context: Context): Promise<Shown> {
  if (context.looked.length === 0) return null;
  // Numbers of any unit have no 0 that would mean anything.
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
