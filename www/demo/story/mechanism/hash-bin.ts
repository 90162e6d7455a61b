// Hash-bin: means from noisy sums, at event level and at user level.

import type { HashBinMechanism } from "hushbin";
import { el, svg } from "../../shared/dom.js";
import { percent, short } from "../../shared/format.js";
import type { NamedTask } from "../collector.js";
import { type Hash, hashesOf } from "../hash.js";
import type { Question } from "../questions.js";
import eventDraft from "../tasks/hash-bin-event.json" with { type: "json" };
import userDraft from "../tasks/hash-bin-user.json" with { type: "json" };
import type { Answers, Explained, Figure, Kind, Picture, Reader, Report } from "./kind.js";
import { bars, chipKey, chipOf, type Entry, entriesOf, extremesOf, listed } from "./picture.js";

export const hashBinEvent: Kind = {
  name: "Hash-bin (event)",
  good: "Adds answers up in bins with noise. Its error bars are short because it promises less: each answer is hidden by itself, all of them together are not.",
  covers: "one answer, not all together",
  task: eventDraft.id,
  explain: (task) => new HashBinEvent(task),
};

export const hashBinUser: Kind = {
  name: "Hash-bin (user)",
  good: "Takes numbers as they are, where the others first make each of them a yes or a no. For answers that are yes or no anyway, that gains nothing.",
  covers: "your whole report",
  task: userDraft.id,
  explain: (task) => new HashBinUser(task),
};

/** An answer in the bin that the seed puts it in. */
export interface Placed {
  readonly entry: Entry;
  readonly bin: number;
  /** Which way it pushes the bin: its own sign times the seed's. */
  readonly push: 1 | -1;
}

abstract class HashBin {
  readonly estimands = ["mean"] as const;
  protected readonly task: NamedTask;
  protected readonly mechanism: HashBinMechanism;
  readonly #hash: Hash;

  constructor(task: NamedTask, level: HashBinMechanism["level"]) {
    const { mechanism, items } = task;
    if (mechanism.name !== "hash-bin" || mechanism.level !== level) {
      throw new RangeError(`task ${task.id} is expected to use hash-bin at level ${level}`);
    }
    this.task = task;
    this.mechanism = mechanism;
    const { hashing, bins } = mechanism;
    this.#hash = { hashing, buckets: bins, elements: items.length };
  }

  /** Where answers fall. There is no padding. */
  placed(answers: Answers, seed: bigint): Placed[] {
    const hashes = hashesOf(this.#hash, seed);
    return entriesOf(this.task, answers).map((entry) => ({
      entry,
      bin: hashes.bucket(entry.index),
      push: hashes.sign(entry.index) === entry.sign ? 1 : -1,
    }));
  }

  /** The sums of answers by bin, before noise. */
  sums(answers: Answers, seed: bigint): number[] {
    const sums = new Array<number>(this.mechanism.bins).fill(0);
    for (const { bin, push } of this.placed(answers, seed)) sums[bin] = (sums[bin] ?? 0) + push;
    return sums;
  }
}

export class HashBinEvent extends HashBin implements Explained {
  readonly covers = "entry";
  readonly part = "bins";
  readonly dice: string;
  readonly extremes: readonly [Answers, Answers];
  readonly scored = "the bin of that question, turned by the seed’s sign for it";
  readonly figures: readonly Figure[];

  constructor(task: NamedTask) {
    super(task, "event");
    const { epsilon, items } = task;
    const factor = short(Math.exp(epsilon));
    const [item = ""] = items;
    this.extremes = [{ [item]: 1 }, { [item]: -1 }];
    this.dice = `any numbers can be reported. Your answers only shift what the noise is centred on: another answer to one question makes a report at most ${factor} times likelier or less likely.`;
    this.figures = [
      ["bins", String(this.mechanism.bins), "every answer falls into one of them"],
      ["noise", short(2 / epsilon), "scale of the Laplace noise on every bin"],
    ];
  }

