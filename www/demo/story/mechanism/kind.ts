// What the page asks of a mechanism: how to read one of its reports, how likely
// that was, and how to show and to measure it. A mechanism is one module that
// answers, one task file, and one line of index.ts.

import type { Estimand, NamedTask } from "../collector.js";
import type { Question } from "../questions.js";

/** Answers by item: 1 for yes, -1 for no; items not set are absent. */
export type Answers = Readonly<Record<string, 1 | -1>>;

/** One report, decoded. */
export interface Report {
  readonly seed: bigint;
  /** What was randomised: one bucket, one sign, or the noisy bins. */
  readonly response: readonly number[];
}

/** Reads a report's bytes one after the other. */
export interface Reader {
  byte(): number;
  /** An unsigned LEB128 number. */
  varint(): number;
}

/** A mechanism before its task is known. */
export interface Kind {
  /** Short: for controls and titles. */
  readonly name: string;
  /** What it is good for, in a sentence. */
  readonly good: string;
  /** What one report's ε covers, in a few words. */
  readonly covers: string;
  /** The task's id at the collector. */
  readonly task: string;
  /** @throws RangeError when the collector's task is of another mechanism */
  explain(task: NamedTask): Explained;
}

/** A number of the last chapter, with what it is called and what it means. */
export type Figure = readonly [name: string, value: string, note: string];

/** A mechanism with the parameters of a task. */
export interface Explained {
  /** What its reports can tell of an item. */
  readonly estimands: readonly Estimand[];
  /**
   * Whether ε bounds what is learnt about the whole input, or about one entry
   * of it by somebody who knows the others.
   */
  readonly covers: "input" | "entry";
  /** What the randomised part of a report is called. */
  readonly part: string;
  /** Decodes the randomised part. */
  read(from: Reader): number[];
  /** The randomised part in words: "bucket 3". */
  words(report: Report): string;
  /** What the randomised part is, to the person who made it. */
  meaning(report: Report): string;
  /** How the dice are loaded, in words that follow "whatever you answer". */
  readonly dice: string;
  /** P(response | seed, answers), as the task's ε asks for. */
  probability(answers: Answers, report: Report): number;
  /** Two inputs that reports are to tell apart as badly as ε promises. */
  readonly extremes: readonly [Answers, Answers];
  /** How much more a report looks like the first extreme than the second. */
  score(report: Report): number;
  /** The score in words, for the audit. */
  readonly scored: string;
  readonly figures: readonly Figure[];
  /** A picture of how these answers became this report. */
  picture(answers: Answers, report: Report, questions: readonly Question[]): Picture;
}

export interface Picture {
  readonly title: string;
  readonly text: string;
  readonly body: HTMLElement;
  /** Legend entries: a swatch and its words. */
  readonly key: readonly (readonly [HTMLElement, string])[];
}
