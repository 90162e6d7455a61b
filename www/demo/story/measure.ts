// Measures how much privacy a randomiser really gives away: a lower bound on ε
// from its reports alone. A randomiser that keeps its promise stays below the ε
// it promises, up to the stated confidence; one that does not is found out.

import type { Randomizer } from "hushbin";
import { clopperPearson } from "./binomial.js";
import { reportsIn } from "./bytes.js";
import type { Answers, Explained } from "./mechanism/kind.js";

/** What is audited, and how hard. */
export interface Audit {
  readonly randomizer: Pick<Randomizer, "randomizeMany">;
  readonly mechanism: Pick<Explained, "read" | "score" | "extremes">;
  /** Names of the items, in the task's order. */
  readonly items: readonly string[];
  /** Reports of each of the two inputs. */
  readonly trials: number;
  readonly confidence: number;
  readonly signal: AbortSignal;
  readonly onProgress: (share: number) => void;
}

/** A kind of report, and which of the inputs makes it more often. */
export interface Event {
  readonly threshold: number;
  /** Scores of at least the threshold, which the first input makes; or at most. */
  readonly side: "at-least" | "at-most";
}

/** What was measured. The names are those of `hushbin audit`. */
export interface Measured {
  /** The true ε is at least this, with the stated confidence. */
  readonly empirical_lower_bound: number;
  /** Reports made of each input. */
  readonly trials: number;
  readonly confidence: number;
  readonly event: Event;
  /** How often the event was met, of how many, by the likelier input. */
  readonly likelier: readonly [hits: number, of: number];
  /** And by the other. */
  readonly other: readonly [hits: number, of: number];
}

/** Reports between two looks at the rest of the page: a few milliseconds. */
const SLICE = 500;

/** How much of the trials chooses the event; the rest judges it. */
const CHOOSING = 1 / 4;

/**
 * Makes reports of two inputs, picks on the first of them the event that tells
 * the inputs apart best, and bounds ε by how often the rest meets it. That rest
 * had no say in the choice, so its counts are binomial and the bound holds
 * whatever was chosen. Null when aborted.
 */
export async function audit(what: Audit): Promise<Measured | null> {
  const { mechanism, trials, confidence, signal, onProgress } = what;
  const scores = mechanism.extremes.map(() => new Float64Array(trials));
  for (let done = 0; done < trials; done += SLICE) {
    const size = Math.min(SLICE, trials - done);
    mechanism.extremes.forEach((input, index) => {
      scores[index]?.set(scoresOf(what, input, size), done);
    });
    onProgress((done + size) / trials);
    // Input and painting go first.
    await new Promise((resolve) => setTimeout(resolve));
    if (signal.aborted) return null;
  }
  const [first = new Float64Array(), second = new Float64Array()] = scores;
  const from = Math.floor(trials * CHOOSING);
  const event = choose(first.subarray(0, from), second.subarray(0, from));
  return { trials, ...evaluate(event, first.subarray(from), second.subarray(from), confidence) };
}

function scoresOf({ randomizer, mechanism, items }: Audit, input: Answers, size: number) {
  const entries = items.flatMap((item, index) => {
    const value = input[item];
    return value ? [{ index, value }] : [];
  });
  const repeated = <T>(values: readonly T[]) => Array.from({ length: size }, () => values).flat();
  const packed = randomizer.randomizeMany(
    new Uint32Array(size).fill(entries.length),
    Uint32Array.from(repeated(entries.map(({ index }) => index))),
    Float64Array.from(repeated(entries.map(({ value }) => value))),
  );
  const scores = Float64Array.from(reportsIn(packed, mechanism), (report) =>
    mechanism.score(report),
  );
  if (scores.length !== size) {
    throw new RangeError(`${size} reports were asked for, and ${scores.length} came.`);
  }
  return scores;
}

/** Thresholds tried; where scores take more values, as many quantiles. */
const CANDIDATES = 400;
/**
 * Standard errors taken off an estimate: 3.3 that the bound's confidence costs
 * later, and as many so that no rare event wins by luck.
 */
const CAUTION = 6.6;

/** The event that promises the greatest bound. */
export function choose(first: Float64Array, second: Float64Array): Event {
  const sorted = [Float64Array.from(first).sort(), Float64Array.from(second).sort()] as const;
  const values = [...new Set([...sorted[0], ...sorted[1]])].sort((a, b) => a - b);
  const step = Math.max(1, values.length / CANDIDATES);
  let best: Event = { threshold: values[0] ?? 0, side: "at-least" };
  let most = -Infinity;
  for (let at = 0; at < values.length; at += step) {
    const threshold = values[Math.floor(at)] ?? 0;
    for (const side of ["at-least", "at-most"] as const) {
      const [likelier, other] = counts({ threshold, side }, ...sorted, countSorted);
      const hopeful =
        Math.log((likelier + 0.5) / (other + 0.5)) -
        CAUTION * Math.sqrt(1 / (likelier + 0.5) + 1 / (other + 0.5));
      if (hopeful > most) {
        most = hopeful;
        best = { threshold, side };
      }
    }
  }
  return best;
}

/** What an event says about ε, on scores that had no say in choosing it. */
export function evaluate(
  event: Event,
  first: Float64Array,
  second: Float64Array,
  confidence: number,
): Omit<Measured, "trials"> {
  const [likelier, other] = counts(event, first, second, (scores, { side, threshold }) =>
    scores.reduce(
      (hits, score) =>
        hits + ((side === "at-least" ? score >= threshold : score <= threshold) ? 1 : 0),
      0,
    ),
  );
  // One end of each interval is used. It fails with half of 1 − confidence, so
  // both hold with the confidence stated.
  const [low] = clopperPearson(likelier, first.length, confidence);
  const [, high] = clopperPearson(other, second.length, confidence);
  return {
    empirical_lower_bound: Math.max(0, Math.log(low / high)),
    confidence,
    event,
    likelier: [likelier, first.length],
    other: [other, second.length],
  };
}

/** How often the input that the event points to meets it, and the other. */
function counts(
  event: Event,
  first: Float64Array,
  second: Float64Array,
  count: (scores: Float64Array, event: Event) => number,
): [number, number] {
  const found: [number, number] = [count(first, event), count(second, event)];
  return event.side === "at-least" ? found : [found[1], found[0]];
}

function countSorted(sorted: Float64Array, { side, threshold }: Event): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    const score = sorted[middle] ?? 0;
    if (side === "at-least" ? score < threshold : score <= threshold) from = middle + 1;
    else to = middle;
  }
  return side === "at-least" ? sorted.length - from : from;
}
