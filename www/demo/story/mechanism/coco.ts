// CoCo: means, from one side of a pair of buckets.

import type { Outcome, Placement, Reported } from "../../shared/analysis.js";
import { el } from "../../shared/dom.js";
import { percent } from "../../shared/format.js";
import type { NamedTask } from "../collector.js";
import type { Question } from "../questions.js";
import draft from "../tasks/coco.json" with { type: "json" };
import { type Explained, type Kind, only, type Picture } from "./kind.js";
import { bars, chipKey, chipOf, chipsOf, listed, REPORTED_KEY } from "./picture.js";

export const coco: Kind = {
  name: "CoCo",
  good: "Hears only the balance of yes and no, and hears it more sharply: opposite answers cancel inside a report instead of crowding it.",
  covers: "your whole report",
  task: draft.id,
  explain: (task) => new Coco(task),
};

export class Coco implements Explained {
  readonly part = "side";
  readonly dice: string;
  readonly scored =
    "how many answers of the first input push to the reported side, less those that push against it";
  readonly figures: Explained["figures"];
  readonly #sparsity: number;
  readonly #pairs: number;

  constructor({ id, mechanism, sparsity, epsilon }: NamedTask) {
    if (mechanism.name !== "coco" || mechanism.favoured === undefined) {
      throw new RangeError(`task ${id} is expected to use coco with the rule strongest`);
    }
    const { buckets, favoured } = mechanism;
    this.#sparsity = sparsity;
    this.#pairs = buckets / 2;
    const factor = Number(Math.exp(epsilon).toPrecision(3));
    this.dice = `either side of every pair can be the one reported. Your answers only load the dice: a favoured side is ${factor} times likelier than any other, never more.`;
    this.figures = [
      ["elements", String(sparsity), "in every report, answers and padding"],
      [
        "sides",
        String(buckets),
        `in pairs; ${favoured === 1 ? "the most strongly pushed one is" : `the ${favoured} most strongly pushed are`} favoured`,
      ],
    ];
  }

  words(reported: Reported): string {
    const { pair, plus } = only(reported, "side");
    const side = plus ? "plus" : "minus";
    return this.#pairs === 1 ? `${side} side` : `${side} side of pair ${pair}`;
  }

  meaning(reported: Reported): string {
    return `The ${this.words(reported)}: the only thing here that your answers influence. Sides that your answers push to are likelier, never certain.`;
  }

  picture(placement: Placement, reported: Reported, questions: readonly Question[]): Picture {
    const { pairs } = only(placement, "sides");
    const drawn = only(reported, "side");
    const chances = pairs.flatMap(({ plus, minus }) => [plus.chance, minus.chance]);
    const side = (pair: number, plus: boolean, outcome: Outcome) => {
      const here = this.words({ kind: "side", pair, plus });
      const by = listed(outcome, questions);
      return {
        name: plus ? "+" : "−",
        chance: outcome.chance,
        reported: pair === drawn.pair && plus === drawn.plus,
        chips: chipsOf(outcome),
        words: `${here}: ${by ? `pushed by ${by}` : "none of yours push here"}`,
      };
    };
    const duels = pairs.map(({ plus, minus, paddings }, pair) =>
      el(
        "div",
        { class: "duel" },
        bars(
          pairs.length === 1 ? "The two sides" : `Pair ${pair}`,
          [side(pair, true, plus), side(pair, false, minus)],
          Math.max(...chances),
        ),
        paddings > 0
          ? el(
              "p",
              { class: "tossed" },
              ...Array.from({ length: paddings }, () => chipOf(null)),
              " padding, to a side by coin toss",
            )
          : "",
      ),
    );
    const reportedPair = pairs[drawn.pair];
    const [towards = 0, against = 0] = [reportedPair?.plus, reportedPair?.minus].map(
      (outcome) => outcome?.answers.length,
    );
    const pushed =
      towards + against === 0
        ? "none of your answers pushed there, either way"
        : drawn.plus
          ? `${towards} of your answers pushed there and ${against} against it`
          : `${against} of your answers pushed there and ${towards} against it`;
    return {
      title: "Which way your answers push",
      text:
        `Answers and padding make ${this.#sparsity} elements, whatever you answer. For every question the seed ` +
        `tosses a coin: heads, and yes pushes to the plus side; tails, and it pushes to the minus side; no pushes the ` +
        `other way. Then one side is drawn by weighted chance, ${odds(chances)}. This time it was the ${this.words(reported)}: ${pushed}.`,
      body: el("div", { class: "duels" }, ...duels),
      key: [...chipKey(), REPORTED_KEY()],
    };
  }
}

function odds(chances: readonly number[]): string {
  const [least, most] = [Math.min(...chances), Math.max(...chances)].map((p) => percent(p, 1));
  return least === most
    ? `which happens to be even here, ${most} each`
    : `${most} for the likeliest here and ${least} for the least`;
}
