/**
 * A question for a text, answered by people through the package in headless Chromium. The collector
 * finds the frequent texts.
 */

import { afterAll, beforeAll, expect, it } from "vitest";
import { World } from "./harness.js";

const PEOPLE = 6000;

const QUERIES = {
  id: "queries",
  epsilon: 4,
  people: PEOPLE,
  questions: [{ name: "query", kind: "text", prefixes: [1, 3, 3] }],
};

/** Texts of every ten people. */
const TEXTS = ["é🙂", "cab", "cab", "cab", "", "abbabba", "abbabba", "abbabba", "abbabba", "b"];

interface Found {
  readonly reports: number;
  readonly texts: readonly {
    readonly text: string;
    readonly is_prefix: boolean;
    readonly simultaneous_interval: readonly [number, number];
  }[];
}

let world: World;

beforeAll(async () => {
  world = await World.start(QUERIES);
  const query = (index: number) => TEXTS[index % TEXTS.length] ?? "";
  const people = Array.from({ length: PEOPLE }, (_, index) => ({ query: query(index) }));
  await world.reportAll(QUERIES.id, people);
});
afterAll(() => world?.stop());

it("texts that many people have are found, with their shares", async () => {
  // A false text, or an interval that misses, occurs in one of a hundred thousand runs.
  const query = new URLSearchParams({ alphabet: "abcé🙂", confidence: "0.99999" });
  const answer = await fetch(`${world.endpoint}/tasks/queries/heavy-hitters?${query}`);
  const found = (await answer.json()) as Found;
  expect(found.reports).toBe(PEOPLE);
  const texts = found.texts.map(({ text, is_prefix }) => (is_prefix ? `${text}…` : text));
  expect(texts.sort()).toEqual(["", "abb…", "b", "cab", "é🙂"]);
  for (const { text, simultaneous_interval } of found.texts) {
    const share = TEXTS.filter((own) => own.slice(0, 3) === text).length / TEXTS.length;
    expect(simultaneous_interval[0]).toBeLessThanOrEqual(share);
    expect(simultaneous_interval[1]).toBeGreaterThanOrEqual(share);
  }
});
