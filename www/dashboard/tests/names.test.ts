import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { questionsOf as storyQuestions } from "../../demo/story/questions.js";
import { CollectorError, type Estimate, type EstimatesResponse, type Question } from "../api.js";
import { EstimatesControls } from "../controls.js";
import { crossView } from "../cross.js";
import { dotTable } from "../dots.js";
import { numberView } from "../histogram.js";
import { itemName, itemQueryName } from "../labels.js";
import { timeLinePlots } from "../lines.js";
import { commonTextsView, influenceView, noteParagraphs } from "../panels.js";
import { type EstimandRows, estimandRows } from "../rows.js";
import { dishonestInfluenceView } from "../sums.js";
import { itemTimeLines, numberTimeLines } from "../timeline.js";

const HOSTILE = "a\u202eb\u2066";
const VISIBLE = "aU+202EbU+2066";
/** Controls that no text of the page may contain, apart from the isolates around names. */
const CONTROLS = /[\u202a-\u202e\u2066\u2067\u200e\u200f]/;

const SHARE: Estimate = { estimate: 0.3, interval: [0.2, 0.4], simultaneous_interval: [0.1, 0.5] };

/** Element that only remembers its attributes and children. */
class FakeElement {
  readonly parts: unknown[] = [];
  readonly style = {};
  setAttribute(name: string, value: string): void {
    // The value of an option is not shown.
    if (name !== "value") this.parts.push(value);
  }
  removeAttribute(): void {}
  addEventListener(): void {}
  append(...children: unknown[]): void {
    this.parts.push(...children);
  }
  replaceChildren(...children: unknown[]): void {
    this.parts.push(...children);
  }
}

/** Returns all texts and attributes in a tree. */
const textOf = (node: unknown): string =>
  node instanceof FakeElement ? node.parts.map(textOf).join(" ") : String(node);

function expectVisible(nodes: unknown): void {
  const text = [nodes].flat().map(textOf).join(" ");
  expect(text).toContain(VISIBLE);
  expect(text).not.toMatch(CONTROLS);
}

beforeEach(() => {
  const make = () => new FakeElement();
  vi.stubGlobal("document", { createElement: make, createElementNS: make });
});
afterEach(() => vi.unstubAllGlobals());

const RESPONSE: EstimatesResponse = {
  reports: 1000,
  confidence: 0.95,
  estimates: [{ item: HOSTILE, share: SHARE, unit: HOSTILE } as never],
};
const QUESTION: Question = { name: HOSTILE, kind: "set" };

describe("hostile names", () => {
  it("are shown visibly in labels, and are asked for as they are", () => {
    expect(itemName(HOSTILE)).toBe(VISIBLE);
    expect(itemName({ [HOSTILE]: HOSTILE })).toBe(`${VISIBLE}: ${VISIBLE}`);
    expect(itemQueryName(HOSTILE)).toBe(HOSTILE);
    expect(itemQueryName({ [HOSTILE]: HOSTILE })).toBe(`${HOSTILE}: ${HOSTILE}`);
  });

  it("are shown visibly in tables and time lines of items", () => {
    const rows = estimandRows(RESPONSE, QUESTION) as EstimandRows;
    expectVisible(dotTable("Items", rows, rows.rows));
    const lines = itemTimeLines([VISIBLE], "share", [[1, RESPONSE]]);
    expect(lines[0]?.points[0]?.estimate).toBe(SHARE);
    expectVisible(timeLinePlots(lines, String, String, { zero: true, apart: false }));
  });

  it("find the range of a number", () => {
    const of = [{ name: HOSTILE, min: 0, max: 9 }];
    const response = { ...RESPONSE, estimates: [{ item: HOSTILE, mean: SHARE }] };
    const rows = estimandRows(response, { kind: "numbers", of } as Question);
    expect(rows?.rows[0]?.valueRange).toEqual([0, 9]);
  });

  it("are shown visibly in controls", () => {
    const controls = new EstimatesControls(() => {});
    const state = { batches: null, question: null, estimand: null, order: "task", find: "" };
    const unit = { singularNoun: "report", pluralNoun: "reports", messagesPerUnit: 1 };
    const other = { name: "other", kind: "flag" };
    controls.show(state as never, [QUESTION, other], other, [], unit as never);
    expectVisible(controls.element);
  });

  it("are shown visibly in cross-tabulations", () => {
    const margin = { name: HOSTILE, unit: HOSTILE, shares: [{ item: HOSTILE, share: SHARE }] };
    const conditional = { row: HOSTILE, ...SHARE };
    const cross = {
      rows: margin,
      columns: margin,
      conditional_means: [conditional],
      conditional_shares: [{ ...conditional, column: HOSTILE }],
    };
    expectVisible(crossView({ ...RESPONSE, cross } as never));
  });

  it("are shown visibly beside numbers", () => {
    const number = {
      unit: HOSTILE,
      range: [0, 2],
      mean: SHARE,
      distribution: [],
      quantiles: [{ quantile: 0.5, ...SHARE }],
    };
    const estimates = [0, 1].map((from) => ({ item: { from, to: from + 1 }, share: SHARE }));
    const response = { ...RESPONSE, number, estimates } as never;
    expectVisible(numberView(response, { ...QUESTION, kind: "number" }));
    for (const { label } of numberTimeLines({ ...QUESTION, kind: "number" }, [[1, response]])) {
      expect(label).toContain(VISIBLE);
      expect(label).not.toMatch(CONTROLS);
    }
  });

  it("are shown visibly in effects of made-up reports, and in common texts", () => {
    const effect = { question: HOSTILE, estimand: "mean", unit: HOSTILE, up: 1, down: 1 };
    const test = { question: HOSTILE, statement: "s", p: 0.5, flagged: true };
    const found = {
      reports: 1,
      made_up_fraction: 1,
      influence: [effect],
      crowd: [test],
      statement: "",
    };
    expectVisible(influenceView(found as never, [QUESTION]));
    const sums = {
      item: HOSTILE,
      unit: HOSTILE,
      honest_change: 1,
      dishonest_change: 1,
      total_change: 1,
      dishonest_people: 1,
    };
    expectVisible(
      dishonestInfluenceView({ people: 1, influence: [sums], statement: "" } as never, []),
    );
    const texts = [{ text: HOSTILE, is_prefix: true, ...SHARE }];
    expectVisible(commonTextsView({ texts, confidence: 0.95, reports: 1 } as never));
  });

  it("are shown visibly in what the collector says", () => {
    expectVisible(noteParagraphs(`Numbers outside 0 to 9 ${HOSTILE} count as 9.`));
    const error = new CollectorError(404, { title: "Unknown item", detail: HOSTILE });
    expect(error.message).toBe(`Unknown item: ${VISIBLE}.`);
  });

  it("are shown visibly by the demo", () => {
    const [question] = storyQuestions([HOSTILE]);
    expect(question).toMatchObject({ item: HOSTILE, text: VISIBLE, label: VISIBLE });
  });
});
