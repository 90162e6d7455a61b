// The form: groups of controls. Only those that matter for the question are shown.

import { byId, el } from "../shared/dom.js";
import { ChoiceControl, ListControl, NumberControl, SelectControl } from "./control.js";
import { FIELDS, LIST_FIELDS } from "./fields.js";
import { QuestionList } from "./list.js";
import { added, changed, namesOf, removed, type Several, shown } from "./several.js";
import {
  CHOICES,
  type ChoiceName,
  type ControlName,
  DEFAULTS,
  type FieldName,
  LISTS,
  type ListName,
  NUMBERS,
  type NumberName,
  relevant,
  type State,
} from "./state.js";

/** Legend of each choice, and the labels of its options. */
const WORDS: {
  readonly [Name in ChoiceName]: readonly [
    legend: string,
    words: Readonly<Record<(typeof CHOICES)[Name][number], string>>,
  ];
} = {
  trust: ["Who has to be trusted?", { nobody: "no one", shuffler: "a shuffler, for sums" }],
  measure: ["Each person has", { numbers: "numbers", vector: "a vector" }],
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
      together: "Several choices at once",
      text: "Any text",
    },
  ],
  across: ["The second answer is", { options: "a choice", number: "a number" }],
  want: ["Estimate wanted", { mean: "mean", histogram: "histogram", quantiles: "quantiles" }],
  spacing: ["Bins are spaced", { even: "evenly", logarithmic: "by factors" }],
  solve: [
    "What do you want to know?",
    { error: "How exact it gets", people: "How many people", epsilon: "How much ε" },
  ],
  budget: ["Privacy is given as", { local: "local ε", central: "shuffled ε" }],
  goal: ["Accuracy is given as", { error: "standard error", smallest: "smallest frequency" }],
  objective: [
    "Estimates wanted",
    {
      mean: "means",
      frequency: "frequencies",
      nonmissing: "non-missing frequencies",
      both: "means and frequencies",
    },
  ],
  level: ["One report protects", { user: "a whole person", event: "single entries" }],
  value: ["Values", { sign: "yes or no", real: "−1 to 1" }],
  domain: ["Items are", { closed: "a fixed list", open: "any strings" }],
};

/** Controls of each group, in order. */
const GROUPS: Readonly<Record<string, readonly ControlName[]>> = {
  trust: ["trust"],
  goals: ["kind", "solve"],
  crowd: ["people", "people_per_day"],
  privacy: ["budget", "epsilon", "central_epsilon", "cap", "delta"],
  accuracy: ["goal", "standard_error", "smallest", "within", "margin"],
  question: [
    ...(["measure", "want", "domain", "items", "options", "across", "columns", "parts"] as const),
    ...(["count", "dimension", "norm", "length", "sparsity", "min", "max"] as const),
    ...(["bins", "spacing", "quantile", "spread", "objective"] as const),
  ],
  finer: ["level", "value", "honest_fraction"],
};

/** Choices with too many options to fit side by side. */
const LISTED: ReadonlySet<ChoiceName> = new Set(["kind", "objective"]);

type Chooser = ChoiceControl | SelectControl;

export class Form {
  readonly #choices = new Map<ChoiceName, Chooser>();
  readonly #numbers = new Map<NumberName, NumberControl>();
  readonly #lists = new Map<ListName, ListControl>();
  readonly #list: QuestionList;
  #several: Several;

  constructor(several: Several, onChange: (several: Several) => void) {
    this.#several = several;
    const change = (part: Partial<State>) => {
      this.#several = changed(this.#several, { ...shown(this.#several), ...part });
      // Sums are planned for the first question, which may not be the one shown so far.
      if ("trust" in part) this.show(this.#several);
      else this.#arrange();
      onChange(this.#several);
    };
    const turn = (to: Several) => {
      this.show(to);
      onChange(to);
    };
    this.#list = new QuestionList({
      pick: (at) => turn({ ...this.#several, at }),
      add: () => turn(added(this.#several, { ...DEFAULTS, kind: "choice" })),
      remove: () => turn(removed(this.#several)),
    });
    for (const name of Object.keys(CHOICES) as ChoiceName[]) {
      const [legend, words] = WORDS[name];
      const Control = LISTED.has(name) ? SelectControl : ChoiceControl;
      const control = new Control(name, legend, words, (value) => change({ [name]: value }));
      this.#choices.set(name, control);
    }
    for (const name of NUMBERS) {
      const control = new NumberControl(name, FIELDS[name], (value) => change({ [name]: value }));
      this.#numbers.set(name, control);
    }
    for (const name of LISTS) {
      const control = new ListControl(name, LIST_FIELDS[name], (value) =>
        change({ [name]: value }),
      );
      this.#lists.set(name, control);
    }
    for (const [group, names] of Object.entries(GROUPS)) {
      const elements = names.map((name) => this.#control(name)?.element ?? el("p"));
      byId(`group-${group}`).append(...elements);
    }
    byId("group-goals").prepend(this.#list.element);
    this.show(several);
  }

  /** Shows questions that were set elsewhere. */
  show(several: Several): void {
    this.#several = several;
    const state = shown(several);
    for (const [name, control] of this.#choices) control.show(state[name]);
    for (const [name, control] of this.#numbers) control.show(state[name]);
    for (const [name, control] of this.#lists) control.show(state[name]);
    this.#arrange();
  }

  /** Shows the errors of fields and clears those of all other fields. */
  blame(wrong: ReadonlyMap<FieldName, string>): void {
    const fields = [...this.#numbers, ...this.#lists];
    for (const [name, control] of fields) control.blame(wrong.get(name) ?? null);
  }

  #control(name: ControlName): Chooser | NumberControl | ListControl | undefined {
    return (
      this.#choices.get(name as ChoiceName) ??
      this.#numbers.get(name as NumberName) ??
      this.#lists.get(name as ListName)
    );
  }

  #arrange(): void {
    const { all, at } = this.#several;
    const sums = shown(this.#several).trust === "shuffler";
    this.#list.show(namesOf(all), at);
    this.#list.element.hidden = sums;
    byId("trust-help").hidden = !sums;
    const asked = relevant(shown(this.#several), all.length === 1);
    for (const [group, names] of Object.entries(GROUPS)) {
      for (const name of names) {
        const control = this.#control(name);
        if (control) control.element.hidden = !asked.has(name);
      }
      byId(`group-${group}`).hidden = !names.some((name) => asked.has(name));
    }
  }
}
