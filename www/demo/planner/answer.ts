// The answer: its verdict, its numbers, the mechanism, what else there is.

import type { Answer, Offer, Question } from "../shared/analysis.js";
import { byId, el } from "../shared/dom.js";
import { count } from "../shared/format.js";
import { days, digits, lossDigits, nameOf, parametersOf, perCent, VERDICTS } from "./words.js";

/** How long an answer stands before it is read out. */
const QUIET_MS = 900;

export class AnswerView {
  #reading: ReturnType<typeof setTimeout> | undefined;

  show(answer: Answer, question: Question): void {
    const { picked, verdict } = answer;
    const box = byId("verdict");
    box.dataset.kind = verdict.kind;
    byId("verdict-kind").textContent = VERDICTS[verdict.kind];
    byId("verdict-text").textContent = verdict.text;
    byId("figures").replaceChildren(...figuresOf(answer, question).map(figure));
    byId("tally").textContent = tally(answer);
    this.#read(`${VERDICTS[verdict.kind]}. ${verdict.text}`);

    byId("mechanism-name").textContent = nameOf(picked.mechanism);
    byId("mechanism-parameters").textContent =
      `${parametersOf(picked.mechanism)}; sparsity ${picked.sparsity}.`;
    byId("mechanism-protects").textContent = `ε is about ${picked.protects}.${distanceOf(picked)}`;
    byId("assumes").textContent = answer.assumes;
    byId("offers").replaceChildren(
      ...[picked, ...answer.others].map((offer) => row(offer, offer === picked)),
    );
    byId("task-json").textContent = taskFile(answer);
    const command = commandOf(question);
    byId("command-box").hidden = command === null;
    byId("command").replaceChildren(
      ...(command ?? []).flatMap((part, index) => [index === 0 ? "" : " ", el("span", {}, part)]),
    );
    this.#stand(true);
  }

  /** There is no answer; what was shown last is hidden, and keeps its place. */
  refuse(message: string): void {
    this.#stand(false);
    byId("verdict").dataset.kind = "refused";
    byId("verdict-kind").textContent = "No plan";
    byId("verdict-text").textContent = message;
    byId("tally").textContent = "No plan";
    this.#read(`No plan. ${message}`);
  }

  #stand(is: boolean): void {
    document.documentElement.toggleAttribute("data-answered", is);
    if (is) document.documentElement.dataset.planned = "true";
    for (const id of ["copy", "download"]) byId<HTMLButtonElement>(id).disabled = !is;
  }

  /** Reads an answer out when it has stood for a while. */
  #read(text: string): void {
    clearTimeout(this.#reading);
    this.#reading = setTimeout(() => {
      const status = byId("status");
      if (status.textContent !== text) status.textContent = text;
    }, QUIET_MS);
  }
}

/** The task file of an answer. */
export function taskFile({ task }: Answer): string {
  return `${JSON.stringify(task, null, 2)}\n`;
}

/** The command that answers the same, in parts; null where it has no words for it. */
export function commandOf(question: Question): string[] | null {
  if (typeof question.objective === "object") return null;
  const options = Object.entries(question).map(
    ([name, value]) => `--${name.replaceAll("_", "-")} ${value}`,
  );
  return ["hushbin plan", ...options];
}

/** How far a mechanism is from the best, as a sentence of its own; empty where that is not known. */
export function distanceOf({ distance }: Offer): string {
  return distance === null ? "" : ` At this local ε it ${distance.text}.`;
}

type Figure = readonly [
  name: string,
  exact: number | null | undefined,
  words: string,
  note: string,
  solved?: boolean,
];

function figuresOf(
  { picked, people, days: time, solved_for }: Answer,
  question: Question,
): Figure[] {
  const { central, central_reason, bias } = picked;
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
    [
      "local ε",
      picked.effective_epsilon,
      lossDigits(picked.effective_epsilon),
      "one report, against everybody",
      solved_for === "epsilon",
    ],
    [
      "shuffled ε",
      central?.central_epsilon,
      lossDigits(central?.central_epsilon),
      central ? `with δ = ${digits(central.delta)}` : (central_reason ?? ""),
    ],
    [
      "people",
      people,
      count(people),
      time === null
        ? "report once each"
        : `${days(time)} at ${count(question.people_per_day ?? 0)} a day`,
      solved_for === "people",
    ],
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

/** The numbers in one line, for screens where they are out of sight. */
function tally({ picked, people, verdict }: Answer): string {
  return [
    VERDICTS[verdict.kind],
    `error ${digits(picked.error)}`,
    `ε ${lossDigits(picked.effective_epsilon)}`,
    `shuffled ${lossDigits(picked.central?.central_epsilon)}`,
    `${count(people)} people`,
  ].join(" · ");
}

function row(offer: Offer, picked: boolean): HTMLElement {
  const { mechanism, central, bias } = offer;
  const biased = bias !== null && bias > 0 ? `, of it bias ${digits(bias)} at worst` : "";
  return el(
    "tr",
    { "data-picked": picked },
    el(
      "th",
      { scope: "row" },
      nameOf(mechanism),
      picked ? el("span", { class: "tag" }, "picked") : "",
      el(
        "span",
        { class: "parameters" },
        `sparsity ${offer.sparsity}, local ε ${lossDigits(offer.effective_epsilon)}; protects ${offer.protects}`,
      ),
    ),
    el("td", {}, `${digits(offer.error)}${biased}`),
    el("td", {}, lossDigits(central?.central_epsilon)),
    el("td", {}, offer.people === null ? "–" : count(offer.people)),
  );
}
