/** What a client that seals is made with. */

import { OptionError } from "../errors.js";
import type { Settings } from "../options.js";
import { through } from "./relay.js";
import type { SealedSettings } from "./session.js";

/** A relay of Oblivious HTTP (RFC 9458), which hands requests on and cannot read them. */
export interface Relay {
  /**
   * Where it takes them: whoever runs it is told the gateway's address, and is somebody else
   * than who collects. May be relative to the page. Browsers ask first, by a preflight.
   */
  readonly url: string | URL;
  /**
   * The key configuration of the gateway, which is who collects: hexadecimal, as
   * `hushbin key gateway` prints it. Requests are sealed to it, and to no other.
   */
  readonly gateway: string;
}

/** What clients that seal take beside the options of all. */
export interface Sealing {
  /**
   * Pins of the analyser's keys for this task, 32 hexadecimal digits each, as
   * `hushbin key pin` prints them: reports are sealed to these keys, and to no other that
   * whoever collects them may name. While a key is changed, the old one's and the new one's.
   */
  readonly analyser: readonly string[];
  /**
   * Sends and fetches through this relay, so that who collects does not see who sends.
   * `endpoint` then names it to its gateway, and is never connected to; and unless `delayMs`
   * says otherwise a report waits for no others, since sealing cannot be done as a page ends.
   * Default none.
   */
  readonly relay?: Relay | undefined;
}

/**
 * Settings of a client that seals, by those that it has besides.
 *
 * @throws OptionError
 * @internal
 */
export function sealedSettingsOf(
  { analyser, relay, delayMs }: Sealing & { readonly delayMs?: number | undefined },
  settings: Settings,
): SealedSettings {
  const isPin = (pin: unknown) => typeof pin === "string" && /^[0-9a-f]{32}$/i.test(pin);
  if (!Array.isArray(analyser) || analyser.length === 0 || !analyser.every(isPin)) {
    throw new OptionError("analyser", analyser, "an array of pins, of 32 hexadecimal digits each");
  }
  return {
    ...settings,
    ...(relay && delayMs === undefined && { delayMs: 0 }),
    analyser: analyser.map((pin) => pin.toLowerCase()),
    fetch: relay ? through(relay.url, relay.gateway, settings.fetch) : settings.fetch,
  };
}
