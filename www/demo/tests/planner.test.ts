import { describe, expect, it } from "vitest";
import { taskFileText } from "../planner/answer.js";
import { planCommand } from "../planner/command.js";
import {
  type AnyPlan,
  curvePointOf,
  curvePointRequests,
  geometricPoints,
  isSumInput,
  MIN_AXIS_RANGES,
} from "../planner/curves.js";
import { FIELDS } from "../planner/fields.js";
import {
  LatestRequestPlanner,
  type PlanProgressMessage,
  withPlanCache,
} from "../planner/plan-queue.js";
import { plannerInput } from "../planner/questions.js";
import { singleQuestionContent } from "../planner/single-view.js";
import {
  CHOICE_OPTIONS,
  DEFAULTS,
  fieldForError,
  invalidFieldMessages,
  NUMBER_FIELD_NAMES,
  type ParsedQuestionSettings,
  type PlannerInput,
  parseCounts,
  parseNumber,
  parseSettings,
  settingsToUrlFragment,
  visibleControls,
} from "../planner/state.js";
import { nearestStopIndex, powersOfTen, sliderStopsBetween } from "../planner/stops.js";
import { optimalityGapSentence } from "../planner/view.js";
import { formatFrequency, formatLossThreeDigits, formatNumber } from "../planner/words.js";
import type { Plan, Survey } from "../shared/analysis.js";
import { formatScientific } from "../shared/format.js";
import { numberPlan } from "./answers.js";

describe("a slider's stops", () => {
  it("are round, rise by steps of about the same ratio, and hold both ends", () => {
    expect(sliderStopsBetween(0.05, 0.2)).toEqual([
      0.05, 0.055, 0.06, 0.07, 0.08, 0.09, 0.1, 0.11, 0.12, 0.13, 0.14, 0.15, 0.16, 0.18, 0.2,
    ]);
    expect(sliderStopsBetween(1, 20, true).slice(0, 11)).toEqual([
      1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11,
    ]);
    expect(powersOfTen(-3, 0)).toEqual([0.001, 0.01, 0.1, 1]);
    for (const [name, { stops }] of Object.entries(FIELDS)) {
      expect(new Set(stops).size, name).toBe(stops.length);
      expect(
        stops.every((stop, index) => index === 0 || stop > (stops[index - 1] ?? Infinity)),
        name,
      ).toBe(true);
    }
  });

  it("include every default, so that a slider shows what the number says", () => {
    for (const name of NUMBER_FIELD_NAMES) {
      // Only a number that may be unknown has no default.
      if (Number.isNaN(DEFAULTS[name])) expect(name).toBe("spread");
      else expect(FIELDS[name].stops, name).toContain(DEFAULTS[name]);
    }
  });

  it("are found by ratio", () => {
    const stops = powersOfTen(0, 4);
    expect(nearestStopIndex(stops, 30)).toBe(1);
    expect(nearestStopIndex(stops, 32)).toBe(2);
    expect([nearestStopIndex(stops, 1e-9), nearestStopIndex(stops, 1e9)]).toEqual([0, 4]);
  });
});

describe("the state in the URL", () => {
  it("comes back as it was", () => {
    const state: ParsedQuestionSettings = {
      ...DEFAULTS,
      solve: "people",
      budget: "central",
      goal: "smallest_frequency",
      objective: "both",
      domain: "open",
      delta: 1e-12,
      smallest_frequency: 0.003,
      people: 123_456_789,
      people_per_day: Number.NaN,
    };
    expect(parseSettings(`#${settingsToUrlFragment(state)}`)).toEqual(state);
    const kinds = { ...state, kind: "number", want: "quantiles", spread: 4, min: -20 } as const;
    expect(parseSettings(`#${settingsToUrlFragment(kinds)}`)).toEqual(kinds);
    const crossed = { ...state, kind: "cross", across: "number" } as const;
    expect(parseSettings(`#${settingsToUrlFragment(crossed)}`)).toEqual(crossed);
    const together = { ...state, kind: "together", parts: "4,2 2" } as const;
    expect(parseSettings(`#${settingsToUrlFragment(together)}`)).toEqual(together);
    expect(parseSettings("")).toEqual(DEFAULTS);
  });

  it("keeps to what there is, whatever the URL says", () => {
    expect(parseSettings("#solve=everything&items=many&sparsity=&delta=Infinity&who=me")).toEqual(
      DEFAULTS,
    );
    // The planner refuses numbers out of range. The URL is not corrected.
    expect(parseSettings("#epsilon=99").epsilon).toBe(99);
  });
});

