// What an observer concludes from a report by Bayes' rule. The likelihoods are
// exact for the ε that the task asks for; the randomizer's own thresholds differ
// from these by less than 2⁻⁶⁰.

import type { Answers, Explained, Report } from "./mechanism/kind.js";

/** What an observer believes before and after a report. */
export interface Belief {
  /** Likelihood of the report under the claim, over that under its contrary. */
  readonly ratio: number;
  readonly after: number;
  /** The least and most that any report can lead to. */
  readonly least: number;
  readonly most: number;
}

/**
 * The belief in "`item` was answered with `claim`" (0: not set) of an observer
 * who knows all other answers, thought the claim true with probability
 * `before`, and held the two contrary answers for equally likely.
 */
export function belief(
  mechanism: Pick<Explained, "probability">,
  epsilon: number,
  answers: Answers,
  report: Report,
  item: string,
  claim: 1 | -1 | 0,
  before: number,
): Belief {
  const likelihood = (value: 1 | -1 | 0): number => {
    const { [item]: _, ...others } = answers;
    const supposed: Answers = value === 0 ? others : { ...others, [item]: value };
    return mechanism.probability(supposed, report);
  };
  const all: readonly (1 | -1 | 0)[] = [1, -1, 0];
  const contrary = all.filter((value) => value !== claim);
  const ratio =
    (likelihood(claim) * contrary.length) /
    contrary.map(likelihood).reduce((sum, value) => sum + value, 0);
  const bound = Math.exp(epsilon);
  return {
    ratio,
    after: posterior(before, ratio),
    least: posterior(before, 1 / bound),
    most: posterior(before, bound),
  };
}

/** Bayes' rule for a likelihood ratio. */
export function posterior(before: number, ratio: number): number {
  return (before * ratio) / (before * ratio + 1 - before);
}
