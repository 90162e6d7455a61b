// Growing the crowd: draw people, randomise each, post them, a batch at a time.

import type { Randomizer } from "hushbin";
import { counted } from "../shared/format.js";
import type { People } from "./habits.js";
import type { Sender } from "./sending.js";

/** The packed-array side of the package's randomizer. */
export type ManyRandomizer = Pick<Randomizer, "randomizeMany" | "upload">;

export interface Progress {
  readonly sent: number;
  readonly of: number;
  /** Reports randomised per second of randomising. */
  readonly randomised: number;
  /** Reports per second from drawing people to the collector's receipt. */
  readonly acknowledged: number;
}

export interface Growth {
  readonly people: number;
  /** So many people from the number `first` on. */
  readonly draw: (first: number, people: number) => People;
  /** How many people have reported before. */
  readonly already: () => number;
  readonly randomizer: ManyRandomizer;
  readonly sender: Pick<Sender<never>, "send">;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
  readonly now?: () => number;
}

/** Most people in one upload: a few milliseconds of work between frames. */
const BATCH = 1000;

/** How many people go into the next upload: small crowds show progress too. */
export function batchOf(people: number): number {
  return Math.max(1, Math.min(BATCH, Math.ceil(people / 10)));
}

/** Adds people until all are acknowledged or the signal says stop. */
export async function grow(growth: Growth): Promise<void> {
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

/** Where growing ended, in words. */
export function ended(sent: number, aborted: boolean): string {
  const reports = counted(sent, "report");
  return aborted
    ? `Stopped after ${reports}.`
    : `${reports}, sent just now, on the collector’s disk.`;
}

/** Why growing ended before that, in words. */
export const INTERRUPTED =
  "Sending stopped. The upload that was under way is kept and sent again, byte for byte, before anything else.";