/** Returns the survey of one question. */
function surveyOf(state: Partial<ParsedQuestionSettings>): Survey {
  const asking = plannerInput({ all: [{ ...DEFAULTS, ...state }], shownQuestionIndex: 0 });
  if (isSumInput(asking)) throw new Error("expected a survey");
  return asking;
}

describe("a question of a kind", () => {
  const KINDS = CHOICE_OPTIONS.kind.filter((kind) => kind !== "ratings");

  it("gives two of three, whatever its kind", () => {
    for (const kind of KINDS) {
      for (const want of CHOICE_OPTIONS.want) {
        for (const solve of CHOICE_OPTIONS.solve) {
          const asked = surveyOf({ kind, want, solve });
          const privacy = asked.epsilon ?? asked.central_epsilon;
          const given = [asked.people, privacy, asked.wanted?.[kind]?.within];
          const known = given.map((part) => part !== undefined);
          expect(known.filter(Boolean), `${kind}, ${want}, ${solve}`).toHaveLength(2);
          expect(known[{ people: 0, epsilon: 1, error: 2 }[solve]]).toBe(false);
          expect(asked.questions).toHaveLength(1);
        }
      }
    }
  });

  it("says what a task file would", () => {
    const question = (state: Partial<ParsedQuestionSettings>) => surveyOf(state).questions[0];
    expect(question({ kind: "flag" })).toEqual({ name: "flag", kind: "flag" });
    expect(question({ kind: "set" })).toMatchObject({ kind: "set", options: 10, sparsity: 5 });
    const number = { name: "number", kind: "number", want: "mean", min: 0, max: 30 };
    expect(question({ kind: "number" })).toEqual(number);
    expect(question({ kind: "number", want: "histogram" })).toEqual({
      ...number,
      want: "histogram",
      bins: 30,
      spacing: "even",
    });
    expect(question({ kind: "numbers", count: 2 })).toEqual({
      name: "numbers",
      kind: "numbers",
      of: [
        { name: "number-1", min: 0, max: 30 },
        { name: "number-2", min: 0, max: 30 },
      ],
    });
    expect(question({ kind: "cross", options: 3, columns: 2 })).toEqual({
      name: "cross",
      kind: "cross",
      of: [
        { name: "rows", kind: "choice", options: 3 },
        { name: "columns", kind: "choice", options: 2 },
      ],
    });
    expect(question({ kind: "cross", options: 3, across: "number" })).toEqual({
      name: "cross",
      kind: "cross",
      of: [
        { name: "rows", kind: "choice", options: 3 },
        { name: "columns", kind: "number", min: 0, max: 30 },
      ],
    });
    expect(question({ kind: "together", parts: "2, 5,2" })).toEqual({
      name: "together",
      kind: "together",
      of: [
        { name: "flag-1", kind: "flag" },
        { name: "choice-2", kind: "choice", options: 5 },
        { name: "flag-3", kind: "flag" },
      ],
    });
    expect(question({ kind: "text" })).toEqual({ name: "text", kind: "text", length: 8 });
  });

  it("is as exact as wanted in what it is answered with", () => {
    const wanted = (state: Partial<ParsedQuestionSettings>) =>
      surveyOf({ solve: "people", within: 0.02, margin: 3, ...state }).wanted;
    expect(wanted({ kind: "flag" })).toEqual({ flag: { within: 0.02 } });
    expect(wanted({ kind: "number" })).toEqual({ number: { within: 3 } });
    expect(wanted({ kind: "number", want: "histogram" })).toEqual({ number: { within: 0.02 } });
    const quantiles = { kind: "number", want: "quantiles", quantile: 0.9 } as const;
    expect(wanted(quantiles)).toEqual({ number: { within: 0.02, quantile: 0.9 } });
    expect(wanted({ ...quantiles, spread: 4 })).toEqual({
      number: { within: 3, quantile: 0.9, spread: 4 },
    });
    expect(wanted({ kind: "numbers" })).toEqual({ numbers: { within: 3 } });
    expect(wanted({ kind: "together" })).toEqual({ together: { within: 0.02 } });
    expect(wanted({ kind: "cross" })).toEqual({ cross: { within: 0.02 } });
    expect(wanted({ kind: "cross", across: "number" })).toEqual({ cross: { within: 3 } });
  });

  it("has a command of its own", () => {
    const command = (state: Partial<ParsedQuestionSettings>) =>
      planCommand(surveyOf({ people_per_day: Number.NaN, solve: "people", ...state }), "")?.join(
        " ",
      );
    const end = "--delta 1e-8 --honest-fraction 1 --epsilon 1";
    expect(command({ kind: "choice" })).toBe(
      `hushbin plan --kind choice --options 10 --within 0.01 ${end}`,
    );
    expect(command({ kind: "number", want: "quantiles", spread: 4 })).toBe(
      `hushbin plan --kind number --want quantiles --bins 30 --spacing even --min 0 --max 30 --within 0.5 --quantile 0.5 --spread 4 ${end}`,
    );
    expect(command({ kind: "numbers" })).toBe(
      `hushbin plan --kind numbers --numbers 5 --min 0 --max 30 --within 0.5 ${end}`,
    );
    expect(command({ kind: "text" })).toBe(
      `hushbin plan --kind text --length 8 --within 0.01 ${end}`,
    );
    expect(command({ kind: "together" })).toBe(
      `hushbin plan --kind together --options 2,2,3 --within 0.01 ${end}`,
    );
    expect(command({ kind: "cross" })).toBe(
      `hushbin plan --kind cross --options 10 --columns 4 --within 0.01 ${end}`,
    );
    expect(command({ kind: "cross", across: "number", min: -3 })).toBe(
      `hushbin plan --kind cross --options 10 --min -3 --max 30 --within 0.5 ${end}`,
    );
  });

  it("finds the field of an error by its control", () => {
    const state = { ...DEFAULTS, solve: "people", kind: "number" } as const;
    expect(fieldForError("within", state)).toBe("margin");
    expect(fieldForError("within", { ...state, kind: "flag" })).toBe("within");
    expect(fieldForError("number of attributes", { ...state, kind: "numbers" })).toBe("count");
    expect(fieldForError("options", { ...state, kind: "choice" })).toBe("options");
    for (const field of ["options", "items", "number of parts"])
      expect(fieldForError(field, { ...state, kind: "together" })).toBe("parts");
    expect(fieldForError("length of a prefix", { ...state, kind: "text" })).toBe("length");
  });

  it("moves without what is wanted of its exactness", () => {
    const asked = surveyOf({ kind: "number", want: "quantiles", solve: "people", spread: 4 });
    for (const { variedSurvey: question } of curvePointRequests(asked, numberPlan())) {
      expect(question.wanted).toEqual({ number: { quantile: 0.5, spread: 4 } });
      expect(question.questions).toEqual(asked.questions);
    }
  });

  it("is shown in its own words", () => {
    const view = singleQuestionContent(numberPlan(), surveyOf({ kind: "number" }));
    const figures = Object.fromEntries(view.keyNumbers.map(([name, exact]) => [name, exact]));
    expect(figures).toMatchObject({
      "standard error": 0.25,
      "95% interval": 0.49,
      "local ε": 1,
      people: 1000,
    });
    expect(view.mechanism).toBe("Window");
    const bins = numberPlan();
    const questions = bins.questions.map(
      (own) => ({ ...own, errors_of: "quantile-share", cells: 16 }) as const,
    );
    const binned = singleQuestionContent({ ...bins, questions }, surveyOf({ kind: "number" }));
    expect(binned.parameters).toContain("; 16 bins");
    expect(view.comparisonRows.map(({ chosen }) => chosen)).toEqual([true, false]);
    // Twice the variance needs twice the people.
    expect(view.comparisonRows[1]?.errorEpsilonAndPeople).toEqual(["0.354", "–", "2,000"]);
    expect(view.questionCosts).toEqual([]);
  });

  it("says of how many parts it is, where those are asked together", () => {
    const [own] = numberPlan().questions;
    if (!own) throw new Error("expected a question");
    const together = { ...own, kind: "together", sparsity: 3, answers: 7, cells: null };
    const view = singleQuestionContent(
      { ...numberPlan(), questions: [together] },
      surveyOf({ kind: "together" }),
    );
    expect(view.parameters).toContain("; 3 parts with 7 options in total");
    expect(view.comparisonRows[0]?.note).toContain("asked as one combined question");
  });
});

