import { createClient, type ReportInput } from "hushbin";
import { useHushbin } from "hushbin/react";
import { useEffect } from "react";
import { task } from "./settings";

// The task is in the page, so no other party decides what is asked. Without consent nothing is
// drawn, stored or sent.
export const client = createClient({ endpoint: "/telemetry", task });

export type Settings = ReportInput<typeof task>;

/**
 * Counts a person's settings once they agree. The client makes at most one report in thirty days,
 * even if a component is mounted more often.
 */
export function useStatistics(agrees: boolean, settings: Settings): void {
  const consent = useHushbin(client, agrees);
  useEffect(() => {
    if (consent === "granted") {
      client.record(settings);
    }
  }, [consent, settings]);
}
