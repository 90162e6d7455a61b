// Hash-bin: means from noisy sums, at event level and at user level.

import type { Explainer, Outcome, Placement, Reported } from "../../shared/analysis.js";
import { el, svg } from "../../shared/dom.js";
import { percent, short } from "../../shared/format.js";
import type { NamedTask } from "../collector.js";
import type { Question } from "../questions.js";
import eventDraft from "../tasks/hash-bin-event.json" with { type: "json" };
import userDraft from "../tasks/hash-bin-user.json" with { type: "json" };
import { type Explained, type Figure, type Kind, only, type Picture } from "./kind.js";
import { bars, chipKey, chipOf, chipsOf, listed } from "./picture.js";

export const hashBinEvent: Kind = {
  name: "Hash-bin (event)",
  good: "Adds answers up in bins with noise. Its error bars are short because it promises less: each answer is hidden by itself, all of them together are not.",
  covers: "one answer, not all together",
  task: eventDraft.id,
  explain: (task, explainer) => new HashBinEvent(task, explainer),
};

export const hashBinUser: Kind = {
  name: "Hash-bin (user)",
  good: "Takes numbers as they are, where the others first make each of them a yes or a no. For answers that are yes or no anyway, that gains nothing.",
  covers: "your whole report",
  task: userDraft.id,
  explain: (task) => new HashBinUser(task),
};

export class HashBinEvent implements Explained {
  readonly part = "bins";
  readonly dice: string;
  readonly scored = "the bin of that question, turned by the seed’s sign for it";
  readonly figures: readonly Figure[];
  readonly #noise: string;

  constructor({ id, mechanism, epsilon }: NamedTask, { noiseScale }: Explainer) {
    if (mechanism.name !== "hash-bin" || mechanism.level !== "event" || noiseScale === undefined) {
      throw new RangeError(`task ${id} is expected to use hash-bin at level event`);
    }
    const factor = short(Math.exp(epsilon));
    this.#noise = short(noiseScale);
    this.dice = `any numbers can be reported. Your answers only shift what the noise is centred on: another answer to one question makes a report at most ${factor} times likelier or less likely.`;
    this.figures = [
      ["bins", String(mechanism.bins), "every answer falls into one of them"],
      ["noise", this.#noise, "scale of the Laplace noise on every bin"],
    ];
  }

  words(reported: Reported): string {
    const { values } = only(reported, "bins");
    return `bins ${values.map((value) => signed(value)).join(", ")}`;
  }

  meaning(reported: Reported): string {
    return `The ${this.words(reported)}: sums of your answers with noise, and the only thing here that your answers influence. The noise is mostly larger than they are.`;
  }

  picture(placement: Placement, reported: Reported, questions: readonly Question[]): Picture {
    const { bins } = only(placement, "bins");
    const { values } = only(reported, "bins");
    const reach = Math.max(4, ...values.map(Math.abs));
    const rows = bins.map(({ answers, sum }, bin) => {
      const value = values[bin] ?? 0;
      const words = answers.map(
        ({ answer, push }) =>
          `${listed({ answers: [answer], paddings: 0 }, questions)}, counted ${signed(push, 0)}`,
      );
      return el(
        "li",
        {},
        el("span", { class: "bin-name", "aria-hidden": "true" }, `${bin}`),
        el(
          "span",
          { class: "bin-chips", "aria-hidden": "true" },
          ...answers.flatMap(({ answer, push }) => [chipOf(answer), push > 0 ? "+" : "−"]),
        ),
        noisy(sum / reach, value / reach),
        el("span", { class: "bin-value", "aria-hidden": "true" }, signed(value)),
        el(
          "span",
          { class: "unseen" },
          `Bin ${bin}: ${words.join(" and ") || "none of yours"}; sum ${signed(sum, 0)}, reported ${signed(value)}`,
        ),
      );
    });
    return {
      title: "Your answers in this seed’s bins",
      text:
        `The seed says which of ${bins.length} bins every question falls into, and tosses a coin for it: heads, and yes ` +
        `counts +1; tails, and it counts −1; no counts the other way, not set counts nothing. Every bin is the sum of ` +
        `what fell into it, with noise of scale ${this.#noise} that also empty bins have.`,
      body: el("ol", { class: "bins", "aria-label": "Bins" }, ...rows),
      key: [
        ...chipKey({ padding: false, bars: false }),
        [el("span", { class: "swatch-sum" }), "sum of yours, which stays here"],
        [el("span", { class: "swatch-noisy" }), "reported"],
      ],
    };
  }
}

export class HashBinUser implements Explained {
  readonly part = "sign";
  readonly dice: string;
  readonly scored =
    "how many answers of the first input push to the reported sign, less those that push against it";
  readonly figures: readonly Figure[];

  constructor({ id, mechanism, epsilon }: NamedTask) {
    if (mechanism.name !== "hash-bin" || mechanism.level !== "user") {
      throw new RangeError(`task ${id} is expected to use hash-bin at level user`);
    }
    const { clip, noise } = mechanism;
    if (clip === undefined || noise !== "two-point") {
      throw new RangeError(`task ${id} is expected to use hash-bin with two-point noise`);
    }
    const factor = short(Math.exp(epsilon));
    this.dice = `either sign can be the one reported. The more your answers push to one side, the likelier it is, but never more than ${factor} times likelier than the other.`;
    this.figures = [
      [
        "clip",
        short(clip),
        "most that all answers together push; what is cut off biases estimates towards 0",
      ],
    ];
  }

  words(reported: Reported): string {
    return only(reported, "sign").plus ? "plus" : "minus";
  }

  meaning(reported: Reported): string {
    return `${only(reported, "sign").plus ? "Plus" : "Minus"}: the only thing here that your answers influence. The sign that they push to is likelier, never certain.`;
  }

  picture(placement: Placement, reported: Reported, questions: readonly Question[]): Picture {
    const { sum, plus, minus } = only(placement, "sign");
    const drawn = only(reported, "sign");
    const side = (isPlus: boolean, outcome: Outcome) => {
      const by = listed(outcome, questions);
      return {
        name: isPlus ? "+" : "−",
        chance: outcome.chance,
        reported: isPlus === drawn.plus,
        chips: chipsOf(outcome),
        words: `${this.words({ kind: "sign", plus: isPlus })}: ${by ? `pushed by ${by}` : "none of yours push here"}`,
      };
    };
    const sides = [side(true, plus), side(false, minus)];
    return {
      title: "Which way your answers push",
      text:
        `For every question the seed tosses a coin: heads, and yes pushes to plus; tails, and it pushes to minus; no ` +
        `pushes the other way, not set not at all. Your answers push by ${signed(sum, 0)} in all. The further from zero ` +
        `that is, the more the chances differ: here ${percent(plus.chance, 1)} for plus and ` +
        `${percent(minus.chance, 1)} for minus. This time it was ${this.words(reported)}.`,
      body: el(
        "div",
        { class: "duel" },
        bars("The two signs", sides, Math.max(plus.chance, minus.chance)),
      ),
      key: [...chipKey({ padding: false }), [el("span", { class: "swatch-reported" }), "reported"]],
    };
  }
}

/** A number with its sign, which zero has none of: +2.31. */
function signed(value: number, digits = 2): string {
  const text = Math.abs(value).toFixed(digits);
  return Number(text) === 0 ? text : `${value < 0 ? "−" : "+"}${text}`;
}

/** A bin on a line around zero: its sum, and where the noise took it. */
function noisy(sum: number, value: number): SVGSVGElement {
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
