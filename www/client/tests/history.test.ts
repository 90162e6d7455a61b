import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { maximumCertaintyPercent } from "../certainty.js";
import { readClientTexts } from "../history/client-texts.js";
import { splitUpload } from "../history/report.js";
import { ENGLISH } from "../history.js";
import { answers, clientOf, FakeCollector, MEMO, readUpload, stubDatabase } from "./harness.js";

const file = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");
/** Joins the continued lines of a Rust string. */
const flowing = (text: string) => text.replace(/\\\n\s*/g, "");

describe("where there is no DOM", () => {
  it("is imported and defines nothing", () => {
    expect(globalThis.HTMLElement).toBeUndefined();
    expect(ENGLISH.lang).toBe("en-GB");
  });
});

describe("what ε means", () => {
  const promise = flowing(file("server/analysis/src/promise.rs"));

  it("is said as the collector says it", () => {
    const said = ENGLISH.meaning("1", "73", "everything", "0").replaceAll("\u00a0", " ");
    expect(promise).toContain("Anyone who sees a report, including the operator of this");
    expect(said).toContain("This limit also holds for the operator of the collector.");
    expect(promise).toContain("from 50 % sure of {guess} to at most {} % sure");
    expect(said).toContain("50 % sure of an answer of yours is at most 73 % sure after seeing one");
    expect(promise).toContain("values differ by at most");
    expect(ENGLISH.meaning("1", "73", "near", "2")).toContain("differ by at most 2 in sum");
  });

  it("adds up over a year", () => {
    const said = ENGLISH.year(1, 30, 13, "13", "99.9998").replaceAll("\u00a0", " ");
    expect(said).toContain("at most 1 report in 30 days, so at most 13 in a year.");
    expect(said).toContain("(ε = 13)");
    expect(promise).toContain("sure of an answer that never changed.");
    expect(said).toContain("99.9998 % sure of an answer that never changed");
  });

  it("is that of the memo, however many reports are made from it", () => {
    const said = ENGLISH.memo(365, "2", "88").replaceAll("\u00a0", " ");
    expect(said).toContain("This browser keeps one noisy answer for 365 days");
    expect(said).toContain(
      "at most 88 % sure of the answer that you gave first (ε = 2), however many they are.",
    );
    expect(said).toContain("no report shows it until the 365 days are over");
    expect(said).toContain("a small probability that someone finds out which ones are yours");
  });

  it("is known as the analysis knows it", () => {
    // The same numbers as in the example of `certainty`.
    const certainty = file("server/analysis/src/numeric/certainty.rs");
    const example = certainty.slice(certainty.indexOf("/// let stated = ["));
    const [given, stated] = [...example.matchAll(/\[(.*?)\]/g)].map(([, list = ""]) =>
      list.split(", "),
    );
    expect(given).toHaveLength(7);
    expect(given?.map((epsilon) => `"${maximumCertaintyPercent(Number(epsilon))}"`)).toEqual(
      stated,
    );
  });

  it.each([0, 0.001, 0.5, 1, 3, 5, 8, 12, 20])("is not understated at ε = %d", (epsilon) => {
    const sure = 100 / (1 + Math.exp(-epsilon));
    // Rounded to the nearest per cent; above 99 % rounded up.
    const over = Number(maximumCertaintyPercent(epsilon)) - sure;
    expect(over).toBeGreaterThanOrEqual(sure > 99 ? -1e-12 : -0.5);
    expect(over).toBeLessThanOrEqual(sure > 99 ? 100 - sure : 0.5);
  });
});

