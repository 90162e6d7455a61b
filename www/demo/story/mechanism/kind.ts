// What the page asks of a mechanism: how to word and to show one of its reports.
// What is computed comes from the analysis module. A mechanism is one module that
// answers, one task file, and one line of index.ts.

import type { Explainer, Placement, Reported } from "../../shared/analysis.js";
import type { NamedTask } from "../collector.js";
import type { Question } from "../questions.js";

/** Answers by item: 1 for yes, -1 for no; items not set are absent. */
export type Answers = Readonly<Record<string, 1 | -1>>;

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
  explain(task: NamedTask, explainer: Explainer): Explained;
}

/** A number of the last chapter, with what it is called and what it means. */
export type Figure = readonly [name: string, value: string, note: string];

/** A mechanism with the parameters of a task. */
export interface Explained {
  /** What the randomised part of a report is called. */
  readonly part: string;
  /** The randomised part in words: "bucket 3". */
  words(reported: Reported): string;
  /** What the randomised part is, to the person who made it. */
  meaning(reported: Reported): string;
  /** How the dice are loaded, in words that follow "whatever you answer". */
  readonly dice: string;
  /** What the audit scores, in words. */
  readonly scored: string;
  readonly figures: readonly Figure[];
  /** A picture of how answers became a report, from where they fell. */
  picture(placement: Placement, reported: Reported, questions: readonly Question[]): Picture;
}

export interface Picture {
  readonly title: string;
  readonly text: string;
  readonly body: HTMLElement;
  /** Legend entries: a swatch and its words. */
  readonly key: readonly (readonly [HTMLElement, string])[];
}

/** A member of a union by its kind. @throws RangeError when it is another */
export function only<T extends { readonly kind: string }, K extends T["kind"]>(
  value: T,
  kind: K,
): Extract<T, { readonly kind: K }> {
  if (value.kind === kind) return value as Extract<T, { readonly kind: K }>;
  throw new RangeError(`A report has ${value.kind}, expected ${kind}.`);
}
