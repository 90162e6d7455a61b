import { describe, expect, it, vi } from "vitest";
import type { Explanation } from "../shared/analysis.js";
import { CollectorClient, type EstimatesResponse } from "../story/collector.js";
import draft from "../story/tasks/visits.json" with { type: "json" };
import {
  loadTimeVerdict,
  quantileChartRows,
  shareBelowChartRows,
} from "../story/visits/estimates.js";
import { loadTimeText, reportCallCode } from "../story/visits/own.js";
import { drawVisitor, drawVisits, visitTrueCounts } from "../story/visits/people.js";
import { revealedText } from "../story/visits/revealed.js";
import { LOAD, VISITS_TASK, visitEntries } from "../story/visits/task.js";

describe("the task of the visits", () => {
  it("is what the collector serves", () => {
    expect(VISITS_TASK).toEqual(draft);
  });

  it("is refused where the collector's is another", async () => {
    vi.stubGlobal("fetch", async () => Response.json({ fingerprint: "ab" }));
    const collector = new CollectorClient("http://x", VISITS_TASK.id);
    await collector.checkFingerprint("ab");
    await expect(collector.checkFingerprint("cd")).rejects.toMatchObject({ isPermanent: true });
  });
});

describe("what the bytes of a visit tell", () => {
  const visit = { theme: "system", features: ["share", "search"], loadMs: 1830 } as const;

  it("is asked of the answers as the questions see them", () => {
    expect(visitEntries(visit)).toEqual([
      [{ item: 2, value: 1 }],
      [
        { item: 2, value: 1 },
        { item: 0, value: 1 },
      ],
      [{ item: 0, value: 1830 }],
    ]);
  });

  it("is said of one question, whatever was answered", () => {
    const told: Explanation = {
      question: "features",
      kind: "set",
      parts: [],
      response: { kind: "bucket", bucket: 1 },
      coded: [],
      meanings: [],
      ratios: [1 / Math.E, Math.E],
    };
    expect(revealedText(told)).toContain("These bytes answer the question features and");
    expect(revealedText(told)).toContain("made from your answer: nothing.");
    expect(revealedText(told)).toContain("by more than a factor of 2.72");
    const coded = [
      { label: "search", chance: 1, value: null },
      { label: "share", chance: 1, value: null },
    ];
    expect(revealedText({ ...told, coded })).toContain("your answer: search and share.");
  });
});

describe("the invented visitors", () => {
  it("are packed as the package takes them: an option, some options, a number", () => {
    const { lengths, items, values, trueCounts: truth } = drawVisits(7, 2);
    expect(truth).toEqual({ people: 2, yes: [], no: [] });
    const [options, features] = VISITS_TASK.questions
      .slice(0, 2)
      .map((question) => ("options" in question ? (question.options as readonly string[]) : []));
    let at = 0;
    const read = (index: number) => {
      const [one, some, number] = lengths.subarray(3 * index, 3 * index + 3);
      expect([one, number]).toEqual([1, 1]);
      const theme = options?.[items[at++] ?? -1];
      const used = Array.from({ length: some ?? 0 }, () => features?.[items[at++] ?? -1]);
      expect(items[at]).toBe(0);
      return { theme, features: used, loadMs: values[at++] };
    };
    expect([read(0), read(1)]).toEqual([drawVisitor(7), drawVisitor(8)]);
    expect(at).toBe(values.length);
  });

  it("use two features at most, and are the same people in every batch", () => {
    const { lengths, items } = drawVisits(0, 3000);
    expect(Math.max(...lengths)).toBe(2);
    const parts = [drawVisits(0, 1000), drawVisits(1000, 2000)];
    expect(parts.flatMap((part) => [...part.items])).toEqual([...items]);
  });

  it("have the shares and load times that they are invented with", () => {
    const { themes, features, quantile } = visitTrueCounts(20_000, null);
    // Five standard errors of a share of 20,000 people are below 0.018.
    [0.42, 0.3, 0.22, 0.06].forEach((share, index) => {
      expect(Math.abs((themes[index] ?? 0) / 20_000 - share)).toBeLessThan(0.018);
    });
    expect(Math.max(...features)).toBe(features[0]);
    // The mixture's median is 752 ms. Its density there is 0.00081 per millisecond, so five
    // standard errors are 22 ms.
    expect(Math.abs((quantile(0.5) ?? 0) - 752)).toBeLessThan(22);
  });
});

