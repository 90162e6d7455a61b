import { describe, expect, it } from "vitest";
import {
  type Estimate,
  type EstimatesResponse,
  isSumTaskResponse,
  type Question,
  type Task,
  type TaskResponse,
} from "../api.js";
import {
  batchUnitOf,
  capitalize,
  formatWithUnit,
  minAndMaxBatchSize,
  REPORT_UNIT,
} from "../batch-unit.js";
import { estimatesPath, withShares } from "../estimates-cache.js";
import { estimandTexts, formatToErrorPrecision, questionsOf } from "../labels.js";
import { estimandRows } from "../rows.js";
import { formatDelta, missingMessagesText, privacyPromiseText } from "../sums.js";

const NUMBERS: Task = {
  id: "timings",
  epsilon: 1,
  people: 400,
  numbers: [
    { name: "load", min: 0, max: 100 },
    { name: "tabs", min: 1, max: 50 },
  ],
  messages: { levels: 7, drawn: 2, trials: 1, threshold: "1", noise: 6 },
};
const LOAD: Task = {
  id: "load",
  epsilon: 1,
  people: 400,
  questions: [{ name: "load", kind: "number", min: 0, max: 10, bins: 2 } as Question],
  messages: { draws: 3, threshold: "1", equal: true },
};
const FLAGS: Task = {
  ...LOAD,
  questions: [
    { name: "beta", kind: "flag" },
    { name: "dark", kind: "flag" },
  ],
};
const VECTOR: Task = { id: "v", epsilon: 1, vector: { items: 3 } };

const between = (from: number, to: number): Estimate => ({
  estimate: (from + to) / 2,
  interval: [from, to],
  simultaneous_interval: [from, to],
});

const ANSWER: EstimatesResponse = {
  people: 500,
  messages: 10_000,
  confidence: 0.95,
  estimates: [{ item: "load", unit: "ms", mean: between(40, 41), sum: between(20_000, 20_500) }],
};

describe("batches of sums", () => {
  it("are counted in people, those of reports as they are", () => {
    const counting = batchUnitOf(NUMBERS);
    expect(formatWithUnit(counting, 400)).toBe("400 people");
    expect(formatWithUnit(counting, 1)).toBe("1 person");
    expect(batchUnitOf(VECTOR)).toBe(REPORT_UNIT);
    // An own message about each question, and as many for noise as there are draws.
    expect([LOAD, FLAGS].map((task) => batchUnitOf(task).messagesPerUnit)).toEqual([4, 5]);
    expect(formatWithUnit(REPORT_UNIT, 12)).toBe("12 reports");
    expect(capitalize(counting.pluralNoun)).toBe("People");
  });

  it("have no fewer people than the promise takes", () => {
    const settings = { least: 1, most: 30_001, hours: 24 };
    expect(minAndMaxBatchSize(batchUnitOf(NUMBERS), settings)).toEqual([400, 1501]);
    expect(minAndMaxBatchSize(batchUnitOf(NUMBERS), { ...settings, most: 2 })).toEqual([400, 400]);
    expect(minAndMaxBatchSize(REPORT_UNIT, { least: 5, most: 9, hours: 0 })).toEqual([5, 9]);
  });
});

