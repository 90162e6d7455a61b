/** Replacement of `fetch` for requests through a relay, which hides the sender from the server. */

import { bytesFromHex } from "../bytes.js";
import { OptionError } from "../errors.js";

/**
 * Pattern of the hexadecimal digits of a key configuration. Its key is for X25519 and HKDF-SHA256,
 * and its list of algorithms contains HKDF-SHA256 with AES-128-GCM.
 */
const KEY_CONFIGURATION_PATTERN = /^..0020.{64}.{4}(.{8})*00010001(.{8})*$/;

/**
 * Returns a replacement of `fetch` that sends requests through a relay.
 *
 * @throws OptionError if `url` is not a URL, or `gateway` is not a key configuration
 */
export function createRelayFetch(
  url: unknown,
  gateway: unknown,
  fetch: typeof globalThis.fetch,
): typeof globalThis.fetch {
  const digits = String(gateway).toLowerCase();
  const bytes = bytesFromHex(digits);
  if (!bytes.length || !KEY_CONFIGURATION_PATTERN.test(digits)) {
    throw new OptionError("relay.gateway", gateway, "what hushbin key gateway prints");
  }
  let relay = "";
  try {
    relay = new URL(String(url), globalThis.location?.href).href;
  } catch {
    // Not a valid URL. The check below throws.
  }
  if (!/^https?:/.test(relay)) {
    throw new OptionError("relay.url", url, "the relay's URL, with https:// or http://");
  }
  return async (input, init) => {
    const [{ exchangeThroughRelay }, { createCipherSuite }] = await Promise.all([
      import("../oblivious.js"),
      import("../sealing.js"),
    ]);
    return exchangeThroughRelay(
      { relay, gatewayKeyConfiguration: bytes, fetch, suite: await createCipherSuite() },
      String(input),
      init,
    );
  };
}
