// Growth of the crowd: draws people, randomises the reports and posts them in batches.

import type { Randomizer } from "hushbin";
import { counted } from "../shared/format.js";
import type { People } from "./habits.js";
import type { Sender } from "./sender.js";

/** Functions of the package's randomizer for packed arrays. */
export type ManyRandomizer = Pick<Randomizer, "randomizeMany" | "upload">;

export interface Progress {
  readonly sent: number;
  readonly of: number;
  /** Reports per second of randomising, without drawing and posting. */
  readonly randomised: number;
  /** Reports per second from the draw of people to the collector's receipt. */
  readonly acknowledged: number;
}

export interface GrowthOptions {
  readonly people: number;
  /** Draws `people` people, starting with number `first`. */
  readonly draw: (first: number, people: number) => People;
  /** Returns the number of people who have reported before. */
  readonly already: () => number;
  readonly randomizer: ManyRandomizer;
  readonly sender: Pick<Sender<never>, "send">;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
  readonly now?: () => number;
}

/** Maximum number of people in one upload: a few milliseconds of work between frames. */
const BATCH = 1000;

/** Returns the number of people per upload. Small crowds need several uploads to show progress. */
export function batchOf(people: number): number {
  return Math.max(1, Math.min(BATCH, Math.ceil(people / 10)));
}

/** Adds people until all are acknowledged or the signal is aborted. */
export async function grow(growth: GrowthOptions): Promise<void> {
  const { people, randomizer, sender, signal, now = () => performance.now() } = growth;
  const batch = batchOf(people);
  const start = now();
  let randomising = 0;
  for (let sent = 0; sent < people && !signal.aborted; ) {
    const size = Math.min(batch, people - sent);
    await sender.send(() => {
      const { lengths, items, values, truth } = growth.draw(growth.already(), size);
      const before = now();
      const reports = randomizer.randomizeMany(lengths, items, values);
      const upload = randomizer.upload(reports, size);
      randomising += now() - before;
      return { upload, truth };
    });
    sent += size;
    growth.onProgress({
      sent,
      of: people,
      randomised: (sent / randomising) * 1000,
      acknowledged: (sent / (now() - start)) * 1000,
    });
  }
}

/** Returns the outcome of a growth in words. */
export function outcomeText(sent: number, aborted: boolean): string {
  const reports = counted(sent, "report");
  return aborted
    ? `Stopped after ${reports}.`
    : `${reports} sent and stored on the collector’s disk.`;
}

/** Message for a growth that an error ended. */
export const INTERRUPTED_TEXT =
  "Sending stopped. The unfinished upload is kept. Exactly the same bytes are sent again before anything else.";
