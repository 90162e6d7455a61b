/** A session whose reports are sealed to the analyser. */

import { asOf, decide } from "../budget.js";
import { joined } from "../bytes.js";
import { SealingError } from "../errors.js";
import type { Entries } from "../input.js";
import type { Settings } from "../options.js";
import type { Receipt } from "../receipt.js";
import type { Seal } from "../sealing.js";
import { digestOf, type Packed, Session } from "../session.js";
import type { Stored } from "../store/store.js";
import type { TaskSource } from "../task-source.js";
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
  #seal: Seal = () => Promise.reject(STALE);

  static override async open(
    settings: SealedSettings,
    source: TaskSource,
    changed: () => void,
  ): Promise<SealedSession> {
    if (globalThis.crypto?.subtle === undefined) {
      throw new SealingError("this browser cannot seal: it has no WebCrypto here");
    }
    const loading = import("../sealing.js");
    loading.catch(() => {});
    // Made by `new this`.
    const open = Session.open.call(SealedSession, settings, source, changed);
    const session = (await open) as SealedSession;
    try {
      const keys = await source.fetch(fetchKeys);
      const sealing = await loading;
      const { fingerprint } = session.engine;
      const configuration = await pinned(sealing, keys, settings.analyser, fingerprint);
      session.#seal = await sealing.sealerOf(configuration);
      return session;
    } catch (error) {
      session.end();
      session.free();
      throw error instanceof TypeError || error instanceof DOMException
        ? new SealingError(`this browser cannot seal: ${error.message}`, { cause: error })
        : error;
    }
  }

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
      const digest = digestOf(engine, ledger, entries);
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
    return [report, joined([header, await this.#seal(report)])];
  }
}
