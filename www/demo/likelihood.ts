// How likely a report is under given answers: what an observer would compute.
// Exact for the probabilities that the task asks for; the randomizer's own
// thresholds differ from these by less than 2⁻⁶⁰.

import type { NamedTask } from "./collector.js";
import { bucketOf, type Hash } from "./hash.js";

/** Answers by item: 1 for yes, -1 for no; items not set are absent. */
export type Answers = Readonly<Record<string, 1 | -1>>;

/** An element of an input: a signed item, or padding. */
export interface TaskElement {
  readonly element: number;
  /** Null for padding. */
  readonly item: string | null;
  readonly sign: 1 | -1;
}

/** How a task hashes. */
export function hashOf(task: NamedTask): Hash {
  const { hashing, buckets } = task.mechanism;
  return { hashing, buckets, elements: 2 * task.items.length + task.sparsity };
}

/** The exactly s elements that answers become. */
export function elementsOf(task: NamedTask, answers: Answers): TaskElement[] {
  const elements: TaskElement[] = [];
  task.items.forEach((item, index) => {
    const sign = answers[item];
    if (sign) elements.push({ element: 2 * index + (sign < 0 ? 1 : 0), item, sign });
  });
  for (let index = 0; elements.length < task.sparsity; index++) {
    elements.push({ element: 2 * task.items.length + index, item: null, sign: 1 });
  }
  return elements;
}

/** How many of the elements fall into each bucket. */
export function bucketCounts(
  task: NamedTask,
  elements: readonly TaskElement[],
  seed: bigint,
): number[] {
  const hash = hashOf(task);
  const counts = new Array<number>(hash.buckets).fill(0);
  for (const { element } of elements) {
    const bucket = bucketOf(hash, seed, element);
    counts[bucket] = (counts[bucket] ?? 0) + 1;
  }
  return counts;
}

/** The probability that answers lead to `bucket`, given the seed. */
export function probability(
  task: NamedTask,
  answers: Answers,
  seed: bigint,
  bucket: number,
): number {
  return probabilities(task, bucketCounts(task, elementsOf(task, answers), seed))[bucket] ?? 0;
}

/** The probability of each bucket for an input with these bucket counts. */
export function probabilities(task: NamedTask, counts: readonly number[]): number[] {
  const { rule, buckets: t } = task.mechanism;
  const e = Math.exp(task.epsilon);
  if (rule === "occupied") {
    const occupied = counts.filter((count) => count > 0).length;
    const total = task.sparsity * e + t - task.sparsity;
    const outside = (total - occupied * e) / ((t - occupied) * total);
    return counts.map((count) => (count > 0 ? e / total : outside));
  }
  const c = favouredOf(task);
  const total = c * e + t - c;
  return favouredChances(counts, c).map((chance) => (1 + (e - 1) * chance) / total);
}

/** How many buckets an input favours, at most. */
export function favouredOf({ mechanism, sparsity }: NamedTask): number {
  return mechanism.favoured ?? sparsity;
}

/**
 * The probability that each bucket is among the c fullest, ties broken
 * uniformly at random.
 */
export function favouredChances(counts: readonly number[], c: number): number[] {
  const sorted = [...counts].sort((a, b) => b - a);
  const last = sorted[c - 1] ?? 0;
  const fuller = counts.filter((count) => count > last).length;
  const tied = counts.filter((count) => count === last).length;
  return counts.map((count) => (count > last ? 1 : count === last ? (c - fuller) / tied : 0));
}

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
  task: NamedTask,
  answers: Answers,
  report: { readonly seed: bigint; readonly bucket: number },
  item: string,
  claim: 1 | -1 | 0,
  before: number,
): Belief {
  const likelihood = (value: 1 | -1 | 0): number => {
    const { [item]: _, ...others } = answers;
    const supposed: Answers = value === 0 ? others : { ...others, [item]: value };
    return probability(task, supposed, report.seed, report.bucket);
  };
  const all: readonly (1 | -1 | 0)[] = [1, -1, 0];
  const contrary = all.filter((value) => value !== claim);
  const ratio =
    (likelihood(claim) * contrary.length) /
    contrary.map(likelihood).reduce((sum, value) => sum + value, 0);
  const bound = Math.exp(task.epsilon);
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
