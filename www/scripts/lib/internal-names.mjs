// Internal property names of the client. The build shortens them, because bundlers of pages cannot.
// A name belongs here only if it is neither public, nor stored in the browser, nor part of JSON, nor
// a name of the platform. The build checks that it is not public.

const INTERNAL_PROPERTY_NAMES =
  `addedReports addIfFinite analyserKeyPins appendFloat appendInteger appendIntegerList appendText
  changeLedgers clippedCount collectorCharges collectorLedgerKey completeModule confirmConsent
  consentGrant contextAtOpening coverReportHolder createMaker createReportFunction delivery
  describeCost drawMemoSlot endUnrequestedPause entryCounts epsilonAddedToTotal fetchedTask
  fetchUnlessStopped firstModule gatewayKeyConfiguration getAnswers hasWaitingCaller holdReport
  interruptibleDelay isConsentGiven isStrict isTaskExpired lockName makeAndChargeReport makeFromMemo makeReport
  makeReportsAtLeave makeSingleReportUpload maxBatchDelayMs maxEpsilonAcrossTasks newReport
  nextFailure onDelayRequested onHide onReportsChange onReportStatesStored onRevoked
  onRevokedElsewhere onStop onWake packAnswers pendingCount prepareMemoReport promiseSettlers
  readAllReports readLedgers readWaitingReports releaseLock renew reportInSteps reportMaker
  requestedDelayEnd reservation resumeSending retryUntilSuccess revocationsAtStart scheduleReport
  sealingOptions sendOnPageHide sendUploads sentKeysPromise sessionRequests setFinalState
  stopCallbacks storedSlot sumsModule taskLedger taskLedgerKey throwIfStopped unknownAnswerErrors
  usableUntil validateAnswers whenRevocationsStored withdrawReportsAndConsent writeCanonicalBytes`.split(
    /\s+/,
  );

/**
 * Options of esbuild that shorten the names. The short names are fixed, because files that are
 * bundled separately exchange objects.
 */
export const SHORTENING_OPTIONS = {
  mangleProps: new RegExp(`^(${INTERNAL_PROPERTY_NAMES.join("|")})$`),
  mangleCache: Object.fromEntries(
    INTERNAL_PROPERTY_NAMES.map((name, index) => [name, `_${index.toString(36)}`]),
  ),
};

/**
 * Returns the internal names that occur in the reference of the package's exports.
 *
 * @param {string} reference
 */
export const internalNamesInReference = (reference) =>
  INTERNAL_PROPERTY_NAMES.filter((name) => new RegExp(`\\b${name}\\b`).test(reference));
