import { useHushbin } from "hushbin/react";
import { useSyncExternalStore } from "react";
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

/** Returns the person's consent, which this browser remembers and the server does not know. */
export function useConsent() {
  const agrees = useSyncExternalStore(
    subscribe,
    () => localStorage.getItem(KEY) === "yes",
    () => false,
  );
  // As consent is revoked, reports that wait to be sent are withdrawn.
  useHushbin(client, agrees);
  return [agrees, remember] as const;
}
