// Planner of the command: the analysis crate, compiled to WebAssembly.

import { readFileSync } from "node:fs";
import { DEFAULT_MAX_EPSILON } from "../client/options.js";
import { initSync, plan } from "./glue/planner.js";
import { InputError } from "./input.js";
import type { Asked } from "./kinds.js";

/** Plan for a survey, with the texts of the files that state its task. */
interface PlannedTask {
  readonly epsilon: number;
  readonly people: number;
  /** Largest half-width of a 95 % interval, in the planner's unit. */
  readonly half_width: number;
  /** ε of one report and of a year's reports, in words. */
  readonly spending: string;
  readonly task_file: string;
  readonly module: string;
}

/** Plan with its error in the unit of the question. */
export interface Planned extends PlannedTask {
  readonly error: number;
  /** Error at ε = 1, if the chosen ε is larger. */
  readonly errorAtOne: number | undefined;
}

/** Reason why the planner has no plan. */
interface Refusal {
  readonly code: string;
  readonly message: string;
}

/** Smallest ε that the command chooses. Less would hardly protect more: it means 52.5 % sure. */
const MIN_EPSILON = 0.1;

const isRefused = Symbol("refused");
type Answer = PlannedTask | (Refusal & { readonly [isRefused]: true });

let isStarted = false;

function planOrRefusal(survey: object): Answer {
  if (!isStarted) {
    initSync({ module: readFileSync(new URL("planner.wasm", import.meta.url)) });
    isStarted = true;
  }
  try {
    return JSON.parse(plan(JSON.stringify(survey)));
  } catch (refusal) {
    if (typeof refusal !== "string") {
      throw refusal;
    }
    return { ...JSON.parse(refusal), [isRefused]: true };
  }
}

/** Returns the plan for a survey. Throws an {@link InputError} if there is none. */
function planOf(survey: object): PlannedTask {
  const answer = planOrRefusal(survey);
  if (isRefused in answer) {
    throw new InputError(answer.message);
  }
  return answer;
}

/** Checks names, ranges and a number of people before the error is known. */
export function checkTask(id: string, { questions }: Asked, people = 1000): void {
  planOf({ id, questions, people, epsilon: 1 });
}

/** Formats a number with at most three significant digits. */
const threeDigits = (value: number) => Number(value.toPrecision(3)).toLocaleString("en");

/** Formats an error with its unit. */
export const plusMinus = (error: number, { unit }: Asked) =>
  `±${threeDigits(error)}${unit === "" ? "" : ` ${unit}`}`;

export const visitors = (people: number) =>
  `${people.toLocaleString("en")} ${people === 1 ? "visitor" : "visitors"}`;

/**
 * Chooses the smallest ε that reaches an error with a number of people. Throws an {@link
 * InputError} if the clients of pages would refuse that ε by default.
 */
export function chooseEpsilon(id: string, asked: Asked, people: number, error: number): Planned {
  const survey = { id, questions: asked.questions };
  const within = error / asked.unitsInOne;
  const wanted = Object.fromEntries(asked.questions.map(({ name }) => [name, { within }]));
  const inUnit = (plan: PlannedTask) => plan.half_width * asked.unitsInOne;
  const planAt = (epsilon: number) => planOf({ ...survey, people, epsilon });
  const answer = planOrRefusal({ ...survey, people, wanted });
  if (isRefused in answer && answer.code !== "out-of-reach") {
    throw new InputError(answer.message);
  }
  if (!(isRefused in answer) && answer.epsilon <= DEFAULT_MAX_EPSILON) {
    const plan = answer.epsilon < MIN_EPSILON ? planAt(MIN_EPSILON) : answer;
    const errorAtOne = plan.epsilon > 1 ? inUnit(planAt(1)) : undefined;
    return { ...plan, error: inUnit(plan), errorAtOne };
  }
  const limit = DEFAULT_MAX_EPSILON;
  const best = inUnit(planAt(limit));
  const reached = best < asked.errorLimit ? `they reach ${plusMinus(best, asked)}` : "all is noise";
  const enough = planOrRefusal({ ...survey, wanted, epsilon: limit });
  const needed =
    isRefused in enough ? "" : ` ${plusMinus(error, asked)} needs ${visitors(enough.people)}.`;
  throw new InputError(
    `${plusMinus(error, asked)} is out of reach for ${visitors(people)}: it needs more than ` +
      `ε = ${limit}, the most that a page spends by default. At ε = ${limit} ${reached}.${needed}`,
  );
}
