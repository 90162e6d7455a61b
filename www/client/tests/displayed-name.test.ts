import { describe, expect, it } from "vitest";
import { displayedName } from "../displayed-name.js";
import { type HistoryClient, readClientTexts } from "../history/client-texts.js";
import { ENGLISH } from "../history.js";
import { clientOf, FakeCollector, MEMO } from "./harness.js";

const isolated = (text: string) => `\u2068${text}\u2069`;

describe("a displayed name", () => {
  it.each(["dark-mode", "a", "large text", "item-12", "loadMs", "a, b (c) d"])(
    "is left as it is where no direction changes it: %s",
    (name) => expect(displayedName(name)).toBe(name),
  );

  it.each(["שלום", "C++", "12 to 15", "naïve café!", "", "日本"])(
    "is isolated from the text around it: %s",
    (name) => expect(displayedName(name)).toBe(isolated(name)),
  );

  it.each([
    ["\u202egpj.exe", "U+202Egpj.exe"],
    ["a\u2066b\u2069", "aU+2066bU+2069"],
    ["a\u0000\u001b[2J\u007f", "aU+0000U+001B[2JU+007F"],
    ["a\u0085\n\tb", "aU+0085U+000AU+0009b"],
    ["\u200e\u200f\u061c\u2028\u2029x", "U+200EU+200FU+061CU+2028U+2029x"],
  ])("shows control characters: %j", (name, visible) => {
    expect(displayedName(name)).toBe(visible);
  });

  it("cannot end its own isolation", () => {
    expect(displayedName("א\u2069\u202eb")).toBe(isolated("אU+2069U+202Eb"));
  });
});

describe("the history element", () => {
  const format = { date: String, number: String };

  it("shows names of questions and items visibly", async () => {
    const { budget: _, ...flag } = MEMO;
    const [question] = flag.questions;
    const task = {
      ...flag,
      questions: [{ ...question, name: "a\u202eb" }],
    } as unknown as typeof flag;
    const client = clientOf(new FakeCollector(), { task });
    await client.ready();
    const { covers } = await readClientTexts(client, ENGLISH, format);
    expect(covers).toBe("Each report covers: aU+202Eb.");
    const own = {
      ...ENGLISH,
      covers: ([name = ""]: readonly string[]) => ({ "a\u202eb": "theme" })[name] ?? "",
    };
    expect((await readClientTexts(client, own, format)).covers).toBe("theme");
  });

  it("shows names of items, and of numbers in sums", async () => {
    const names = ["a\u202eb", "שלום"];
    const spent = { used: 0, allowed: 1, reports: 0, durable: true, spent: 0, centralSpent: 0 };
    const covered = async (task: object) => {
      const state = { about: { task }, budget: async () => spent, history: async () => [] };
      return (await readClientTexts(state as unknown as HistoryClient, ENGLISH, format)).covers;
    };
    const shown = `Each report covers: aU+202Eb, ${isolated("שלום")}.`;
    const mechanism = { name: "collision" };
    expect(await covered({ items: names, epsilon: 1, mechanism })).toBe(shown);
    const sums = {
      trust: "shuffler",
      epsilon: 1,
      delta: 1e-6,
      people: 10,
      numbers: names.map((name) => ({ name, min: 0, max: 1 })),
      messages: { levels: 7, drawn: 2, noise: 6 },
    };
    expect(await covered(sums)).toContain(shown);
  });
});
