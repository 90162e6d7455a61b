// The chapter on the meaning of ε, in plain words with the numbers of the task.

import { maximumCertaintyPercent } from "../../client/certainty.js";
import { byId, el, expEpsilonElement } from "../shared/dom.js";
import { formatLossSixDecimals, formatThreeDigits } from "../shared/format.js";
import type { MechanismChannel } from "./channel.js";
import type { EstimatesResponse } from "./collector.js";

/**
 * Maximum number of reports of one person in a year, under the default budget of one report in 30
 * days.
 */
const REPORTS_A_YEAR = Math.ceil(365 / 30);

/** Fills the last chapter of the page with explanations of the task and its ε. */
export function explainTask({
  taskResponse: answer,
  texts,
  epsilonScope: covers,
  mechanismInfo: kind,
}: MechanismChannel): void {
  const { task, fingerprint, effective_epsilon } = answer;
  const { epsilon, sparsity } = task;
  const whole = covers === "input";
  const factor = formatThreeDigits(Math.exp(epsilon));
  const sure = (spent: number) => `${maximumCertaintyPercent(spent)}\u00a0% sure`;

  byId("meaning-lead").textContent = whole
    ? "ε limits how much anyone can learn about you from one report. A smaller ε is more private."
    : "ε limits how much one report reveals about one of your answers to someone who knows all your other answers. A smaller ε is more private.";
  showKeyNumbers([
    [
      "requested ε",
      formatThreeDigits(epsilon),
      whole ? "for all answers of a report together" : "for each answer of a report separately",
    ],
    [
      "effective ε",
      formatLossSixDecimals(effective_epsilon),
      "computed from the sampling thresholds, rounded up",
    ],
    [
      expEpsilonElement(),
      factor,
      `maximum factor for the odds of a guess${whole ? "" : " about one answer"}`,
    ],
    ...texts.figures,
  ]);

  byId("meaning-text").replaceChildren(
    el(
      "p",
      {},
      `Under ${kind.name}, ${texts.probabilityExplanation} Someone who was 50\u00a0% sure of ${whole ? "your answers" : "one of your answers, and knew all your other answers,"} can become at most ${sure(epsilon)} after seeing a report.`,
    ),
    el(
      "p",
      {},
      `This limit assumes the worst possible report, and an observer who knows all your other answers. At ε = 0.5 the limit is ${sure(0.5)}, at ε = 2 it is ${sure(2)}. A smaller ε needs more people for the same error.`,
    ),
  );

  fillList("holds", [
    [
      "Protection against everyone.",
      "The collector, its operator and anyone who steals its disk see only randomised data. No later calculation can undo that.",
    ],
    whole
      ? [
          "Protection with any prior knowledge.",
          `Prior knowledge changes the belief of an observer before the report. The report then changes the odds by at most a factor of ${factor}.`,
        ]
      : [
          "Protection if your other answers are known.",
          `For someone who knows your other answers, the odds of the remaining answer change by at most a factor of ${factor}. If answers are related, one answer can reveal another. ε does not cover that.`,
        ],
    whole
      ? [
          "One ε for the whole report.",
          `ε = ${formatThreeDigits(epsilon)} covers all your answers together, not each question separately.`,
        ]
      : [
          "A separate ε for each answer.",
          `ε = ${formatThreeDigits(epsilon)} covers each answer separately. For all ${sparsity} answers together, the limit is ε = ${sparsity} × ${formatThreeDigits(epsilon)} = ${formatThreeDigits(sparsity * epsilon)}.`,
        ],
    [
      "The ε of the code that runs.",
      "Probabilities are whole numbers, drawn with the browser’s secure generator. The collector states the ε of exactly these numbers.",
    ],
  ]);
  fillList("limits", [
    [
      "The fact that you took part.",
      "A request reaches the collector from your network address. The collector stores no address, but the network sees it.",
    ],
    [
      "Repeated reports.",
      `Two new reports of the same answers spend ε twice. Together they spend ε = ${formatThreeDigits(2 * epsilon)}: from 50\u00a0% sure to at most ${sure(2 * epsilon)}. At one report in 30 days, a year has ${REPORTS_A_YEAR} reports, which together spend ε = ${formatThreeDigits(REPORTS_A_YEAR * epsilon)}.`,
    ],
    [
      "Facts about the crowd.",
      "If most people similar to you answer yes, the estimates show it, whether or not you report.",
    ],
    [
      "Estimates, if some reports are made up.",
      "Noise does not stop anyone from sending false reports. Estimates are only as honest as the senders.",
    ],
    [
      "You, if the page lies.",
      "You rely on the page to randomise your answers before it sends them. You can check the bytes above.",
    ],
  ]);

  byId("task-json").textContent = JSON.stringify({ task, fingerprint }, null, 2);
}

/** Shows the collector's statement about privacy. */
export function showPrivacyStatement({ privacy }: EstimatesResponse): void {
  byId("statement").textContent = privacy.statement;
}

function showKeyNumbers(entries: readonly (readonly [string | Node, string, string])[]): void {
  byId("task-figures").replaceChildren(
    ...entries.map(([name, value, note]) =>
      el(
        "div",
        {},
        el("dt", {}, name),
        el("dd", { class: "figure-value" }, value, el("small", { class: "figure-note" }, note)),
      ),
    ),
  );
}

function fillList(id: string, entries: readonly (readonly [string, string])[]): void {
  byId(id).replaceChildren(
    ...entries.map(([head, text]) => el("li", {}, el("strong", {}, head), ` ${text}`)),
  );
}
