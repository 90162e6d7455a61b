// The interface of a mechanism to the page: texts and pictures of its reports. The analysis module
// makes all calculations. A mechanism needs one module, one task file, and one line of index.ts.

import type { Explainer, Placement, Reported } from "../../shared/analysis.js";
import type { NamedTask } from "../collector.js";
import type { Question } from "../questions.js";

/** Answers by item: 1 for yes, -1 for no. Items without an answer are absent. */
export type Answers = Readonly<Record<string, 1 | -1>>;

/** Mechanism before its task is known. */
export interface MechanismInfo {
  /** Short name for controls and titles. */
  readonly name: string;
  /** Sentences on the strengths of the mechanism. */
  readonly strength: string;
  /** Short text on the coverage of one report's ε. */
  readonly covers: string;
  /** Id of the task at the collector. */
  readonly task: string;
  /**
   * Creates the texts and pictures for a task.
   *
   * @throws RangeError if the collector's task has another mechanism
   */
  explain(task: NamedTask, explainer: Explainer): MechanismTexts;
}

/** Number of the last chapter, with its name and its meaning. */
export type Figure = readonly [name: string, value: string, note: string];

/** Mechanism with the parameters of a task. */
export interface MechanismTexts {
  /** Name of the randomised part of a report. */
  readonly part: string;
  /** Returns the randomised part in words: "bucket 3". */
  words(reported: Reported): string;
  /** Explains the randomised part to the person who made the report. */
  meaning(reported: Reported): string;
  /** Sentences on how answers change the probabilities. They follow "Under Collision, ". */
  readonly probabilities: string;
  /** Definition of the audit's score. It follows "The score of a report is ". */
  readonly score: string;
  readonly figures: readonly Figure[];
  /** Draws how answers became a report. */
  picture(placement: Placement, reported: Reported, questions: readonly Question[]): Picture;
}

export interface Picture {
  readonly title: string;
  readonly text: string;
  readonly body: HTMLElement;
  /** Legend entries: a swatch and its words. */
  readonly key: readonly (readonly [HTMLElement, string])[];
}

/**
 * Narrows a union to the member of this kind.
 *
 * @throws RangeError if the value has another kind
 */
export function narrow<T extends { readonly kind: string }, K extends T["kind"]>(
  value: T,
  kind: K,
): Extract<T, { readonly kind: K }> {
  if (value.kind === kind) return value as Extract<T, { readonly kind: K }>;
  throw new RangeError(`A report has ${value.kind}, expected ${kind}.`);
}
