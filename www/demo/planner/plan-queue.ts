// The order of the planner's work: first the newest question, then the points of its curves. A
// newer question ends the work on an older one.

import { isRefusal, type Refusal } from "../shared/analysis.js";
import {
  type AnyPlan,
  type CurveName,
  type CurvePoint,
  curvePointOf,
  curvePointRequests,
  isSumPlan,
} from "./curves.js";
import type { PlannerInput } from "./state.js";

/** Function that makes a plan. It throws a {@link Refusal} if there is no plan. */
export type PlanFunction = (input: PlannerInput) => AnyPlan;

/** Question for the planner, with an id that the caller chooses. */
export interface PlanRequest {
  readonly id: number;
  readonly plannerInput: PlannerInput;
  /** Index of the question whose errors are plotted, by default 0. */
  readonly plottedQuestionIndex?: number;
}

/** Message about the progress of a question. `id` is the id of its request. */
export type PlanProgressMessage = { readonly id: number } & (
  | { readonly kind: "begun" }
  | {
      readonly kind: "answer";
      readonly question: PlannerInput;
      readonly shown: number;
      readonly answer: AnyPlan;
    }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  | { readonly kind: "point"; readonly curve: CurveName; readonly point: CurvePoint }
  | { readonly kind: "done" }
);

/** Maximum number of cached answers, which is enough for a few moves of every slider. */
const MAX_CACHED = 2000;

/**
 * Adds a cache to the planning function. The cache helps because the curves of two similar
 * questions share most points.
 */
export function withPlanCache(plan: PlanFunction): PlanFunction {
  const known = new Map<string, AnyPlan | Refusal>();
  return (question) => {
    const key = JSON.stringify(question);
    let found = known.get(key);
    if (found === undefined) {
      try {
        found = plan(question);
      } catch (thrown) {
        if (!isRefusal(thrown)) throw thrown;
        found = thrown;
      }
      // A map lists its keys in the order of insertion.
      const [oldest] = known.keys();
      if (known.size >= MAX_CACHED && oldest !== undefined) known.delete(oldest);
      known.set(key, found);
    }
    if (isRefusal(found)) throw found;
    return found;
  };
}

/** Queue that answers the newest question and drops older ones. */
export class LatestRequestPlanner {
  readonly #plan: PlanFunction;
  readonly #post: (message: PlanProgressMessage) => void;
  readonly #pause: () => Promise<void>;
  #newest: PlanRequest | null = null;
  #workPromise: Promise<void> | null = null;

  /**
   * `post` receives the messages. `pause` resolves after newer questions had a chance to arrive.
   */
  constructor(
    plan: PlanFunction,
    post: (message: PlanProgressMessage) => void,
    pause: () => Promise<void>,
  ) {
    this.#plan = withPlanCache(plan);
    this.#post = post;
    this.#pause = pause;
  }

  /**
   * Puts a question to the planner and drops the question in progress. Resolves when no question is
   * left.
   */
  replaceRequest(asked: PlanRequest): Promise<void> {
    this.#newest = asked;
    this.#workPromise ??= this.#answerNewestUntilIdle().finally(() => {
      this.#workPromise = null;
    });
    return this.#workPromise;
  }

  async #answerNewestUntilIdle(): Promise<void> {
    while (this.#newest) {
      const asked = this.#newest;
      this.#newest = null;
      await this.#answer(asked);
    }
  }

  async #answer({
    id,
    plannerInput: question,
    plottedQuestionIndex: shown = 0,
  }: PlanRequest): Promise<void> {
    this.#post({ id, kind: "begun" });
    let answer: AnyPlan;
    try {
      answer = this.#plan(question);
    } catch (thrown) {
      if (!isRefusal(thrown)) throw thrown;
      this.#post({ id, kind: "refused", refusal: thrown });
      return;
    }
    this.#post({ id, kind: "answer", question, shown, answer });
    for (const { curve, axisValue: at, variedSurvey: moved } of curvePointRequests(
      question,
      answer,
    )) {
      await this.#pause();
      if (this.#newest) return;
      const found = this.#planUnlessRefused(moved);
      const point = curvePointOf(at, found && isSumPlan(found) ? null : found, shown);
      this.#post({ id, kind: "point", curve, point });
    }
    this.#post({ id, kind: "done" });
  }

  /**
   * Returns the plan for one point of a curve. Returns null if there is no plan, which leaves a
   * gap.
   */
  #planUnlessRefused(question: PlannerInput): AnyPlan | null {
    try {
      return this.#plan(question);
    } catch (thrown) {
      if (isRefusal(thrown)) return null;
      throw thrown;
    }
  }
}
