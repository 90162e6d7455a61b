// Parts of pictures that several mechanisms use: chips for elements, bars for outcomes, and
// legends.

import type { Outcome, SignedAnswer } from "../../shared/analysis.js";
import { el, svg } from "../../shared/dom.js";
import { formatPercent } from "../../shared/format.js";
import { answerWord, type Question } from "../questions.js";
import type { ReportPicture } from "./mechanism.js";

/**
 * Creates a chip, the small box that represents an element. The chip of an answer contains a
 * number. The chip of a padding contains a dot.
 */
export function createChip(answer: SignedAnswer | null): HTMLElement {
  return answer
    ? el("span", { class: `chip ${answerWord(answer.sign)}` }, `${answer.item + 1}`)
    : el("span", { class: "chip pad" }, "·");
}

type OutcomeContent = Pick<Outcome, "answers" | "paddings">;

/** Creates the chips of all answers and paddings that make an outcome more likely. */
export function createChips({ answers, paddings }: OutcomeContent): HTMLElement[] {
  return [...answers, ...paddingPlaceholders(paddings)].map(createChip);
}

/** Lists the answers and the paddings in words: your “Dark mode: yes” and padding. */
export function outcomeContentInWords(
  { answers, paddings }: OutcomeContent,
  questions: readonly Question[],
): string {
  return [...answers, ...paddingPlaceholders(paddings)]
    .map((answer) =>
      answer
        ? `your “${questions[answer.item]?.label ?? answer.item}: ${answerWord(answer.sign)}”`
        : "padding",
    )
    .join(" and ");
}

const paddingPlaceholders = (count: number) => Array.from({ length: count }, () => null);

/**
 * Phrases about the hash functions of a mechanism that reports one bucket. All hash functions have
 * the same number of buckets.
 */
export class HashFunctionWords {
  constructor(
    readonly count: number,
    readonly buckets: number,
  ) {}

  /** Note that follows the total number of buckets. It is empty if there is one hash function. */
  get note(): string {
    return this.count === 1 ? "" : `${this.buckets} of each of ${this.count} hash functions; `;
  }

  /**
   * Phrase that follows the description of what the seed decides. It is empty if there is one hash
   * function.
   */
  get perHashFunctionPhrase(): string {
    return this.count === 1 ? "" : `, separately for each of ${this.count} hash functions`;
  }

  /**
   * Phrase that follows the words "one bucket" or "one side". It is empty if there is one hash
   * function.
   */
  get ofAllBucketsPhrase(): string {
    return this.count === 1 ? "" : ` of all ${this.count * this.buckets}`;
  }

  /**
   * Returns a phrase that names the hash function of a bucket. It is empty if there is one hash
   * function.
   */
  hashFunctionPhrase(bucket: number): string {
    return this.count === 1 ? "" : ` of hash function ${Math.floor(bucket / this.buckets) + 1}`;
  }

  /** Returns the index of the first bucket of the hash function to which `bucket` belongs. */
  firstBucketOfHashFunction(bucket: number): number {
    return bucket - (bucket % this.buckets);
  }

  /**
   * Formats the probability of a bucket. With more hash functions, probabilities are smaller and
   * need more digits.
   */
  formatProbability(share: number): string {
    return formatPercent(share, 1 + Math.ceil(Math.log10(this.count)));
  }
}

/** Bar for one possible report: its probability, its chips and its description in words. */
export interface OutcomeBar {
  readonly name: string;
  readonly chance: number;
  readonly reported: boolean;
  readonly chips: readonly HTMLElement[];
  readonly words: string;
}

/**
 * Draws a bar for each possible report, with the chips of the answers that make it more likely.
 * `most` is the probability of a bar of full height.
 */
export function drawOutcomeBars(
  label: string,
  all: readonly OutcomeBar[],
  most: number,
): HTMLElement {
  return el(
    "ol",
    { class: "buckets", "aria-label": label },
    ...all.map(({ name, chance, reported, chips, words }) =>
      el(
        "li",
        { "data-reported": reported },
        svg(
          "svg",
          { viewBox: "0 0 10 40", preserveAspectRatio: "none", "aria-hidden": "true" },
          svg("rect", {
            x: 0,
            width: 10,
            y: 40 - (chance / most) * 40,
            height: (chance / most) * 40,
          }),
        ),
        el("span", { class: "chips", "aria-hidden": "true" }, ...chips),
        el("span", { class: "bucket-number", "aria-hidden": "true" }, name),
        el(
          "span",
          { class: "unseen" },
          `${words}; probability ${formatPercent(chance, 1)}${reported ? "; reported" : ""}`,
        ),
      ),
    ),
  );
}

type LegendEntry = ReportPicture["legendEntries"][number];

/** Creates the legend that explains the chips, the small boxes that stand for elements. */
export function chipLegend({ padding = true, bars = true } = {}): LegendEntry[] {
  return [
    [el("span", { class: "chip yes" }, "1"), "question 1, yes"],
    [el("span", { class: "chip no" }, "1"), "question 1, no"],
    ...(padding ? [[el("span", { class: "chip pad" }, "·"), "padding"] as const] : []),
    ...(bars
      ? [[el("span", { class: "swatch-bar" }), "probability of being reported"] as const]
      : []),
  ];
}

export const REPORTED_LEGEND_ENTRY = (): LegendEntry => [
  el("span", { class: "swatch-reported" }),
  "reported",
];
