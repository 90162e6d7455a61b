// The answer: its verdict, its numbers, the mechanism, what else there is.

import type { Answer, Offer } from "../shared/analysis.js";
import { byId, el } from "../shared/dom.js";
import { count } from "../shared/format.js";
import { isSurvey, type Reply } from "./curves.js";
import { eachView } from "./each.js";
import type { Asking } from "./state.js";
import { surveyCommand, surveyView } from "./survey.js";
import { Verdict } from "./verdict.js";
import {
  type Cost,
  commonFigures,
  distanceOf,
  type Figure,
  optionsOf,
  type Row,
  type View,
} from "./view.js";
import { digits, lossDigits, nameOf, parametersOf, perCent, VERDICTS } from "./words.js";

export class AnswerView {
  readonly #verdict = new Verdict();

  /** Shows an answer; errors that are plotted are of the question `shown`, of several. */
  show(answer: Reply, question: Asking, shown = 0): void {
    const { verdict } = answer;
    const view = viewOf(answer, question);
    byId("figures").replaceChildren(...view.figures.map(figure));
    byId("each").hidden = view.each.length === 0;
    byId("each-rows").replaceChildren(...view.each.map(cost));
    byId("plots-of").hidden = view.each.length === 0;
    byId("plots-of").textContent = `Errors here are of ${view.each[shown]?.name}.`;

    byId("mechanism-name").textContent = view.mechanism;
    byId("mechanism-parameters").textContent = view.parameters;
    byId("mechanism-protects").textContent = view.protects;
    byId("assumes").textContent = answer.assumes;
    byId("offers").replaceChildren(...view.offers.map(row));
    byId("task-json").textContent = taskFile(answer);
    const command = commandOf(question, answer.task.id);
    byId("command-box").hidden = command === null;
    byId("command").replaceChildren(
      ...(command ?? []).flatMap((part, index) => [index === 0 ? "" : " ", el("span", {}, part)]),
    );
    const kind = VERDICTS[verdict.kind];
    this.#verdict.answer(verdict.kind, kind, verdict.text, `${kind} · ${view.tally}`);
  }

  /** As {@link Verdict.refuse}. */
  refuse(message: string): void {
    this.#verdict.refuse(message);
  }
}

/** The task file of an answer. */
export function taskFile({ task }: Reply): string {
  const lines = JSON.stringify(task, null, 2);
  // Numbers of a list in one line: of many edges. No string holds the end of a line.
  const compact = lines.replace(/\[\n\s*(-?\d[^[\]{}"]*?)\s*\n\s*\]/g, (_, numbers: string) => {
    return `[${numbers.split(/,\s*/).join(", ")}]`;
  });
  return `${compact}\n`;
}

/** The command that makes this task, in parts; null where it has no words for it. */
export function commandOf(question: Asking, id: string): string[] | null {
  if (isSurvey(question)) return surveyCommand(question, id);
  if (typeof question.objective === "object") return null;
  return ["hushbin plan", ...optionsOf(question)];
}

function viewOf(answer: Reply, question: Asking): View {
  if ("picked" in answer) return ratingsView(answer, question);
  return answer.questions.length > 1 ? eachView(answer, question) : surveyView(answer, question);
}

function ratingsView(answer: Answer, question: Asking): View {
  const { picked, people, others } = answer;
  return {
    figures: figuresOf(answer, question),
    each: [],
    tally: [
      `error ${digits(picked.error)}`,
      `ε ${lossDigits(picked.effective_epsilon)}`,
      `shuffled ${lossDigits(picked.central?.central_epsilon)}`,
      `${count(people)} people`,
    ].join(" · "),
    mechanism: nameOf(picked.mechanism),
    parameters: `${parametersOf(picked.mechanism)}; sparsity ${picked.sparsity}.`,
    protects: `ε is about ${picked.protects}.${distanceOf(picked)}`,
    offers: [picked, ...others].map((offer) => rowOf(offer, offer === picked)),
  };
}

function figuresOf(answer: Answer, question: Asking): Figure[] {
  const { picked, solved_for } = answer;
  const { bias } = picked;
  const biased = bias !== null && bias > 0;
  return [
    [
      biased ? "error" : "standard error",
      picked.error,
      digits(picked.error),
      biased
        ? `root mean square: ${digits(picked.standard_error)} of noise, ${digits(bias)} of bias at worst`
        : "root mean square over all items",
      solved_for === "error",
    ],
    [
      "95% interval",
      picked.interval,
      `±${digits(picked.interval)}`,
      `of one item; of all at once ±${digits(picked.simultaneous_interval)}`,
    ],
    [
      "smallest frequency seen",
      picked.smallest,
      picked.smallest === null ? "none" : perCent(picked.smallest),
      "of people; four times out of five",
    ],
    ...commonFigures({ ...answer, ...picked, people: answer.people }, question),
  ];
}

function figure([name, exact, words, note, solved]: Figure): HTMLElement {
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

function cost({ name, note, ...own }: Cost): HTMLElement {
  const small = (text: string) => el("span", { class: "parameters" }, text);
  const interval = el("data", { value: own.exact, title: String(own.exact) }, own.interval);
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, name, small(note)),
    el("td", {}, own.reports, small(own.drawn)),
    el("td", { "data-solved": own.solved }, interval, small(own.of)),
    el("td", {}, own.ratings),
  );
}

function rowOf(offer: Offer, picked: boolean): Row {
  const { mechanism, central, bias, people } = offer;
  const biased = bias !== null && bias > 0 ? `, of it bias ${digits(bias)} at worst` : "";
  return {
    picked,
    name: nameOf(mechanism),
    note: `sparsity ${offer.sparsity}, local ε ${lossDigits(offer.effective_epsilon)}; protects ${offer.protects}`,
    costs: [
      `${digits(offer.error)}${biased}`,
      lossDigits(central?.central_epsilon),
      people === null ? "–" : count(people),
    ],
  };
}

function row({ picked, name, note, costs }: Row): HTMLElement {
  return el(
    "tr",
    { "data-picked": picked },
    el(
      "th",
      { scope: "row" },
      name,
      picked ? el("span", { class: "tag" }, "picked") : "",
      el("span", { class: "parameters" }, note),
    ),
    ...costs.map((cost) => el("td", {}, cost)),
  );
}
