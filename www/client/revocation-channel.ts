/** Channel between tabs and workers, on which a client tells that consent was revoked. */

import type { ClientSettings } from "./options.js";
import { isNodeLikeProcess } from "./page.js";

/**
 * Returns the channel that informs other tabs and workers when consent is revoked. Returns
 * undefined in processes, and for clients that share nothing with other tabs.
 */
export function openRevocationChannel({
  reportsUrl,
  storage,
  dryRun,
}: ClientSettings): BroadcastChannel | undefined {
  try {
    // A channel would keep a process from ending.
    const shares = !isNodeLikeProcess() && storage !== "memory" && !dryRun;
    return shares ? new BroadcastChannel(`hushbin ${reportsUrl}`) : undefined;
  } catch {
    // Old browsers have no channels. At Next.js's edge, the constructor throws.
    return undefined;
  }
}