describe("a list of whole numbers", () => {
  it("is one with commas or spaces between", () => {
    for (const list of ["2,2,3", "2, 2, 3", " 2 2  3 ", "2, 2, 3,"])
      expect(parseCounts(list), list).toEqual([2, 2, 3]);
  });

  it("is asked for again where it is none", () => {
    for (const list of ["", ", ,", "2, two", "2.5", "-2", "1e3", "9".repeat(20)]) {
      expect(parseCounts(list), list).toBeNull();
      const wrong = invalidFieldMessages({ ...DEFAULTS, kind: "together", parts: list });
      expect([...wrong], list).toEqual([
        ["parts", "Expected whole numbers, separated by commas, such as 2, 2, 3."],
      ]);
      // Hidden fields are not checked.
      expect(invalidFieldMessages({ ...DEFAULTS, parts: list }).size).toBe(0);
    }
  });
});

describe("ratings", () => {
  it("give two of three, and all that is shown", () => {
    for (const solve of CHOICE_OPTIONS.solve) {
      for (const budget of CHOICE_OPTIONS.budget) {
        for (const goal of CHOICE_OPTIONS.goal) {
          const survey = surveyOf({ solve, budget, goal });
          const privacy = survey.epsilon ?? survey.central_epsilon;
          const { standard_error, smallest_frequency: smallest } = survey.wanted?.[""] ?? {};
          const accuracy = standard_error ?? smallest;
          const given = [survey.people, privacy, accuracy].map((part) => part !== undefined);
          expect(given.filter(Boolean)).toHaveLength(2);
          expect(given[{ people: 0, epsilon: 1, error: 2 }[solve]]).toBe(false);
          expect(standard_error === undefined || smallest === undefined).toBe(true);
        }
      }
    }
  });

  it("say every number that is shown, and every choice", () => {
    const own = Object.fromEntries(NUMBER_FIELD_NAMES.map((name, index) => [name, 101 + index]));
    for (const solve of CHOICE_OPTIONS.solve) {
      for (const budget of CHOICE_OPTIONS.budget) {
        const state = {
          ...DEFAULTS,
          ...own,
          solve,
          budget,
          level: "event",
          value: "real",
        } as const;
        const { questions, wanted, ...known } = surveyOf(state);
        const parts = [known, questions[0] ?? {}, wanted?.[""] ?? {}];
        const said = parts.flatMap((part) => Object.values(part));
        const shown = NUMBER_FIELD_NAMES.filter((name) => visibleControls(state).has(name));
        expect(said.filter((value) => typeof value === "number").sort()).toEqual(
          shown.map((name) => own[name]).sort(),
        );
        expect(questions[0]).toMatchObject({
          value: "real",
          mechanism: { name: "auto", level: "event", objective: "mean" },
        });
      }
    }
    expect(surveyOf({ domain: "open" }).questions[0]).toMatchObject({ items: "open" });
  });

  it("bounds the local ε, too, where the shuffled one is given", () => {
    const question = surveyOf({ budget: "central", cap: 3, epsilon: 1 });
    expect(question).toMatchObject({ central_epsilon: DEFAULTS.central_epsilon, epsilon: 3 });
    expect(fieldForError("epsilon", { ...DEFAULTS, budget: "central" })).toBe("cap");
    expect(fieldForError("epsilon", DEFAULTS)).toBe("epsilon");
    expect(fieldForError("central_epsilon", DEFAULTS)).toBeUndefined();
    expect(fieldForError(undefined, DEFAULTS)).toBeUndefined();
  });

  it("is not asked with what is no number", () => {
    expect(invalidFieldMessages(DEFAULTS).size).toBe(0);
    const typed: ParsedQuestionSettings = {
      ...DEFAULTS,
      people: Number.NaN,
      sparsity: 2.5,
      items: -1,
    };
    expect([...invalidFieldMessages(typed).keys()]).toEqual(["items", "sparsity", "people"]);
    // Hidden fields are not checked, and the number of people per day may be unknown.
    expect(invalidFieldMessages({ ...typed, solve: "people", domain: "open" }).has("people")).toBe(
      false,
    );
    const unknown = { ...DEFAULTS, people_per_day: Number.NaN };
    expect(invalidFieldMessages(unknown).size).toBe(0);
    expect("people_per_day" in surveyOf(unknown)).toBe(false);
  });

  it.each([
    ["0,7", 0.7],
    [" 1,5 ", 1.5],
    ["0.7", 0.7],
    [",5", 0.5],
    ["0,125", 0.125],
    ["1,0000", 1],
    ["1e9", 1e9],
    ["1,5e-3", 1.5e-3],
    ["\u22123", -3],
    ["1000", 1000],
  ])("reads %s as the number that it is", (typed, number) => {
    expect(parseNumber(typed)).toBe(number);
    expect(parseSettings(`epsilon=${encodeURIComponent(typed)}`).epsilon).toBe(number);
  });

  it.each(["1,000", "1,000,000", "1.000,5", "1 000", "0,7,", "seven", "0x10", "Infinity", "1e999"])(
    "refuses %s, which may be another number or none",
    (typed) => {
      const [epsilon, people_per_day] = [parseNumber(typed), parseNumber(typed)];
      const wrong = invalidFieldMessages({ ...DEFAULTS, epsilon, people_per_day });
      // An optional field may be empty, but not invalid.
      expect([...wrong.keys()]).toEqual(["people_per_day", "epsilon"]);
      expect(wrong.get("epsilon")).toMatch(/^Expected a number such as/);
      expect(parseSettings(`epsilon=${encodeURIComponent(typed)}`).epsilon).toBe(DEFAULTS.epsilon);
    },
  );

  it("tells nothing typed from no number", () => {
    expect(parseNumber(" ")).toBeNaN();
    expect(invalidFieldMessages({ ...DEFAULTS, epsilon: parseNumber("") }).get("epsilon")).toBe(
      "Expected a number.",
    );
  });

  it("has a command of its own", () => {
    expect(planCommand(surveyOf({ people_per_day: Number.NaN }), "")?.join(" ")).toBe(
      "hushbin plan --items 100 --sparsity 5 --value sign --objective mean --level user --delta 1e-8 --honest-fraction 1 --people 100000 --epsilon 1",
    );
    const wanted = surveyOf({
      people_per_day: Number.NaN,
      solve: "people",
      goal: "smallest_frequency",
    });
    expect(planCommand(wanted, "")?.join(" ")).toMatch(/ --epsilon 1 --smallest-frequency 0.05$/);
    expect(planCommand(surveyOf({ objective: "both" }), "")).toBeNull();
  });
});

