import { describe, expect, it } from "vitest";
import type { MeasuredBound, SignedAnswer } from "../shared/analysis.js";
import { runAudit } from "../story/measure.js";

const INPUTS: [SignedAnswer[], SignedAnswer[]] = [
  [
    { item: 0, sign: 1 },
    { item: 2, sign: 1 },
  ],
  [],
];
const MEASURED = { empirical_lower_bound: 0.5 } as MeasuredBound;

/** Creates fakes for an audit, which record their calls. */
function audited() {
  const added: { which: number; count: number; packed: Uint8Array }[] = [];
  let freed = 0;
  const audit = {
    add: (which: number, count: number, packed: Uint8Array | number[]) => {
      added.push({ which, count, packed: Uint8Array.from(packed) });
    },
    measured: () => MEASURED,
    free: () => {
      freed += 1;
    },
    [Symbol.dispose]: () => {},
  };
  // The fake report lists its arguments: number of people, items and values.
  const randomizeMany = (lengths: Uint32Array, items: Uint32Array, values: Float64Array) =>
    Uint8Array.of(lengths.length, ...items, ...values);
  return {
    added,
    freed: () => freed,
    explainer: { extremeInputs: () => INPUTS, audit: () => audit as never },
    randomizer: { randomizeMany },
  };
}

describe("the audit", () => {
  const rest = { confidence: 0.999, signal: new AbortController().signal, onProgress: () => {} };

  it("scores as many reports of both inputs, in slices", async () => {
    const { explainer, randomizer, added, freed } = audited();
    expect(await runAudit({ ...rest, explainer, randomizer, trials: 1100 })).toBe(MEASURED);
    expect(added.map(({ which, count }) => [which, count])).toEqual([
      [0, 500],
      [1, 500],
      [0, 500],
      [1, 500],
      [0, 100],
      [1, 100],
    ]);
    const of = (which: number) => added.filter((one) => one.which === which).at(-1)?.packed;
    const repeated = (...values: number[]) => Array.from({ length: 100 }, () => values).flat();
    expect(of(0)).toEqual(Uint8Array.of(100, ...repeated(0, 2), ...repeated(1, 1)));
    expect(of(1)).toEqual(Uint8Array.of(100));
    expect(freed()).toBe(1);
  });

  it("reports its progress and can be cancelled", async () => {
    const { explainer, randomizer, freed } = audited();
    const shares: number[] = [];
    const stopping = new AbortController();
    const onProgress = (share: number) => {
      shares.push(share);
      if (share >= 0.3) stopping.abort();
    };
    const auditing = { ...rest, explainer, randomizer, signal: stopping.signal, onProgress };
    expect(await runAudit({ ...auditing, trials: 10_000 })).toBeNull();
    expect(shares).toEqual([0.05, 0.1, 0.15, 0.2, 0.25, 0.3]);
    expect(freed()).toBe(1);
  });
});
