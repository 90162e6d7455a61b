// Kinds of questions that the command offers, in plain words.

import { InputError, parseAtMost, parseNames, parseRange } from "./input.js";

/** Questions of a task, as in a task file. */
export interface Asked {
  readonly questions: readonly { readonly name: string; readonly kind: string }[];
  /** Answers of an imaginary visitor. */
  readonly example: Readonly<Record<string, unknown>>;
  /** Unit of errors: "points", or the unit of a number. */
  readonly unit: string;
  /** Number of units in 1, in which the planner measures errors. */
  readonly unitsInOne: number;
  /** Error that every guess stays below, in the unit. */
  readonly errorLimit: number;
  /** Estimate whose error is meant, in words. */
  readonly estimate: string;
  /** Id of the task, unless the user chooses another one. */
  readonly id: string;
}

/** Part of a question that the user types. */
export interface Part {
  readonly prompt: string;
  /** Throws an {@link InputError} if the text cannot be used. */
  readonly check: (text: string) => unknown;
}

export interface Kind {
  readonly flag: "flags" | "choice" | "set" | "number";
  readonly words: string;
  readonly parts: readonly Part[];
  /** Text after the name and "=" in the flag, in words. */
  readonly afterName: string;
  /** Returns the questions of the parts. */
  readonly asked: (parts: readonly string[]) => Asked;
}

/** Error of a share that every guess stays below, in points. */
const SHARE_ERROR_LIMIT = 50;

const SHARES = {
  unit: "points",
  unitsInOne: 100,
  errorLimit: SHARE_ERROR_LIMIT,
  estimate: "each share",
} as const;

/** Returns a name in the form of a task's id, which has at most 64 characters. */
function slug(name: string): string {
  const words = name.replaceAll(/([a-z0-9])([A-Z])/g, "$1-$2").toLowerCase();
  return words
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replace(/^-+/, "")
    .slice(0, 64)
    .replace(/-+$/, "");
}

function checkName(name: string) {
  if (name === "") {
    throw new InputError("the name is empty, expected for example theme");
  }
}

const namePart = (example: string): Part => ({
  prompt: `Name of the question, such as ${example}`,
  check: checkName,
});
const optionsPart = (example: string): Part => ({
  prompt: `Options, separated by commas, such as ${example}`,
  check: (text) => parseNames(text, 2),
});

const flags: Kind = {
  flag: "flags",
  words: "yes/no settings: how many people have each one on",
  afterName: "",
  parts: [
    {
      prompt: "Names, separated by commas, such as dark-mode,captions",
      check: (text) => parseNames(text, 1),
    },
  ],
  asked: ([names = ""]) => {
    const all = parseNames(names, 1);
    return {
      ...SHARES,
      questions: all.map((name) => ({ name, kind: "flag" })),
      example: Object.fromEntries(all.map((name, at) => [name, at === 0])),
      id: (all.length === 1 && slug(names)) || "settings",
    };
  },
};

const choice: Kind = {
  flag: "choice",
  words: "one of several options: how many people chose each one",
  afterName: "options",
  parts: [namePart("theme"), optionsPart("dark,light,system")],
  asked: ([name = "", list = ""]) => {
    const options = parseNames(list, 2);
    return {
      ...SHARES,
      questions: [{ name, kind: "choice", options }],
      example: { [name]: options[0] },
      id: slug(name) || "choice",
    };
  },
};

const set: Kind = {
  flag: "set",
  words: "several of many options: how many people have each one",
  afterName: "options",
  parts: [
    namePart("features"),
    optionsPart("search,export,share"),
    {
      prompt: "Options that one person has at most, such as 2",
      check: (text) => parseAtMost(text),
    },
  ],
  asked: ([name = "", list = "", atMost = ""]) => {
    const options = parseNames(list, 2);
    return {
      ...SHARES,
      questions: [{ name, kind: "set", options, sparsity: parseAtMost(atMost, options.length) }],
      example: { [name]: options.slice(0, 1) },
      id: slug(name) || "set",
    };
  },
};

const number: Kind = {
  flag: "number",
  words: "a number, such as a duration: its average",
  afterName: "a range",
  parts: [
    namePart("loadTime"),
    { prompt: "Smallest and largest value with the unit, such as 0..30s", check: parseRange },
  ],
  asked: ([name = "", range = ""]) => {
    const { min, max, unit } = parseRange(range);
    return {
      questions: [{ name, kind: "number", min, max, ...(unit === "" ? {} : { unit }) }],
      example: { [name]: (min + max) / 2 },
      unit,
      unitsInOne: 1,
      errorLimit: (max - min) / 2,
      estimate: "the average",
      id: slug(name) || "number",
    };
  },
};

export const KINDS: readonly Kind[] = [flags, choice, set, number];

/** Kinds whose questions a task may have together: all estimates are shares. */
export const SHARE_KINDS: readonly Kind[] = [flags, choice, set];

/** Joins several questions about shares to one task. */
export function joined(all: readonly Asked[]): Asked {
  const [first] = all;
  if (first !== undefined && all.length === 1) {
    return first;
  }
  return {
    ...SHARES,
    questions: all.flatMap(({ questions }) => questions),
    example: Object.assign({}, ...all.map(({ example }) => example)),
    id: "survey",
  };
}
