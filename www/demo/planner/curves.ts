// The questions behind the plots: the one that is asked, with one number moved.

import type { Answer, Survey, SurveyAnswer } from "../shared/analysis.js";
import type { Asking } from "./state.js";

/** What the planner answers. */
export type Reply = Answer | SurveyAnswer;

/** One question of a curve. */
export interface Probe {
  readonly curve: CurveName;
  /** Where it lies on the curve's axis. */
  readonly at: number;
  readonly question: Asking;
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

/** Whether questions are asked by name. */
export function isSurvey(question: Asking): question is Survey {
  return "questions" in question;
}

/** The local ε of an answer. */
export function epsilonOf(answer: Reply): number {
  return "picked" in answer ? answer.picked.epsilon : answer.epsilon;
}

/**
 * What is asked, without how exact it is to be; of several questions each drawn as often as in
 * the plan.
 */
function unwanted(question: Asking, answer: Reply): Asking {
  if (!isSurvey(question)) {
    const { standard_error: _, smallest: __, ...rest } = question;
    return rest;
  }
  const { wanted, questions, ...rest } = question;
  const entries = Object.entries(wanted ?? {});
  const others = entries.map(([name, { within: _, ...own }]) => [name, own] as const);
  return { ...rest, questions: drawn(questions, answer), wanted: Object.fromEntries(others) };
}

/** Questions with the weights of the plan. */
function drawn(questions: Survey["questions"], answer: Reply): Survey["questions"] {
  if ("picked" in answer || questions.length === 1) return questions;
  const { task } = answer;
  return questions.map((own, index) => ({ ...own, weight: task.questions[index]?.weight ?? 1 }));
}

/** The points of all curves: a few of each before all of any. */
export function probes(question: Asking, answer: Reply): Probe[] {
  const { people, people_per_day, epsilon, central_epsilon, ...rest } = unwanted(question, answer);
  const found = epsilonOf(answer);
  // Where ε was the answer, it is held while people change.
  const budget = {
    ...((epsilon ?? central_epsilon) === undefined && { epsilon: found }),
    ...(epsilon !== undefined && { epsilon }),
    ...(central_epsilon !== undefined && { central_epsilon }),
  };
  // At most so much locally; a bound on the shuffled ε goes on to hold.
  const byEpsilon = spread(reaching(SPANS.epsilon, found)).map((at) => ({
    curve: "epsilon" as const,
    at,
    question: {
      ...rest,
      people: answer.people,
      epsilon: at,
      ...(central_epsilon !== undefined && { central_epsilon }),
    } as Asking,
  }));
  const byPeople = spread(reaching(SPANS.people, answer.people)).map((at) => {
    const whole = Math.round(at);
    return {
      curve: "people" as const,
      at: whole,
      question: { ...rest, people: whole, ...budget } as Asking,
    };
  });
  return byEpsilon.flatMap((probe, index) => [probe, byPeople[index] ?? probe]);
}

/** The point of an answer, or of none; of several questions the error is of the one `shown`. */
export function pointOf(at: number, answer: Reply | null, shown = 0): Point {
  if (answer === null) return { at, error: null, smallest: null, epsilon: null, central: null };
  const central = ("picked" in answer ? answer.picked : answer).central?.central_epsilon ?? null;
  const epsilon = epsilonOf(answer);
  if ("picked" in answer) {
    const { error, smallest } = answer.picked;
    return { at, error, smallest, epsilon, central };
  }
  const own = answer.questions[shown];
  const error = own?.standard_error ?? null;
  return { at, error, smallest: own?.smallest ?? null, epsilon, central };
}