  /** Bins in steps of one over the grid, as zigzag numbers. */
  read(from: Reader): number[] {
    return Array.from({ length: this.mechanism.bins }, () => {
      const code = from.varint();
      return code % 2 === 1 ? -(code + 1) / 2 : code / 2;
    });
  }

  words({ response }: Report): string {
    return `bins ${response.map((steps) => signed(steps / this.mechanism.grid)).join(", ")}`;
  }

  meaning(report: Report): string {
    return `The ${this.words(report)}: sums of your answers with noise, and the only thing here that your answers influence. The noise is mostly larger than they are.`;
  }

  /** The noise is discrete Laplace on the grid, of scale 2/ε, on every bin. */
  probability(answers: Answers, { seed, response }: Report): number {
    const { grid } = this.mechanism;
    const rate = this.task.epsilon / (2 * grid);
    const level = Math.tanh(rate / 2);
    return this.sums(answers, seed).reduce(
      (product, sum, bin) =>
        product * level * Math.exp(-rate * Math.abs((response[bin] ?? 0) - sum * grid)),
      1,
    );
  }

  score({ seed, response }: Report): number {
    const [only] = this.placed(this.extremes[0], seed);
    return only ? only.push * (response[only.bin] ?? 0) : 0;
  }

  picture(answers: Answers, report: Report, questions: readonly Question[]): Picture {
    const { grid } = this.mechanism;
    const placed = this.placed(answers, report.seed);
    const sums = this.sums(answers, report.seed);
    const values = report.response.map((steps) => steps / grid);
    const reach = Math.max(4, ...values.map(Math.abs));
    const rows = sums.map((sum, bin) => {
      const inside = placed.filter((one) => one.bin === bin);
      const value = values[bin] ?? 0;
      const words = inside.map(
        ({ entry, push }) => `${listed([entry], questions)}, counted ${signed(push, 0)}`,
      );
      return el(
        "li",
        {},
        el("span", { class: "bin-name", "aria-hidden": "true" }, `${bin}`),
        el(
          "span",
          { class: "bin-chips", "aria-hidden": "true" },
          ...inside.flatMap(({ entry, push }) => [chipOf(entry), push > 0 ? "+" : "−"]),
        ),
        noisy(sum / reach, value / reach),
        el("span", { class: "bin-value", "aria-hidden": "true" }, signed(value)),
        el(
          "span",
          { class: "unseen" },
          `Bin ${bin}: ${words.join(" and ") || "none of yours"}; sum ${signed(sum, 0)}, reported ${signed(value)}`,
        ),
      );
    });
    return {
      title: "Your answers in this seed’s bins",
      text:
        `The seed says which of ${sums.length} bins every question falls into, and tosses a coin for it: heads, and yes ` +
        `counts +1; tails, and it counts −1; no counts the other way, not set counts nothing. Every bin is the sum of ` +
        `what fell into it, with noise of scale ${short(2 / this.task.epsilon)} that also empty bins have.`,
      body: el("ol", { class: "bins", "aria-label": "Bins" }, ...rows),
      key: [
        ...chipKey({ padding: false, bars: false }),
        [el("span", { class: "swatch-sum" }), "sum of yours, which stays here"],
        [el("span", { class: "swatch-noisy" }), "reported"],
      ],
    };
  }
}

export class HashBinUser extends HashBin implements Explained {
  readonly covers = "input";
  readonly part = "sign";
  readonly dice: string;
  readonly extremes: readonly [Answers, Answers];
  readonly scored =
    "how many answers of the first input push to the reported sign, less those that push against it";
  readonly figures: readonly Figure[];
  readonly #clip: number;

