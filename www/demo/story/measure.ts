// Measures how much privacy a randomiser really gives away: a lower bound on ε
// from its reports alone. A randomiser that keeps its promise stays below the ε
// it promises, up to the stated confidence; one that does not is found out.

import type { Randomizer } from "hushbin";
import type { Answered, Explainer, Measured } from "../shared/analysis.js";

/** What is audited, and how hard. */
export interface Auditing {
  readonly randomizer: Pick<Randomizer, "randomizeMany">;
  /** Of the promise. */
  readonly explainer: Pick<Explainer, "audit" | "extremes">;
  /** Reports of each of the two inputs. */
  readonly trials: number;
  readonly confidence: number;
  readonly signal: AbortSignal;
  readonly onProgress: (share: number) => void;
}

/** Reports between two looks at the rest of the page: a few milliseconds. */
const SLICE = 500;

/** Makes reports of two inputs and bounds ε by them. Null when aborted. */
export async function measure(auditing: Auditing): Promise<Measured | null> {
  const { randomizer, explainer, trials, confidence, signal, onProgress } = auditing;
  const inputs = explainer.extremes();
  const audit = explainer.audit();
  try {
    for (let done = 0; done < trials; done += SLICE) {
      const size = Math.min(SLICE, trials - done);
      for (const [which, input] of inputs.entries()) {
        audit.add(which, size, reportsOf(randomizer, input, size));
      }
      onProgress((done + size) / trials);
      // Input and painting go first.
      await new Promise((resolve) => setTimeout(resolve));
      if (signal.aborted) return null;
    }
    return audit.measured(confidence);
  } finally {
    audit.free();
  }
}

/** So many reports of an input, back to back. */
function reportsOf(
  randomizer: Auditing["randomizer"],
  input: readonly Answered[],
  size: number,
): Uint8Array {
  const repeated = (values: readonly number[]) => Array.from({ length: size }, () => values).flat();
  return randomizer.randomizeMany(
    new Uint32Array(size).fill(input.length),
    Uint32Array.from(repeated(input.map(({ item }) => item))),
    Float64Array.from(repeated(input.map(({ sign }) => sign))),
  );
}
