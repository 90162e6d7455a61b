// Uploads leave one at a time, noted in the ledger before they leave, so that
// the truth kept here matches the collector's reports whatever happens between.

import { type Collector, CollectorError } from "./collector.js";
import type { Ledger, Sending } from "./ledger.js";
import type { Answers } from "./mechanism/kind.js";

/** @typeParam A answers of the visitor's own */
export class Sender<A = Answers> {
  readonly #collector: Collector;
  readonly #ledger: Ledger<A>;

  constructor(collector: Collector, ledger: Ledger<A>) {
    this.#collector = collector;
    this.#ledger = ledger;
  }

  /** Sends what `make` makes, after anything left over. */
  send(make: () => Sending<A>): Promise<void> {
    return this.exclusively(async () => {
      this.#ledger.begin(make());
      await this.#settle();
    });
  }

  /** Sends again, byte for byte, what was never acknowledged. */
  settle(): Promise<void> {
    return this.exclusively(async () => {});
  }

  /**
   * Runs `action` while no other tab of this browser sends, after settling
   * what is left over.
   */
  exclusively(action: () => Promise<void>): Promise<void> {
    const run = async () => {
      this.#ledger.reload();
      await this.#settle();
      await action();
    };
    // Without locks, as on an insecure origin, two tabs could mix up their notes.
    const locks = globalThis.navigator?.locks;
    return locks ? locks.request("hushbin-demo", run) : run();
  }

  async #settle(): Promise<void> {
    const { pending } = this.#ledger;
    if (!pending) return;
    try {
      // A repeat of an upload that did arrive is answered as a duplicate and
      // counted once, so this is safe after any failure.
      await this.#collector.post(pending.upload);
    } catch (error) {
      if (error instanceof CollectorError && error.final) this.#ledger.abandon();
      throw error;
    }
    this.#ledger.acknowledge(pending.upload);
  }
}
