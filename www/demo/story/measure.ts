// Measures the privacy loss of a randomiser: a lower bound on ε from its reports alone. With the
// stated confidence, the bound of an honest randomiser is below the promised ε. A bound above it
// shows a violation.

import type { Randomizer } from "hushbin";
import type { Explainer, MeasuredBound, SignedAnswer } from "../shared/analysis.js";

/** Subject and effort of an audit. */
export interface AuditOptions {
  readonly randomizer: Pick<Randomizer, "randomizeMany">;
  /** Explainer of the task that makes the promise. */
  readonly explainer: Pick<Explainer, "audit" | "extremes">;
  /** Number of reports of each of the two inputs. */
  readonly trials: number;
  readonly confidence: number;
  readonly signal: AbortSignal;
  readonly onProgress: (share: number) => void;
}

/** Number of reports between pauses: a few milliseconds of work. */
const SLICE = 500;

/** Makes reports of two inputs and computes a lower bound on ε. Returns null if aborted. */
export async function measureAudit(auditing: AuditOptions): Promise<MeasuredBound | null> {
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
      // Let the page handle input and paint.
      await new Promise((resolve) => setTimeout(resolve));
      if (signal.aborted) return null;
    }
    return audit.measured(confidence);
  } finally {
    audit.free();
  }
}

/** Returns `size` reports of an input, back to back. */
function reportsOf(
  randomizer: AuditOptions["randomizer"],
  input: readonly SignedAnswer[],
  size: number,
): Uint8Array {
  const repeated = (values: readonly number[]) => Array.from({ length: size }, () => values).flat();
  return randomizer.randomizeMany(
    new Uint32Array(size).fill(input.length),
    Uint32Array.from(repeated(input.map(({ item }) => item))),
    Float64Array.from(repeated(input.map(({ sign }) => sign))),
  );
}
