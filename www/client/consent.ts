/**
 * Adapters for consent managers. Each grants and revokes the consent of a client as the person
 * decides in the manager.
 *
 * All of them fail closed: as long as a manager is missing, undecided or unreadable, nothing is
 * granted, so nothing is stored or requested. They start and configure no manager.
 *
 * @packageDocumentation
 */

import type { Client } from "./client-interface.js";

/** Part of a client that an adapter needs. */
export type ConsentTarget = Pick<Client, "grant" | "revoke">;

// Untyped: a page may have any version of a manager, or none.
// biome-ignore lint/suspicious/noExplicitAny: see above
type Manager = any;

const page: Manager = globalThis;

/**
 * Returns a function that grants or revokes a client's consent if the person's decision has changed.
 * True is consent, and undefined is no decision yet.
 */
function createFollower(client: ConsentTarget): (agrees: unknown) => void {
  let last: boolean | undefined;
  return (decision) => {
    const agrees = decision === true;
    if (agrees === last || (decision === undefined && last === undefined)) {
      return;
    }
    last = agrees;
    if (agrees) {
      client.grant();
    } else {
      // Consent has ended in this page, even if the browser's database fails.
      client.revoke().catch(console.warn);
    }
  };
}

/**
 * Follows a manager of IAB's Transparency and Consent Framework, version 2. Call it after the
 * manager's stub, which defines `__tcfapi`.
 *
 * Where the framework says that the GDPR does not apply, it states no consent, so nothing is
 * granted.
 *
 * @example
 * ```ts
 * followTcf(client, [1, 10]);
 * ```
 *
 * @param purposes purposes to which the person has to agree, all of them. The default is 1, to
 * store information on the device, and 10, to develop and improve services
 */
export function followTcf(client: ConsentTarget, purposes: readonly number[] = [1, 10]): void {
  const tell = createFollower(client);
  page.__tcfapi?.("addEventListener", 2, (data: Manager, success: boolean) => {
    if (!success) {
      tell(undefined);
    } else if (data.eventStatus !== "cmpuishown") {
      // While the person looks at the manager, the last decision stays.
      tell(purposes.every((purpose) => data.purpose?.consents?.[purpose] === true));
    }
  });
}

/**
 * Follows Google's Consent Mode, which most managers set. Only the command `update` counts, because
 * `default` is not the person's decision.
 *
 * @example
 * ```ts
 * followConsentMode(client);
 * ```
 *
 * @param type type of consent that the person has to grant
 */
export function followConsentMode(client: ConsentTarget, type = "analytics_storage"): void {
  const tell = createFollower(client);
  const read = (command: Manager) => {
    if (command?.[0] === "consent" && command[1] === "update" && command[2]?.[type]) {
      tell(command[2][type] === "granted");
    }
  };
  page.dataLayer ??= [];
  const layer: unknown[] = page.dataLayer;
  layer.forEach(read);
  const push = layer.push;
  layer.push = (...commands) => {
    commands.forEach(read);
    return push.apply(layer, commands);
  };
}

/**
 * Follows CookieConsent by orestbida, version 3. Call it before the manager's `run`, or load the
 * manager as a script.
 *
 * @example
 * ```ts
 * followCookieConsent(client);
 * CookieConsent.run({ categories: { necessary: { readOnly: true }, analytics: {} } });
 * ```
 *
 * @param category category that the person has to accept
 */
export function followCookieConsent(client: ConsentTarget, category = "analytics"): void {
  const tell = createFollower(client);
  const { CookieConsent: manager } = page;
  if (manager?.validConsent?.()) {
    tell(manager.acceptedCategory(category));
  }
  for (const event of ["cc:onConsent", "cc:onChange"]) {
    page.addEventListener(event, ({ detail }: Manager) =>
      tell(detail?.cookie?.categories?.includes(category) === true),
    );
  }
}

/**
 * Adds a service to tarteaucitron and follows it. Call it after the manager's script.
 *
 * @example
 * ```ts
 * followTarteaucitron(client, { name: "Anonymous statistics" });
 * ```
 *
 * @param service fields of the service that the manager shows, for example `name` and `uri`. Its
 * `key` is `hushbin`, its `type` is `analytic`
 */
export function followTarteaucitron(client: ConsentTarget, service: object = {}): void {
  const tell = createFollower(client);
  const { tarteaucitron: manager } = page;
  if (manager === undefined) {
    return;
  }
  const key = "hushbin";
  const read = () => tell(manager.state[key]);
  manager.services[key] = {
    ...{ key, type: "analytic", name: key, needConsent: true, cookies: [], uri: "" },
    ...service,
    js: () => {},
  };
  for (const event of ["added", "allowed", "disallowed"]) {
    document.addEventListener(`${key}_${event}`, read);
  }
  manager.job ??= [];
  manager.job.push(key);
}

/**
 * Follows a service of Klaro. Call it after the manager's script and configuration.
 *
 * @example
 * ```ts
 * followKlaro(client, "statistics");
 * ```
 *
 * @param service name of the service in Klaro's configuration
 */
export function followKlaro(client: ConsentTarget, service: string): void {
  const tell = createFollower(client);
  const manager = page.klaro?.getManager();
  // Before the person has confirmed them, choices are those of the configuration.
  const read = () => tell(manager.confirmed ? manager.getConsent(service) : undefined);
  if (manager !== undefined) {
    read();
    manager.watch({ update: (_: unknown, event: string) => event === "saveConsents" && read() });
  }
}
