// Internal property names of the client. The build shortens them, because bundlers of pages cannot.
// A name belongs here only if it is neither public, nor stored in the browser, nor part of JSON, nor
// a name of the platform. The build checks that it is not public. Frequent names come first, because
// the first 52 become single letters.

const INTERNAL_PROPERTY_NAMES =
  `taskLedger appendInteger collectorCharges appendFloat reportMaker contextAtOpening delivery
  stopped unknownAnswerErrors currentInstanceId sessionRequests taskLedgerKey __wbg_ptr restart
  changeLedgers appendText clippedCount transport consentGrant throwIfStopped onReportsChange
  readLedgers onRevokedElsewhere packAnswers collectorLedgerKey fetchedTask isStrict makeReport
  maxEpsilonAcrossTasks releaseLock revocationsAtStart releaseHeldReport confirmConsent
  coverReportHolder createMaker fetchUnlessStopped makeReportsAtLeave newReport
  readWaitingReports reportInSteps requestedDelayEnd scheduleReport setFinalState stopCallbacks
  withdrawReportsAndConsent writeCanonicalBytes ERROR_TEXTS appendIntegerList firstModule
  hasWaitingCaller makeAndChargeReport prepareMemoReport readAllReports reservation sendUploads
  sentKeysPromise addedReports addIfFinite completeModule entryCounts epsilonAddedToTotal
  interruptibleDelay makeSingleReportUpload onHide onStop onWake promiseSettlers renew
  resumeSending retryUntilSuccess sealingOptions validateAnswers whenRevocationsStored toBytes
  analyserKeyPins createReportFunction describeCost drawMemoSlot resumeWindow endUnrequestedPause
  gatewayKeyConfiguration getAnswers holdReport isConsentGiven isTaskExpired lockName
  makeFromMemo maxBatchDelayMs nextFailure onDelayRequested onReportStatesStored pendingCount
  sendOnPageHide storedSlot usableUntil upload_header module_or_path sharedMemory ownMemory
  checkBudget prepareMemo prepareCover sumsModule draw_memo randomize_memo sampled_down
  __destroy_into_raw`.split(/\s+/);

const LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
/** Returns one letter for each of the first 52 names, and then a letter after underscores. */
const shortName = (index) => "_".repeat(index / LETTERS.length) + LETTERS[index % LETTERS.length];

/**
 * Options of esbuild that shorten the names. The short names are fixed, because files that are
 * bundled separately exchange objects.
 */
export const SHORTENING_OPTIONS = {
  mangleProps: new RegExp(`^(${INTERNAL_PROPERTY_NAMES.join("|")})$`),
  mangleCache: Object.fromEntries(
    INTERNAL_PROPERTY_NAMES.map((name, index) => [name, shortName(index)]),
  ),
};

/**
 * Returns the internal names that occur in the reference of the package's exports.
 *
 * @param {string} reference
 */
export const internalNamesInReference = (reference) =>
  INTERNAL_PROPERTY_NAMES.filter((name) => new RegExp(`\\b${name}\\b`).test(reference));
