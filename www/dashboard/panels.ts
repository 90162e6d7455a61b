// Contents of the panels below the estimates: privacy, made-up reports, rejected uploads, and
// texts.

import { displayedName, visibleText } from "../client/displayed-name.js";
import { roundUpThreeDigits } from "../client/rounding.js";
import { el } from "../demo/shared/dom.js";
import {
  formatCount,
  formatCountWithNoun,
  formatPercent,
  formatThreeDigits,
} from "../demo/shared/format.js";
import type {
  HeavyHitters,
  MadeUpReportsInfluence,
  Question,
  ReportsPrivacy,
  ReportsTaskResponse,
} from "./api.js";
import { estimandTexts, formatNumber, isShare, ratingText, shareText } from "./labels.js";
import type { UploadCounts } from "./metrics.js";
import { unitSuffix } from "./rows.js";
import { createTable, type TableCell } from "./table.js";

/** Formats a privacy loss ε, after rounding it up to three significant digits. */
export const epsilonText = (epsilon: number): string => String(roundUpThreeDigits(epsilon));

function epsilonFigure(name: string, number: string, statements: readonly string[]): HTMLElement {
  return el(
    "div",
    {},
    el("h3", {}, name),
    el("p", { class: "figure" }, el("strong", {}, number)),
    ...statements.map((words) => el("p", { class: "help" }, visibleText(words))),
  );
}

/**
 * Draws the local and the central ε, each with its statement. A text instead of `privacy` is the
 * reason why there is no central ε.
 */
export function privacyView(
  task: ReportsTaskResponse,
  privacy: ReportsPrivacy | string,
): readonly Node[] {
  const local = `local ε = ${epsilonText(task.effective_epsilon)}`;
  const alone = "One report";
  if (typeof privacy === "string") {
    const protects = `It protects ${task.protects} against anyone who sees a report.`;
    return [epsilonFigure(alone, local, [protects]), el("p", {}, privacy)];
  }
  const { shuffled, shuffled_by, shuffled_statement, flood_statement } = privacy;
  const by = shuffled_by.length === 0 ? "by this collector alone" : "by another party";
  const number =
    shuffled === undefined
      ? "no shuffled ε"
      : `shuffled ε = ${epsilonText(shuffled.central_epsilon)}, δ = ${shuffled.delta}`;
  return [
    epsilonFigure(alone, local, [privacy.local.statement, privacy.local.budget.statement]),
    epsilonFigure(`A batch, shuffled ${by}`, number, [shuffled_statement, flood_statement]),
  ];
}

/** Names of the estimates on which made-up reports have an effect. */
const ESTIMAND_NAMES = {
  mean: "mean",
  plus: "share of people with a rating above 0",
  minus: "share of people with a rating below 0",
  nonmissing: "share of people with a rating",
  share: "share of people",
  below: "share of people below any edge of a bin",
  margin: "share of people in one row or one column",
};

type MadeUpReportsEffect = MadeUpReportsInfluence["influence"][number];

/**
 * Formats `by`, the largest effect of made-up reports on one estimate. If `shares`, the effect is
 * shown in percentage points.
 */
function formatMadeUpReportsEffect(
  { estimand, unit }: MadeUpReportsEffect,
  shares: boolean,
  by: number,
): string {
  if (unit === "of its range") return `${shareText(by)} ${unit}`;
  if (estimand === "mean" && unit !== undefined) return formatNumber(by) + unitSuffix(unit);
  return shares ? `${shareText(by).replace("%", "")} points` : ratingText(by);
}

/** Returns a table row with the largest effect of made-up reports on one estimate. */
function madeUpReportsEffectRow(
  own: MadeUpReportsEffect,
  questions: readonly Question[],
): readonly (TableCell | string)[] {
  const question = questions.find(({ name }) => name === own.question) ?? {};
  const { estimand } = own;
  const item = estimand !== "below" && estimand !== "margin";
  const shares = !item || isShare(estimand, question);
  const words =
    item && !shares && estimand !== "mean"
      ? estimandTexts(estimand, question).short.toLowerCase()
      : ESTIMAND_NAMES[estimand];
  return [
    own.question === undefined ? words : `${displayedName(own.question)}: ${words}`,
    { content: formatMadeUpReportsEffect(own, shares, own.up), style: "amount" },
    { content: formatMadeUpReportsEffect(own, shares, own.down), style: "amount" },
  ];
}

