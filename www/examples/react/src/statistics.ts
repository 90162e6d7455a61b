import { createClient, type ReportInput } from "hushbin";
import { useEffect } from "react";
import { task } from "./settings";

// The task is in the page: nobody else decides what is asked. Without consent nothing is drawn,
// stored or sent.
export const client = createClient({ endpoint: "/telemetry", task });

export type Settings = ReportInput<typeof task>;

/**
 * Counts somebody's settings, once they agree. The client keeps to one report in thirty days,
 * however often a component is mounted.
 */
export function useStatistics(agrees: boolean, settings: Settings): void {
  useEffect(() => {
    if (agrees) {
      client.grant();
      client.record(settings);
    } else {
      // What waits to be sent is forgotten.
      client.revoke().catch(console.error);
    }
  }, [agrees, settings]);
}
