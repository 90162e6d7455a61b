// The questions behind the plots: the one that is asked, with one number moved.

import type { Answer, Question } from "../shared/analysis.js";

/** One question of a curve. */
export interface Probe {
  readonly curve: CurveName;
  /** Where it lies on the curve's axis. */
  readonly at: number;
  readonly question: Question;
}

export type CurveName = "epsilon" | "people";

/** What is drawn of an answer; null where there is none. */
export interface Point {
  readonly at: number;
  readonly error: number | null;
  readonly smallest: number | null;
  readonly epsilon: number | null;
  readonly central: number | null;
}

/** What each axis spans, at least. */
export const SPANS: Readonly<Record<CurveName, readonly [number, number]>> = {
  epsilon: [0.05, 12],
  people: [100, 1e9],
};
const POINTS = 29;

/** Numbers at even ratios, in an order that shows the whole curve early. */
export function spread([from, to]: readonly [number, number], points = POINTS): number[] {
  const at = (index: number) =>
    index === points - 1 ? to : from * (to / from) ** (index / (points - 1));
  const order = [points - 1];
  let stride = 1;
  while (stride < points) stride *= 2;
  for (; stride >= 1; stride /= 2) {
    for (let index = 0; index < points; index += stride) order.push(index);
  }
  return [...new Set(order)].map(at);
}

/** A span that holds this number, too. */
export function reaching([from, to]: readonly [number, number], at: number): [number, number] {
  return [Math.min(from, at), Math.max(to, at)];
}

/** The points of all curves: a few of each before all of any. */
export function probes(question: Question, answer: Answer): Probe[] {
  const { people, standard_error, smallest, people_per_day, epsilon, central_epsilon, ...rest } =
    question;
  // Where ε was the answer, it is held while people change.
  const budget = {
    ...((epsilon ?? central_epsilon) === undefined && { epsilon: answer.picked.epsilon }),
    ...(epsilon !== undefined && { epsilon }),
    ...(central_epsilon !== undefined && { central_epsilon }),
  };
  // At most so much locally; a bound on the shuffled ε goes on to hold.
  const byEpsilon = spread(reaching(SPANS.epsilon, answer.picked.epsilon)).map((at) => ({
    curve: "epsilon" as const,
    at,
    question: {
      ...rest,
      people: answer.people,
      epsilon: at,
      ...(central_epsilon !== undefined && { central_epsilon }),
    },
  }));
  const byPeople = spread(reaching(SPANS.people, answer.people)).map((at) => {
    const whole = Math.round(at);
    return {
      curve: "people" as const,
      at: whole,
      question: { ...rest, people: whole, ...budget },
    };
  });
  return byEpsilon.flatMap((probe, index) => [probe, byPeople[index] ?? probe]);
}

/** The point of an answer, or of none. */
export function pointOf(at: number, answer: Answer | null): Point {
  const picked = answer?.picked;
  return {
    at,
    error: picked?.error ?? null,
    smallest: picked?.smallest ?? null,
    epsilon: picked?.epsilon ?? null,
    central: picked?.central?.central_epsilon ?? null,
  };
}