/**
 * Draws the largest effect of made-up reports, and the results of tests that look for such reports.
 */
export function influenceView(
  found: MadeUpReportsInfluence,
  questions: readonly Question[],
): readonly Node[] {
  const rows = found.influence.map((own) => madeUpReportsEffectRow(own, questions));
  const heads = [
    "Estimate",
    { content: "Largest increase", style: "amount" },
    { content: "Largest decrease", style: "amount" },
  ];
  const tests = found.crowd.map(({ question, statement, p, flagged }) =>
    el(
      "li",
      { class: flagged ? "flagged" : undefined },
      ...(flagged ? [el("strong", {}, "Unusual for honest reports. ")] : []),
      question === undefined ? "" : `${displayedName(question)}: `,
      `${visibleText(statement)} (p = ${formatThreeDigits(p)})`,
    ),
  );
  return [
    createTable(
      `Largest effect if ${formatPercent(found.made_up_fraction)} of the reports are made up`,
      heads,
      rows,
    ),
    el("p", { class: "help" }, visibleText(found.statement)),
    ...(tests.length > 0 ? [el("ul", { class: "tests" }, ...tests)] : []),
  ];
}

/**
 * Draws the numbers of accepted and rejected uploads, over all tasks since the collector started.
 * `noun` names what the collector counts. An analyser counts sealed messages, of which one person
 * sends several.
 */
export function uploadsView(
  { accepted, duplicates, rejected }: UploadCounts,
  noun: "upload" | "message",
): readonly Node[] {
  const rows = rejected.map(([reason, requests]) => [
    reason,
    { content: formatCount(requests), style: "amount" },
  ]);
  return [
    el(
      "p",
      {},
      `Since its start, the collector has accepted ${formatCountWithNoun(accepted, noun)}, counted over all tasks. It has received ${formatCountWithNoun(duplicates, noun)} again, and rejected ${formatCountWithNoun(
        rejected.reduce((sum, [, own]) => sum + own, 0),
        "request",
      )}.`,
    ),
    ...(rows.length > 0
      ? [
          createTable(
            "Rejected requests by reason",
            ["Reason", { content: "Requests", style: "amount" }],
            rows,
          ),
        ]
      : []),
  ];
}

/** Draws each note as a paragraph. Undefined notes are skipped. */
export function noteParagraphs(...notes: readonly (string | undefined)[]): readonly Node[] {
  return notes.flatMap((note) =>
    note === undefined ? [] : [el("p", { class: "note" }, visibleText(note))],
  );
}

/** Draws a table of the texts that many people have. */
export function commonTextsView({ texts, confidence, reports }: HeavyHitters): readonly Node[] {
  const rows = texts.map(({ text, is_prefix, estimate, simultaneous_interval: [from, to] }) => [
    is_prefix ? `${displayedName(text)}…` : displayedName(text),
    { content: shareText(estimate), style: "amount estimated" },
    { content: `${shareText(from)} to ${shareText(to)}`, style: "amount interval" },
  ]);
  const found = rows.length === 0 ? "No text is common enough to be found." : "";
  return [
    el(
      "p",
      {},
      found ||
        `The texts were found in ${formatCountWithNoun(reports, "report")} from all released batches. With a probability of at most ${formatPercent((1 - confidence) / 2, 1)}, the list contains a text that no one has.`,
    ),
    ...(rows.length === 0
      ? []
      : [
          createTable(
            `Texts that many people gave. With ${confidence * 100}% confidence, all intervals contain the true shares`,
            [
              "Text",
              { content: "Share of people", style: "amount" },
              { content: "Simultaneous interval", style: "amount" },
            ],
            rows,
          ),
        ]),
  ];
}
