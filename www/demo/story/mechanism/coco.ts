// CoCo: means, from one side of a pair of buckets.

import { el } from "../../shared/dom.js";
import { percent } from "../../shared/format.js";
import type { NamedTask } from "../collector.js";
import { type Hash, hashesOf } from "../hash.js";
import type { Question } from "../questions.js";
import draft from "../tasks/coco.json" with { type: "json" };
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

export const coco: Kind = {
  name: "CoCo",
  good: "Hears only the balance of yes and no, and hears it more sharply: opposite answers cancel inside a report instead of crowding it.",
  covers: "your whole report",
  task: draft.id,
  explain: (task) => new Coco(task),
};

/** An element's push on its pair of buckets. */
export interface Push {
  readonly pair: number;
  /** The side it pushes to; 0 for padding, whose sign is a coin toss. */
  readonly side: 1 | -1 | 0;
  /** Null for padding. */
  readonly entry: Entry | null;
}

export class Coco implements Explained {
  readonly estimands = ["mean"] as const;
  readonly covers = "input";
  readonly part = "side";
  readonly dice: string;
  readonly extremes: readonly [Answers, Answers];
  readonly scored =
    "how many answers of the first input push to the reported side, less those that push against it";
  readonly figures: Explained["figures"];
  readonly #task: NamedTask;
  readonly #hash: Hash;
  readonly #favoured: number;

  constructor(task: NamedTask) {
    const { mechanism, items, sparsity, epsilon } = task;
    if (mechanism.name !== "coco" || mechanism.favoured === undefined) {
      throw new RangeError(`task ${task.id} is expected to use coco with the rule strongest`);
    }
    const { hashing, buckets, favoured } = mechanism;
    this.#task = task;
    this.#hash = { hashing, buckets: buckets / 2, elements: items.length + sparsity };
    this.#favoured = favoured;
    this.extremes = extremesOf(task);
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

  read(from: { varint(): number }): number[] {
    return [from.varint()];
  }

  words({ response: [bucket = 0] }: Report): string {
    const side = bucket % 2 === 0 ? "plus" : "minus";
    return this.#hash.buckets === 1 ? `${side} side` : `${side} side of pair ${bucket >> 1}`;
  }

  meaning(report: Report): string {
    return `The ${this.words(report)}: the only thing here that your answers influence. Sides that your answers push to are likelier, never certain.`;
  }

  /** The exactly s pushes that answers become. */
  pushes(answers: Answers, seed: bigint): Push[] {
    const hashes = hashesOf(this.#hash, seed);
    const { items, sparsity } = this.#task;
    const pushes: Push[] = entriesOf(this.#task, answers).map((entry) => ({
      pair: hashes.bucket(entry.index),
      side: hashes.sign(entry.index) === entry.sign ? 1 : -1,
      entry,
    }));
    for (let padding = 0; pushes.length < sparsity; padding++) {
      pushes.push({ pair: hashes.bucket(items.length + padding), side: 0, entry: null });
    }
    return pushes;
  }

  probability(answers: Answers, { seed, response: [bucket = 0] }: Report): number {
    return this.#chances(this.pushes(answers, seed))[bucket] ?? 0;
  }

  /** Over the coin tosses of the paddings. */
  #chances(pushes: readonly Push[]): number[] {
    const paddings = pushes.filter(({ side }) => side === 0);
    const tosses = 2 ** paddings.length;
    const chances = new Array<number>(2 * this.#hash.buckets).fill(0);
    for (let toss = 0; toss < tosses; toss++) {
      const balance = new Array<number>(this.#hash.buckets).fill(0);
      for (const { pair, side } of pushes) balance[pair] = (balance[pair] ?? 0) + side;
      paddings.forEach(({ pair }, bit) => {
        balance[pair] = (balance[pair] ?? 0) + ((toss >> bit) & 1 ? -1 : 1);
      });
      const strengths = balance.flatMap((sum) => [sum, -sum]);
      loaded(strengths, this.#favoured, this.#task.epsilon).forEach((chance, side) => {
        chances[side] = (chances[side] ?? 0) + chance / tosses;
      });
    }
    return chances;
  }

  score({ seed, response: [bucket = 0] }: Report): number {
    const reported = bucket % 2 === 0 ? 1 : -1;
    return this.pushes(this.extremes[0], seed)
      .filter(({ pair }) => pair === bucket >> 1)
      .reduce((sum, { side }) => sum + side * reported, 0);
  }

  picture(answers: Answers, report: Report, questions: readonly Question[]): Picture {
    const pushes = this.pushes(answers, report.seed);
    const chances = this.#chances(pushes);
    const bucket = report.response[0] ?? 0;
    const side = (pair: number, sign: 1 | -1) => {
      const index = 2 * pair + (sign < 0 ? 1 : 0);
      const pushing = pushes.filter((push) => push.pair === pair && push.side === sign);
      const here = `${this.words({ seed: report.seed, response: [index] })}`;
      const by = listed(
        pushing.map(({ entry }) => entry),
        questions,
      );
      return {
        name: sign > 0 ? "+" : "−",
        chance: chances[index] ?? 0,
        reported: index === bucket,
        chips: pushing.map(({ entry }) => chipOf(entry)),
        words: `${here}: ${by ? `pushed by ${by}` : "none of yours push here"}`,
      };
    };
    const pairs = Array.from({ length: this.#hash.buckets }, (_, pair) => {
      const padding = pushes.filter((push) => push.pair === pair && push.side === 0);
      return el(
        "div",
        { class: "duel" },
        bars(
          this.#hash.buckets === 1 ? "The two sides" : `Pair ${pair}`,
          [side(pair, 1), side(pair, -1)],
          Math.max(...chances),
        ),
        padding.length > 0
          ? el(
              "p",
              { class: "tossed" },
              ...padding.map(() => chipOf(null)),
              " padding, to a side by coin toss",
            )
          : "",
      );
    });
    const reported = pushes.filter((push) => push.pair === bucket >> 1 && push.side !== 0);
    const towards = reported.filter(({ side }) => side === (bucket % 2 === 0 ? 1 : -1));
    const pushed =
      reported.length === 0
        ? "none of your answers pushed there, either way"
        : `${towards.length} of your answers pushed there and ${reported.length - towards.length} against it`;
    return {
      title: "Which way your answers push",
      text:
        `Answers and padding make ${this.#task.sparsity} elements, whatever you answer. For every question the seed ` +
        `tosses a coin: heads, and yes pushes to the plus side; tails, and it pushes to the minus side; no pushes the ` +
        `other way. Then one side is drawn by weighted chance, ${odds(chances)}. This time it was the ${this.words(report)}: ${pushed}.`,
      body: el("div", { class: "duels" }, ...pairs),
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
