/** Fetches the key configurations of a shuffler, and selects one that the page has pinned. */

import { bytesFromHex, bytesToHex } from "../bytes.js";
import { NetworkError, SealingError } from "../errors.js";
import { sendRequest, unreachableReason } from "../transport.js";

type SealingModule = typeof import("../sealing.js");

/**
 * Fetches the key configurations, in one attempt.
 *
 * @throws NetworkError if the response does not come from a shuffler, or the shuffler does not have
 * the keys yet
 */
export async function fetchAnalyserKeys(
  url: string,
  fetch: typeof globalThis.fetch,
): Promise<readonly string[]> {
  const answer = await sendRequest(fetch, `${url}/keys`).catch((cause: unknown) => {
    throw new NetworkError(`keys could not be fetched: ${unreachableReason(cause)}`, { cause });
  });
  const { status, retryAfterMs, body } = answer;
  const { keys } = body;
  if (status !== 200 || !Array.isArray(keys)) {
    throw new NetworkError(`${url}/keys answered ${status} and no keys`, { status, retryAfterMs });
  }
  return keys.map(String);
}

/**
 * Returns the first key configuration that is pinned and made for this task.
 *
 * @throws SealingError if there is none
 */
export async function selectPinnedKey(
  { hashKeyConfiguration, isKeyConfigurationForTask }: SealingModule,
  keys: readonly string[],
  pins: readonly string[],
  fingerprint: string,
): Promise<Uint8Array<ArrayBuffer>> {
  for (const key of keys) {
    const bytes = bytesFromHex(key);
    const pin = bytesToHex((await hashKeyConfiguration(bytes)).subarray(0, 16));
    // A pin alone is not enough: the key must be for this task.
    if (pins.includes(pin) && isKeyConfigurationForTask(bytes, fingerprint)) {
      return bytes;
    }
  }
  throw new SealingError(
    `none of ${keys.length} keys that the collector names is one of analyser, for reports of this task`,
  );
}
