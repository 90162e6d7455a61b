/**
 * What waits to be sent: randomised, encoded bytes and nothing else.
 *
 * A report is randomised once. What waits here is what is sent and what is
 * sent again; drawing it anew after a failure would spend the budget twice.
 */

import { joined } from "./bytes.js";

/** Bytes of one upload and how many reports they hold. */
export interface SealedUpload {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly count: number;
}

/** What an upload of `count` encoded reports begins with; they follow, back to back. */
export type UploadHeader = (count: number) => Uint8Array;

/**
 * Where reports wait.
 *
 * Reports are added one by one, then sealed into uploads whose bytes never
 * change. A store that outlives the page keeps a copy in memory, so that
 * everything but `add` and `remove` can be done at once while a page is being
 * hidden.
 */
export interface Outbox {
  /** Number of reports that are in no upload yet. */
  readonly waiting: number;
  /** Number of reports in the outbox. */
  readonly reports: number;
  /** Size of the outbox. */
  readonly bytes: number;
  /** Whether the waiting reports fill an upload. */
  readonly full: boolean;
  /** Uploads that are not acknowledged yet, oldest first. */
  readonly sealed: ReadonlySet<SealedUpload>;
  /** Adds a report; resolves when it is stored as well as this outbox stores. */
  add(report: Uint8Array): Promise<void>;
  /**
   * Turns waiting reports, oldest first, into one upload; nothing when none
   * waits. When `header` throws, they go on waiting.
   */
  seal(header: UploadHeader): SealedUpload | undefined;
  /** Forgets an upload that was acknowledged or refused for good. */
  remove(upload: SealedUpload): Promise<void>;
}

/** Most reports in one upload: the core's bound, which a test holds equal. */
export const MAX_REPORTS = 4096;
/**
 * Most bytes of reports in one upload. With its header it fits into what a
 * page may have under way as it is hidden.
 */
export const MAX_REPORT_BYTES = 56 * 1024;

/** An outbox that lives as long as the page. */
export class MemoryOutbox implements Outbox {
  readonly #waiting: Uint8Array[] = [];
  readonly #sealed = new Set<SealedUpload>();
  #waitingBytes = 0;
  #sealedBytes = 0;
  #sealedReports = 0;

  get waiting(): number {
    return this.#waiting.length;
  }

  get reports(): number {
    return this.#waiting.length + this.#sealedReports;
  }

  get bytes(): number {
    return this.#waitingBytes + this.#sealedBytes;
  }

  get full(): boolean {
    return this.#waiting.length >= MAX_REPORTS || this.#waitingBytes >= MAX_REPORT_BYTES;
  }

  get sealed(): ReadonlySet<SealedUpload> {
    return this.#sealed;
  }

  async add(report: Uint8Array): Promise<void> {
    this.#waiting.push(report);
    this.#waitingBytes += report.length;
  }

  seal(header: UploadHeader): SealedUpload | undefined {
    let count = 0;
    let length = 0;
    for (const report of this.#waiting) {
      // One report is taken whatever its length.
      const fits = count < MAX_REPORTS && length + report.length <= MAX_REPORT_BYTES;
      if (count > 0 && !fits) {
        break;
      }
      count += 1;
      length += report.length;
    }
    if (count === 0) {
      return undefined;
    }
    const sealed = this.#waiting.slice(0, count);
    const upload = { bytes: joined(header(count), sealed, length), count };
    this.#waiting.splice(0, count);
    this.#waitingBytes -= length;
    this.#sealed.add(upload);
    this.#sealedBytes += upload.bytes.length;
    this.#sealedReports += count;
    return upload;
  }

  async remove(upload: SealedUpload): Promise<void> {
    if (this.#sealed.delete(upload)) {
      this.#sealedBytes -= upload.bytes.length;
      this.#sealedReports -= upload.count;
    }
  }
}
