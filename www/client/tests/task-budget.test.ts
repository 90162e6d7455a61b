/**
 * Tests of a task's budget: missing fields have defaults, and a default budget is the same as none.
 */

import { describe, expect, it } from "vitest";
import { createRandomizer, type MemoParameters, type Task, TaskError } from "../index.js";
import { budgetOf, parseTask } from "../task.js";
import { MEMO, SETTINGS, SURVEY } from "./harness.js";

const TASKS: readonly Task[] = [SETTINGS, SURVEY];

async function fingerprint(task: Task) {
  const randomizer = await createRandomizer({ task });
  const { fingerprint } = randomizer;
  randomizer.free();
  return fingerprint;
}

describe.each(TASKS)("the budget of $id", (task) => {
  const of = (budget: NonNullable<Task["budget"]>) => fingerprint({ ...task, budget });

  it("is the default where it is left out, in parts or whole", async () => {
    const whole = { days: 30, reports: 1 };
    expect(budgetOf(task)).toEqual(whole);
    expect(budgetOf({ ...task, budget: { days: 7 } })).toEqual({ ...whole, days: 7 });
    const none = await fingerprint(task);
    for (const same of [{}, { days: 30 }, whole]) {
      expect(await of(same)).toBe(none);
    }
    expect(await of({ days: 7 })).toBe(await of({ ...whole, days: 7 }));
    const fingerprints = await Promise.all([{ days: 7 }, { reports: 7 }].map(of));
    expect(new Set([none, ...fingerprints]).size).toBe(3);
  });

  it.each([
    [7, "budget is not an object"],
    [{ day: 7 }, 'budget has the unknown field "day"'],
    [{ days: 1.5 }, "days is 1.5, expected a whole number"],
    [{ days: "7" }, "days is not a number"],
    [{ answers: "permanent" }, 'budget has the unknown field "answers"'],
    [{ memo: 2 }, "memo is not an object"],
    [{ memo: null }, "memo is not an object"],
    [{ memo: { epsilon: 2 } }, "days is not a number"],
    [{ memo: { days: 365 } }, "epsilon is not a number"],
    [{ memo: { epsilon: 13, days: 365 } }, "epsilon is 13, expected 0.001 to 12"],
    [{ memo: { epsilon: 2, days: 365, until: 0 } }, 'memo has the unknown field "until"'],
  ])("is refused as %j", (budget, words) => {
    expect(() => parseTask({ ...task, budget })).toThrow(TaskError);
    expect(() => parseTask({ ...task, budget })).toThrow(words);
  });

  it.each([{ days: 0 }, { days: 3651 }, { reports: 0 }, { reports: 10_001 }])(
    "keeps to its ranges: %j",
    async (budget) => {
      await expect(of(budget)).rejects.toMatchObject({ code: "invalid-task" });
    },
  );
});

describe("a memo", () => {
  const task: Task = MEMO;
  const of = (memo: MemoParameters, days = 30) => fingerprint({ ...task, budget: { days, memo } });
  const { memo } = MEMO.budget;

  it("is part of the fingerprint, as the core computes it", async () => {
    const { budget, ...fresh } = task;
    const memos = [memo, { ...memo, epsilon: 3 }, { ...memo, days: 366 }];
    const fingerprints = await Promise.all(memos.map((each) => of(each)));
    expect(new Set([await fingerprint(fresh), ...fingerprints]).size).toBe(4);
    expect(await fingerprint({ ...fresh, budget: { ...budget, reports: 1 } })).toBe(
      fingerprints[0],
    );
  });

  it.each<[string, MemoParameters, number?]>([
    ["an ε that does not exceed that of a report", { ...memo, epsilon: 1 }],
    ["fewer days than a window", { ...memo, days: 29 }],
    ["no days", { ...memo, days: 0 }, 1],
    ["too many days", { ...memo, days: 3651 }],
  ])("is refused by the core with %s", async (_, given, days) => {
    await expect(of(given, days)).rejects.toMatchObject({ code: "invalid-task" });
  });

  it("is refused by the core with several reports a window", async () => {
    await expect(fingerprint({ ...task, budget: { reports: 2, memo } })).rejects.toMatchObject({
      code: "invalid-task",
    });
  });

  it.each(TASKS)("is refused by the core for $id", async (other) => {
    await expect(fingerprint({ ...other, budget: { memo } })).rejects.toMatchObject({
      code: "invalid-task",
    });
  });
});
