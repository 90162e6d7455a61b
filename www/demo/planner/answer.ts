// The view of the planner's answer: the verdict, the numbers, the mechanism, and the alternatives.

import { byId, el } from "../shared/dom.js";
import { planCommand } from "./command.js";
import { type AnyPlan, isSumInput, isSumPlan } from "./curves.js";
import { severalQuestionsContent } from "./several-view.js";
import { singleQuestionContent } from "./single-view.js";
import type { PlannerInput } from "./state.js";
import { showSumPlan, sumsVerdict } from "./sums.js";
import { VerdictView } from "./verdict.js";
import type { ComparisonRow, KeyNumber, PlanContent, QuestionCost } from "./view.js";
import { VERDICTS } from "./words.js";

export class PlanView {
  readonly #verdict = new VerdictView();

  /**
   * Shows an answer of the planner. `shown` is the index of the question whose errors are plotted.
   */
  show(answer: AnyPlan, input: PlannerInput, shown = 0): void {
    const sums = isSumPlan(answer);
    for (const id of ["plots", "mechanism"]) byId(id).hidden = sums;
    for (const id of ["ways-panel", "influence-panel"]) byId(id).hidden = !sums;
    byId("task-json").textContent = taskFileText(answer);
    const command = planCommand(input, answer.task.id);
    byId("command-box").hidden = command === null;
    byId("command").replaceChildren(
      ...(command ?? []).flatMap((part, index) => [index === 0 ? "" : " ", el("span", {}, part)]),
    );
    if (sums) {
      byId("figures").replaceChildren(...showSumPlan(answer).map(keyNumberElement));
      byId("each").hidden = true;
      this.#verdict.showVerdict("useful", "People must trust the shuffler", ...sumsVerdict(answer));
      return;
    }
    if (isSumInput(input)) throw new Error("a survey's plan answers a survey");
    const several = answer.questions.length > 1;
    const view = several
      ? severalQuestionsContent(answer, input)
      : singleQuestionContent(answer, input);
    this.#showPlanContent(view, shown);
    byId("assumes").textContent = answer.assumes;
    const { verdict } = answer;
    const kind = VERDICTS[verdict.kind];
    this.#verdict.showVerdict(verdict.kind, kind, verdict.text, `${kind} · ${view.shortVerdict}`);
  }

  #showPlanContent(view: PlanContent, shown: number): void {
    byId("figures").replaceChildren(...view.keyNumbers.map(keyNumberElement));
    byId("each").hidden = view.questionCosts.length === 0;
    byId("each-rows").replaceChildren(...view.questionCosts.map(questionCostRow));
    byId("plots-of").hidden = view.questionCosts.length === 0;
    byId("plots-of").textContent =
      `The errors in the plots are for ${view.questionCosts[shown]?.name}.`;
    byId("mechanism-name").textContent = view.mechanism;
    byId("mechanism-parameters").textContent = view.parameters;
    byId("mechanism-protects").textContent = view.protectionText;
    byId("offers").replaceChildren(...view.comparisonRows.map(comparisonRowElement));
  }

  /** Shows the reason why there is no answer, and hides the last answer. */
  showRefusal(message: string): void {
    this.#verdict.showRefusal(message);
  }
}

/** Returns the text of the task file that belongs to an answer. */
export function taskFileText({ task }: AnyPlan): string {
  const lines = JSON.stringify(task, null, 2);
  // Puts each list of numbers, and each number with its limits, on one line. JSON escapes line
  // ends in strings, so these patterns match no string.
  const lists = lines.replace(/\[\n\s*(-?\d[^[\]{}"]*?)\s*\n\s*\]/g, (_, numbers: string) => {
    return `[${numbers.split(/,\s*/).join(", ")}]`;
  });
  const limits = lists.replace(
    /\{\n\s*("name": "(?:[^"\\]|\\.)*",\n\s*"min"[^{}]*?)\n\s*\}/g,
    (_, own: string) => `{ ${own.split(/\n\s*/).join(" ")} }`,
  );
  return `${limits}\n`;
}

function keyNumberElement([name, exact, words, note, solved]: KeyNumber): HTMLElement {
  const known = exact !== null && exact !== undefined;
  return el(
    "div",
    { "data-solved": solved === true },
    el("dt", {}, name),
    el(
      "dd",
      { class: "figure-value" },
      known ? el("data", { value: exact, title: String(exact) }, words) : words,
    ),
    el("dd", { class: "figure-note" }, note),
  );
}

function questionCostRow({ name, note, ...own }: QuestionCost): HTMLElement {
  const small = (text: string) => el("span", { class: "parameters" }, text);
  const interval = el(
    "data",
    { value: own.halfWidth, title: String(own.halfWidth) },
    own.intervalText,
  );
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, name, small(note)),
    el("td", {}, own.reports, small(own.reportShare)),
    el("td", { "data-solved": own.solved }, interval, small(own.estimate)),
    el("td", {}, own.reportsAsRatings),
  );
}

function comparisonRowElement({
  chosen,
  name,
  note,
  errorEpsilonAndPeople: costs,
}: ComparisonRow): HTMLElement {
  return el(
    "tr",
    { "data-picked": chosen },
    el(
      "th",
      { scope: "row" },
      name,
      chosen ? el("span", { class: "tag" }, "picked") : "",
      el("span", { class: "parameters" }, note),
    ),
    ...costs.map((cost) => el("td", {}, cost)),
  );
}
