// Parts of the pictures that mechanisms share.

import type { Answered, Outcome } from "../../shared/analysis.js";
import { el, svg } from "../../shared/dom.js";
import { percent } from "../../shared/format.js";
import { answerWord, type Question } from "../questions.js";
import type { Picture } from "./kind.js";

/** A numbered chip for an answer, a dotted one for padding. */
export function chipOf(answer: Answered | null): HTMLElement {
  return answer
    ? el("span", { class: `chip ${answerWord(answer.sign)}` }, `${answer.item + 1}`)
    : el("span", { class: "chip pad" }, "·");
}

type Held = Pick<Outcome, "answers" | "paddings">;

/** Chips of all that makes an outcome likelier. */
export function chipsOf({ answers, paddings }: Held): HTMLElement[] {
  return [...answers, ...padding(paddings)].map(chipOf);
}

/** The same in words: your “Dark mode: yes” and padding. */
export function listed({ answers, paddings }: Held, questions: readonly Question[]): string {
  return [...answers, ...padding(paddings)]
    .map((answer) =>
      answer
        ? `your “${questions[answer.item]?.label ?? answer.item}: ${answerWord(answer.sign)}”`
        : "padding",
    )
    .join(" and ");
}

const padding = (count: number) => Array.from({ length: count }, () => null);

/** The hash functions of a mechanism that draws one bucket, each with as many. */
export class Hashes {
  constructor(
    readonly count: number,
    readonly buckets: number,
  ) {}

  /** "" where there is but one; after a number of buckets in all. */
  get note(): string {
    return this.count === 1 ? "" : `${this.buckets} of each of ${this.count} hash functions; `;
  }

  /** "" where there is but one; after what the seed does. */
  get repeated(): string {
    return this.count === 1 ? "" : `, ${this.count} times over, each time anew`;
  }

  /** What is drawn from all of them, where there are several. */
  get ofAll(): string {
    return this.count === 1 ? "" : ` of all ${this.count * this.buckets}`;
  }

  /** A bucket's hash function in words: "" where there is but one. */
  after(bucket: number): string {
    return this.count === 1 ? "" : ` of hash function ${Math.floor(bucket / this.buckets) + 1}`;
  }

  /** The first bucket of the same function. */
  first(bucket: number): number {
    return bucket - (bucket % this.buckets);
  }

  /** A chance: the more there are, the smaller. */
  chance(share: number): string {
    return percent(share, 1 + Math.ceil(Math.log10(this.count)));
  }
}

/** One of several things that can be reported. */
export interface Bar {
  readonly name: string;
  readonly chance: number;
  readonly reported: boolean;
  readonly chips: readonly HTMLElement[];
  readonly words: string;
}

/** What can be reported, with its chances (up to `most`) and what of yours is in it. */
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
          `${words}; chance ${percent(chance, 1)}${reported ? "; reported" : ""}`,
        ),
      ),
    ),
  );
}

type Key = Picture["key"][number];

/** What chips mean. */
export function chipKey({ padding = true, bars = true } = {}): Key[] {
  return [
    [el("span", { class: "chip yes" }, "1"), "question 1, yes"],
    [el("span", { class: "chip no" }, "1"), "question 1, no"],
    ...(padding ? [[el("span", { class: "chip pad" }, "·"), "padding"] as const] : []),
    ...(bars ? [[el("span", { class: "swatch-bar" }), "chance to be reported"] as const] : []),
  ];
}

export const REPORTED_KEY = (): Key => [el("span", { class: "swatch-reported" }), "reported"];
