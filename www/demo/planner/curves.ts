// The surveys behind the plots: the planned survey, with ε or the number of people varied.

import type { Plan, SumPlan, Survey } from "../shared/analysis.js";
import type { PlannerInput } from "./state.js";

/** Answer of the planner: a plan for a survey, or for sums through a shuffler. */
export type AnyPlan = Plan | SumPlan;

/** Survey whose plan yields one point of a curve. */
export interface CurvePointRequest {
  readonly curve: CurveName;
  /** Position on the curve's horizontal axis: ε, or the number of people. */
  readonly axisValue: number;
  readonly variedSurvey: Survey;
}

export type CurveName = "epsilon" | "people";

/** Point of a curve. All values except `axisValue` are null if the survey has no plan. */
export interface CurvePoint {
  readonly axisValue: number;
  readonly error: number | null;
  readonly smallestFrequency: number | null;
  readonly epsilon: number | null;
  readonly centralEpsilon: number | null;
}

/** Range that the horizontal axis of each curve covers at least. */
export const MIN_AXIS_RANGES: Readonly<Record<CurveName, readonly [number, number]>> = {
  epsilon: [0.05, 12],
  people: [100, 1e9],
};
const POINTS_PER_CURVE = 29;

/**
 * Returns numbers with equal ratios between neighbours. They are ordered so that the first few
 * already span the whole range.
 */
export function geometricPoints(
  [from, to]: readonly [number, number],
  points = POINTS_PER_CURVE,
): number[] {
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

/** Returns the range, extended so that it includes `at`. */
export function extendedRange([from, to]: readonly [number, number], at: number): [number, number] {
  return [Math.min(from, at), Math.max(to, at)];
}

/** Returns whether the input asks for a plan of sums through a shuffler, instead of a survey. */
export function isSumInput(input: PlannerInput): input is Extract<PlannerInput, { trust: string }> {
  return "trust" in input;
}

/** Returns whether the answer is a plan of sums through a shuffler, instead of a survey. */
export function isSumPlan(reply: AnyPlan): reply is SumPlan {
  return "messages" in reply;
}

/**
 * Returns the survey without the wanted accuracy. If there are several questions, they get the
 * weights of the plan.
 */
function withoutAccuracyGoals({ wanted, questions, ...rest }: Survey, plan: Plan): Survey {
  const entries = Object.entries(wanted ?? {});
  const others = entries.map(([name, own]) => {
    const { within: _, standard_error: __, smallest_frequency: ___, ...other } = own;
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

/**
 * Returns the questions for all points of both curves, in alternation. Returns none for sums, which
 * have no curves.
 */
export function curvePointRequests(input: PlannerInput, answer: AnyPlan): CurvePointRequest[] {
  if (isSumInput(input) || isSumPlan(answer)) return [];
  const { people, people_per_day, epsilon, central_epsilon, ...rest } = withoutAccuracyGoals(
    input,
    answer,
  );
  const found = answer.epsilon;
  // If ε was the answer, it stays constant while the number of people varies.
  const budget = {
    ...((epsilon ?? central_epsilon) === undefined && { epsilon: found }),
    ...(epsilon !== undefined && { epsilon }),
    ...(central_epsilon !== undefined && { central_epsilon }),
  };
  // The varied ε is the maximum local ε. A bound on the shuffled ε stays.
  const byEpsilon = geometricPoints(extendedRange(MIN_AXIS_RANGES.epsilon, found)).map((at) => ({
    curve: "epsilon" as const,
    axisValue: at,
    variedSurvey: {
      ...rest,
      people: answer.people,
      epsilon: at,
      ...(central_epsilon !== undefined && { central_epsilon }),
    },
  }));
  const byPeople = geometricPoints(extendedRange(MIN_AXIS_RANGES.people, answer.people)).map(
    (at) => {
      const whole = Math.round(at);
      return {
        curve: "people" as const,
        axisValue: whole,
        variedSurvey: { ...rest, people: whole, ...budget },
      };
    },
  );
  return byEpsilon.flatMap((question, index) => [question, byPeople[index] ?? question]);
}

/**
 * Returns the point of a curve for this plan. Its values are null if the plan is null. `shown` is
 * the index of the plan's question whose errors are plotted.
 */
export function curvePointOf(at: number, plan: Plan | null, shown = 0): CurvePoint {
  const own = plan?.questions[shown];
  return {
    axisValue: at,
    error: own?.error ?? null,
    smallestFrequency: own?.smallest_frequency ?? null,
    epsilon: plan?.epsilon ?? null,
    centralEpsilon: plan?.central?.central_epsilon ?? null,
  };
}
