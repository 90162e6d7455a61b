/** Permanent answers: equal answers are reported with the same bytes in each window. */

import type { Ledger, RememberedAnswers } from "./budget.js";
import { concatBytes, viewBytes } from "./bytes.js";
import type { PackedEntries } from "./input.js";
import type { ReportMaker } from "./maker.js";

/** Maximum number of permanent answers that are stored, each with its report. */
const MOST = 64;

/** Information that a ledger remembers about certain answers. */
export interface RecalledAnswers {
  /** True if these answers have already been reported in this window. */
  readonly isGiven: boolean;
  /** Report that was made from these answers for this task. Undefined if there is none. */
  readonly report: Uint8Array | undefined;
  /**
   * Returns what the ledger has to remember after a report was made, in a window that ends at
   * `until`.
   */
  after(until: number, report: Uint8Array): RememberedAnswers;
}

/** Returns the salted digest of answers. */
export function answersDigest(
  engine: ReportMaker,
  salt: Uint8Array,
  entries: PackedEntries,
): bigint {
  const { lengths, items, values } = entries;
  return engine.digest(concatBytes([salt, lengths, items, values].map(viewBytes)));
}

/** Returns the information that a ledger remembers about answers. */
export function recallAnswers(
  { remembered, until }: Ledger,
  engine: ReportMaker,
  entries: PackedEntries,
): RecalledAnswers {
  const {
    salt,
    made,
    given,
    until: window,
  } = remembered ?? {
    salt: crypto.getRandomValues(new Uint8Array(16)),
    made: [],
    given: new Set(),
    until: 0,
  };
  const { fingerprint } = engine;
  const digest = answersDigest(engine, salt, entries);
  const own = window === until ? given : new Set<bigint>();
  return {
    isGiven: own.has(digest),
    // A report made under different parameters cannot be sent for this task.
    report: made.find((each) => each.digest === digest && each.fingerprint === fingerprint)?.report,
    after: (until, report) => ({
      salt,
      until,
      given: new Set([...own, digest]),
      made: [
        ...made.filter((each) => each.digest !== digest),
        { digest, fingerprint, report },
      ].slice(-MOST),
    }),
  };
}