describe("the truth about visits", () => {
  const own = { theme: "high-contrast", features: ["offline"], loadMs: 12 } as const;

  it("is that of nobody, of the crowd, and of the visitor's own", () => {
    expect(visitTrueCounts(0, null).quantile(0.5)).toBeNull();
    const alone = visitTrueCounts(0, own);
    expect([alone.themes, alone.features]).toEqual([
      [0, 0, 0, 1],
      [0, 0, 0, 0, 1],
    ]);
    // Numbers below the scale count as its minimum.
    expect([alone.countBelow(50), alone.countBelow(60), alone.quantile(0.5)]).toEqual([0, 1, 50]);
    const [crowd, both] = [visitTrueCounts(500, null), visitTrueCounts(500, own)];
    expect([both.people, both.crowdSize]).toEqual([501, 500]);
    expect(both.themes[3]).toBe((crowd.themes[3] ?? 0) + 1);
    expect(both.themes.reduce((sum, n) => sum + n)).toBe(501);
    expect(both.countBelow(99_999)).toBe(501);
  });

  it("takes for a quantile the least load time that enough do not exceed", () => {
    const loads = Array.from({ length: 500 }, (_, person) => drawVisitor(person).loadMs);
    const { quantile } = visitTrueCounts(500, null);
    for (const part of [0.5, 0.75, 0.95]) {
      const found = quantile(part) ?? 0;
      expect(loads.filter((load) => load <= found).length).toBeGreaterThanOrEqual(part * 500);
      expect(loads.filter((load) => load < found).length).toBeLessThan(part * 500);
    }
  });

  it("counts the load times below an edge", () => {
    const loads = Array.from({ length: 500 }, (_, person) => drawVisitor(person).loadMs);
    const { countBelow: below } = visitTrueCounts(500, null);
    for (const edge of LOAD.edges.slice(1, -1)) {
      expect(below(edge)).toBe(loads.filter((load) => load < edge).length);
    }
  });
});

describe("load times in words", () => {
  const quantile = (part: number, estimate: number, half: number) => ({
    quantile: part,
    estimate,
    interval: [estimate - half / 2, estimate + half / 2] as const,
    simultaneous_interval: [estimate - half, estimate + half] as const,
  });
  const share = {
    estimate: 0.1,
    standard_error: 0.02,
    interval: [0.06, 0.14] as const,
    simultaneous_interval: [0.05, 0.15] as const,
  };
  const answer = {
    number: {
      distribution: [{ ...share, below: 60 }],
      quantiles: [quantile(0.95, 3000, 500), quantile(0.5, 700, 90)],
    },
  } as Partial<EstimatesResponse> as EstimatesResponse;
  const truth = {
    ...visitTrueCounts(0, null),
    quantile: (part: number) => (part === 0.5 ? 750 : 9000),
  };

  it("name what is estimated, and count the intervals that hold the truth", () => {
    const rows = quantileChartRows(answer, truth);
    expect(rows.map(({ estimate }) => estimate)).toEqual([700, null, 3000]);
    const verdict = (comparable: boolean) =>
      loadTimeVerdict({ sharesBelow: [], quantiles: rows }, 1200, comparable);
    expect(verdict(false)).toBe(
      "1,200 reports: median 700 ms (610 to 790), 95th percentile 3,000 ms (2,500 to 3,500).",
    );
    expect(verdict(true)).toMatch(/inside 1 of 3 intervals\.$/);
    const below = shareBelowChartRows(answer, { ...truth, people: 10, countBelow: () => 1 });
    expect(below.map(({ estimate }) => estimate)).toEqual([0.1, ...Array(30).fill(null)]);
    expect(below[0]).toMatchObject({ label: "Below 60 ms", truth: 0.1, interval: [0.05, 0.15] });
    expect(
      loadTimeVerdict({ sharesBelow: below.slice(0, 1), quantiles: rows }, 1200, true),
    ).toMatch(/ The truth lies inside 2 of 4 intervals\.$/);
    const none = quantileChartRows(undefined, truth);
    expect(loadTimeVerdict({ sharesBelow: [], quantiles: none }, 0, true)).toMatch(
      /no reports yet/,
    );
  });

  it("say what the page calls, and what is clipped", () => {
    expect(reportCallCode({ theme: "dark", features: ["search", "share"], loadMs: 1830 })).toBe(
      'await client.report({\n  theme: "dark",\n  features: ["search", "share"],\n  loadMs: 1830,\n});',
    );
    expect([loadTimeText(1830), loadTimeText(12)]).toEqual([
      "1,830 ms, measured",
      "12 ms, measured, counted as 50 ms",
    ]);
  });
});
