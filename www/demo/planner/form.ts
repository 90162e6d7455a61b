// The form: groups of controls. It shows only the controls that matter for the question.

import { byId, el } from "../shared/dom.js";
import { DropDownControl, NumberControl, NumberListControl, RadioControl } from "./control.js";
import { FIELDS, LIST_FIELDS } from "./fields.js";
import { QuestionList } from "./question-list.js";
import {
  type Questions,
  questionNames,
  shownQuestion,
  withoutShownQuestion,
  withQuestionAdded,
  withShownReplaced,
} from "./questions.js";
import {
  CHOICE_OPTIONS,
  type ChoiceControlName,
  type ControlName,
  DEFAULTS,
  type FieldName,
  LIST_FIELD_NAMES,
  type ListFieldName,
  NUMBER_FIELD_NAMES,
  type NumberFieldName,
  type ParsedQuestionSettings,
  visibleControls,
} from "./state.js";

/** Legend of each choice, and labels of the options to choose from. */
const CHOICE_LABELS: {
  readonly [Name in ChoiceControlName]: readonly [
    legend: string,
    words: Readonly<Record<(typeof CHOICE_OPTIONS)[Name][number], string>>,
  ];
} = {
  trust: ["Who has to be trusted?", { nobody: "no one", shuffler: "a shuffler (only totals)" }],
  measure: [
    "Data of each person",
    {
      numbers: "Numbers, for their means",
      vector: "A vector",
      flags: "Yes or no, once or several times",
      choice: "One of several options",
      set: "Any of several options",
      number: "A number, for its distribution",
    },
  ],
  kind: [
    "Kind of answer",
    {
      ratings: "Ratings of items",
      flag: "Yes or no",
      choice: "One of several options",
      set: "Any of several options",
      number: "A number",
      numbers: "Several numbers",
      cross: "Two answers combined",
      together: "Several choices combined",
      text: "Any text",
    },
  ],
  across: ["Kind of the second answer", { options: "a choice", number: "a number" }],
  want: ["Wanted estimate", { mean: "mean", histogram: "histogram", quantiles: "quantiles" }],
  spacing: ["Spacing of the bins", { even: "equal widths", logarithmic: "equal factors" }],
  solve: [
    "What should the planner compute?",
    { error: "accuracy", people: "number of people", epsilon: "local ε" },
  ],
  budget: ["Which privacy limit do you set?", { local: "local ε", central: "shuffled ε" }],
  goal: [
    "Which accuracy measure do you set?",
    { error: "standard error", smallest_frequency: "smallest frequency" },
  ],
  objective: [
    "Wanted estimates",
    {
      mean: "means",
      frequency: "frequencies",
      nonmissing: "shares of people with a rating",
      both: "means and frequencies",
    },
  ],
  level: ["What one report protects", { user: "a whole person", event: "single entries" }],
  value: ["Values of ratings", { sign: "yes or no", real: "−1 to 1" }],
  domain: ["Possible items", { closed: "a fixed list", open: "any strings" }],
};

/** Names of the controls in each group, in order. */
const CONTROL_GROUPS: Readonly<Record<string, readonly ControlName[]>> = {
  trust: ["trust"],
  goals: ["kind", "solve"],
  crowd: ["people", "people_per_day"],
  privacy: ["budget", "epsilon", "central_epsilon", "cap", "delta"],
  accuracy: ["goal", "standard_error", "smallest_frequency", "within", "margin"],
  question: [
    ...(["measure", "want", "domain", "items", "options", "across", "columns", "parts"] as const),
    ...(["count", "dimension", "norm", "length", "sparsity", "min", "max"] as const),
    ...(["bins", "spacing", "quantile", "spread", "objective"] as const),
  ],
  finer: ["level", "value", "honest_fraction"],
};

/** Names of the choices with too many options to fit side by side. */
const DROP_DOWNS: ReadonlySet<ChoiceControlName> = new Set(["kind", "measure", "objective"]);

type ChoiceControl = RadioControl | DropDownControl;

