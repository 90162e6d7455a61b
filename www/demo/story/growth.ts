// Growth of the crowd: draws invented people, randomises the reports and sends them in batches.

import type { Randomizer } from "hushbin";
import { formatCountWithNoun } from "../shared/format.js";
import type { PackedPeople } from "./habits.js";
import type { UploadSender } from "./sender.js";

/**
 * Functions of the package's randomizer for the answers of many people, which are in packed arrays.
 */
export type BatchRandomizer = Pick<Randomizer, "randomizeMany" | "upload">;

export interface GrowthProgress {
  readonly sent: number;
  readonly totalReports: number;
  /**
   * Number of reports randomised per second. The time for drawing people and for sending does not
   * count.
   */
  readonly randomisedPerSecond: number;
  /**
   * Number of reports acknowledged by the collector per second. The time runs from the draw of the
   * people to the receipt.
   */
  readonly acknowledgedPerSecond: number;
}

export interface GrowthOptions {
  readonly people: number;
  /** Draws `people` invented people, starting with the one whose number is `first`. */
  readonly draw: (first: number, people: number) => PackedPeople;
  /** Returns the number of invented people who have already reported. */
  readonly countReportedPeople: () => number;
  readonly randomizer: BatchRandomizer;
  readonly sender: Pick<UploadSender<never>, "send">;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: GrowthProgress) => void;
  readonly now?: () => number;
}

/**
 * Maximum number of people in one upload. Randomising them takes a few milliseconds, so the page
 * stays responsive.
 */
const MAX_PEOPLE_PER_UPLOAD = 1000;

/**
 * Returns the number of people per upload. A small crowd is split into several uploads, so that
 * progress is visible.
 */
export function peoplePerUpload(people: number): number {
  return Math.max(1, Math.min(MAX_PEOPLE_PER_UPLOAD, Math.ceil(people / 10)));
}

/**
 * Sends reports of invented people until the collector has acknowledged all, or until the signal is
 * aborted.
 */
export async function growCrowd(growth: GrowthOptions): Promise<void> {
  const { people, randomizer, sender, signal, now = () => performance.now() } = growth;
  const batch = peoplePerUpload(people);
  const start = now();
  let randomising = 0;
  for (let sent = 0; sent < people && !signal.aborted; ) {
    const size = Math.min(batch, people - sent);
    await sender.send(() => {
      const {
        lengths,
        items,
        values,
        trueCounts: truth,
      } = growth.draw(growth.countReportedPeople(), size);
      const before = now();
      const reports = randomizer.randomizeMany(lengths, items, values);
      const upload = randomizer.upload(reports, size);
      randomising += now() - before;
      return { upload, trueCounts: truth };
    });
    sent += size;
    growth.onProgress({
      sent,
      totalReports: people,
      randomisedPerSecond: (sent / randomising) * 1000,
      acknowledgedPerSecond: (sent / (now() - start)) * 1000,
    });
  }
}

/** Describes the outcome of a growth in words. `sent` is the number of reports. */
export function growthOutcomeText(sent: number, aborted: boolean): string {
  const reports = formatCountWithNoun(sent, "report");
  return aborted
    ? `Stopped after ${reports}.`
    : `${reports} sent and stored on the collector’s disk.`;
}

/** Message shown if an error ended a growth. */
export const INTERRUPTED_TEXT =
  "Sending stopped. The unfinished upload is kept. When you continue, exactly the same bytes are sent first.";
