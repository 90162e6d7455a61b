// The questions of a plan: the form shows one of them, the answer is about all.

import {
  type Asking,
  type ControlName,
  type FieldName,
  fragmentOf,
  type State,
  stateOf,
  sumsOf,
  surveyOf,
  unusable,
} from "./state.js";

/** Several questions, or one. */
export interface Several {
  /** Each with all that is set; of what is {@link SHARED} with the same. */
  readonly all: readonly [State, ...State[]];
  /** Place of the question that the form shows. */
  readonly at: number;
}

/** Settings of the whole plan: people, privacy, and the quantity to find. */
export const SHARED = [
  ...(["trust", "solve", "budget", "people", "people_per_day", "epsilon"] as const),
  ...(["cap", "central_epsilon", "delta", "honest_fraction"] as const),
] as const satisfies readonly ControlName[];

function sharedOf(state: State): Partial<State> {
  return Object.fromEntries(SHARED.map((name) => [name, state[name]]));
}

/** Place of the question that the form shows; sums are the first. */
function placeOf({ all, at }: Several): number {
  return all[0].trust === "shuffler" ? 0 : at;
}

/** The question that the form shows. */
export function shown(several: Several): State {
  return several.all[placeOf(several)] ?? several.all[0];
}

/** Changes what the form shows; other questions take over what they share. */
export function changed(several: Several, state: State): Several {
  const { all, at } = several;
  const [shared, place] = [sharedOf(state), placeOf(several)];
  const own = (old: State, index: number) => (index === place ? state : { ...old, ...shared });
  const [first, ...others] = all;
  return { all: [own(first, 0), ...others.map((old, index) => own(old, index + 1))], at };
}

/** Adds a question, which the form then shows. */
export function added({ all }: Several, further: State): Several {
  const [first, ...others] = all;
  return { all: [first, ...others, { ...further, ...sharedOf(first) }], at: all.length };
}

/** Removes the question that the form shows, unless it is the only one. */
export function removed(several: Several): Several {
  const { all, at } = several;
  const [first, ...others] = all.filter((_, index) => index !== at);
  return first ? { all: [first, ...others], at: Math.min(at, others.length) } : several;
}

/**
 * Names of questions: alone by their kind, and else also by their place. Ratings alone have none,
 * for the form of a task with one question.
 */
export function namesOf(all: Several["all"]): string[] {
  if (all.length > 1) return all.map(({ kind }, index) => `${kind}-${index + 1}`);
  return all.map(({ kind }) => (kind === "ratings" ? "" : kind));
}

/** Input of the planner. */
export function askingOf({ all }: Several): Asking {
  return all[0].trust === "shuffler" ? sumsOf(all[0]) : surveyOf(all, namesOf(all));
}

/** Fields that cannot be used, of the question that is shown or else of another. */
export function firstUnusable(
  several: Several,
): { readonly at: number; readonly wrong: Map<FieldName, string> } | null {
  const { all } = several;
  const asked = all[0].trust === "shuffler" ? all.slice(0, 1) : all;
  const each = asked.map((state, at) => ({ at, wrong: unusable(state, asked.length === 1) }));
  const some = each.filter(({ wrong }) => wrong.size > 0);
  return some.find((own) => own.at === placeOf(several)) ?? some[0] ?? null;
}

/** Parameter of a URL that holds a further question, as a fragment of its own. */
const FURTHER = "question";

/** Fragment of a plan's URL, so that the plan can be shared. */
export function fragmentOfAll({ all }: Several): string {
  const [first, ...others] = all;
  const further = others.map((state) => {
    const own = new URLSearchParams(fragmentOf(state));
    for (const name of SHARED) own.delete(name);
    return [FURTHER, own.toString()];
  });
  const asked = new URLSearchParams(further).toString();
  return asked === "" ? fragmentOf(first) : `${fragmentOf(first)}&${asked}`;
}

/** The questions in a fragment, of which the first is shown. */
export function severalOf(fragment: string): Several {
  const first = stateOf(fragment);
  const given = new URLSearchParams(fragment.replace(/^#/, ""));
  const others = given.getAll(FURTHER).map((own) => ({ ...stateOf(own), ...sharedOf(first) }));
  return { all: [first, ...others], at: 0 };
}
