/**
 * A question of each kind, a crowd that answers it, and the true value of every displayed number.
 */

export const PEOPLE = 12_000;

/** Answer of one person. */
export type Answer = Readonly<Record<string, unknown>> | string | number | boolean;

/** A question with its crowd. */
export interface Case {
  readonly id: string;
  readonly question: Readonly<Record<string, unknown>>;
  /** Returns the answer of a person; people are numbered from 0. */
  readonly answer: (person: number) => Answer;
  /** Returns the true value for a line of CSV; several if each is correct. */
  readonly truth: (item: string, estimand: string) => readonly number[];
  /** Returns the unit of an estimate on the page. */
  readonly unit: (item: string, estimand: string) => string;
  /**
   * Least and greatest ratio of the stated standard error of rare answers to the one that `task
   * check` predicts.
   */
  readonly stated?: readonly [least: number, most: number];
}

const everybody = Array.from({ length: PEOPLE }, (_, person) => person);
const share = (has: (person: number) => boolean) => [everybody.filter(has).length / PEOPLE];
const mean = (of: (person: number) => number, among = everybody) => [
  among.reduce((sum, person) => sum + of(person), 0) / among.length,
];
/** Returns evenly spread values from 0 to 1, in another order for each step. */
const part = (person: number, step: number) => (((person * step) % PEOPLE) + 0.5) / PEOPLE;
const percent = () => "%";

/** Returns shares and quantiles of a number with a distribution question. */
function distributed(of: (person: number) => number, unit: string) {
  const sorted = everybody.map(of).sort((a, b) => a - b);
  return {
    truth(item: string, estimand: string) {
      if (estimand === "quantile") {
        const at = Number(item) * PEOPLE;
        return [sorted[Math.floor(at) - 1] ?? Number.NaN, sorted[Math.floor(at)] ?? Number.NaN];
      }
      if (estimand === "below") return share((person) => of(person) < Number(item));
      const [from = Number.NaN, to = Number.NaN] = item.split(" to ").map(Number);
      const last = to === sorted[PEOPLE - 1] || share((person) => of(person) > to)[0] === 0;
      return share((person) => from <= of(person) && (of(person) < to || last));
    },
    unit: (_: string, estimand: string) => (estimand === "quantile" ? unit : "%"),
  };
}

/** Returns shares of a cross: its cells, both margins, and within rows. */
function crossed(row: string, column: string, of: (person: number) => readonly [string, string]) {
  return (item: string, estimand: string) => {
    const told = new Map(item.split(", ").map((own) => own.split(": ") as [string, string]));
    const [own, other] = [told.get(row), told.get(column)];
    const in_row = everybody.filter((person) => own === undefined || of(person)[0] === own);
    const both = in_row.filter((person) => other === undefined || of(person)[1] === other);
    return [both.length / (estimand === "conditional-share" ? in_row.length : PEOPLE)];
  };
}

const THEMES = ["dark", "light", "system"];
const theme = (person: number) => THEMES[Math.floor(3 * part(person, 7) ** 2)] ?? "";
const beta = (person: number) => part(person, 13) < 0.2;
const yes = (is: boolean) => (is ? "yes" : "no");
const plan = (person: number) => (person % 4 === 0 ? "pro" : "free");
const wait = (person: number) => (plan(person) === "pro" ? 10 : 20) + 20 * part(person, 31);
const load = (person: number) => Math.round(300 * 20 ** part(person, 19));
const visits = (person: number) => Math.floor(1 / (0.05 + part(person, 43)));
const PARTS = ["search", "export", "dark mode", "captions"];
const uses = (person: number) => [PARTS[Math.floor(4 * part(person, 11) ** 3)] ?? ""];
const rated = (person: number) => PARTS[Math.floor(4 * part(person, 23) ** 3)] ?? "";
const sign = (person: number) => (part(person, 29) < 0.7 ? 1 : -1);
const real = (person: number) => (part(person, 29) < 0.7 ? 0.5 : -0.25);
const LAYOUT: Readonly<Record<string, (person: number) => number>> = {
  width: (person) => 4000 * part(person, 31),
  height: (person) => 2000 * part(person, 37) ** 2,
  scale: (person) => 0.5 + part(person, 41),
};

/** Returns ratings with one item per person. */
function ratings(of: (person: number) => number) {
  const value = (person: number, item: string) => (rated(person) === item ? of(person) : 0);
  return (item: string, estimand: string) => {
    if (estimand === "mean") return mean((person) => value(person, item));
    if (estimand === "plus") return mean((person) => Math.max(value(person, item), 0));
    if (estimand === "minus") return mean((person) => Math.max(-value(person, item), 0));
    return mean((person) => Math.abs(value(person, item)));
  };
}

