/**
 * hushbin with reports sealed in the page to an analyser: whoever collects them, a shuffler,
 * sees who sends and cannot read what; the analyser reads what and cannot know who sent it.
 *
 * What seals is imported from a file of its own as consent is granted.
 *
 * @packageDocumentation
 */

import { type Client, HushbinClient } from "./client.js";
import { INLINED } from "./inlined.js";
import { supply } from "./module.js";
import { type ClientOptions, reportSettingsOf } from "./options.js";
import { type Sealing, sealedSettingsOf } from "./sealed/options.js";
import { SealedSession, sealing } from "./sealed/session.js";
import { openSession } from "./session.js";
import type { Task } from "./task.js";

export { SealingError } from "./errors.js";
export * from "./exports.js";
export type { Relay, Sealing } from "./sealed/options.js";

/**
 * Options of `createClient`.
 *
 * @typeParam T the task's type: a literal's, so that `report` knows its names
 */
export interface SealedClientOptions<T extends Task | string = Task | string>
  extends ClientOptions<T>,
    Sealing {}

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
  const settings = sealedSettingsOf(options, reportSettingsOf(options));
  // A dry run asks nobody for keys.
  const open = settings.dryRun ? openSession : sealing(openSession, SealedSession);
  return new HushbinClient(settings, open, options.consent === true);
}
