// What this browser has sent: the truth that estimates are compared with. It
// lives in local storage, so that it survives a reload as the collector's
// reports do. A real page keeps no such record.

import type { Answers } from "./mechanism/kind.js";

/** The true answers behind a number of reports, by item index. */
export interface Truth {
  readonly people: number;
  readonly yes: readonly number[];
  readonly no: readonly number[];
}

/** An upload with the truth behind it. */
export interface Sending<A = Answers> {
  readonly upload: Uint8Array;
  readonly truth: Truth;
  /** The visitor's own answers, when the upload is theirs. */
  readonly mine?: A;
}

/** The visitor's own report. */
export interface Mine<A = Answers> {
  readonly upload: Uint8Array;
  readonly answers: A;
}

interface Saved<A> {
  truth: Truth;
  mine: { upload: string; answers: A } | null;
  /** Posted, but not known to be acknowledged. */
  pending: { upload: string; truth: Truth; mine: A | null } | null;
}

/** The part of the Storage interface that the ledger needs. */
export interface Shelf {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/** @typeParam A answers of the visitor's own */
export class Ledger<A = Answers> {
  readonly #key: string;
  readonly #items: number;
  readonly #shelf: Shelf | null;
  #saved: Saved<A>;

  /** `shelf` is null where the browser refuses storage; then a reload forgets. */
  constructor(shelf: Shelf | null, fingerprint: string, items: number) {
    this.#key = `hushbin-demo:${fingerprint}`;
    this.#items = items;
    this.#shelf = shelf;
    this.#saved = this.#empty();
    this.reload();
  }

  get truth(): Truth {
    return this.#saved.truth;
  }

  get mine(): Mine<A> | null {
    const { mine } = this.#saved;
    return mine && { upload: fromBase64(mine.upload), answers: mine.answers };
  }

  get pending(): Sending<A> | null {
    const { pending } = this.#saved;
    if (!pending) return null;
    const { upload, truth, mine } = pending;
    return { upload: fromBase64(upload), truth, ...(mine && { mine }) };
  }

  /** Reads what another tab may have written. */
  reload(): void {
    try {
      const saved: unknown = JSON.parse(this.#shelf?.getItem(this.#key) ?? "null");
      if (this.#fits(saved)) this.#saved = saved;
    } catch {
      // Unreadable storage is as good as none.
    }
  }

  /** Notes an upload before its first byte leaves. */
  begin(sending: Sending<A>): void {
    const { upload, truth, mine = null } = sending;
    this.#save({ ...this.#saved, pending: { upload: toBase64(upload), truth, mine } });
  }

  /** This upload, if it is the pending one, is on the collector's disk. */
  acknowledge(upload: Uint8Array): void {
    const { truth, mine, pending } = this.#saved;
    if (pending?.upload !== toBase64(upload)) return;
    this.#save({
      truth: sum(truth, pending.truth),
      mine: pending.mine ? { upload: pending.upload, answers: pending.mine } : mine,
      pending: null,
    });
  }

  /** The pending upload was refused for good. */
  abandon(): void {
    this.#save({ ...this.#saved, pending: null });
  }

  /** The collector started afresh: nothing of this was ever sent to it. */
  forget(): void {
    this.#saved = this.#empty();
    try {
      this.#shelf?.removeItem(this.#key);
    } catch {
      // Nothing was kept, then.
    }
  }

  #empty(): Saved<A> {
    return { truth: nobody(this.#items), mine: null, pending: null };
  }

  #save(saved: Saved<A>): void {
    this.#saved = saved;
    try {
      this.#shelf?.setItem(this.#key, JSON.stringify(saved));
    } catch {
      // A full or forbidden storage only costs the memory across reloads.
    }
  }

  #fits(saved: unknown): saved is Saved<A> {
    const truth = (saved as Saved<A> | null)?.truth;
    return truth?.yes.length === this.#items && truth.no.length === this.#items;
  }
}

/** The truth of no people. */
export function nobody(items: number): Truth {
  const zeros = new Array<number>(items).fill(0);
  return { people: 0, yes: zeros, no: zeros };
}

/** Two groups of people taken together. */
export function sum(a: Truth, b: Truth): Truth {
  const add = (x: readonly number[], y: readonly number[]) => x.map((n, i) => n + (y[i] ?? 0));
  return { people: a.people + b.people, yes: add(a.yes, b.yes), no: add(a.no, b.no) };
}

function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
