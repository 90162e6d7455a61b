// The questions behind the plots: the planned survey with one number varied.

import type { Plan, SumPlan, Survey } from "../shared/analysis.js";
import type { PlannerInput } from "./state.js";

/** Answer of the planner. */
export type AnyPlan = Plan | SumPlan;

/** Question that yields one point of a curve. */
export interface CurveQuestion {
  readonly curve: CurveName;
  /** Position on the curve's axis: ε, or the number of people. */
  readonly at: number;
  readonly question: Survey;
}

export type CurveName = "epsilon" | "people";

/** Point of a curve. Its values are null if there is no plan. */
export interface Point {
  readonly at: number;
  readonly error: number | null;
  readonly smallest: number | null;
  readonly epsilon: number | null;
  readonly central: number | null;
}

/** Minimum range of each axis. */
export const SPANS: Readonly<Record<CurveName, readonly [number, number]>> = {
  epsilon: [0.05, 12],
  people: [100, 1e9],
};
const POINTS = 29;

/** Returns numbers at equal ratios, ordered so that the first ones span the whole curve. */
export function geometricPoints([from, to]: readonly [number, number], points = POINTS): number[] {
  const at = (index: number) =>
    index === points - 1 ? to : from * (to / from) ** (index / (points - 1));
  // Each pass halves the stride. The set below drops the indices of earlier passes.
  const order = [points - 1];
  let stride = 1;
  while (stride < points) stride *= 2;
  for (; stride >= 1; stride /= 2) {
    for (let index = 0; index < points; index += stride) order.push(index);
  }
  return [...new Set(order)].map(at);
}

/** Extends a range to include `at`. */
export function extended([from, to]: readonly [number, number], at: number): [number, number] {
  return [Math.min(from, at), Math.max(to, at)];
}

/** Returns whether sums through a shuffler are planned, instead of a survey. */
export function isSumInput(input: PlannerInput): input is Extract<PlannerInput, { trust: string }> {
  return "trust" in input;
}

/** Returns whether a plan is one of sums, instead of a survey. */
export function isSumPlan(reply: AnyPlan): reply is SumPlan {
  return "messages" in reply;
}

/** Returns the survey without the wanted accuracy. Several questions have the plan's weights. */
function withoutGoals({ wanted, questions, ...rest }: Survey, plan: Plan): Survey {
  const entries = Object.entries(wanted ?? {});
  const others = entries.map(([name, own]) => {
    const { within: _, standard_error: __, smallest: ___, ...other } = own;
    return [name, other] as const;
  });
  const weights = plan.task.questions ?? [];
  const drawn = questions.map((own, index) => ({ ...own, weight: weights[index]?.weight ?? 1 }));
  return {
    ...rest,
    questions: questions.length === 1 ? questions : drawn,
    wanted: Object.fromEntries(others),
  };
}

/** Returns the questions of all curves, in alternation. Sums have no curves. */
export function curveQuestions(input: PlannerInput, answer: AnyPlan): CurveQuestion[] {
  if (isSumInput(input) || isSumPlan(answer)) return [];
  const { people, people_per_day, epsilon, central_epsilon, ...rest } = withoutGoals(input, answer);
  const found = answer.epsilon;
  // If ε was the answer, it stays constant while the number of people varies.
  const budget = {
    ...((epsilon ?? central_epsilon) === undefined && { epsilon: found }),
    ...(epsilon !== undefined && { epsilon }),
    ...(central_epsilon !== undefined && { central_epsilon }),
  };
  // The varied ε is the maximum local ε. A bound on the shuffled ε stays.
  const byEpsilon = geometricPoints(extended(SPANS.epsilon, found)).map((at) => ({
    curve: "epsilon" as const,
    at,
    question: {
      ...rest,
      people: answer.people,
      epsilon: at,
      ...(central_epsilon !== undefined && { central_epsilon }),
    },
  }));
  const byPeople = geometricPoints(extended(SPANS.people, answer.people)).map((at) => {
    const whole = Math.round(at);
    return {
      curve: "people" as const,
      at: whole,
      question: { ...rest, people: whole, ...budget },
    };
  });
  return byEpsilon.flatMap((question, index) => [question, byPeople[index] ?? question]);
}

/** Returns the point of a plan, or an empty one for null. `shown` is the index of its question. */
export function pointOf(at: number, plan: Plan | null, shown = 0): Point {
  const own = plan?.questions[shown];
  return {
    at,
    error: own?.error ?? null,
    smallest: own?.smallest ?? null,
    epsilon: plan?.epsilon ?? null,
    central: plan?.central?.central_epsilon ?? null,
  };
}
