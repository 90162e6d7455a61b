// The texts and pictures for CoCo, which estimates means. A report is one side of a pair of
// buckets.

import type { AnswerPlacement, Outcome, Reported } from "../../shared/analysis.js";
import { el } from "../../shared/dom.js";
import type { NamedItemsTask } from "../collector.js";
import type { Question } from "../questions.js";
import draft from "../tasks/coco.json" with { type: "json" };
import {
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
  HashFunctionWords,
  outcomeContentInWords,
  REPORTED_LEGEND_ENTRY,
} from "./picture.js";

export const coco: MechanismInfo = {
  name: "CoCo",
  strength:
    "Reveals only the share of yes minus the share of no, but more exactly. Opposite answers cancel inside a report and leave room for others.",
  covers: "your whole report",
  taskId: draft.id,
  explain: (task) => new CocoTexts(task),
};

const COIN_TOSS_FILLER = "coin tosses for questions without an answer";

export class CocoTexts implements MechanismTexts {
  readonly partName = "side";
  readonly probabilities: string;
  readonly score =
    "the number of answers of the first input that count for the reported side, minus the number that count against it";
  readonly figures: MechanismTexts["figures"];
  readonly #sparsity: number;
  /** Name of the elements that stand in for missing answers. */
  readonly #filler: string;
  readonly #hashes: HashFunctionWords;

  constructor({ id, mechanism, sparsity, epsilon }: NamedItemsTask) {
    if (mechanism.name !== "coco" || mechanism.favoured === undefined) {
      throw new RangeError(`task ${id} is expected to use coco with the rule strongest`);
    }
    const { buckets, favoured, hashing, hashes = 1 } = mechanism;
    this.#sparsity = sparsity;
    this.#filler = hashing === "balanced-items" ? COIN_TOSS_FILLER : "padding";
    this.#hashes = new HashFunctionWords(hashes, buckets);
    const factor = Number(Math.exp(epsilon).toPrecision(3));
    this.probabilities = `every side of every pair can be reported. Your answers only change the probabilities: a favoured side is ${factor} times more likely than any other side, never more.`;
    this.figures = [
      ["elements", String(sparsity), `in every report: answers and ${this.#filler}`],
      [
        "sides",
        String(hashes * buckets),
        `in pairs; ${this.#hashes.note}${favoured === 1 ? "the side with the largest majority is" : `the ${favoured} sides with the largest majorities are`} favoured`,
      ],
    ];
  }

  partInWords(reported: Reported): string {
    const { pair, plus } = narrowKind(reported, "side");
    const side = plus ? "plus" : "minus";
    const first = this.#hashes.firstBucketIndex(2 * pair);
    const own =
      this.#hashes.buckets === 2 ? `${side} side` : `${side} side of pair ${pair - first / 2}`;
    return own + this.#hashes.hashFunctionPhrase(2 * pair);
  }

  meaning(reported: Reported): string {
    return `The ${this.partInWords(reported)}. This choice of a side is the only part that your answers influence. The sides that your answers favour are more likely, but never certain.`;
  }

  picture(
    placement: AnswerPlacement,
    reported: Reported,
    questions: readonly Question[],
  ): ReportPicture {
    const { pairs } = narrowKind(placement, "sides");
    const drawn = narrowKind(reported, "side");
    const chances = pairs.flatMap(({ plus, minus }) => [plus.chance, minus.chance]);
    const side = (pair: number, plus: boolean, outcome: Outcome) => {
      const here = this.partInWords({ kind: "side", pair, plus });
      const by = outcomeContentInWords(outcome, questions);
      return {
        name: plus ? "+" : "−",
        chance: outcome.chance,
        reported: pair === drawn.pair && plus === drawn.plus,
        chips: createChips(outcome),
        words: `${here}: ${by || "none of your answers"}`,
      };
    };
    const hashes = this.#hashes;
    const first = hashes.firstBucketIndex(2 * drawn.pair) / 2;
    const own = pairs.slice(first, first + hashes.buckets / 2);
    const duels = own.map(({ plus, minus, paddings }, index) =>
      el(
        "div",
        { class: "duel" },
        drawOutcomeBars(
          (own.length === 1 ? "The two sides" : `Pair ${index}`) +
            hashes.hashFunctionPhrase(2 * first),
          [side(first + index, true, plus), side(first + index, false, minus)],
          Math.max(...chances),
        ),
        paddings > 0
          ? el(
              "p",
              { class: "tossed" },
              ...Array.from({ length: paddings }, () => createChip(null)),
              " padding, put on a side by coin toss",
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
        ? "none of your answers counted for either side of this pair"
        : drawn.plus
          ? `${towards} of your answers counted for this side and ${against} against it`
          : `${against} of your answers counted for this side and ${towards} against it`;
    return {
      title: "Which sides your answers count for",
      text:
        `Your answers and ${this.#filler} together are always ${this.#sparsity} elements. For every question the seed ` +
        `tosses a coin${hashes.perHashFunctionPhrase}. Heads: yes counts for the plus side. Tails: yes counts for the minus side. An answer “no” ` +
        `counts for the other side. Then one side${hashes.ofAllBucketsPhrase} is drawn at random, ${sideProbabilitiesInWords(chances, hashes)}. This time it was the ${this.partInWords(reported)}: ${pushed}.`,
      body: el("div", { class: "duels" }, ...duels),
      legendEntries: [
        ...chipLegend({ padding: this.#filler !== COIN_TOSS_FILLER }),
        REPORTED_LEGEND_ENTRY(),
      ],
    };
  }
}

function sideProbabilitiesInWords(chances: readonly number[], hashes: HashFunctionWords): string {
  const [least, most] = [Math.min(...chances), Math.max(...chances)].map((p) => hashes.chance(p));
  return least === most
    ? `here with the same probability of ${most} for each side`
    : `here with probabilities from ${least} to ${most}`;
}
