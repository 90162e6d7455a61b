// Internal property names of the client. The build shortens them, because bundlers of pages cannot.
// A name belongs here only if it is neither public, nor stored in the browser, nor part of JSON, nor
// a name of the platform. The build checks that it is not public.

const INTERNAL_PROPERTY_NAMES =
  `addIfFinite addedReports appendFloat appendInteger appendIntegerList appendText changeLedgers
  clippedCount collectorLedgerKey commitReport completeModule confirmConsent consentGrant
  coverReports createMaker createReportFunction delivery describeCost drawMemoSlot
  endUnrequestedPause entryCounts fetchedTask firstModule getAnswers holdReport initialState
  isOutdated lifetimeEpsilon lockName makeFromMemo makeReport makeReportsAtLeave makeUpload
  newReport nextFailure onChange onDelayed onHide onRevoked onRevokedElsewhere onSettled onStop
  onWake packAnswers pendingCount prepareMemoReport promiseSettlers readAllReports readLedgers
  readWaitingReports releaseLock renew reportInSteps reportMaker requestedDelayEnd reservation
  resumeSending retryUntilSuccess scheduleReport sealingOptions sendOnPageHide sentKeys
  setFinalState stopHandlers storedRevocations storedSlot sumsModule taskLedgerKey
  throwIfStopped unknownAnswerErrors usableUntil withdrawReports writeCanonicalBytes`.split(/\s+/);

/**
 * Options of esbuild that shorten the names. The short names are fixed, because files that are
 * bundled separately exchange objects.
 */
export const SHORTENING_OPTIONS = {
  mangleProps: new RegExp(`^(${INTERNAL_PROPERTY_NAMES.join("|")})$`),
  mangleCache: Object.fromEntries(INTERNAL_PROPERTY_NAMES.map((name, index) => [name, `_${index.toString(36)}`])),
};

/**
 * Returns the internal names that occur in the reference of the package's exports.
 *
 * @param {string} reference
 */
export const internalNamesInReference = (reference) =>
  INTERNAL_PROPERTY_NAMES.filter((name) => new RegExp(`\\b${name}\\b`).test(reference));
