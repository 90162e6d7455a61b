// The order of the planner's work: the newest question first, then its curves point by point. A
// newer question ends the work on an older one.

import { isRefusal, type Refusal } from "../shared/analysis.js";
import { type CurveName, isSumPlan, type Point, pointOf, probes, type Reply } from "./curves.js";
import type { Asking } from "./state.js";

/** Function that makes a plan. Throws a {@link Refusal}. */
export type Planning = (asking: Asking) => Reply;

/** Question with a number that the caller chooses. */
export interface Asked {
  readonly id: number;
  readonly question: Asking;
  /** Index of the question whose errors are plotted, by default 0. */
  readonly shown?: number;
}

/** Message about a question. */
export type Told = { readonly id: number } & (
  | { readonly kind: "begun" }
  | {
      readonly kind: "answer";
      readonly question: Asking;
      readonly shown: number;
      readonly answer: Reply;
    }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  | { readonly kind: "point"; readonly curve: CurveName; readonly point: Point }
  | { readonly kind: "done" }
);

/** Maximum number of cached answers. It is enough for some moves of every slider. */
const KEPT = 2000;

/** Returns the planner with a cache. The curves of two questions share most points. */
export function remembering(plan: Planning): Planning {
  const known = new Map<string, Reply | Refusal>();
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
      if (known.size >= KEPT && oldest !== undefined) known.delete(oldest);
      known.set(key, found);
    }
    if (isRefusal(found)) throw found;
    return found;
  };
}

/** Queue that answers the newest question and drops older ones. */
export class Desk {
  readonly #plan: Planning;
  readonly #tell: (told: Told) => void;
  readonly #pause: () => Promise<void>;
  #newest: Asked | null = null;
  #working: Promise<void> | null = null;

  /** `tell` receives messages. `pause` lets newer questions arrive. */
  constructor(plan: Planning, tell: (told: Told) => void, pause: () => Promise<void>) {
    this.#plan = remembering(plan);
    this.#tell = tell;
    this.#pause = pause;
  }

  /** Asks a question and drops the one in progress. Resolves when no question is left. */
  ask(asked: Asked): Promise<void> {
    this.#newest = asked;
    this.#working ??= this.#work().finally(() => {
      this.#working = null;
    });
    return this.#working;
  }

  async #work(): Promise<void> {
    while (this.#newest) {
      const asked = this.#newest;
      this.#newest = null;
      await this.#answer(asked);
    }
  }

  async #answer({ id, question, shown = 0 }: Asked): Promise<void> {
    this.#tell({ id, kind: "begun" });
    let answer: Reply;
    try {
      answer = this.#plan(question);
    } catch (thrown) {
      if (!isRefusal(thrown)) throw thrown;
      this.#tell({ id, kind: "refused", refusal: thrown });
      return;
    }
    this.#tell({ id, kind: "answer", question, shown, answer });
    for (const { curve, at, question: moved } of probes(question, answer)) {
      await this.#pause();
      if (this.#newest) return;
      const found = this.#possible(moved);
      const point = pointOf(at, found && isSumPlan(found) ? null : found, shown);
      this.#tell({ id, kind: "point", curve, point });
    }
    this.#tell({ id, kind: "done" });
  }

  /** Returns the plan, or null for a gap in the curve. */
  #possible(question: Asking): Reply | null {
    try {
      return this.#plan(question);
    } catch (thrown) {
      if (isRefusal(thrown)) return null;
      throw thrown;
    }
  }
}