describe("sums through a shuffler", () => {
  const { sums } = ENGLISH;
  const said = sums.meaning("1", "0.000001", "73", "10,000", "9,000");

  it("are said to have no local ε, as the analyser says it", () => {
    const promise = flowing(file("server/analysis/src/promise.rs"));
    expect(promise).toContain("There is no local ε. Anyone who links messages to their sender");
    expect(said).toContain("There is no local ε: anyone who links these messages to you");
    expect(promise).toContain("The shuffler and the analyser together");
    expect(said).toContain("the shuffler and the analyser together");
    expect(said.replaceAll("\u00a0", " ")).toContain("to at most 73 % sure (central ε = 1)");
  });

  it("speak of no ε but a central one", () => {
    const all = [said, sums.used(1, 1, "1"), sums.spent(2, "2"), sums.cost("1", "1e-6")];
    for (const text of all) {
      const [every, named] = [/ε/g, /(central|local) ε/g].map((own) => text.match(own)?.length);
      expect(every, text).toBe(named);
    }
    expect([...all, ...sums.parts].join()).not.toMatch(/randomised/);
    expect(sums.covers(["a", "b"], 40, false)).toContain("sent as 40 sealed messages");
    expect(sums.covers(["a"], 7, true)).toContain("sent as at most 7 sealed messages");
    expect(sums.covers(3, 40, false)).toContain("3 numbers");
  });

  it("are shown in the parts of an upload, however many messages it has", () => {
    for (const [count, digits] of [
      [[40], "28"],
      [[0x80, 0x20], "8020"],
    ] as const) {
      const bytes = Uint8Array.from([2, ...Array(32).fill(0xff), ...count, 0xff, 1, 2]);
      const parts = splitUpload(bytes).map((part) => Buffer.from(part).toString("hex"));
      expect(parts.slice(3)).toEqual([digits, "ff0102"]);
      expect(parts).toHaveLength(sums.parts.length);
    }
  });
});

describe("a client of a task with a memo", () => {
  it("is told of what the memo spends, and not of a year of fresh reports", async () => {
    stubDatabase();
    const client = clientOf(new FakeCollector(), { task: MEMO, storage: "device" });
    await client.report({ dark: true });
    const format = { date: String, number: String };
    const { meaning, used, total, entries } = await readClientTexts(client, ENGLISH, format);
    expect(meaning).toContain(ENGLISH.memo(365, "2", "88"));
    expect(meaning).not.toContain("in a year");
    expect(meaning).not.toContain(ENGLISH.unlinked);
    expect(used).toBe(ENGLISH.used(1, 1, "1"));
    expect(total).toBe(ENGLISH.spent(1, "2", "88"));
    expect(entries.map(({ cost }) => cost)).toEqual([ENGLISH.cost("1")]);
  });
});

describe("a client of a task with cover reports", () => {
  it("says when the report leaves, and that its arrival shows no answer", async () => {
    const { budget: _, ...flag } = MEMO;
    const task = { ...flag, budget: { cover: { minutes: 30 } } };
    const client = clientOf(new FakeCollector(), { task });
    const before = Date.now();
    await client.ready();
    const format = { date: String, number: String };
    const { meaning, used, heldUntil, entries } = await readClientTexts(client, ENGLISH, format);
    expect(meaning).toContain(ENGLISH.cover);
    expect(meaning).toContain(ENGLISH.unlinked);
    expect(used).toBe(ENGLISH.used(1, 1, "1"));
    expect(entries).toEqual([]);
    const held = Number(heldUntil) - 30 * 60_000;
    expect(held).toBeGreaterThanOrEqual(before);
    expect(held).toBeLessThanOrEqual(Date.now());
  });
});

describe("an upload", () => {
  it("is shown in the parts that it has", async () => {
    const client = clientOf(new FakeCollector());
    await client.report(answers(1));
    const { fingerprint } = await client.ready();
    const [made] = await client.history();
    const bytes = made?.bytes ?? new Uint8Array();
    const parts = splitUpload(bytes).map((part) => Buffer.from(part).toString("hex"));
    const { id, reports } = readUpload(bytes);
    expect(parts).toEqual(["01", fingerprint, id, "01", Buffer.from(reports).toString("hex")]);
    expect(parts).toHaveLength(ENGLISH.parts.length);
  });
});
