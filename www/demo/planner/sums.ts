// The view of a plan of sums: a comparison with local reports, and the effect of dishonest people.

import type { SumPlan } from "../shared/analysis.js";
import { byId, el } from "../shared/dom.js";
import { formatCount, formatCountWithNoun, formatScientific } from "../shared/format.js";
import type { KeyNumber } from "./view.js";
import { certaintyWords, formatFrequency, formatLossThreeDigits, formatNumber } from "./words.js";

/** Shows the panels that only plans of sums have, and returns the key numbers. */
export function showSumPlan(plan: SumPlan): KeyNumber[] {
  byId("ways-rows").replaceChildren(...trustComparisonRows(plan));
  setTableRoles(byId("ways"));
  byId("statement").textContent = plan.privacy.statement;
  byId("influence-text").textContent = dishonestyText(plan);
  byId("influence-rows").replaceChildren(...dishonestInfluenceRows(plan));
  return sumsKeyNumbers(plan);
}

/** Returns the text of the verdict, and its short form. */
export function sumsVerdict(plan: SumPlan): [text: string, tally: string] {
  return [verdictText(plan), shortVerdictText(plan)];
}

/**
 * Returns the standard errors of the first item. They apply to all items, which have equal limits.
 */
function firstItemErrors(plan: SumPlan) {
  const [error] = plan.errors;
  if (!error) throw new Error("sums are of something");
  return error;
}

/** Names of what a plan estimates. Each depends on the data that people send. */
interface PlanNouns {
  /** Names the estimates to which the standard errors apply. */
  readonly eachEstimate: string;
  /** Quantity that dishonest people move. */
  readonly moved: string;
  /** Describes the whole whose change the table of dishonest people lists. */
  readonly whole: string;
}

function nounsOf({ task }: SumPlan): PlanNouns {
  if (task.questions !== undefined) {
    const one = task.questions[0]?.kind === "number" ? "bin" : "option";
    return { eachEstimate: "each share", moved: "count", whole: `for the count of each ${one}` };
  }
  if (task.vector === undefined)
    return { eachEstimate: "each mean", moved: "sum", whole: "for the sum of each number" };
  return {
    eachEstimate: "each coordinate of the mean",
    moved: "sum",
    whole: "for the length of the sum",
  };
}

/** Formats a standard error. Errors of shares of people are in per cent. */
const errorText = ({ task }: SumPlan, error: number) =>
  task.questions === undefined ? formatNumber(error) : formatFrequency(error);

/** Describes the messages of one person in a plan, apart from their noise. */
function ownMessagesText({ task }: SumPlan): string {
  if (!("levels" in task.messages)) {
    return task.messages.equal === true
      ? "the others name the answer, or are blank"
      : "the others name the answer";
  }
  const { levels, drawn } = task.messages;
  return `${formatCountWithNoun(drawn, "coordinate")} with ${formatCountWithNoun(levels, "level")} each`;
}

function verdictText(plan: SumPlan): string {
  const { standard_error, local_standard_error } = firstItemErrors(plan);
  const times = local_standard_error / standard_error;
  const better =
    times >= 1
      ? `${formatNumber(times)} times smaller than with local reports at the same ε`
      : "no smaller than with local reports, which need no trust";
  return `The standard error of ${nounsOf(plan).eachEstimate} is ${errorText(plan, standard_error)}. This error is ${better}.`;
}

function sumsKeyNumbers(plan: SumPlan): KeyNumber[] {
  const { privacy, central_epsilon, messages, mean_messages, noise_messages } = plan;
  const { bytes, mean_bytes } = plan;
  const onAverage = (most: number, mean: number) =>
    mean < most ? `at most; ${formatNumber(mean)} on average, ` : "";
  const { standard_error } = firstItemErrors(plan);
  return [
    [
      "standard error",
      standard_error,
      errorText(plan, standard_error),
      `of ${nounsOf(plan).eachEstimate}, in the worst case over answers`,
    ],
    [
      "messages per person",
      messages,
      formatCount(messages),
      `${onAverage(messages, mean_messages)}including ${formatNumber(noise_messages)} noise messages on average; ${ownMessagesText(plan)}`,
    ],
    [
      "bytes per person",
      bytes,
      formatCount(bytes),
      `${onAverage(bytes, mean_bytes)}each message is sealed separately`,
    ],
    ["local ε", null, "none", "a person’s messages reveal the answer"],
    [
      "shuffled ε",
      central_epsilon.upper,
      formatLossThreeDigits(central_epsilon.upper),
      `one batch: ${certaintyWords(central_epsilon.upper)}; δ = ${delta(privacy.delta)}`,
    ],
    [
      "people per batch",
      privacy.people,
      formatCount(privacy.people),
      `minimum; ${formatFrequency(privacy.honest_fraction)} of the people are assumed honest`,
    ],
  ];
}

