/**
 * hushbin with reports sealed in the page to an analyser: whoever collects them, a shuffler,
 * sees who sends and cannot read what; the analyser reads what and cannot know who sent it.
 *
 * What seals is imported from a file of its own as consent is granted.
 *
 * @packageDocumentation
 */

import { type Client, HushbinClient } from "./client.js";
import { OptionError } from "./errors.js";
import { INLINED } from "./inlined.js";
import { supply } from "./module.js";
import { type ClientOptions, settingsOf } from "./options.js";
import { through } from "./sealed/relay.js";
import { SealedSession, type SealedSettings } from "./sealed/session.js";
import { Session } from "./session.js";
import type { Task } from "./task.js";

export { SealingError } from "./errors.js";
export * from "./exports.js";

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

/**
 * Options of `createClient`.
 *
 * @typeParam T the task's type: a literal's, so that `report` knows its names
 */
export interface SealedClientOptions<T extends Task | string = Task | string>
  extends ClientOptions<T> {
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

function sealedSettingsOf(options: SealedClientOptions): SealedSettings {
  const { analyser, relay } = options;
  const isPin = (pin: unknown) => typeof pin === "string" && /^[0-9a-f]{32}$/i.test(pin);
  if (!Array.isArray(analyser) || analyser.length === 0 || !analyser.every(isPin)) {
    throw new OptionError("analyser", analyser, "an array of pins, of 32 hexadecimal digits each");
  }
  const settings = settingsOf(options);
  return {
    ...settings,
    ...(relay && options.delayMs === undefined && { delayMs: 0 }),
    analyser: analyser.map((pin) => pin.toLowerCase()),
    fetch: relay ? through(relay.url, relay.gateway, settings.fetch) : settings.fetch,
  };
}

/**
 * Makes a client for one task of one shuffler, whose reports only the analyser can read.
 * Returns at once, as `createClient` of `hushbin` does; reports also wait for the analyser's
 * keys.
 *
 * @example
 * ```ts
 * import { createClient } from "hushbin/sealed";
 *
 * const client = createClient({
 *   endpoint: "https://shuffler.example",
 *   task,
 *   analyser: ["8f1c5b0e63a7d2940b5e7c1f2a9d4e60"],
 * });
 * client.grant(); // once the person agrees
 * ```
 *
 * @throws OptionError when an option cannot be used
 * @throws TaskError when the task is malformed
 */
export function createClient<const T extends Task | string>(
  options: SealedClientOptions<T>,
): Client<T extends Task ? T : Task>;
export function createClient(options: SealedClientOptions): Client {
  supply(INLINED);
  const settings = sealedSettingsOf(options);
  // A dry run asks nobody for keys.
  const sessions = settings.dryRun ? Session : (SealedSession as unknown as typeof Session);
  return new HushbinClient(settings, options.consent === true, sessions);
}
