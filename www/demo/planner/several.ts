// The questions of a plan: the form shows one of them, the answer is about all.

import {
  type Asking,
  type ControlName,
  type FieldName,
  fragmentOf,
  questionOf,
  type State,
  stateOf,
  surveyOf,
  unusable,
} from "./state.js";

/** Several questions, or one. */
export interface Several {
  /** Each with all that is set; of what is {@link SHARED} with the same. */
  readonly all: readonly [State, ...State[]];
  /** Which of them the form shows. */
  readonly at: number;
}

/** What is known of people and privacy, and what is to be found: of the plan, not of a question. */
export const SHARED = [
  ...(["solve", "budget", "people", "people_per_day", "epsilon", "cap"] as const),
  ...(["central_epsilon", "delta", "honest_fraction"] as const),
] as const satisfies readonly ControlName[];

function sharedOf(state: State): Partial<State> {
  return Object.fromEntries(SHARED.map((name) => [name, state[name]]));
}

/** The question that the form shows. */
export function shown({ all, at }: Several): State {
  return all[at] ?? all[0];
}

/** After what the form shows has changed: of other questions, what they share. */
export function changed({ all, at }: Several, state: State): Several {
  const shared = sharedOf(state);
  const own = (old: State, index: number) => (index === at ? state : { ...old, ...shared });
  const [first, ...others] = all;
  return { all: [own(first, 0), ...others.map((old, index) => own(old, index + 1))], at };
}

/** With a further question, which the form then shows. */
export function added({ all }: Several, further: State): Several {
  const [first, ...others] = all;
  return { all: [first, ...others, { ...further, ...sharedOf(first) }], at: all.length };
}

/** Without the question that the form shows, unless that is the only one. */
export function removed(several: Several): Several {
  const { all, at } = several;
  const [first, ...others] = all.filter((_, index) => index !== at);
  return first ? { all: [first, ...others], at: Math.min(at, others.length) } : several;
}

/** What questions are called: alone by their kind, and else also by their place. */
export function namesOf(all: Several["all"]): string[] {
  return all.map(({ kind }, index) => (all.length === 1 ? kind : `${kind}-${index + 1}`));
}

/** All that is asked. */
export function askingOf({ all }: Several): Asking {
  return all.length === 1 ? questionOf(all[0]) : surveyOf(all, namesOf(all));
}

/** What cannot be asked of which question; of the one that is shown before all others. */
export function firstUnusable({
  all,
  at,
}: Several): { readonly at: number; readonly wrong: Map<FieldName, string> } | null {
  const each = all.map((state, at) => ({ at, wrong: unusable(state, all.length === 1) }));
  const some = each.filter(({ wrong }) => wrong.size > 0);
  return some.find((own) => own.at === at) ?? some[0] ?? null;
}

/** In a URL each further question is a fragment of its own. */
const FURTHER = "question";

/** What a plan's URL ends in, so that it can be shared. */
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