  constructor(task: NamedTask) {
    super(task, "user");
    const { clip, noise } = this.mechanism;
    if (clip === undefined || noise !== "two-point") {
      throw new RangeError(`task ${task.id} is expected to use hash-bin with two-point noise`);
    }
    this.#clip = clip;
    this.extremes = extremesOf(task);
    const factor = short(Math.exp(task.epsilon));
    this.dice = `either sign can be the one reported. The more your answers push to one side, the likelier it is, but never more than ${factor} times likelier than the other.`;
    this.figures = [
      [
        "clip",
        short(clip),
        "most that all answers together push; what is cut off biases estimates towards 0",
      ],
    ];
  }

  read(from: Reader): number[] {
    return [from.byte() === 1 ? 1 : -1];
  }

  words({ response: [sign = 1] }: Report): string {
    return sign > 0 ? "plus" : "minus";
  }

  meaning(report: Report): string {
    return `${report.response[0] === 1 ? "Plus" : "Minus"}: the only thing here that your answers influence. The sign that they push to is likelier, never certain.`;
  }

  probability(answers: Answers, { seed, response: [sign = 1] }: Report): number {
    const [sum = 0] = this.sums(answers, seed);
    const clipped = Math.max(-this.#clip, Math.min(sum, this.#clip));
    const reach = this.#clip / Math.tanh(this.task.epsilon / 2);
    return 0.5 + (sign * clipped) / (2 * reach);
  }

  score({ seed, response: [sign = 1] }: Report): number {
    return sign * (this.sums(this.extremes[0], seed)[0] ?? 0);
  }

  picture(answers: Answers, report: Report, questions: readonly Question[]): Picture {
    const placed = this.placed(answers, report.seed);
    const [sum = 0] = this.sums(answers, report.seed);
    const sides = ([1, -1] as const).map((sign) => {
      const pushing = placed.filter(({ push }) => push === sign).map(({ entry }) => entry);
      return {
        name: sign > 0 ? "+" : "−",
        chance: this.probability(answers, { seed: report.seed, response: [sign] }),
        reported: sign === report.response[0],
        chips: pushing.map(chipOf),
        words: `${this.words({ ...report, response: [sign] })}: ${pushing.length > 0 ? `pushed by ${listed(pushing, questions)}` : "none of yours push here"}`,
      };
    });
    const chances = sides.map(({ chance }) => chance);
    return {
      title: "Which way your answers push",
      text:
        `For every question the seed tosses a coin: heads, and yes pushes to plus; tails, and it pushes to minus; no ` +
        `pushes the other way, not set not at all. Your answers push by ${signed(sum, 0)} in all. The further from zero ` +
        `that is, the more the chances differ: here ${percent(chances[0] ?? 0, 1)} for plus and ` +
        `${percent(chances[1] ?? 0, 1)} for minus. This time it was ${this.words(report)}.`,
      body: el("div", { class: "duel" }, bars("The two signs", sides, Math.max(...chances))),
      key: [...chipKey({ padding: false }), [el("span", { class: "swatch-reported" }), "reported"]],
    };
  }
}

/** A number with its sign, which zero has none of: +2.31. */
function signed(value: number, digits = 2): string {
  const text = Math.abs(value).toFixed(digits);
  return Number(text) === 0 ? text : `${value < 0 ? "−" : "+"}${text}`;
}

/** A bin on a line around zero: its sum, and where the noise took it. */
function noisy(sum: number, value: number): SVGSVGElement {
  const x = (share: number) => `${50 + 48 * share}%`;
  return svg(
    "svg",
    { class: "noisy-bin", "aria-hidden": "true", focusable: "false" },
    svg("line", { class: "axis", x1: "0%", x2: "100%", y1: 12, y2: 12 }),
    svg("line", { class: "zero", x1: "50%", x2: "50%", y1: 3, y2: 21 }),
    svg("line", { class: "noise", x1: x(sum), x2: x(value), y1: 12, y2: 12 }),
    svg("circle", { class: "sum", cx: x(sum), cy: 12, r: 4.5 }),
    svg("circle", { class: "value", cx: x(value), cy: 12, r: 6 }),
  );
}
