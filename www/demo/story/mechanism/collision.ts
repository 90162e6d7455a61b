// Collision: frequencies of items with signs, from one bucket.

import { percent } from "../../shared/format.js";
import type { NamedTask } from "../collector.js";
import { type Hash, hashesOf, slotsPerBucket } from "../hash.js";
import type { Question } from "../questions.js";
import draft from "../tasks/collision.json" with { type: "json" };
import { loaded } from "./favoured.js";
import type { Answers, Explained, Kind, Picture, Report } from "./kind.js";
import {
  bars,
  chipKey,
  chipOf,
  type Entry,
  entriesOf,
  extremesOf,
  listed,
  REPORTED_KEY,
} from "./picture.js";

export const collision: Kind = {
  name: "Collision",
  good: "Hears how many say yes and how many say no, each by itself, so it also knows how many answered at all.",
  covers: "your whole report",
  task: draft.id,
  explain: (task) => new Collision(task),
};

interface Element {
  readonly element: number;
  /** Null for padding. */
  readonly entry: Entry | null;
}

export class Collision implements Explained {
  readonly estimands = ["mean", "plus", "minus", "nonmissing"] as const;
  readonly covers = "input";
  readonly part = "bucket";
  readonly dice: string;
  readonly extremes: readonly [Answers, Answers];
  readonly scored =
    "how many elements of the first input the reported bucket holds, less those of the second";
  readonly figures: Explained["figures"];
  readonly #task: NamedTask;
  readonly #hash: Hash;
  readonly #rule: "occupied" | "heaviest";
  readonly #favoured: number;
  readonly #scored: readonly [readonly Element[], readonly Element[]];

  constructor(task: NamedTask) {
    const { mechanism, items, sparsity, epsilon } = task;
    if (mechanism.name !== "collision") {
      throw new RangeError(`task ${task.id} uses ${mechanism.name}, expected collision`);
    }
    const { hashing, buckets, rule, favoured = sparsity } = mechanism;
    this.#task = task;
    this.#hash = { hashing, buckets, elements: 2 * items.length + sparsity };
    this.#rule = rule;
    this.#favoured = favoured;
    this.extremes = extremesOf(task);
    this.#scored = [this.elements(this.extremes[0]), this.elements(this.extremes[1])];
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

  read(from: { varint(): number }): number[] {
    return [from.varint()];
  }

  words({ response: [bucket] }: Report): string {
    return `bucket ${bucket}`;
  }

  meaning(report: Report): string {
    return `B${this.words(report).slice(1)}: the only thing here that your answers influence. Buckets that hold your answers are likelier, never certain.`;
  }

  /** The exactly s elements that answers become. */
  elements(answers: Answers): Element[] {
    const { items, sparsity } = this.#task;
    const elements: Element[] = entriesOf(this.#task, answers).map((entry) => ({
      element: 2 * entry.index + (entry.sign < 0 ? 1 : 0),
      entry,
    }));
    for (let padding = 0; elements.length < sparsity; padding++) {
      elements.push({ element: 2 * items.length + padding, entry: null });
    }
    return elements;
  }

  probability(answers: Answers, { seed, response: [bucket = 0] }: Report): number {
    return this.#chances(this.#held(answers, seed))[bucket] ?? 0;
  }

  /** For an input whose buckets hold these. */
  #chances(held: readonly (readonly unknown[])[]): number[] {
    const counts = held.map((elements) => elements.length);
    const { epsilon, sparsity } = this.#task;
    if (this.#rule === "heaviest") return loaded(counts, this.#favoured, epsilon);
    const e = Math.exp(epsilon);
    const t = counts.length;
    const occupied = counts.filter((count) => count > 0).length;
    const total = sparsity * e + t - sparsity;
    const outside = (total - occupied * e) / ((t - occupied) * total);
    return counts.map((count) => (count > 0 ? e / total : outside));
  }

  score({ seed, response: [bucket] }: Report): number {
    const hashes = hashesOf(this.#hash, seed);
    const [first, second] = this.#scored.map(
      (elements) => elements.filter(({ element }) => hashes.bucket(element) === bucket).length,
    );
    return (first ?? 0) - (second ?? 0);
  }

  #held(answers: Answers, seed: bigint): Element[][] {
    const hashes = hashesOf(this.#hash, seed);
    const held: Element[][] = Array.from({ length: this.#hash.buckets }, () => []);
    for (const element of this.elements(answers)) {
      held[hashes.bucket(element.element)]?.push(element);
    }
    return held;
  }

  picture(answers: Answers, report: Report, questions: readonly Question[]): Picture {
    const held = this.#held(answers, report.seed);
    const chances = this.#chances(held);
    const bucket = report.response[0] ?? 0;
    const body = bars(
      "Buckets",
      held.map((elements, index) => ({
        name: String(index),
        chance: chances[index] ?? 0,
        reported: index === bucket,
        chips: elements.map(({ entry }) => chipOf(entry)),
        words: `Bucket ${index}: ${
          listed(
            elements.map(({ entry }) => entry),
            questions,
          ) || "none of yours"
        }`,
      })),
      Math.max(...chances),
    );
    const yours = held[bucket] ?? [];
    const holds = yours.some(({ entry }) => entry)
      ? `holds ${listed(
          yours.flatMap(({ entry }) => entry ?? []),
          questions,
        )}`
      : yours.length > 0
        ? "holds only padding"
        : "holds nothing of yours";
    const share =
      slotsPerBucket(this.#hash) === 1
        ? "each has one to itself"
        : `up to ${slotsPerBucket(this.#hash)} share one`;
    return {
      title: "Your answers in this seed’s buckets",
      text:
        `Answers and padding make ${this.#task.sparsity} elements, whatever you answer. The seed says which of ` +
        `${held.length} buckets every possible element falls into (${share}), then one bucket is ` +
        `drawn by weighted chance: ${percent(Math.max(...chances), 1)} for those that are favoured, ` +
        `${percent(Math.min(...chances), 1)} for the others. This time it was bucket ${bucket}, which ${holds}.`,
      body,
      key: [...chipKey(), REPORTED_KEY()],
    };
  }
}
