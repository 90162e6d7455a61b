// The texts and pictures for hash-bin, which estimates means. A report has noisy sums at event
// level, and a sign at user level.

import type { AnswerPlacement, Explainer, Outcome, Reported } from "../../shared/analysis.js";
import { el, svg } from "../../shared/dom.js";
import { formatPercent, formatThreeDigits } from "../../shared/format.js";
import type { NamedItemsTask } from "../collector.js";
import type { Question } from "../questions.js";
import eventDraft from "../tasks/hash-bin-event.json" with { type: "json" };
import userDraft from "../tasks/hash-bin-user.json" with { type: "json" };
import {
  type KeyNumber,
  type MechanismInfo,
  type MechanismTexts,
  narrowKind,
  type ReportPicture,
} from "./mechanism.js";
import {
  chipLegend,
  createChip,
  createChips,
  drawOutcomeBars,
  outcomeContentInWords,
} from "./picture.js";

export const hashBinEvent: MechanismInfo = {
  name: "Hash-bin (event)",
  strength:
    "Sums answers in bins and adds noise. Its error bars are short because it promises less: it hides each single answer, but not all answers together.",
  covers: "one answer, not all together",
  taskId: eventDraft.id,
  explain: (task, explainer) => new HashBinEventTexts(task, explainer),
};

export const hashBinUser: MechanismInfo = {
  name: "Hash-bin (user)",
  strength:
    "Takes numbers as they are. Other mechanisms first turn each number into yes or no. For yes-or-no answers there is no gain.",
  covers: "your whole report",
  taskId: userDraft.id,
  explain: (task) => new HashBinUserTexts(task),
};

export class HashBinEventTexts implements MechanismTexts {
  readonly partName = "bins";
  readonly probabilities: string;
  readonly score = "the value in the bin of that question, multiplied by the seed’s sign for it";
  readonly figures: readonly KeyNumber[];
  readonly #noise: string;

  constructor({ id, mechanism, epsilon }: NamedItemsTask, { noiseScale }: Explainer) {
    if (mechanism.name !== "hash-bin" || mechanism.level !== "event" || noiseScale === undefined) {
      throw new RangeError(`task ${id} is expected to use hash-bin at level event`);
    }
    const factor = formatThreeDigits(Math.exp(epsilon));
    this.#noise = formatThreeDigits(noiseScale);
    this.probabilities = `any numbers can be reported. Your answers only shift the centre of the noise: a different answer to one question makes a report at most ${factor} times more likely or less likely.`;
    this.figures = [
      ["bins", String(mechanism.bins), "every answer falls into one of them"],
      ["noise", this.#noise, "scale of the Laplace noise in each bin"],
    ];
  }

  partInWords(reported: Reported): string {
    const { values } = narrowKind(reported, "bins");
    return `bins ${values.map((value) => formatSigned(value)).join(", ")}`;
  }

  meaning(reported: Reported): string {
    return `The ${this.partInWords(reported)}. Each is a sum of your answers plus noise. This is the only part that your answers influence. The noise is usually larger than the sum of the answers.`;
  }

  picture(
    placement: AnswerPlacement,
    reported: Reported,
    questions: readonly Question[],
  ): ReportPicture {
    const { bins } = narrowKind(placement, "bins");
    const { values } = narrowKind(reported, "bins");
    const reach = Math.max(4, ...values.map(Math.abs));
    const rows = bins.map(({ answers, sum }, bin) => {
      const value = values[bin] ?? 0;
      const words = answers.map(
        ({ answer, push }) =>
          `${outcomeContentInWords({ answers: [answer], paddings: 0 }, questions)}, counted ${formatSigned(push, 0)}`,
      );
      return el(
        "li",
        {},
        el("span", { class: "bin-name", "aria-hidden": "true" }, `${bin}`),
        el(
          "span",
          { class: "bin-chips", "aria-hidden": "true" },
          ...answers.flatMap(({ answer, push }) => [createChip(answer), push > 0 ? "+" : "−"]),
        ),
        drawNoisyBin(sum / reach, value / reach),
        el("span", { class: "bin-value", "aria-hidden": "true" }, formatSigned(value)),
        el(
          "span",
          { class: "unseen" },
          `Bin ${bin}: ${words.join(" and ") || "none of your answers"}; sum ${formatSigned(sum, 0)}, reported ${formatSigned(value)}`,
        ),
      );
    });
    return {
      title: "Your answers in this seed’s bins",
      text:
        `The seed decides which of ${bins.length} bins each question falls into, and tosses a coin for it. Heads: yes ` +
        `counts +1. Tails: yes counts −1. An answer “no” counts the other way, and “not set” counts 0. The report has the sum of ` +
        `each bin with noise of scale ${this.#noise}. Empty bins have noise too.`,
      body: el("ol", { class: "bins", "aria-label": "Bins" }, ...rows),
      legendEntries: [
        ...chipLegend({ padding: false, bars: false }),
        [el("span", { class: "swatch-sum" }), "sum of your answers, which stays here"],
        [el("span", { class: "swatch-noisy" }), "reported"],
      ],
    };
  }
}

export class HashBinUserTexts implements MechanismTexts {
  readonly partName = "sign";
  readonly probabilities: string;
  readonly score =
    "the number of answers of the first input that count for the reported sign, minus the number that count against it";
  readonly figures: readonly KeyNumber[];