const delta = (value: number) => formatScientific(value.toExponential());

const smallTextElement = (text: string) => el("span", { class: "parameters" }, text);

/** Names of the table columns. On narrow screens, each cell shows the name of its column. */
const COLUMNS = ["Standard error", "Privacy", "Who must be trusted"];

/**
 * Sets the ARIA roles of a table and its parts. Browsers drop the implicit roles if CSS changes
 * `display`.
 */
function setTableRoles(table: Element): void {
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

function trustComparisonRow(
  name: string,
  note: string,
  cells: readonly string[],
  picked: boolean,
): HTMLElement {
  return el(
    "tr",
    { "data-picked": picked },
    el("th", { scope: "row" }, name, smallTextElement(note)),
    ...cells.map((cell, index) => el("td", { "data-column": COLUMNS[index] }, cell)),
  );
}

/** Returns a table row for sums through the shuffler, and one for local reports. */
function trustComparisonRows(plan: SumPlan): readonly HTMLElement[] {
  const { standard_error, local_standard_error } = firstItemErrors(plan);
  const { central_epsilon, delta: own } = plan.privacy;
  const epsilon = formatLossThreeDigits(central_epsilon);
  return [
    trustComparisonRow(
      "Through the shuffler",
      `${formatCountWithNoun(plan.messages, "message")} per person; anyone who links the messages reads the answer`,
      [
        errorText(plan, standard_error),
        `The shuffled batch is protected: ε = ${epsilon}, δ = ${delta(own)}. There is no local ε`,
        "The shuffler: it must hold back smaller batches, and must not collude with the analyser",
      ],
      true,
    ),
    trustComparisonRow(
      "Local reports",
      "one report per person, randomised in the page",
      [
        errorText(plan, local_standard_error),
        `Each report is protected against everyone: local ε = ${epsilon}`,
        "No one, not even the collector’s operator",
      ],
      false,
    ),
  ];
}

function dishonestyText(plan: SumPlan): string {
  const {
    privacy,
    influence: [own],
  } = plan;
  const assumed = own?.dishonest_people ?? 0;
  const who = `The plan assumes that ${formatCount(assumed)} of ${formatCountWithNoun(privacy.people, "person", "people")} are dishonest.`;
  return `${who} The shuffler limits the number of messages in an upload. The shuffler cannot read the messages, so all messages of a dishonest person may shift the ${nounsOf(plan).moved} in the same direction.`;
}

function dishonestInfluenceRows(plan: SumPlan): readonly HTMLElement[] {
  const [own] = plan.influence;
  if (!own) return [];
  const { whole: of } = nounsOf(plan);
  const row = (name: string, moved: number, errors: number | null) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, name),
      el("td", {}, formatNumber(moved), smallTextElement(of)),
      el("td", {}, errors === null || !Number.isFinite(errors) ? "–" : `× ${formatNumber(errors)}`),
    );
  const {
    honest_change: honest,
    dishonest_change: dishonest,
    dishonest_people: people,
    total_change: all,
    total_standard_errors: errors,
  } = own;
  // The plan has the standard errors of all dishonest people. Without any, one person's is unknown.
  const one = people > 0 ? errors / people : null;
  const rows = [
    row("An honest person", honest, one && one * (honest / dishonest)),
    row("A dishonest person", dishonest, one),
  ];
  if (one === null) return rows;
  return [...rows, row(`All ${formatCount(people)} dishonest people`, all, errors)];
}

function shortVerdictText(plan: SumPlan): string {
  return [
    `error ${errorText(plan, firstItemErrors(plan).standard_error)}`,
    "no local ε",
    `shuffled ε ${formatLossThreeDigits(plan.central_epsilon.upper)}`,
    `${formatCount(plan.messages)} messages`,
  ].join(" · ");
}
