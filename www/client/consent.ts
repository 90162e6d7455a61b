/** Whether anything may be reported. */

/**
 * Whether a client may report: `pending` until it is granted, `signal` while the browser
 * says no for its person, by Global Privacy Control or Do Not Track.
 */
export type Consent = "granted" | "pending" | "signal";

interface Signals {
  readonly globalPrivacyControl?: unknown;
  readonly doNotTrack?: unknown;
}

/** What the page's word and the browser's come to. */
export function consentOf(granted: boolean, ignoreSignals: boolean): Consent {
  const signals: Signals = globalThis.navigator ?? {};
  const refuses = signals.globalPrivacyControl === true || signals.doNotTrack === "1";
  if (refuses && !ignoreSignals) {
    return "signal";
  }
  return granted ? "granted" : "pending";
}
