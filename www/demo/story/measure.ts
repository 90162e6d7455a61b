// Measures the privacy loss of a randomiser: a lower bound on ε from its reports alone. With the
// stated confidence, the bound of an honest randomiser is below the promised ε. A bound above the
// promised ε shows a violation.

import type { Randomizer } from "hushbin";
import type { Explainer, MeasuredBound, SignedAnswer } from "../shared/analysis.js";

/** Randomizer that is audited, and the effort and confidence of the audit. */
export interface AuditOptions {
  readonly randomizer: Pick<Randomizer, "randomizeMany">;
  /** Explainer of the task whose ε the randomizer promises. */
  readonly explainer: Pick<Explainer, "audit" | "extremeInputs">;
  /** Number of reports of each of the two inputs. */
  readonly trials: number;
  readonly confidence: number;
  readonly signal: AbortSignal;
  readonly onProgress: (share: number) => void;
}

/** Number of reports between pauses. Making them takes a few milliseconds. */
const REPORTS_PER_SLICE = 500;

/**
 * Makes reports of two inputs and computes a lower bound on ε from them. Returns null if the signal
 * is aborted.
 */
export async function runAudit(auditing: AuditOptions): Promise<MeasuredBound | null> {
  const { randomizer, explainer, trials, confidence, signal, onProgress } = auditing;
  const inputs = explainer.extremeInputs();
  const audit = explainer.audit();
  try {
    for (let done = 0; done < trials; done += REPORTS_PER_SLICE) {
      const size = Math.min(REPORTS_PER_SLICE, trials - done);
      for (const [which, input] of inputs.entries()) {
        audit.add(which, size, randomizeRepeatedly(randomizer, input, size));
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

/** Randomises the same input `size` times. Returns the reports one after the other. */
function randomizeRepeatedly(
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