export class PlannerForm {
  readonly #choices = new Map<ChoiceControlName, ChoiceControl>();
  readonly #numbers = new Map<NumberFieldName, NumberControl>();
  readonly #lists = new Map<ListFieldName, NumberListControl>();
  readonly #questionList: QuestionList;
  #editedQuestions: Questions;

  constructor(questions: Questions, onChange: (questions: Questions) => void) {
    this.#editedQuestions = questions;
    const change = (part: Partial<ParsedQuestionSettings>) => {
      this.#editedQuestions = withShownReplaced(this.#editedQuestions, {
        ...shownQuestion(this.#editedQuestions),
        ...part,
      });
      // Sums are planned for the first question, which may not be the one shown so far.
      if ("trust" in part) this.show(this.#editedQuestions);
      else this.#showRelevant();
      onChange(this.#editedQuestions);
    };
    const turn = (to: Questions) => {
      this.show(to);
      onChange(to);
    };
    this.#questionList = new QuestionList({
      pick: (at) => turn({ ...this.#editedQuestions, shownQuestionIndex: at }),
      add: () => turn(withQuestionAdded(this.#editedQuestions, { ...DEFAULTS, kind: "choice" })),
      remove: () => turn(withoutShownQuestion(this.#editedQuestions)),
    });
    for (const name of Object.keys(CHOICE_OPTIONS) as ChoiceControlName[]) {
      const [legend, words] = CHOICE_LABELS[name];
      const Control = DROP_DOWNS.has(name) ? DropDownControl : RadioControl;
      const control = new Control(name, legend, words, (value) => change({ [name]: value }));
      this.#choices.set(name, control);
    }
    for (const name of NUMBER_FIELD_NAMES) {
      const control = new NumberControl(name, FIELDS[name], (value) => change({ [name]: value }));
      this.#numbers.set(name, control);
    }
    for (const name of LIST_FIELD_NAMES) {
      const control = new NumberListControl(name, LIST_FIELDS[name], (value) =>
        change({ [name]: value }),
      );
      this.#lists.set(name, control);
    }
    for (const [group, names] of Object.entries(CONTROL_GROUPS)) {
      const elements = names.map((name) => this.#control(name)?.element ?? el("p"));
      byId(`group-${group}`).append(...elements);
    }
    byId("group-goals").prepend(this.#questionList.element);
    this.show(questions);
  }

  /** Shows questions that were set outside of the form. */
  show(questions: Questions): void {
    this.#editedQuestions = questions;
    const state = shownQuestion(questions);
    for (const [name, control] of this.#choices) control.showValue(state[name]);
    for (const [name, control] of this.#numbers) control.showValue(state[name]);
    for (const [name, control] of this.#lists) control.showValue(state[name]);
    this.#showRelevant();
  }

  /** Shows these error messages below their fields, and clears all other error messages. */
  showErrors(wrong: ReadonlyMap<FieldName, string>): void {
    const fields = [...this.#numbers, ...this.#lists];
    for (const [name, control] of fields) control.showError(wrong.get(name) ?? null);
  }

  #control(name: ControlName): ChoiceControl | NumberControl | NumberListControl | undefined {
    return (
      this.#choices.get(name as ChoiceControlName) ??
      this.#numbers.get(name as NumberFieldName) ??
      this.#lists.get(name as ListFieldName)
    );
  }

  #showRelevant(): void {
    const { all, shownQuestionIndex: shown } = this.#editedQuestions;
    const sums = shownQuestion(this.#editedQuestions).trust === "shuffler";
    this.#questionList.show(questionNames(all), shown);
    this.#questionList.element.hidden = sums;
    byId("trust-help").hidden = !sums;
    const asked = visibleControls(shownQuestion(this.#editedQuestions), all.length === 1);
    for (const [group, names] of Object.entries(CONTROL_GROUPS)) {
      for (const name of names) {
        const control = this.#control(name);
        if (control) control.element.hidden = !asked.has(name);
      }
      byId(`group-${group}`).hidden = !names.some((name) => asked.has(name));
    }
  }
}
