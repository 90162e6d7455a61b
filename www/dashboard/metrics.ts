// Numbers of accepted and rejected uploads, read from the collector's metrics.

const REASON_TEXTS: Readonly<Record<string, string>> = {
  "malformed-upload": "not an upload of this task",
  "fingerprint-mismatch": "report made for other task parameters",
  "upload-id-conflict": "different bytes with an id that was used before",
  "too-large": "upload too large",
  "encoded-body": "upload compressed or encoded",
  "incomplete-body": "upload ended early",
  timeout: "upload did not arrive in time",
  overloaded: "the collector was busy",
  storage: "the collector could not write its journal",
};

export interface UploadCounts {
  readonly accepted: number;
  readonly duplicates: number;
  /**
   * Number of rejected requests for each reason, the most frequent first. Reasons that never
   * occurred are absent.
   */
  readonly rejected: readonly (readonly [reason: string, requests: number])[];
}

/** Reads the numbers of uploads from metrics in the text format of Prometheus. */
export function parseUploadCounts(text: string): UploadCounts {
  const value = (name: string) =>
    Number(text.match(new RegExp(`^hushbin_${name}_total (\\S+)`, "m"))?.[1] ?? 0);
  const problems = text.matchAll(/^hushbin_problems_total\{problem="([^"]*)"\} (\S+)/gm);
  const rejected = [...problems].flatMap(([, slug = "", requests]) => {
    const words = REASON_TEXTS[slug];
    return words === undefined ? [] : [[words, Number(requests)] as const];
  });
  return {
    accepted: value("uploads_accepted"),
    duplicates: value("uploads_duplicate"),
    rejected: rejected.sort((a, b) => b[1] - a[1]),
  };
}