  constructor({ id, mechanism, epsilon }: NamedItemsTask) {
    if (mechanism.name !== "hash-bin" || mechanism.level !== "user") {
      throw new RangeError(`task ${id} is expected to use hash-bin at level user`);
    }
    const { clip, noise } = mechanism;
    if (clip === undefined || noise !== "two-point") {
      throw new RangeError(`task ${id} is expected to use hash-bin with two-point noise`);
    }
    const factor = formatThreeDigits(Math.exp(epsilon));
    this.probabilities = `both signs can be reported. The more of your answers count for one sign, the more likely this sign is. It is never more than ${factor} times as likely as the other sign.`;
    this.figures = [
      [
        "clip",
        formatThreeDigits(clip),
        "maximum total of all answers; clipping biases estimates towards 0",
      ],
    ];
  }

  partInWords(reported: Reported): string {
    return narrowKind(reported, "sign").plus ? "plus" : "minus";
  }

  meaning(reported: Reported): string {
    return `${narrowKind(reported, "sign").plus ? "Plus" : "Minus"}. This is the only part that your answers influence. The sign that your answers favour is more likely, but never certain.`;
  }

  picture(
    placement: AnswerPlacement,
    reported: Reported,
    questions: readonly Question[],
  ): ReportPicture {
    const { sum, plus, minus } = narrowKind(placement, "sign");
    const drawn = narrowKind(reported, "sign");
    const side = (isPlus: boolean, outcome: Outcome) => {
      const by = outcomeContentInWords(outcome, questions);
      return {
        name: isPlus ? "+" : "−",
        chance: outcome.chance,
        reported: isPlus === drawn.plus,
        chips: createChips(outcome),
        words: `${this.partInWords({ kind: "sign", plus: isPlus })}: ${by || "none of your answers"}`,
      };
    };
    const sides = [side(true, plus), side(false, minus)];
    return {
      title: "Which sign your answers count for",
      text:
        `For every question the seed tosses a coin. Heads: yes counts +1. Tails: yes counts −1. An answer “no” ` +
        `counts the other way, and “not set” counts 0. The total of your answers is ${formatSigned(sum, 0)}. A total ` +
        `farther from zero makes the probabilities more different: here ${formatPercent(plus.chance, 1)} for plus and ` +
        `${formatPercent(minus.chance, 1)} for minus. This time it was ${this.partInWords(reported)}.`,
      body: el(
        "div",
        { class: "duel" },
        drawOutcomeBars("The two signs", sides, Math.max(plus.chance, minus.chance)),
      ),
      legendEntries: [
        ...chipLegend({ padding: false }),
        [el("span", { class: "swatch-reported" }), "reported"],
      ],
    };
  }
}

/** Formats a number with its sign: +2.31. Zero has no sign. */
function formatSigned(value: number, digits = 2): string {
  const text = Math.abs(value).toFixed(digits);
  return Number(text) === 0 ? text : `${value < 0 ? "−" : "+"}${text}`;
}

/**
 * Draws a bin of a report on an axis around zero: the sum of its answers, and its value after
 * noise.
 */
function drawNoisyBin(sum: number, value: number): SVGSVGElement {
  const x = (share: number) => `${50 + 48 * share}%`;
  return svg(
    "svg",
    { class: "noisy-bin", "aria-hidden": "true", focusable: "false" },
    svg("line", { class: "axis", x1: "0%", x2: "100%", y1: 12, y2: 12 }),
    svg("line", { class: "zero", x1: "50%", x2: "50%", y1: 3, y2: 21 }),
    svg("line", { class: "noise", x1: x(sum), x2: x(value), y1: 12, y2: 12 }),
    svg("circle", { class: "sum", cx: x(sum), cy: 12, r: 4.5 }),
    svg("circle", { class: "value", cx: x(value), cy: 12, r: 6 }),
  );
}