/** Cases with one question per task. */
export const CASES: readonly Case[] = [
  {
    id: "flag",
    question: { kind: "flag" },
    answer: beta,
    truth: (item) => share((person) => yes(beta(person)) === item),
    unit: percent,
    stated: [0.99, 1.01],
  },
  {
    id: "choice",
    question: { kind: "choice", options: THEMES },
    answer: theme,
    truth: (item) => share((person) => theme(person) === item),
    unit: percent,
    stated: [0.9, 1.3],
  },
  {
    id: "set",
    question: { kind: "set", options: PARTS, sparsity: 2 },
    answer: (person) => uses(person) as unknown as Answer,
    truth: (item) => share((person) => uses(person).includes(item)),
    unit: percent,
    stated: [0.8, 1.4],
  },
  {
    id: "signs",
    question: { kind: "ratings", items: PARTS, sparsity: 2, value: "sign" },
    answer: (person) => ({ [rated(person)]: sign(person) }),
    truth: ratings(sign),
    unit: (_, estimand) => (estimand === "mean" ? "" : "%"),
    // Raters are up to a sixth of all people, and their ratings vary, too.
    stated: [0.8, 2.2],
  },
  {
    id: "reals",
    question: { kind: "ratings", items: PARTS, sparsity: 2, value: "real" },
    answer: (person) => ({ [rated(person)]: real(person) }),
    truth: ratings(real),
    // Half a rating is half of a person's, which is not a share.
    unit: () => "",
    // Raters are up to a sixth of all people, and their ratings vary, too.
    stated: [0.8, 2.2],
  },
  {
    id: "mean",
    question: { kind: "number", min: 0, max: 60, unit: "s" },
    answer: wait,
    truth: () => mean(wait),
    unit: () => "s",
    stated: [0.7, 1.01],
  },
  {
    id: "quantiles",
    question: {
      kind: "number",
      min: 50,
      max: 60_000,
      unit: "ms",
      want: "quantiles",
      spacing: "logarithmic",
      bins: 32,
    },
    answer: load,
    ...distributed(load, "ms"),
  },
  {
    id: "histogram",
    question: { kind: "number", min: 0, max: 60, unit: "s", want: "histogram", bins: 6 },
    answer: wait,
    ...distributed(wait, "s"),
    stated: [0.9, 1.4],
  },
  {
    id: "counts",
    question: { kind: "number", min: 0, max: 20, want: "quantiles", step: 1 },
    answer: (person) => Math.min(visits(person), 20),
    ...distributed((person) => Math.min(visits(person), 20), ""),
  },
  {
    id: "numbers",
    question: {
      kind: "numbers",
      of: [
        { name: "width", min: 0, max: 4000, unit: "px" },
        { name: "height", min: 0, max: 2000, unit: "px" },
        { name: "scale", min: 0.5, max: 4 },
      ],
    },
    answer: (person) =>
      Object.fromEntries(Object.entries(LAYOUT).map(([name, of]) => [name, of(person)])),
    truth: (item) => mean(LAYOUT[item] ?? (() => Number.NaN)),
    unit: (item) => (item === "scale" ? "" : "px"),
  },
  {
    id: "cross",
    question: {
      kind: "cross",
      of: [
        { name: "beta", kind: "flag" },
        { name: "theme", kind: "choice", options: THEMES },
      ],
    },
    answer: (person) => ({ beta: beta(person), theme: theme(person) }),
    truth: crossed("beta", "theme", (person) => [yes(beta(person)), theme(person)]),
    unit: percent,
    stated: [0.9, 1.4],
  },
  {
    id: "within",
    question: {
      kind: "cross",
      of: [
        { name: "plan", kind: "choice", options: ["free", "pro"] },
        { name: "wait", kind: "number", min: 0, max: 60, unit: "s" },
      ],
    },
    answer: (person) => ({ plan: plan(person), wait: wait(person) }),
    truth(item, estimand) {
      const own = everybody.filter((person) => `plan: ${plan(person)}` === item);
      return estimand === "share" ? [own.length / PEOPLE] : mean(wait, own);
    },
    unit: (_, estimand) => (estimand === "share" ? "%" : "s"),
  },
  {
    id: "together",
    question: {
      kind: "together",
      of: [
        { name: "beta", kind: "flag" },
        { name: "theme", kind: "choice", options: THEMES },
      ],
    },
    answer: (person) => ({ beta: beta(person), theme: theme(person) }),
    truth: (item) =>
      share((person) => [`beta: ${yes(beta(person))}`, `theme: ${theme(person)}`].includes(item)),
    unit: percent,
    stated: [0.8, 1.4],
  },
];