/** Returns a plan with the fields that the queue and the curves read. */
function planOf(asking: PlannerInput): Plan {
  const [people, epsilon] = [asking.people ?? 1000, asking.epsilon ?? 2];
  return { ...numberPlan(), people, epsilon, effective_epsilon: epsilon };
}

describe("the task file", () => {
  it("is the task, with lists of numbers in one line", () => {
    const task = {
      id: "loads",
      epsilon: 1,
      questions: [{ name: "[\n1,\n2\n]", edges: [-1, 0, 1e-7, 2.5], options: ["1", "2"] }],
    };
    const file = taskFileText({ task } as unknown as AnyPlan);
    expect(JSON.parse(file)).toEqual(task);
    expect(file).toContain('      "edges": [-1, 0, 1e-7, 2.5],\n');
    expect(file.split("\n").length).toBe(15);
  });
});

describe("the distance from the best", () => {
  it("is said where it is known", () => {
    const [own] = numberPlan().questions;
    if (!own) throw new Error("expected a question");
    expect(optimalityGapSentence(own)).toBe("");
    const text = "takes 4% more people than the best possible mechanism would";
    const distance = { times_bound: 1.04, at_most: 1.04, bound: "exact" as const, text };
    expect(optimalityGapSentence({ ...own, distance })).toBe(
      ` At this local ε, the mechanism ${text}.`,
    );
  });
});

