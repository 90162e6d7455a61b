// What ε means, in plain words, with the numbers of the task.

import { posterior } from "../shared/analysis.js";
import { byId, el, eToEpsilon } from "../shared/dom.js";
import { lossOf, percent, short } from "../shared/format.js";
import type { Channel } from "./channel.js";
import type { EstimatesAnswer } from "./collector.js";

/** Fills the last chapter from what the collector states about the task. */
export function explainTask({ answer, explained, covers, kind }: Channel): void {
  const { task, fingerprint, effective_epsilon } = answer;
  const { epsilon, sparsity } = task;
  const whole = covers === "input";
  const factor = short(Math.exp(epsilon));
  const surest = percent(posterior(0.5, Math.exp(epsilon)));

  byId("meaning-lead").textContent = whole
    ? "ε is the most that one report can shift anyone’s belief about you. Smaller is quieter."
    : "ε is the most that one report can shift the belief about one answer of yours, of somebody who knows the others. Smaller is quieter.";
  figures([
    [
      "ε asked for",
      short(epsilon),
      whole ? "for all answers of a report together" : "for each answer of a report by itself",
    ],
    ["ε realised", lossOf(effective_epsilon), "from the thresholds sampled, rounded up"],
    [eToEpsilon(), factor, `most that odds ${whole ? "" : "about one answer "}can move`],
    ...explained.figures,
  ]);

  byId("meaning-text").replaceChildren(
    el(
      "p",
      {},
      `Under ${kind.name}, ${explained.dice} So whoever looks at a report finds any other ${whole ? "set of answers" : "answer to one question, the rest being equal,"} at most ${factor} times less plausible than yours.`,
    ),
    el(
      "p",
      {},
      `Someone who knew nothing (an even chance) can reach ${surest} at the very most, and that takes the unluckiest report and knowing all your other answers. At ε = 0.5 the limit would be ${percent(posterior(0.5, Math.exp(0.5)))}, at ε = 4 it would be ${percent(posterior(0.5, Math.exp(4)))}. A smaller ε needs more people for the same error: that is the whole trade.`,
    ),
  );

  list("holds", [
    [
      "Against everyone.",
      "The collector, its operator and whoever steals its disk see only what was already randomised. No later calculation can undo it.",
    ],
    whole
      ? [
          "Whatever they know already.",
          "Side knowledge changes what an observer believed before; the report moves it by that factor at most.",
        ]
      : [
          "Even where they know the rest.",
          "Who knows your other answers is moved about the one left by that factor at most. Where answers go together, one can tell of another, and that is not covered.",
        ],
    whole
      ? [
          "For the whole report.",
          `ε = ${short(epsilon)} covers all your answers together, not each question.`,
        ]
      : [
          "For one answer at a time.",
          `ε = ${short(epsilon)} covers each answer by itself. Somebody who wonders about all ${sparsity} at once is only held to ${sparsity} × ${short(epsilon)} = ${short(sparsity * epsilon)}.`,
        ],
    [
      "As run, not as intended.",
      "Chances are drawn in whole numbers from the browser’s secure generator. The collector states the loss of exactly those numbers.",
    ],
  ]);
  list("limits", [
    [
      "That you took part.",
      "A request reaches the collector from your address. It stores no address, but a network sees one.",
    ],
    [
      "Repetition.",
      `Two fresh reports of the same answers spend ε twice: ${short(2 * epsilon)} in all, a factor of ${short(Math.exp(2 * epsilon))}.`,
    ],
    [
      "What the crowd reveals.",
      "If most people like you say yes, that becomes known whether or not you report.",
    ],
    [
      "Made-up reports.",
      "Noise does not stop someone from sending false ones. Estimates are only as honest as the senders.",
    ],
    [
      "A page that lies.",
      "You rely on the page to randomise before it sends. The bytes above are there to be checked.",
    ],
  ]);

  byId("task-json").textContent = JSON.stringify({ task, fingerprint }, null, 2);
}

/** The collector's own statement about privacy. */
export function showStatement({ privacy }: EstimatesAnswer): void {
  byId("statement").textContent = privacy.statement;
}

function figures(entries: readonly (readonly [string | Node, string, string])[]): void {
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

function list(id: string, entries: readonly (readonly [string, string])[]): void {
  byId(id).replaceChildren(
    ...entries.map(([head, text]) => el("li", {}, el("strong", {}, head), ` ${text}`)),
  );
}
