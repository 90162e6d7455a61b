// Parts of pictures that all mechanisms use.

import type { Outcome, SignedAnswer } from "../../shared/analysis.js";
import { el, svg } from "../../shared/dom.js";
import { percent } from "../../shared/format.js";
import { answerWord, type Question } from "../questions.js";
import type { Picture } from "./mechanism.js";

/** Creates a numbered chip for an answer, or a dotted one for padding. */
export function chipOf(answer: SignedAnswer | null): HTMLElement {
  return answer
    ? el("span", { class: `chip ${answerWord(answer.sign)}` }, `${answer.item + 1}`)
    : el("span", { class: "chip pad" }, "·");
}

type OutcomeContent = Pick<Outcome, "answers" | "paddings">;

/** Creates chips of all answers and padding that make an outcome more likely. */
export function chipsOf({ answers, paddings }: OutcomeContent): HTMLElement[] {
  return [...answers, ...padding(paddings)].map(chipOf);
}

/** Lists answers and padding in words: your “Dark mode: yes” and padding. */
export function listed(
  { answers, paddings }: OutcomeContent,
  questions: readonly Question[],
): string {
  return [...answers, ...padding(paddings)]
    .map((answer) =>
      answer
        ? `your “${questions[answer.item]?.label ?? answer.item}: ${answerWord(answer.sign)}”`
        : "padding",
    )
    .join(" and ");
}

const padding = (count: number) => Array.from({ length: count }, () => null);

/** Hash functions of a mechanism that draws one bucket. All have the same number of buckets. */
export class Hashes {
  constructor(
    readonly count: number,
    readonly buckets: number,
  ) {}

  /** Note for the total number of buckets; empty for one hash function. */
  get note(): string {
    return this.count === 1 ? "" : `${this.buckets} of each of ${this.count} hash functions; `;
  }

  /** Addition to what the seed decides; empty for one hash function. */
  get repeated(): string {
    return this.count === 1 ? "" : `, separately for each of ${this.count} hash functions`;
  }

  /** Addition to the drawn bucket; empty for one hash function. */
  get ofAll(): string {
    return this.count === 1 ? "" : ` of all ${this.count * this.buckets}`;
  }

  /** Name of a bucket's hash function; empty for one hash function. */
  after(bucket: number): string {
    return this.count === 1 ? "" : ` of hash function ${Math.floor(bucket / this.buckets) + 1}`;
  }

  /** Returns the first bucket of the same hash function. */
  first(bucket: number): number {
    return bucket - (bucket % this.buckets);
  }

  /** Formats a probability. More hash functions make it smaller, so it gets more digits. */
  chance(share: number): string {
    return percent(share, 1 + Math.ceil(Math.log10(this.count)));
  }
}

/** One possible report. */
export interface Bar {
  readonly name: string;
  readonly chance: number;
  readonly reported: boolean;
  readonly chips: readonly HTMLElement[];
  readonly words: string;
}

/** Draws all possible reports, with their probabilities (up to `most`) and your answers. */
export function bars(label: string, all: readonly Bar[], most: number): HTMLElement {
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
          `${words}; probability ${percent(chance, 1)}${reported ? "; reported" : ""}`,
        ),
      ),
    ),
  );
}

type Key = Picture["key"][number];

/** Creates the legend that explains the chips, the small boxes that stand for elements. */
export function chipKey({ padding = true, bars = true } = {}): Key[] {
  return [
    [el("span", { class: "chip yes" }, "1"), "question 1, yes"],
    [el("span", { class: "chip no" }, "1"), "question 1, no"],
    ...(padding ? [[el("span", { class: "chip pad" }, "·"), "padding"] as const] : []),
    ...(bars
      ? [[el("span", { class: "swatch-bar" }), "probability of being reported"] as const]
      : []),
  ];
}

export const REPORTED_KEY = (): Key => [el("span", { class: "swatch-reported" }), "reported"];
