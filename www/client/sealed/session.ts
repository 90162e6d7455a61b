/** A session whose reports are sealed to the analyser. */

import { asOf, decide, saltOf } from "../budget.js";
import { joined } from "../bytes.js";
import { SealingError } from "../errors.js";
import type { Entries } from "../input.js";
import type { Settings } from "../options.js";
import type { Receipt } from "../receipt.js";
import type { Seal } from "../sealing.js";
import { digestOf, type Make, type Open, type Packed, Session } from "../session.js";
import type { Stored } from "../store/store.js";
import { fetchKeys, pinned } from "./keys.js";

/** Settings of a client that seals. */
export interface SealedSettings extends Settings {
  /** Pins of the analyser's configurations. */
  readonly analyser: readonly string[];
}

/** Version of uploads of sealed reports, the first byte: `VERSION` in `src/sealed.rs`. */
const VERSION = 2;

/** Another tab has come between. */
const STALE = Symbol("stale");

const equal = (one: Uint8Array, other: Uint8Array) => String(one) === String(other);

export class SealedSession extends Session {
  seal: Seal = () => Promise.reject(STALE);

  /**
   * Sealing takes a moment, in which a ledger may change: what was made under the one before
   * is charged only where the one of now asks for the same, and otherwise dropped, whatever
   * was drawn.
   */
  protected override async change(
    entries: Entries,
  ): Promise<readonly [Receipt, Stored | undefined]> {
    const { engine, store, budget } = this;
    for (;;) {
      const ledger = asOf(await store.ledger(), budget, Date.now());
      const digest = digestOf(engine, saltOf(ledger, budget), entries);
      const decision = decide(ledger, budget, engine.fingerprint, digest);
      const before = typeof decision === "object" ? decision.report : undefined;
      const packed =
        before === undefined && decision !== "draw"
          ? undefined
          : await this.#pack(before ?? engine.make(entries));
      try {
        return await super.change(entries, (wanted) => {
          const fits = wanted && before ? equal(wanted, before) : wanted === before;
          if (packed === undefined || !fits) {
            throw STALE;
          }
          return packed;
        });
      } catch (error) {
        if (error !== STALE) {
          throw error;
        }
      }
    }
  }

  async #pack(report: Uint8Array): Promise<Packed> {
    const header = this.engine.uploadHeader(1);
    header[0] = VERSION;
    return [report, joined([header, await this.seal(report)])];
  }
}

/** What begins sessions that seal, by what begins those of their kind. */
export const sealing =
  <S extends SealedSession>(
    open: (...parts: [...Parameters<Open>, Made: Make<S>]) => Promise<Session>,
    Made: Make<S>,
  ): ((...parts: Parameters<Open>) => Promise<S>) =>
  async (settings, source, changed) => {
    if (globalThis.crypto?.subtle === undefined) {
      throw new SealingError("this browser cannot seal: it has no WebCrypto here");
    }
    const loading = import("../sealing.js");
    loading.catch(() => {});
    const session = (await open(settings, source, changed, Made)) as S;
    try {
      const keys = await source.fetch(fetchKeys);
      const own = await loading;
      const { analyser } = settings as SealedSettings;
      const { fingerprint } = session.engine;
      session.seal = await own.sealerOf(await pinned(own, keys, analyser, fingerprint));
      return session;
    } catch (error) {
      session.end();
      session.free();
      throw error instanceof TypeError || error instanceof DOMException
        ? new SealingError(`this browser cannot seal: ${error.message}`, { cause: error })
        : error;
    }
  };
