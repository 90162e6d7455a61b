// Collision: frequencies of items with signs, from one bucket.

import type { Placement, Reported } from "../../shared/analysis.js";
import type { NamedTask } from "../collector.js";
import type { Question } from "../questions.js";
import draft from "../tasks/collision.json" with { type: "json" };
import { type Explained, type Kind, only, type Picture } from "./kind.js";
import { bars, chipKey, chipsOf, Hashes, listed, REPORTED_KEY } from "./picture.js";

export const collision: Kind = {
  name: "Collision",
  good: "Hears how many say yes and how many say no, each by itself, so it also knows how many answered at all.",
  covers: "your whole report",
  task: draft.id,
  explain: (task) => new Collision(task),
};

export class Collision implements Explained {
  readonly part = "bucket";
  readonly dice: string;
  readonly scored =
    "how many elements of the first input the reported bucket holds, less those of the second";
  readonly figures: Explained["figures"];
  readonly #sparsity: number;
  readonly #hashes: Hashes;

  constructor({ id, mechanism, sparsity, epsilon }: NamedTask) {
    if (mechanism.name !== "collision") {
      throw new RangeError(`task ${id} uses ${mechanism.name}, expected collision`);
    }
    const { buckets, rule, favoured, hashes = 1 } = mechanism;
    this.#sparsity = sparsity;
    this.#hashes = new Hashes(hashes, buckets);
    const factor = Number(Math.exp(epsilon).toPrecision(3));
    this.dice = `every bucket can be the one reported. Your answers only load the dice: a favoured bucket is ${factor} times likelier than any other, never more.`;
    this.figures = [
      ["elements", String(sparsity), "in every report, answers and padding"],
      [
        "buckets",
        String(hashes * buckets),
        this.#hashes.note +
          (rule === "heaviest"
            ? `the ${favoured} fullest are favoured`
            : "those that hold an element are favoured"),
      ],
    ];
  }

  words(reported: Reported): string {
    const { bucket } = only(reported, "bucket");
    return `bucket ${bucket - this.#hashes.first(bucket)}${this.#hashes.after(bucket)}`;
  }

  meaning(reported: Reported): string {
    return `B${this.words(reported).slice(1)}: the only thing here that your answers influence. Buckets that hold your answers are likelier, never certain.`;
  }

  picture(placement: Placement, reported: Reported, questions: readonly Question[]): Picture {
    const { buckets, shared } = only(placement, "buckets");
    const { bucket } = only(reported, "bucket");
    const chances = buckets.map(({ chance }) => chance);
    const hashes = this.#hashes;
    const first = hashes.first(bucket);
    const body = bars(
      `Buckets${hashes.after(bucket)}`,
      buckets.slice(first, first + hashes.buckets).map((outcome, index) => ({
        name: String(index),
        chance: outcome.chance,
        reported: first + index === bucket,
        chips: chipsOf(outcome),
        words: `Bucket ${index}: ${listed(outcome, questions) || "none of yours"}`,
      })),
      Math.max(...chances),
    );
    const yours = buckets[bucket] ?? { answers: [], paddings: 0 };
    const holds =
      yours.answers.length > 0
        ? `holds ${listed({ ...yours, paddings: 0 }, questions)}`
        : yours.paddings > 0
          ? "holds only padding"
          : "holds nothing of yours";
    const share = shared === 1 ? "each has one to itself" : `up to ${shared} share one`;
    return {
      title: "Your answers in this seed’s buckets",
      text:
        `Answers and padding make ${this.#sparsity} elements, whatever you answer. The seed says which of ` +
        `${hashes.buckets} buckets every possible element falls into (${share})${hashes.repeated}; then one bucket${hashes.ofAll} is ` +
        `drawn by weighted chance: ${hashes.chance(Math.max(...chances))} for those that are favoured, ` +
        `${hashes.chance(Math.min(...chances))} for the others. This time it was ${this.words(reported)}, which ${holds}.`,
      body,
      key: [...chipKey(), REPORTED_KEY()],
    };
  }
}
