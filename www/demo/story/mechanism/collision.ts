// Collision: frequencies of items with signs, from one bucket.

import type { Placement, Reported } from "../../shared/analysis.js";
import { percent } from "../../shared/format.js";
import type { NamedTask } from "../collector.js";
import type { Question } from "../questions.js";
import draft from "../tasks/collision.json" with { type: "json" };
import { type Explained, type Kind, only, type Picture } from "./kind.js";
import { bars, chipKey, chipsOf, listed, REPORTED_KEY } from "./picture.js";

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

  constructor({ id, mechanism, sparsity, epsilon }: NamedTask) {
    if (mechanism.name !== "collision") {
      throw new RangeError(`task ${id} uses ${mechanism.name}, expected collision`);
    }
    const { buckets, rule, favoured } = mechanism;
    this.#sparsity = sparsity;
    const factor = Number(Math.exp(epsilon).toPrecision(3));
    this.dice = `every bucket can be the one reported. Your answers only load the dice: a favoured bucket is ${factor} times likelier than any other, never more.`;
    this.figures = [
      ["elements", String(sparsity), "in every report, answers and padding"],
      [
        "buckets",
        String(buckets),
        rule === "heaviest"
          ? `the ${favoured} fullest are favoured`
          : "those that hold an element are favoured",
      ],
    ];
  }

  words(reported: Reported): string {
    return `bucket ${only(reported, "bucket").bucket}`;
  }

  meaning(reported: Reported): string {
    return `B${this.words(reported).slice(1)}: the only thing here that your answers influence. Buckets that hold your answers are likelier, never certain.`;
  }

  picture(placement: Placement, reported: Reported, questions: readonly Question[]): Picture {
    const { buckets, shared } = only(placement, "buckets");
    const { bucket } = only(reported, "bucket");
    const chances = buckets.map(({ chance }) => chance);
    const body = bars(
      "Buckets",
      buckets.map((outcome, index) => ({
        name: String(index),
        chance: outcome.chance,
        reported: index === bucket,
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
        `${buckets.length} buckets every possible element falls into (${share}), then one bucket is ` +
        `drawn by weighted chance: ${percent(Math.max(...chances), 1)} for those that are favoured, ` +
        `${percent(Math.min(...chances), 1)} for the others. This time it was bucket ${bucket}, which ${holds}.`,
      body,
      key: [...chipKey(), REPORTED_KEY()],
    };
  }
}
