/** Consent to reports: the page's, and the browser's privacy signals. */

/**
 * State of consent. `granted`: reports may be made. `pending`: consent is not granted yet.
 * `signal`: the browser refuses on behalf of the person, by Global Privacy Control or Do Not Track.
 */
export type Consent = "granted" | "pending" | "signal";

interface Signals {
  readonly globalPrivacyControl?: unknown;
  readonly doNotTrack?: unknown;
}

/** Combines the page's consent with the browser's signals. */
export function consentOf(granted: boolean, ignoreSignals: boolean): Consent {
  const signals: Signals = globalThis.navigator ?? {};
  const refuses = signals.globalPrivacyControl === true || signals.doNotTrack === "1";
  if (refuses && !ignoreSignals) {
    return "signal";
  }
  return granted ? "granted" : "pending";
}
