// What was rejected, from what the collector counts of itself.

const WORDS: Readonly<Record<string, string>> = {
  "malformed-upload": "no upload of the task",
  "fingerprint-mismatch": "made under other parameters than the task's",
  "upload-id-conflict": "other bytes under an id that was taken",
  "too-large": "too large",
  "encoded-body": "compressed or encoded otherwise",
  "incomplete-body": "ended early",
  timeout: "did not arrive in time",
  overloaded: "the collector was busy",
  storage: "the journal failed",
};

export interface Uploads {
  readonly accepted: number;
  readonly duplicates: number;
  /** By reason, in words, the most frequent first; those that did not happen are not there. */
  readonly rejected: readonly (readonly [reason: string, requests: number])[];
}

/** Of the text that Prometheus reads. */
export function uploadsOf(text: string): Uploads {
  const value = (name: string) =>
    Number(text.match(new RegExp(`^hushbin_${name}_total (\\S+)`, "m"))?.[1] ?? 0);
  const problems = text.matchAll(/^hushbin_problems_total\{problem="([^"]*)"\} (\S+)/gm);
  const rejected = [...problems].flatMap(([, slug = "", requests]) => {
    const words = WORDS[slug];
    return words === undefined ? [] : [[words, Number(requests)] as const];
  });
  return {
    accepted: value("uploads_accepted"),
    duplicates: value("uploads_duplicate"),
    rejected: rejected.sort((a, b) => b[1] - a[1]),
  };
}
