/** Opening of a session, unless the page has nothing to do. */

import { consentState } from "./consent-state.js";
import { loadEngine } from "./engine-loader.js";
import { type Idleness, idleUntil } from "./idle.js";
import { EMPTY_STORE, openStore } from "./open-store.js";
import type { ClientSettings } from "./options.js";
import { waitUntilPageShown } from "./page.js";
import type { Session, SessionContext } from "./session.js";
import type { SessionRequests } from "./session-requests.js";

/**
 * Time in milliseconds after which the browser's privacy signals are read again, if they refuse.
 * Browsers have no event for them.
 */
const SIGNAL_CHECK_MS = 60_000;

/** Parts of a client that open a session. */
interface Opening extends Omit<SessionContext, "store"> {
  readonly settings: ClientSettings;
  readonly requests: SessionRequests;
  /** True if a session begins even though there is nothing to do. */
  readonly evenIfIdle: boolean;
  /** Resolves after revocations by this client are stored. They would end the session. */
  readonly revocationsStored: Promise<unknown> | undefined;
  /** Receives the session, unless it was stopped in the meantime. */
  readonly opened: (session: Session) => void;
}

/**
 * Opens a session, or returns until when there is nothing to do. In this case it loads little code
 * and fetches nothing.
 *
 * @throws StorageError, TaskError, WasmError, EntropyError, OptionError, SealingError
 * @throws ClosedError after the session was stopped
 */
export async function openSessionUnlessIdle({
  settings,
  requests,
  evenIfIdle,
  revocationsStored,
  opened,
  ...context
}: Opening): Promise<Session | Idleness> {
  // A page that is prerendered and never shown must spend nothing.
  await Promise.all([waitUntilPageShown(), revocationsStored]);
  requests.throwIfStopped();
  while (consentState(true, settings.ignoreSignals) !== "granted") {
    await requests.interruptibleDelay(SIGNAL_CHECK_MS);
    requests.throwIfStopped();
  }
  const store = await openStore(settings);
  try {
    // Read before anything is loaded, so that a later revocation by another context has an effect.
    const ledgers = await store.readLedgers();
    const { taskLedger: ledger } = ledgers;
    const { consentGrant: grant } = context;
    // A session that begins later must not grant again what was revoked elsewhere.
    grant.revocationsAtStart ??= ledger.revoked;
    if (grant.revocationsAtStart !== ledger.revoked) {
      context.onRevokedElsewhere();
    }
    requests.throwIfStopped();
    if (!evenIfIdle) {
      // Without a database, nothing is reported in this page.
      const isEmpty = store === EMPTY_STORE && !settings.debug;
      const until = isEmpty ? Infinity : idleUntil(ledgers, settings, Date.now());
      if (until !== undefined) {
        store.close();
        return { until, reason: isEmpty ? "no-storage" : "over-budget" };
      }
    }
    const { openSession } = await loadEngine().finally(() => requests.throwIfStopped());
    return await openSession(settings, requests, opened, { ...context, store }, ledger);
  } catch (error) {
    store.close();
    throw error;
  }
}
