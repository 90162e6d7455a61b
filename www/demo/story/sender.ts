// Sends the uploads of this browser, one at a time. The ledger records each upload before it
// leaves, so that its true answers match the collector's reports even after a failure.

import { type CollectorClient, CollectorError } from "./collector.js";
import type { PendingUpload, SentReportsLedger } from "./ledger.js";
import type { Answers } from "./mechanism/mechanism.js";

/** @typeParam A type of the visitor's answers */
export class UploadSender<A = Answers> {
  readonly #collector: CollectorClient;
  readonly #ledger: SentReportsLedger<A>;

  constructor(collector: CollectorClient, ledger: SentReportsLedger<A>) {
    this.#collector = collector;
    this.#ledger = ledger;
  }

  /** Sends the upload that `make` returns, after sending any pending upload. */
  send(make: () => PendingUpload<A>): Promise<void> {
    return this.runExclusively(async () => {
      this.#ledger.recordPending(make());
      await this.#sendPendingUpload();
    });
  }

  /** Sends a pending upload again, with the same bytes. Does nothing if there is none. */
  sendPendingUpload(): Promise<void> {
    return this.runExclusively(async () => {});
  }

  /**
   * Runs `action` while no other tab of this browser sends uploads. A pending upload is sent first.
   */
  runExclusively(action: () => Promise<void>): Promise<void> {
    const run = async () => {
      this.#ledger.reload();
      await this.#sendPendingUpload();
      await action();
    };
    // Insecure origins have no locks. Two tabs could then overwrite each other's records.
    const locks = globalThis.navigator?.locks;
    return locks ? locks.request("hushbin-demo", run) : run();
  }

  async #sendPendingUpload(): Promise<void> {
    const { pending } = this.#ledger;
    if (!pending) return;
    try {
      // This is safe after any failure: the collector counts an upload that arrives twice once.
      await this.#collector.post(pending.upload);
    } catch (error) {
      if (error instanceof CollectorError && error.isPermanent) this.#ledger.dropPending();
      throw error;
    }
    this.#ledger.acknowledge(pending.upload);
  }
}
