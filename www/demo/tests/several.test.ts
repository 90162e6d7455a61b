import { describe, expect, it } from "vitest";
import { planCommand } from "../planner/command.js";
import { curvePointOf, curvePointRequests, isSumInput } from "../planner/curves.js";
import {
  firstInvalidFields,
  parseQuestions,
  plannerInput,
  questionNames,
  questionsToUrlFragment,
  shownQuestion,
  withoutShownQuestion,
  withQuestionAdded,
  withShownReplaced,
} from "../planner/questions.js";
import { severalQuestionsContent } from "../planner/several-view.js";
import {
  DEFAULTS,
  type ParsedQuestionSettings,
  settingsToUrlFragment,
  surveyFromSettings,
} from "../planner/state.js";
import type { Survey } from "../shared/analysis.js";
import { numberPlan } from "./answers.js";

/** Returns the survey of all questions. */
function surveyed(several: Parameters<typeof plannerInput>[0]): Survey {
  const asking = plannerInput(several);
  if (isSumInput(asking)) throw new Error("expected a survey");
  return asking;
}

describe("several questions", () => {
  const FLAG: ParsedQuestionSettings = { ...DEFAULTS, kind: "flag", solve: "people", within: 0.02 };
  const NUMBER: ParsedQuestionSettings = { ...DEFAULTS, kind: "number", margin: 3 };
  const RATINGS: ParsedQuestionSettings = { ...DEFAULTS, margin: 0.1 };
  const ALL = withQuestionAdded(
    withQuestionAdded({ all: [FLAG], shownQuestionIndex: 0 }, NUMBER),
    RATINGS,
  );

  it("are asked by names of their own, each as exact as wanted", () => {
    expect(questionNames(ALL.all)).toEqual(["flag-1", "number-2", "ratings-3"]);
    expect(plannerInput(ALL)).toMatchObject({
      questions: [
        { name: "flag-1", kind: "flag" },
        { name: "number-2", kind: "number", want: "mean", min: 0, max: 30 },
        { name: "ratings-3", kind: "ratings", items: 100, sparsity: 5, value: "sign" },
      ],
      wanted: {
        "flag-1": { within: 0.02 },
        "number-2": { within: 3 },
        "ratings-3": { within: 0.1 },
      },
      epsilon: 1,
    });
    expect("people" in plannerInput(ALL)).toBe(false);
  });

  it("are a survey of one where there is one", () => {
    for (const [state, name] of [
      [FLAG, "flag"],
      [NUMBER, "number"],
      // A task with one question has no name for it.
      [RATINGS, ""],
    ] as const)
      expect(plannerInput({ all: [state], shownQuestionIndex: 0 })).toEqual(
        surveyFromSettings([state], [name]),
      );
  });

  it("give way to sums, which are of the first one's numbers", () => {
    const sums = withShownReplaced(
      { ...ALL, shownQuestionIndex: 1 },
      { ...NUMBER, trust: "shuffler", max: 9 },
    );
    expect(sums.all.map(({ trust }) => trust)).toEqual(["shuffler", "shuffler", "shuffler"]);
    expect(shownQuestion(sums)).toBe(sums.all[0]);
    expect(plannerInput(sums)).toMatchObject({ trust: "shuffler", epsilon: FLAG.central_epsilon });
    const { all } = withShownReplaced(sums, {
      ...shownQuestion(sums),
      count: 2,
      dimension: Number.NaN,
    });
    expect(all.map(({ count }) => count)).toEqual([2, DEFAULTS.count, DEFAULTS.count]);
    // Sums ignore the other questions, so their errors are not shown.
    expect(
      firstInvalidFields({
        all: [all[0], { ...all[1], max: Number.NaN } as ParsedQuestionSettings],
        shownQuestionIndex: 1,
      }),
    ).toBeNull();
    expect(withShownReplaced(sums, { ...shownQuestion(sums), trust: "nobody" }).all[1]?.max).toBe(
      9,
    );
  });

  it("share people and privacy, and nothing else", () => {
    expect(ALL.all.every(({ solve }) => solve === "people")).toBe(true);
    const moved = withShownReplaced(ALL, {
      ...shownQuestion(ALL),
      epsilon: 3,
      solve: "error",
      margin: 9,
    });
    expect(moved.all.map(({ epsilon }) => epsilon)).toEqual([3, 3, 3]);
    expect(moved.all.map(({ solve }) => solve)).toEqual(["error", "error", "error"]);
    expect(moved.all.map(({ margin }) => margin)).toEqual([DEFAULTS.margin, 3, 9]);
    expect(moved.all.map(({ kind }) => kind)).toEqual(["flag", "number", "ratings"]);
  });

  it("are added and removed where they are shown", () => {
    expect(ALL.shownQuestionIndex).toBe(2);
    const two = withoutShownQuestion({ ...ALL, shownQuestionIndex: 1 });
    expect(questionNames(two.all)).toEqual(["flag-1", "ratings-2"]);
    expect(shownQuestion(two).kind).toBe("ratings");
    const one = withoutShownQuestion(two);
    expect([shownQuestion(one).kind, one.shownQuestionIndex]).toEqual(["flag", 0]);
    expect(withoutShownQuestion(one)).toEqual(one);
  });

  it("come back from a URL as they were", () => {
    const { all } = withShownReplaced(ALL, { ...shownQuestion(ALL), people_per_day: Number.NaN });
    expect(parseQuestions(`#${questionsToUrlFragment({ all, shownQuestionIndex: 1 })}`)).toEqual({
      all,
      shownQuestionIndex: 0,
    });
    expect(questionsToUrlFragment({ all: [FLAG], shownQuestionIndex: 0 })).toBe(
      settingsToUrlFragment(FLAG),
    );
  });

  it("are not asked where one cannot be, and the one shown is blamed first", () => {
    expect(firstInvalidFields(ALL)).toBeNull();
    const wrong = { ...NUMBER, max: Number.NaN };
    const { all } = withQuestionAdded(
      withQuestionAdded({ all: [FLAG], shownQuestionIndex: 0 }, wrong),
      wrong,
    );
    expect(firstInvalidFields({ all, shownQuestionIndex: 0 })?.at).toBe(1);
    expect(firstInvalidFields({ all, shownQuestionIndex: 2 })).toEqual({
      at: 2,
      wrong: new Map([["max", "Expected a number."]]),
    });
  });

  it("have a command that takes them as a file", () => {
    const known = { ...FLAG, people_per_day: Number.NaN };
    const asked = surveyed(
      withQuestionAdded({ all: [known], shownQuestionIndex: 0 }, { ...DEFAULTS, kind: "together" }),
    );
    const file = JSON.stringify({ id: "planned", questions: asked.questions });
    expect(planCommand(asked, "planned")?.join(" ")).toBe(
      `echo '${file}' | hushbin plan --task /dev/stdin --within flag-1=0.02 --within together-2=0.01 --delta 1e-8 --honest-fraction 1 --epsilon 1`,
    );
  });

  it("are shown with what each costs, and what other ways would", () => {
    const [own] = numberPlan().questions;
    if (!own) throw new Error("expected a question");
    const each = (name: string, share: number, as_ratings: number | null) => ({
      ...own,
      ...{ name, share, as_ratings, reports: 1000 * share, unit: "s" },
    });
    const answer = {
      ...numberPlan(),
      questions: [each("a", 0.25, 2), each("b", 0.75, 4)],
      together_over_drawn: 0.25,
    };
    const view = severalQuestionsContent(answer, surveyed(ALL));
    expect(
      view.questionCosts.map(({ name, reportShare: drawn, reports }) => [name, drawn, reports]),
    ).toEqual([
      ["a", "25%", "250"],
      ["b", "75%", "750"],
    ]);
    expect(view.questionCosts.map(({ reportsAsRatings: ratings }) => ratings)).toEqual([
      "500",
      "3,000",
    ]);
    expect(view.questionCosts[0]).toMatchObject({ halfWidth: 0.49, intervalText: "±0.49 s" });
    expect(
      view.comparisonRows.map(({ chosen, errorEpsilonAndPeople: costs }) => [
        chosen,
        costs[0],
        costs[2],
      ]),
    ).toEqual([
      [true, "×\u00a01", "1,000"],
      [false, "×\u00a00.5", "250"],
      // √3.5.
      [false, "×\u00a01.87", "3,500"],
    ]);
    const unlike = { ...answer, questions: [each("a", 0.5, null), each("b", 0.5, 2)] };
    const { comparisonRows: offers } = severalQuestionsContent(
      { ...unlike, together_over_drawn: null },
      surveyed(ALL),
    );
    expect(offers).toHaveLength(1);
  });

  it("move with the weights of the plan", () => {
    const asked = surveyed(ALL);
    const task = { id: "planned", questions: [{ weight: 7 }, {}, { weight: 3 }] };
    for (const { variedSurvey: question } of curvePointRequests(asked, { ...numberPlan(), task })) {
      expect(question.questions).toEqual(
        asked.questions.map((own, index) => ({ ...own, weight: [7, 1, 3][index] })),
      );
      expect(question.wanted).toEqual({ "flag-1": {}, "number-2": {}, "ratings-3": {} });
    }
  });

  it("are drawn by the error of the one that is shown", () => {
    const [own] = numberPlan().questions;
    if (!own) throw new Error("expected a question");
    const answer = { ...numberPlan(), questions: [own, { ...own, error: 7 }] };
    expect([0, 1, 2].map((at) => curvePointOf(1, answer, at).error)).toEqual([0.25, 7, null]);
  });
});
