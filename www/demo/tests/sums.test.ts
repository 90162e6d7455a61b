import { describe, expect, it } from "vitest";
import { taskFileText } from "../planner/answer.js";
import {
  DEFAULTS,
  fieldForError,
  invalidFieldMessages,
  type ParsedQuestionSettings,
  parseSettings,
  settingsToUrlFragment,
  sumDraftFromSettings,
  visibleControls,
} from "../planner/state.js";
import type { BothEstimates, SumPlan } from "../shared/analysis.js";
import { browsingAnswersOf, languageOf } from "../story/both/people.js";
import { bothWaysVerdict } from "../story/both/section.js";
import { BROWSING_TASK, formatWithUnit, LANGUAGES } from "../story/both/task.js";
import { answersOfPeople, FIRST_TOPIC } from "../story/both/topics.js";

const SUMS: ParsedQuestionSettings = {
  ...DEFAULTS,
  trust: "shuffler",
  central_epsilon: 1,
  honest_fraction: 0.9,
};
const VECTOR: ParsedQuestionSettings = { ...SUMS, measure: "vector", dimension: 8, norm: 2 };

describe("a plan of sums", () => {
  it("is a draft of numbers, or of a vector", () => {
    expect(sumDraftFromSettings({ ...SUMS, count: 2, min: -1, max: 1 })).toEqual({
      id: "planned",
      trust: "shuffler",
      epsilon: 1,
      delta: 1e-8,
      people: 100_000,
      honest_fraction: 0.9,
      numbers: [
        { name: "number-1", min: -1, max: 1 },
        { name: "number-2", min: -1, max: 1 },
      ],
    });
    expect(sumDraftFromSettings(VECTOR)).toMatchObject({ vector: { items: 8, length: 2 } });
    expect(sumDraftFromSettings(VECTOR)).not.toHaveProperty("numbers");
    const choice = sumDraftFromSettings({ ...SUMS, measure: "choice", options: 16 });
    expect(choice).toMatchObject({ questions: [{ kind: "choice", options: 16 }] });
    expect(choice).not.toHaveProperty("vector");
    const questions = (measure: ParsedQuestionSettings["measure"]) =>
      sumDraftFromSettings({ ...SUMS, measure, count: 2, sparsity: 3, max: 9, bins: 32 }).questions;
    expect(questions("flags")).toEqual([
      { name: "flag-1", kind: "flag" },
      { name: "flag-2", kind: "flag" },
    ]);
    expect(questions("set")).toEqual([{ name: "set", kind: "set", options: 10, sparsity: 3 }]);
    expect(questions("number")).toEqual([
      { name: "number", kind: "number", min: 0, max: 9, bins: 32 },
    ]);
    expect(visibleControls({ ...SUMS, measure: "set" }).has("sparsity")).toBe(true);
  });

  it("stands in the address", () => {
    expect(parseSettings(`#${settingsToUrlFragment(VECTOR)}`)).toEqual(VECTOR);
    expect(parseSettings("#trust=shuffler&measure=nothing&people=many&delta=")).toEqual({
      ...DEFAULTS,
      trust: "shuffler",
    });
  });

  it("is not asked for of what is no number", () => {
    const wrong = invalidFieldMessages({
      ...SUMS,
      people: 1.5,
      delta: Number.NaN,
      norm: Number.NaN,
    });
    expect([...wrong.keys()]).toEqual(["people", "delta"]);
  });

  it("blames the controls that are shown", () => {
    expect(fieldForError("number of coordinates", SUMS)).toBe("count");
    expect(fieldForError("messages of one person", SUMS)).toBe("people");
    expect(fieldForError("honest people", SUMS)).toBe("people");
    expect(fieldForError("epsilon", SUMS)).toBe("central_epsilon");
    expect(fieldForError("max", SUMS)).toBe("max");
    expect(fieldForError("max", VECTOR)).toBeUndefined();
    expect(fieldForError("length", VECTOR)).toBe("norm");
    expect(fieldForError(undefined, SUMS)).toBeUndefined();
    expect(visibleControls(VECTOR).has("dimension")).toBe(true);
    expect(visibleControls(DEFAULTS).has("dimension")).toBe(false);
  });

  it("is a task file that says the same, with a line for each number", () => {
    const text = taskFileText({ task: BROWSING_TASK } as unknown as SumPlan);
    expect(JSON.parse(text)).toEqual(BROWSING_TASK);
    expect(text).toContain('    { "name": "load", "min": 0, "max": 10000, "unit": "ms" },\n');
  });
});

describe("people who are asked both ways", () => {
  it("are the same every time, and answer within the limits but for few", () => {
    const answers = answersOfPeople(FIRST_TOPIC, 5, 2);
    expect([...answers]).toEqual([...browsingAnswersOf(5), ...browsingAnswersOf(6)]);
    const beyond = Array.from({ length: 2000 }, (_, person) => browsingAnswersOf(person)).filter(
      (own) =>
        own.some((value, item) => {
          const { min = 0, max = 0 } = BROWSING_TASK.numbers[item] ?? {};
          return !(min <= value && value <= max);
        }),
    );
    expect(beyond.length).toBeLessThan(20);
  });

  it("speak one of the languages, of which each is half as frequent as the one before", () => {
    const people = 20_000;
    const counts = LANGUAGES.map(() => 0);
    for (let person = 0; person < people; person += 1) {
      const language = languageOf(person);
      counts[language] = (counts[language] ?? Number.NaN) + 1;
    }
    for (const [index, count] of counts.entries()) {
      const share = 2 ** -Math.min(index + 1, LANGUAGES.length - 1);
      // The people are the same every time.
      expect(Math.abs(count / people / share - 1)).toBeLessThan(0.25);
    }
  });

  it("are printed in digits of the range", () => {
    expect(formatWithUnit(1234.56, [0, 10_000], "ms")).toBe("1,235 ms");
    expect(formatWithUnit(12.3456, [0, 60], "min")).toBe("12.35 min");
    expect(formatWithUnit(-3.21, [0, 200])).toBe("−3.2");
  });

  it("are summed up without flattery", () => {
    const of = (estimate: number, half: number) => ({
      estimate,
      standard_error: half / 2,
      interval: [estimate - half, estimate + half] as [number, number],
      simultaneous_interval: [estimate - half, estimate + half] as [number, number],
    });
    const found: BothEstimates = {
      people: 10_000,
      enough: true,
      confidence: 0.95,
      items: [{ item: "load", range: [0, 10], truth: 5, local: of(6, 4), shuffled: of(5.5, 0.2) }],
    };
    expect(bothWaysVerdict(found)).toMatch(
      /20 times smaller.*1 of 1 local intervals and inside 0 of 1/,
    );
  });
});
