/** Session overrides for clients whose reports are sealed to an analyser. */

import { concatBytes } from "../bytes.js";
import { errorMessage } from "../causes.js";
import { HushbinError, SealingError } from "../errors.js";
import type { ReportMaker } from "../maker.js";
import type { ClientSettings } from "../options.js";
import type { SealFunction } from "../sealing.js";
import type { ReportFunction, SealableSession, SessionOverrides } from "../session-overrides.js";
import type { SessionRequests } from "../session-requests.js";
import { fetchAnalyserKeys, selectPinnedKey } from "./keys.js";
import { sealedSettingsOf } from "./options.js";
import { createRelayFetch } from "./relay.js";

/**
 * Format version: the first byte of an upload of sealed reports. It is `VERSION` in
 * `src/sealed.rs`.
 */
const SEALED_UPLOAD_VERSION = 2;

const CANNOT_SEAL = "this browser cannot seal";

/** Exception that leaves a transaction of the store, because a report has to be sealed first. */
class SealingNeeded {
  /** Report to seal. Undefined if a new report has to be made. */
  readonly report: Uint8Array | undefined;

  constructor(report: Uint8Array | undefined) {
    this.report = report;
  }
}

const haveSameText = (one: unknown, other: unknown) => String(one) === String(other);

/**
 * Seals each message of a report separately, so that messages cannot be linked to each other.
 * Returns an upload of the report.
 */
async function sealMessages(
  engine: ReportMaker,
  report: Uint8Array,
  seal: SealFunction,
): Promise<Uint8Array<ArrayBuffer>> {
  const messages = engine.countMessages(report);
  const header = engine.uploadHeader(messages);
  // The header of a plain upload, except for the version.
  header[0] = SEALED_UPLOAD_VERSION;
  const length = report.length / messages;
  const sealed: ReturnType<SealFunction>[] = [];
  for (let at = 0; at < report.length; at += length) {
    sealed.push(seal(report.subarray(at, at + length)));
  }
  return concatBytes([header, ...(await Promise.all(sealed))]);
}

/**
 * Returns a function that reports answers and seals the reports. Sealing is asynchronous, so the
 * ledger may change in the meantime. A sealed report is charged only if the changed ledger still
 * asks for the same report. Otherwise, it is dropped.
 */
const sealedReporter =
  (seal: SealFunction): ReportFunction =>
  async (session: SealableSession, entries) => {
    const { reportMaker: engine } = session;
    let sealed: Uint8Array<ArrayBuffer> | undefined;
    let before: Uint8Array | undefined;
    for (;;) {
      try {
        return await session.makeAndChargeReport(entries, (report) => {
          // Leave the transaction, seal, and try again. The ledger may then need a different
          // report.
          if (sealed === undefined || !haveSameText(report, before)) {
            throw new SealingNeeded(report);
          }
          return sealed;
        });
      } catch (wanted) {
        if (!(wanted instanceof SealingNeeded)) {
          throw wanted;
        }
        before = wanted.report;
        sealed = await awaitSealingStep(
          CANNOT_SEAL,
          sealMessages(engine, before ?? engine.makeReport(entries), seal),
        );
      }
    }
  };

/**
 * Waits for a step of sealing.
 *
 * @throws SealingError for every failure of another type than HushbinError
 */
async function awaitSealingStep<T>(what: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (cause) {
    throw cause instanceof HushbinError
      ? cause
      : new SealingError(`${what}: ${errorMessage(cause)}`, { cause });
  }
}

/**
 * Returns the settings of a session whose reports are sealed. A dry run does not seal and fetches
 * no keys.
 *
 * @throws OptionError, SealingError
 */
export function sealedSessionOverrides(
  settings: ClientSettings,
  requests: SessionRequests,
): SessionOverrides {
  const { url, dryRun } = settings;
  const { analyserKeyPins: analyser, relay, delayMs } = sealedSettingsOf(settings);
  const fetch = relay
    ? createRelayFetch(relay.url, relay.gateway, requests.fetchUnlessStopped)
    : requests.fetchUnlessStopped;
  if (dryRun) {
    return { fetch };
  }
  if (globalThis.crypto?.subtle === undefined) {
    throw new SealingError(`${CANNOT_SEAL}: no WebCrypto`);
  }
  const loading = import("../sealing.js");
  loading.catch(() => {});
  return {
    fetch,
    // A page that closes has no time to seal a request.
    ...(relay && delayMs === undefined && { delayMs: 0 }),
    createReportFunction: async ({ fingerprint }) => {
      const keys = await requests.retryUntilSuccess(() => fetchAnalyserKeys(url, fetch));
      const own = await awaitSealingStep("what seals could not be loaded", loading);
      const key = await awaitSealingStep(
        CANNOT_SEAL,
        selectPinnedKey(own, keys, analyser, fingerprint),
      );
      return sealedReporter(await awaitSealingStep(CANNOT_SEAL, own.createSealer(key)));
    },
  };
}
