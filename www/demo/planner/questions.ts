// The questions of a plan. The form shows one question at a time. The plan covers all questions.

import {
  type ControlName,
  type FieldName,
  invalidFieldMessages,
  type ParsedQuestionSettings,
  type PlannerInput,
  parseSettings,
  settingsToUrlFragment,
  sumDraftFromSettings,
  surveyFromSettings,
} from "./state.js";

/** Settings of one or several questions, and the question that the form shows. */
export interface Questions {
  /** Settings of each question. All questions have the same {@link SHARED_SETTING_NAMES} settings. */
  readonly all: readonly [ParsedQuestionSettings, ...ParsedQuestionSettings[]];
  /** Index of the question that the form shows. */
  readonly shownQuestionIndex: number;
}

/**
 * Names of the settings that all questions of a plan share: people, privacy, and the quantity to
 * compute.
 */
export const SHARED_SETTING_NAMES = [
  ...(["trust", "solve", "budget", "people", "people_per_day", "epsilon"] as const),
  ...(["cap", "central_epsilon", "delta", "honest_fraction"] as const),
] as const satisfies readonly ControlName[];

function sharedSettings(state: ParsedQuestionSettings): Partial<ParsedQuestionSettings> {
  return Object.fromEntries(SHARED_SETTING_NAMES.map((name) => [name, state[name]]));
}

/** Returns the index of the question that the form shows. Sums always show the first question. */
function formQuestionIndex({ all, shownQuestionIndex: shown }: Questions): number {
  return all[0].trust === "shuffler" ? 0 : shown;
}

/** Returns the settings of the question that the form shows. */
export function shownQuestion(questions: Questions): ParsedQuestionSettings {
  return questions.all[formQuestionIndex(questions)] ?? questions.all[0];
}

/**
 * Replaces the settings of the question that the form shows. The shared settings change in all
 * questions.
 */
export function withShownReplaced(questions: Questions, state: ParsedQuestionSettings): Questions {
  const { all, shownQuestionIndex: shown } = questions;
  const [shared, place] = [sharedSettings(state), formQuestionIndex(questions)];
  const own = (old: ParsedQuestionSettings, index: number) =>
    index === place ? state : { ...old, ...shared };
  const [first, ...others] = all;
  return {
    all: [own(first, 0), ...others.map((old, index) => own(old, index + 1))],
    shownQuestionIndex: shown,
  };
}

/** Adds a question and shows it in the form. */
export function withQuestionAdded({ all }: Questions, further: ParsedQuestionSettings): Questions {
  const [first, ...others] = all;
  return {
    all: [first, ...others, { ...further, ...sharedSettings(first) }],
    shownQuestionIndex: all.length,
  };
}

/** Removes the question that the form shows, unless it is the only one. */
export function withoutShownQuestion(questions: Questions): Questions {
  const { all, shownQuestionIndex: shown } = questions;
  const [first, ...others] = all.filter((_, index) => index !== shown);
  return first
    ? { all: [first, ...others], shownQuestionIndex: Math.min(shown, others.length) }
    : questions;
}

/**
 * Returns the names of the questions. A name is the kind, followed by a number if there are several
 * questions. A single question of ratings has an empty name, as in a task file with one unnamed
 * question.
 */
export function questionNames(all: Questions["all"]): string[] {
  if (all.length > 1) return all.map(({ kind }, index) => `${kind}-${index + 1}`);
  return all.map(({ kind }) => (kind === "ratings" ? "" : kind));
}

/** Returns the input for the planner: a survey of all questions, or the draft of a sum task. */
export function plannerInput({ all }: Questions): PlannerInput {
  return all[0].trust === "shuffler"
    ? sumDraftFromSettings(all[0])
    : surveyFromSettings(all, questionNames(all));
}

/**
 * Returns the invalid fields of one question, and the index `at` of this question. If the shown
 * question is valid, the first invalid one is used. Returns null if all questions are valid.
 */
export function firstInvalidFields(
  questions: Questions,
): { readonly at: number; readonly wrong: Map<FieldName, string> } | null {
  const { all } = questions;
  const asked = all[0].trust === "shuffler" ? all.slice(0, 1) : all;
  const each = asked.map((state, at) => ({
    at,
    wrong: invalidFieldMessages(state, asked.length === 1),
  }));
  const some = each.filter(({ wrong }) => wrong.size > 0);
  return some.find((own) => own.at === formQuestionIndex(questions)) ?? some[0] ?? null;
}

/**
 * Name of a URL parameter that is repeated for every question after the first. Each value is the
 * fragment of one question.
 */
const QUESTION_PARAMETER = "question";

/** Returns the URL fragment that describes the plan, so that people can share the URL. */
export function questionsToUrlFragment({ all }: Questions): string {
  const [first, ...others] = all;
  const further = others.map((state) => {
    const own = new URLSearchParams(settingsToUrlFragment(state));
    for (const name of SHARED_SETTING_NAMES) own.delete(name);
    return [QUESTION_PARAMETER, own.toString()];
  });
  const asked = new URLSearchParams(further).toString();
  return asked === "" ? settingsToUrlFragment(first) : `${settingsToUrlFragment(first)}&${asked}`;
}

/** Parses the questions of a URL fragment. The form shows the first question. */
export function parseQuestions(fragment: string): Questions {
  const first = parseSettings(fragment);
  const given = new URLSearchParams(fragment.replace(/^#/, ""));
  const others = given
    .getAll(QUESTION_PARAMETER)
    .map((own) => ({ ...parseSettings(own), ...sharedSettings(first) }));
  return { all: [first, ...others], shownQuestionIndex: 0 };
}
