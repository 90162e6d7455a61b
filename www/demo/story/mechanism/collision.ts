// The texts and pictures for Collision, which estimates how frequent each item is with each sign. A
// report is one bucket.

import type { AnswerPlacement, Reported } from "../../shared/analysis.js";
import type { NamedItemsTask } from "../collector.js";
import type { Question } from "../questions.js";
import draft from "../tasks/collision.json" with { type: "json" };
import {
  type MechanismInfo,
  type MechanismTexts,
  narrowKind,
  type ReportPicture,
} from "./mechanism.js";
import {
  chipLegend,
  createChips,
  drawOutcomeBars,
  HashFunctionWords,
  outcomeContentInWords,
  REPORTED_LEGEND_ENTRY,
} from "./picture.js";

export const collision: MechanismInfo = {
  name: "Collision",
  strength:
    "Reveals the shares of yes and of no separately, and so also the share of people who answered.",
  covers: "your whole report",
  taskId: draft.id,
  explain: (task) => new CollisionTexts(task),
};

export class CollisionTexts implements MechanismTexts {
  readonly partName = "bucket";
  readonly probabilities: string;
  readonly score =
    "the number of elements of the first input in the reported bucket, minus the number of elements of the second input in the same bucket";
  readonly figures: MechanismTexts["figures"];
  readonly #sparsity: number;
  readonly #hashes: HashFunctionWords;

  constructor({ id, mechanism, sparsity, epsilon }: NamedItemsTask) {
    if (mechanism.name !== "collision") {
      throw new RangeError(`task ${id} uses ${mechanism.name}, expected collision`);
    }
    const { buckets, rule, favoured, hashes = 1 } = mechanism;
    this.#sparsity = sparsity;
    this.#hashes = new HashFunctionWords(hashes, buckets);
    const factor = Number(Math.exp(epsilon).toPrecision(3));
    this.probabilities = `every bucket can be reported. Your answers only change the probabilities: a favoured bucket is ${factor} times more likely than any other bucket, never more.`;
    this.figures = [
      ["elements", String(sparsity), "in every report: answers and padding"],
      [
        "buckets",
        String(hashes * buckets),
        this.#hashes.note +
          (rule === "heaviest"
            ? `the ${favoured} fullest are favoured`
            : "buckets with an element are favoured"),
      ],
    ];
  }

  partInWords(reported: Reported): string {
    const { bucket } = narrowKind(reported, "bucket");
    return `bucket ${bucket - this.#hashes.firstBucketIndex(bucket)}${this.#hashes.hashFunctionPhrase(bucket)}`;
  }

  meaning(reported: Reported): string {
    return `B${this.partInWords(reported).slice(1)}. This is the only part that your answers influence. Buckets that hold your answers are more likely, but never certain.`;
  }

  picture(
    placement: AnswerPlacement,
    reported: Reported,
    questions: readonly Question[],
  ): ReportPicture {
    const { buckets, shared } = narrowKind(placement, "buckets");
    const { bucket } = narrowKind(reported, "bucket");
    const chances = buckets.map(({ chance }) => chance);
    const hashes = this.#hashes;
    const first = hashes.firstBucketIndex(bucket);
    const body = drawOutcomeBars(
      `Buckets${hashes.hashFunctionPhrase(bucket)}`,
      buckets.slice(first, first + hashes.buckets).map((outcome, index) => ({
        name: String(index),
        chance: outcome.chance,
        reported: first + index === bucket,
        chips: createChips(outcome),
        words: `Bucket ${index}: ${outcomeContentInWords(outcome, questions) || "none of your answers"}`,
      })),
      Math.max(...chances),
    );
    const yours = buckets[bucket] ?? { answers: [], paddings: 0 };
    const holds =
      yours.answers.length > 0
        ? `holds ${outcomeContentInWords({ ...yours, paddings: 0 }, questions)}`
        : yours.paddings > 0
          ? "holds only padding"
          : "holds none of your elements";
    const share = shared === 1 ? "one element per bucket" : `up to ${shared} elements per bucket`;
    return {
      title: "Your answers in this seed’s buckets",
      text:
        `Your answers and padding together are always ${this.#sparsity} elements. The seed decides which of ` +
        `${hashes.buckets} buckets each possible element falls into (${share})${hashes.perHashFunctionPhrase}. Then one bucket${hashes.ofAllBucketsPhrase} is ` +
        `drawn at random. A favoured bucket has a probability of ${hashes.chance(Math.max(...chances))}, ` +
        `any other bucket ${hashes.chance(Math.min(...chances))}. This time it was ${this.partInWords(reported)}, which ${holds}.`,
      body,
      legendEntries: [...chipLegend(), REPORTED_LEGEND_ENTRY()],
    };
  }
}
