// The texts and pictures that a mechanism provides to the page. The analysis module makes all
// calculations. A mechanism needs one module, one task file, and one line of index.ts.

import type { AnswerPlacement, Explainer, Reported } from "../../shared/analysis.js";
import type { NamedItemsTask } from "../collector.js";
import type { Question } from "../questions.js";

/** Answers for each item: 1 for yes, −1 for no. Items without an answer are absent. */
export type Answers = Readonly<Record<string, 1 | -1>>;

/** Description of a mechanism that does not depend on the task. */
export interface MechanismInfo {
  /** Short name for controls and titles. */
  readonly name: string;
  /** Sentences that describe the strengths of the mechanism. */
  readonly strength: string;
  /** Short text that says what one report's ε protects. */
  readonly covers: string;
  /** Id of the mechanism's task at the collector. */
  readonly taskId: string;
  /**
   * Creates the texts and pictures that depend on the task.
   *
   * @throws RangeError if the collector's task has another mechanism
   */
  explain(task: NamedItemsTask, explainer: Explainer): MechanismTexts;
}

/** Key number in the last chapter of the page, with its name and a note on its meaning. */
export type KeyNumber = readonly [name: string, value: string, note: string];

/** Texts and pictures of a mechanism for one task. */
export interface MechanismTexts {
  /** Name of the randomised part of a report. */
  readonly partName: string;
  /** Describes the randomised part of a report in a few words: "bucket 3". */
  partInWords(reported: Reported): string;
  /** Explains the randomised part to the person who made the report. */
  meaning(reported: Reported): string;
  /**
   * Sentences that say how answers change the probabilities. They follow the words "Under
   * Collision, ".
   */
  readonly probabilities: string;
  /**
   * Definition of the score that the audit uses. It follows the words "The score of a report is ".
   */
  readonly score: string;
  readonly figures: readonly KeyNumber[];
  /** Draws a picture of how the answers became a report. */
  picture(
    placement: AnswerPlacement,
    reported: Reported,
    questions: readonly Question[],
  ): ReportPicture;
}

export interface ReportPicture {
  readonly title: string;
  readonly text: string;
  readonly body: HTMLElement;
  /** Legend of the picture. Each entry has a sample of the mark and its explanation. */
  readonly legendEntries: readonly (readonly [HTMLElement, string])[];
}

/**
 * Narrows a value of a union type to the member whose `kind` is `kind`.
 *
 * @throws RangeError if the value has another kind
 */
export function narrowKind<T extends { readonly kind: string }, K extends T["kind"]>(
  value: T,
  kind: K,
): Extract<T, { readonly kind: K }> {
  if (value.kind === kind) return value as Extract<T, { readonly kind: K }>;
  throw new RangeError(`A report has ${value.kind}, expected ${kind}.`);
}