describe("the curves", () => {
  it("span their axes, ends first, each point once", () => {
    const points = geometricPoints([1, 16], 5);
    expect(points.slice(0, 2)).toEqual([16, 1]);
    expect([...points].sort((a, b) => a - b)).toEqual([1, 2, 4, 8, 16]);
  });

  it("move one number and keep the others", () => {
    const question = surveyOf({ solve: "people", budget: "central" });
    const moved = curvePointRequests(question, { ...planOf(question), people: 777 });
    for (const { curve, axisValue: at, variedSurvey: probe } of moved) {
      expect(probe.wanted).toEqual({ "": {} });
      expect(probe.central_epsilon).toBe(question.central_epsilon);
      if (curve === "epsilon") expect([probe.epsilon, probe.people]).toEqual([at, 777]);
      else expect([probe.epsilon, probe.people]).toEqual([question.epsilon, at]);
    }
    const people = moved.filter(({ curve }) => curve === "people").map(({ axisValue: at }) => at);
    expect([Math.min(...people), Math.max(...people)]).toEqual(MIN_AXIS_RANGES.people);
  });

  it("hold an ε that was the answer while people change, and reach every plan", () => {
    const question = surveyOf({ solve: "epsilon", people: 7 });
    const moved = curvePointRequests(question, planOf({ ...question, epsilon: 0.02 }));
    const people = moved.filter(({ curve }) => curve === "people");
    expect(people.every(({ variedSurvey: { epsilon } }) => epsilon === 0.02)).toBe(true);
    expect(Math.min(...people.map(({ axisValue: at }) => at))).toBe(7);
    expect(
      Math.min(...moved.filter(({ curve }) => curve === "epsilon").map(({ axisValue: at }) => at)),
    ).toBe(0.02);
  });
});

