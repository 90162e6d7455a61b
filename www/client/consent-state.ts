/** State of consent, from the page's decision and the browser's privacy signals. */

/**
 * State of consent.
 * `granted`: reports may be made. `pending`: the page has not granted consent yet. `signal`: the
 * browser refuses for the person, with Global Privacy Control or Do Not Track.
 */
export type Consent = "granted" | "pending" | "signal";

interface PrivacySignals {
  readonly globalPrivacyControl?: unknown;
  readonly doNotTrack?: unknown;
}

/**
 * Returns the state of consent. `granted` is the page's decision. `ignoreSignals` ignores the
 * browser's signals.
 */
export function consentState(granted: boolean, ignoreSignals: boolean): Consent {
  const signals: PrivacySignals = globalThis.navigator ?? {};
  const refuses = signals.globalPrivacyControl === true || signals.doNotTrack === "1";
  if (refuses && !ignoreSignals) {
    return "signal";
  }
  return granted ? "granted" : "pending";
}
