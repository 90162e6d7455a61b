// The plan of sums: what either way gives and takes, and what dishonest people could do.

import type { SumPlan } from "../shared/analysis.js";
import { byId, el } from "../shared/dom.js";
import { count, counted, powers } from "../shared/format.js";
import type { Figure } from "./view.js";
import { digits, lossDigits, perCent } from "./words.js";

/** Shows what only sums have, and returns the figures. */
export function showSums(plan: SumPlan): Figure[] {
  byId("ways-rows").replaceChildren(...waysOf(plan));
  sayRoles(byId("ways"));
  byId("statement").textContent = plan.privacy.statement;
  byId("influence-text").textContent = assumedOf(plan);
  byId("influence-rows").replaceChildren(...influenceOf(plan));
  return figuresOf(plan);
}

/** The verdict, and its short form. */
export function sumsVerdict(plan: SumPlan): [text: string, tally: string] {
  return [verdictOf(plan), tallyOf(plan)];
}

/** Errors of any item: all have the same limits, and so the same errors. */
function errorOf(plan: SumPlan) {
  const [error] = plan.errors;
  if (!error) throw new Error("sums are of something");
  return error;
}

/** Estimate that errors are for. */
const each = ({ task }: SumPlan) =>
  task.vector === undefined ? "each mean" : "each number of the mean";

function verdictOf(plan: SumPlan): string {
  const { standard_error, local_standard_error } = errorOf(plan);
  const times = local_standard_error / standard_error;
  const better =
    times >= 1
      ? `${digits(times)} times less than by reports that are private by themselves with the same ε`
      : "no less than by reports that are private by themselves, for which nobody has to be trusted";
  return `The standard error of ${each(plan)} is ${digits(standard_error)}: ${better}.`;
}

function figuresOf(plan: SumPlan): Figure[] {
  const { privacy, central_epsilon, messages, noise_messages, bytes } = plan;
  const { standard_error } = errorOf(plan);
  const { levels, drawn } = plan.task.messages;
  return [
    ["standard error", standard_error, digits(standard_error), `of ${each(plan)}, at worst`],
    [
      "messages a person",
      messages,
      count(messages),
      `${digits(noise_messages)} of noise on average; ${counted(drawn, "coordinate")} in ${counted(levels, "level")}`,
    ],
    ["bytes a person", bytes, count(bytes), "sealed, each message by itself"],
    ["local ε", null, "none", "a person’s own messages say the answer"],
    [
      "shuffled ε",
      central_epsilon.upper,
      lossDigits(central_epsilon.upper),
      `of the shuffled batch, with δ = ${delta(privacy.delta)}`,
    ],
    [
      "people of a batch",
      privacy.people,
      count(privacy.people),
      `at least, ${perCent(privacy.honest_fraction)} of them honest`,
    ],
  ];
}

const delta = (value: number) => powers(value.toExponential());

const small = (text: string) => el("span", { class: "parameters" }, text);

/** Columns, as cells say them where rows become blocks. */
const COLUMNS = ["Standard error of a mean", "What ε is of", "Who must be trusted"];

/** With another `display` browsers forget what parts of a table are: roles are said outright. */
function sayRoles(table: Element): void {
  table.setAttribute("role", "table");
  for (const [selector, role] of [
    ["thead, tbody", "rowgroup"],
    ["tr", "row"],
    ["thead th", "columnheader"],
    ["tbody th", "rowheader"],
    ["td", "cell"],
  ] as const) {
    for (const part of table.querySelectorAll(selector)) part.setAttribute("role", role);
  }
}

function way(name: string, note: string, cells: readonly string[], picked: boolean): HTMLElement {
  return el(
    "tr",
    { "data-picked": picked },
    el("th", { scope: "row" }, name, small(note)),
    ...cells.map((cell, index) => el("td", { "data-column": COLUMNS[index] }, cell)),
  );
}

/** The plan, and the same by reports that need nobody's word. */
function waysOf(plan: SumPlan): readonly HTMLElement[] {
  const { standard_error, local_standard_error } = errorOf(plan);
  const { central_epsilon, delta: own } = plan.privacy;
  const epsilon = lossDigits(central_epsilon);
  return [
    way(
      "Through the shuffler",
      `${counted(plan.messages, "message")} a person, which say the answer to whoever links them`,
      [
        digits(standard_error),
        `ε = ${epsilon}, δ = ${delta(own)}: the shuffled batch. There is no local ε`,
        "The shuffler: to send no batch of fewer people, and not to work with who opens messages",
      ],
      true,
    ),
    way(
      "Reports that are private by themselves",
      "one report a person, randomised in the page",
      [
        digits(local_standard_error),
        `Local ε = ${epsilon}: each report, against everybody`,
        "Nobody, the collector’s operator included",
      ],
      false,
    ),
  ];
}

function assumedOf({ privacy, influence: [own] }: SumPlan): string {
  const assumed = own?.people ?? 0;
  const who = `Of ${counted(privacy.people, "person", "people")}, ${count(assumed)} are assumed to be dishonest.`;
  return `${who} The shuffler takes no more messages of one upload, and cannot look into them: all may say the same.`;
}

function influenceOf({ influence: [own], task }: SumPlan): readonly HTMLElement[] {
  if (!own) return [];
  const of = task.vector === undefined ? "of each number" : "its length";
  const row = (name: string, moved: number, errors: number | null) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, name),
      el("td", {}, digits(moved), small(of)),
      el("td", {}, errors === null || !Number.isFinite(errors) ? "–" : `× ${digits(errors)}`),
    );
  const { honest, dishonest, people, all, standard_errors } = own;
  // Errors are known from those who are assumed to be dishonest, if there are any.
  const one = people > 0 ? standard_errors / people : null;
  const rows = [
    row("An honest person", honest, one && one * (honest / dishonest)),
    row("A dishonest person", dishonest, one),
  ];
  if (one === null) return rows;
  return [...rows, row(`All ${count(people)} assumed dishonest`, all, standard_errors)];
}

function tallyOf(plan: SumPlan): string {
  return [
    `error ${digits(errorOf(plan).standard_error)}`,
    "no local ε",
    `shuffled ${lossDigits(plan.central_epsilon.upper)}`,
    `${count(plan.messages)} messages`,
  ].join(" · ");
}