describe("the plan queue", () => {
  const QUESTION = surveyOf({});
  const soon = () => new Promise<void>((resolve) => setTimeout(resolve));

  it("answers, then draws the curves, and leaves gaps where there is no plan", async () => {
    const told: PlanProgressMessage[] = [];
    const plan = (question: PlannerInput): Plan => {
      if ((question.people ?? 0) < 1000) throw { code: "out-of-reach", message: "no" };
      return planOf(question);
    };
    await new LatestRequestPlanner(plan, (one) => told.push(one), soon).replaceRequest({
      id: 1,
      plannerInput: QUESTION,
    });
    const kinds = told.map(({ kind }) => kind);
    expect(kinds.slice(0, 3)).toEqual(["begun", "answer", "point"]);
    expect(kinds.at(-1)).toBe("done");
    const points = told.flatMap((one) =>
      one.kind === "point" && one.curve === "people" ? [one.point] : [],
    );
    for (const { axisValue: at, error } of points) expect(error === null).toBe(at < 1000);
    expect(points.some(({ error }) => error === null)).toBe(true);
  });

  it("leaves a question, and skips those in between, for a newer one", async () => {
    const told: PlanProgressMessage[] = [];
    const queue = new LatestRequestPlanner(planOf, (one) => told.push(one), soon);
    const done = queue.replaceRequest({ id: 1, plannerInput: QUESTION });
    void queue.replaceRequest({ id: 2, plannerInput: { ...QUESTION, epsilon: 2 } });
    void queue.replaceRequest({ id: 3, plannerInput: { ...QUESTION, epsilon: 3 } });
    await done;
    expect(told.filter(({ kind }) => kind === "answer").map(({ id }) => id)).toEqual([1, 3]);
    expect(told.filter(({ id, kind }) => id === 1 && kind === "point")).toEqual([]);
    expect(told.at(-1)).toEqual({ id: 3, kind: "done" });
  });

  it("says why there is no plan, with the field", async () => {
    const told: PlanProgressMessage[] = [];
    const refusal = { code: "parameter", field: "epsilon", message: "epsilon is 99" };
    const refuse = (): Plan => {
      throw refusal;
    };
    await new LatestRequestPlanner(refuse, (one) => told.push(one), soon).replaceRequest({
      id: 4,
      plannerInput: QUESTION,
    });
    expect(told.slice(1)).toEqual([{ id: 4, kind: "refused", refusal }]);
  });

  it("passes on what is no refusal", async () => {
    const fail = (): Plan => {
      throw new WebAssembly.RuntimeError("unreachable");
    };
    const queue = new LatestRequestPlanner(fail, () => undefined, soon);
    await expect(queue.replaceRequest({ id: 1, plannerInput: QUESTION })).rejects.toThrow(
      "unreachable",
    );
  });

  it("computes nothing twice, refusals included", () => {
    let calls = 0;
    const plan = withPlanCache((question) => {
      calls += 1;
      if (question.people === 1) throw { code: "parameter", message: "few" };
      return planOf(question);
    });
    for (let round = 0; round < 3; round += 1) {
      expect(plan(QUESTION)).toEqual(planOf(QUESTION));
      expect(() => plan({ ...QUESTION, people: 1 })).toThrow(
        expect.objectContaining({ message: "few" }),
      );
    }
    expect(calls).toBe(2);
  });
});

describe("numbers in words", () => {
  it("have three digits, losses rounded up", () => {
    expect([
      formatNumber(0.018234),
      formatNumber(3456.7),
      formatNumber(null),
      formatNumber(0),
    ]).toEqual(["0.0182", "3,457", "–", "0"]);
    expect([formatNumber(1e-8), formatNumber(2.5e-9)]).toEqual(["10⁻⁸", "2.5 × 10⁻⁹"]);
    expect([
      formatLossThreeDigits(1.0001),
      formatLossThreeDigits(0.3),
      formatLossThreeDigits(0.07),
      formatLossThreeDigits(2),
    ]).toEqual(["1.01", "0.3", "0.07", "2"]);
    expect([formatFrequency(0.0788), formatFrequency(1), formatFrequency(null)]).toEqual([
      "7.88%",
      "100%",
      "–",
    ]);
    expect(formatScientific("1.20e+12")).toBe("1.2 × 10¹²");
  });

  it("are none where there is no answer", () => {
    expect(curvePointOf(3, null)).toEqual({
      axisValue: 3,
      error: null,
      smallestFrequency: null,
      epsilon: null,
      centralEpsilon: null,
    });
  });
});
