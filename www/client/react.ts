/**
 * React hook for a client, and the types of `<hushbin-history>` in JSX. Needs React 18 or later; the
 * element takes its properties from React 19 on.
 *
 * @packageDocumentation
 */

import { type HTMLAttributes, type RefAttributes, useEffect, useSyncExternalStore } from "react";
import type { Client } from "./client-interface.js";
import type { Consent } from "./consent-state.js";
import type { HushbinHistoryElement } from "./history.js";

/**
 * Keeps a client's consent as the person has decided, and returns the state of consent.
 *
 * The application stores the decision. The client outlives the components, so create it in a module.
 *
 * @example
 * ```tsx
 * const [agrees, setAgrees] = useState(localStorage.getItem("statistics") === "yes");
 * const consent = useHushbin(client, agrees);
 * ```
 *
 * @param agrees true grants consent, and false revokes it. Undefined changes nothing, for example if
 * a consent manager decides
 * @returns the client's state of consent, which the browser's privacy signals may override
 */
export function useHushbin(
  client: Pick<Client, "consent" | "grant" | "revoke" | "watch">,
  agrees: boolean | undefined,
): Consent {
  useEffect(() => {
    if (agrees) {
      client.grant();
    } else if (agrees === false) {
      // Consent has ended in this page, even if the browser's database fails.
      client.revoke().catch(console.warn);
    }
  }, [client, agrees]);
  return useSyncExternalStore<Consent>(
    (changed) => client.watch(changed),
    () => client.consent,
    () => "pending",
  );
}

/** Properties of `<hushbin-history>` in JSX. */
export type HistoryProps = HTMLAttributes<HushbinHistoryElement> &
  RefAttributes<HushbinHistoryElement> &
  Partial<Pick<HushbinHistoryElement, "client" | "clients" | "words">> & {
    readonly level?: number;
    readonly revocable?: boolean;
  };

declare module "react" {
  namespace JSX {
    interface IntrinsicElements {
      "hushbin-history": HistoryProps;
    }
  }
}
