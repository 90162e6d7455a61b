// The record of reports that this browser has sent, with the true answers, so that estimates can be
// compared with them. It is in local storage, because it must survive a reload, as the collector's
// reports do. A real page keeps no such record.

import type { Answers } from "./mechanism/mechanism.js";

/**
 * Counts of the true answers in a number of reports. `yes` and `no` have one count for each item,
 * by index.
 */
export interface TrueCounts {
  readonly people: number;
  readonly yes: readonly number[];
  readonly no: readonly number[];
}

/** Upload that is not yet acknowledged, with its true answers. */
export interface PendingUpload<A = Answers> {
  readonly upload: Uint8Array;
  readonly trueCounts: TrueCounts;
  /** Answers of the visitor, if the upload has the visitor's report. */
  readonly ownAnswers?: A;
}

/** Upload with the visitor's report, and the visitor's true answers. */
export interface OwnReportRecord<A = Answers> {
  readonly upload: Uint8Array;
  readonly answers: A;
}

interface SavedLedger<A> {
  truth: TrueCounts;
  mine: { upload: string; answers: A } | null;
  /** Upload that may have been sent but is not acknowledged. */
  pending: { upload: string; truth: TrueCounts; mine: A | null } | null;
}

/** Functions of the Storage interface that the ledger needs. */
export interface KeyValueStorage {
  getItem(key: string): string | null;
  setItem(key: string, value: string): void;
  removeItem(key: string): void;
}

/** @typeParam A answers of the visitor */
export class SentReportsLedger<A = Answers> {
  readonly #key: string;
  readonly #itemCount: number;
  readonly #storage: KeyValueStorage | null;
  #saved: SavedLedger<A>;

  /** `storage` is null if the browser refuses storage. A reload then loses the record. */
  constructor(storage: KeyValueStorage | null, fingerprint: string, items: number) {
    this.#key = `hushbin-demo:${fingerprint}`;
    this.#itemCount = items;
    this.#storage = storage;
    this.#saved = this.#emptyLedger();
    this.reload();
  }

  get trueCounts(): TrueCounts {
    return this.#saved.truth;
  }

  get ownReport(): OwnReportRecord<A> | null {
    const { mine } = this.#saved;
    return mine && { upload: fromBase64(mine.upload), answers: mine.answers };
  }

  get pending(): PendingUpload<A> | null {
    const { pending } = this.#saved;
    if (!pending) return null;
    const { upload, truth, mine } = pending;
    return { upload: fromBase64(upload), trueCounts: truth, ...(mine && { ownAnswers: mine }) };
  }

  /** Reads the record again, because another tab may have changed it. */
  reload(): void {
    try {
      const saved: unknown = JSON.parse(this.#storage?.getItem(this.#key) ?? "null");
      if (this.#fits(saved)) this.#saved = saved;
    } catch {
      // Unreadable storage is treated as empty.
    }
  }

  /** Records an upload as pending. Call this before any of its bytes is sent. */
  recordPending(sending: PendingUpload<A>): void {
    const { upload, trueCounts: truth, ownAnswers: mine = null } = sending;
    this.#save({ ...this.#saved, pending: { upload: toBase64(upload), truth, mine } });
  }

  /**
   * Records that the collector has stored the pending upload. Does nothing for any other upload.
   */
  acknowledge(upload: Uint8Array): void {
    const { truth, mine, pending } = this.#saved;
    if (pending?.upload !== toBase64(upload)) return;
    this.#save({
      truth: addTrueCounts(truth, pending.truth),
      mine: pending.mine ? { upload: pending.upload, answers: pending.mine } : mine,
      pending: null,
    });
  }

  /** Drops the pending upload, because the collector will never accept it. */
  dropPending(): void {
    this.#save({ ...this.#saved, pending: null });
  }

  /** Clears the record, because the collector was emptied. */
  forget(): void {
    this.#saved = this.#emptyLedger();
    try {
      this.#storage?.removeItem(this.#key);
    } catch {
      // Without storage there is nothing to remove.
    }
  }

  #emptyLedger(): SavedLedger<A> {
    return { truth: emptyTrueCounts(this.#itemCount), mine: null, pending: null };
  }

  #save(saved: SavedLedger<A>): void {
    this.#saved = saved;
    try {
      this.#storage?.setItem(this.#key, JSON.stringify(saved));
    } catch {
      // If storage is full or forbidden, the record lasts until a reload.
    }
  }

  #fits(saved: unknown): saved is SavedLedger<A> {
    const truth = (saved as SavedLedger<A> | null)?.truth;
    return truth?.yes.length === this.#itemCount && truth.no.length === this.#itemCount;
  }
}

/** Returns the counts of an empty crowd, which are 0 for each item. */
export function emptyTrueCounts(items: number): TrueCounts {
  const zeros = new Array<number>(items).fill(0);
  return { people: 0, yes: zeros, no: zeros };
}

/** Adds the counts of two groups of people. */
export function addTrueCounts(a: TrueCounts, b: TrueCounts): TrueCounts {
  const add = (x: readonly number[], y: readonly number[]) => x.map((n, i) => n + (y[i] ?? 0));
  return { people: a.people + b.people, yes: add(a.yes, b.yes), no: add(a.no, b.no) };
}

function toBase64(bytes: Uint8Array): string {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}