describe("estimates of sums", () => {
  it("are rows of one question without a name, as means or as sums", () => {
    const [question = {}] = questionsOf(NUMBERS);
    expect(question.name).toBeUndefined();
    const means = estimandRows(ANSWER, question);
    expect(means?.estimand).toBe("mean");
    expect(means?.rows[0]).toMatchObject({ label: "load", unit: "ms", valueRange: [0, 100] });
    // The range of a sum is the range of one number times the number of people.
    expect(estimandRows(ANSWER, question, "sum")?.rows[0]?.valueRange).toEqual([0, 50_000]);
    expect(questionsOf(VECTOR)).toEqual([{ kind: "vector", items: 3 }]);
    expect(
      estimatesPath("timings", question, { batches: "2", confidence: 0.95, items: null }),
    ).toBe("timings/estimates?confidence=0.95&batches=2");
  });

  it("are printed in as many digits as their intervals leave", () => {
    expect(formatToErrorPrecision(4938.4, between(4598, 5277))).toBe("4,938");
    expect(formatToErrorPrecision(0.51234, between(0.512, 0.513))).toBe("0.51234");
    expect(formatToErrorPrecision(-0.00001, between(-0.5, 0.5))).toBe("0.00");
    expect(formatToErrorPrecision(-2.34, between(-3, -1))).toBe("−2.3");
    expect(formatToErrorPrecision(1.23456, between(1, 1))).toBe("1.23");
    expect(formatToErrorPrecision(1.23456)).toBe("1.23");
  });
});

describe("counted answers", () => {
  it("are shares of one question that requests do not name", () => {
    const [flags = {}] = questionsOf(FLAGS);
    expect(questionsOf(FLAGS)).toEqual([{ kind: "flags", items: ["beta", "dark"], counted: true }]);
    const [load = {}] = questionsOf(LOAD);
    expect(load).toMatchObject({ name: "load", counted: true });
    expect(estimatesPath("load", load, { batches: null, confidence: 0.95, items: null })).toBe(
      "load/estimates?confidence=0.95",
    );
    const estimates = [{ item: "beta", mean: between(0.5, 0.5004), sum: between(250, 260) }];
    const rows = estimandRows(withShares({ ...ANSWER, estimates }), flags);
    expect(rows).toMatchObject({ estimand: "share", areShares: true });
    const [beta] = rows?.rows ?? [];
    expect(rows?.format(0.50021, beta?.estimate)).toBe("50.021%");
    expect(estimandTexts("sum", flags).short).toBe("Number of people");
  });

  it("have a warning if messages are missing", () => {
    const [[flags = {}], [load = {}]] = [questionsOf(FLAGS), questionsOf(NUMBERS)];
    expect(missingMessagesText(undefined, flags)).toBeUndefined();
    expect(missingMessagesText(120, flags)).toBe(
      "At least 120 messages of these people are missing: invalid, repeated, blank or lost. The intervals are wider, so that they allow for that.",
    );
    expect(missingMessagesText(1, load)).toContain("At least 1 message of these people");
    expect(missingMessagesText(1, load)).toContain("The intervals do not allow for that.");
  });

  it("have bins with edges", () => {
    const number = { range: [0, 10] as const, distribution: [{ ...between(0, 1), below: 5 }] };
    const estimates = [0, 1].map((item) => ({ item, mean: between(0.4, 0.6) }));
    expect(withShares({ ...ANSWER, number, estimates }).estimates.map(({ item }) => item)).toEqual([
      { from: 0, to: 5 },
      { from: 5, to: 10 },
    ]);
  });
});

it("a promise names whom it takes on trust, and no local ε", () => {
  const privacy = {
    trust: "shuffler",
    central_epsilon: 1,
    delta: 1e-6,
    people: 10_000,
    honest_fraction: 0.9,
    statement: "",
  } as const;
  expect(privacyPromiseText(privacy)).toBe(
    "People must trust the shuffler: there is no local ε. Batches have central ε = 1, δ = 10⁻⁶ if they have at least 10,000 people and 90% of the people are honest.",
  );
  expect(isSumTaskResponse({ task: NUMBERS, fingerprint: "", privacy })).toBe(true);
  const reports: TaskResponse = {
    task: VECTOR,
    fingerprint: "",
    effective_epsilon: 1,
    protects: "",
  };
  expect(isSumTaskResponse(reports)).toBe(false);
  expect([1e-6, 2.5e-8, 0.001, 0.01].map(formatDelta)).toEqual([
    "10⁻⁶",
    "2.5 × 10⁻⁸",
    "10⁻³",
    "10⁻²",
  ]);
});
