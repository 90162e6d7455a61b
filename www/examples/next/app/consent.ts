import { useEffect, useSyncExternalStore } from "react";
import { client } from "./client";

const KEY = "statistics";
const listeners = new Set<() => void>();

function subscribe(listener: () => void) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function remember(agrees: boolean) {
  localStorage.setItem(KEY, agrees ? "yes" : "no");
  for (const listener of listeners) {
    listener();
  }
}

/** Whether the person agrees, which this browser remembers and the server does not know. */
export function useConsent() {
  const agrees = useSyncExternalStore(
    subscribe,
    () => localStorage.getItem(KEY) === "yes",
    () => false,
  );
  useEffect(() => {
    if (agrees) {
      client.grant();
    } else {
      // What waits to be sent is forgotten.
      client.revoke().catch(console.error);
    }
  }, [agrees]);
  return [agrees, remember] as const;
}
