/**
 * Tests of a task's budget: missing fields have defaults, and a default budget is the same as none.
 */

import { describe, expect, it } from "vitest";
import { createRandomizer, type Task, TaskError } from "../index.js";
import { budgetOf, parseTask } from "../task.js";
import { SETTINGS, SURVEY } from "./harness.js";

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
    const whole = { days: 30, reports: 1, answers: "fresh" } as const;
    expect(budgetOf(task)).toEqual(whole);
    expect(budgetOf({ ...task, budget: { days: 7 } })).toEqual({ ...whole, days: 7 });
    const none = await fingerprint(task);
    for (const same of [{}, { days: 30 }, whole]) {
      expect(await of(same)).toBe(none);
    }
    expect(await of({ days: 7 })).toBe(await of({ ...whole, days: 7 }));
    const others = [{ days: 7 }, { reports: 7 }, { answers: "permanent" as const }];
    const fingerprints = await Promise.all(others.map(of));
    expect(new Set([none, ...fingerprints]).size).toBe(4);
  });

  it.each([
    [7, "budget is not an object"],
    [{ day: 7 }, 'budget has the unknown field "day"'],
    [{ days: 1.5 }, "days is 1.5, expected a whole number"],
    [{ days: "7" }, "days is not a number"],
    [{ answers: "stale" }, 'answers is "stale", expected fresh or permanent'],
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
