/** The packed package in every stack and engine: each report arrives and is counted once. */

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Stacks } from "./harness.js";
import { STACKS } from "./list.mjs";
import { CHAPTER, chapterAfter } from "./table.mjs";

let world: Stacks;
/** Number of reports that each stack's app claims. */
const reported = new Map<string, number>();

beforeAll(async () => {
  world = await Stacks.start(STACKS);
});
afterAll(() => world?.stop());

describe.concurrent("a report each is counted", () => {
  it.each(STACKS)("$name", async (stack) => {
    const reports = await world.run(stack);
    expect(reports).toBeGreaterThan(0);
    expect(await world.counted(stack)).toBe(reports);
    reported.set(stack.name, reports);
  });
});

describe("all of them", () => {
  it("have sent nothing twice in the end", async () => {
    for (const stack of STACKS) {
      expect(await world.counted(stack), stack.name).toBe(reported.get(stack.name));
    }
  });

  it("are the book's table, which -u writes after they ran", async () => {
    expect([...reported.keys()].sort()).toEqual(STACKS.map(({ name }) => name).sort());
    const seen = world.engines.map(({ name, version }) => `${name} ${version}`);
    const node = `Node.js ${process.versions.node}`;
    await expect(chapterAfter([...seen, node])).toMatchFileSnapshot(CHAPTER);
  });
});
