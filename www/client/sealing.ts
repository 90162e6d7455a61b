/**
 * Sealing of reports with HPKE (RFC 9180) in base mode, with the browser's WebCrypto: DHKEM(X25519,
 * HKDF-SHA256), HKDF-SHA256, AES-128-GCM. This separate file is imported if reports are sealed.
 */

import {
  Aes128Gcm,
  CipherSuite,
  DhkemX25519HkdfSha256,
  HkdfSha256,
  type KemInterface,
} from "@hpke/core";

import { bytesToHex } from "./bytes.js";

/**
 * Length of a key configuration in bytes, and positions in it, as in `src/sealed/configuration.rs`.
 */
export const CONFIGURATION_BYTES = 57;
const KEY_START_OFFSET = 23;
const KEY_END_OFFSET = 55;
const KEY_ID_BYTES = 4;
/** Version and cipher suite that a key configuration must have. */
const CONFIGURATION_VERSION = 1;
const CIPHER_SUITE_IDS = "0,32,0,1,0,1";

const HPKE_INFO_LABEL = new TextEncoder().encode("hushbin sealed report\0");

/** Function that seals the bytes of one report. */
export type SealFunction = (report: Uint8Array) => Promise<Uint8Array>;

/** Returns the SHA-256 hash of a key configuration. Its first 16 bytes are the pin. */
export async function hashKeyConfiguration(configuration: BufferSource): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", configuration));
}

/**
 * Returns whether these bytes are a key configuration of the supported version and cipher suite,
 * for reports of the task with this fingerprint.
 */
export function isKeyConfigurationForTask(bytes: Uint8Array, fingerprint: string): boolean {
  return (
    bytes.length === CONFIGURATION_BYTES &&
    bytes[0] === CONFIGURATION_VERSION &&
    bytesToHex(bytes.subarray(1, 17)) === fingerprint &&
    String(bytes.subarray(17, KEY_START_OFFSET)) === CIPHER_SUITE_IDS
  );
}

/** Returns the browser's implementation of X25519, or one in JavaScript if the browser has none. */
async function createKem(): Promise<KemInterface> {
  try {
    await crypto.subtle.generateKey("X25519", false, ["deriveBits"]);
    return new DhkemX25519HkdfSha256();
  } catch {
    const { DhkemX25519HkdfSha256: InJavaScript } = await import("./x25519.js");
    return new InJavaScript();
  }
}

/** Returns the cipher suite that seals reports, and requests through a relay. */
export async function createCipherSuite(): Promise<CipherSuite> {
  return new CipherSuite({
    kem: await createKem(),
    kdf: new HkdfSha256(),
    aead: new Aes128Gcm(),
  });
}

/**
 * Returns a function that seals reports with the key in a key configuration.
 *
 * @throws Error if the browser lacks WebCrypto, which exists only in secure contexts
 */
export async function createSealer(configuration: Uint8Array<ArrayBuffer>): Promise<SealFunction> {
  const suite = await createCipherSuite();
  const key = configuration.slice(KEY_START_OFFSET, KEY_END_OFFSET);
  const recipientPublicKey = await suite.kem.deserializePublicKey(key.buffer);
  const [high = 0, low = 0] = configuration.subarray(KEY_END_OFFSET);
  const length = 256 * high + low;
  const id = (await hashKeyConfiguration(configuration)).subarray(0, KEY_ID_BYTES);
  const info = new Uint8Array([...HPKE_INFO_LABEL, ...configuration]).buffer;
  return async (report) => {
    if (report.length > length) {
      throw new RangeError(`a report has ${report.length} bytes, expected at most ${length}`);
    }
    // All sealed reports of a task have one length, so that the length reveals nothing.
    const padded = new Uint8Array(length);
    padded.set(report);
    const { enc, ct } = await suite.seal({ recipientPublicKey, info }, padded.buffer);
    return new Uint8Array([...id, ...new Uint8Array(enc), ...new Uint8Array(ct)]);
  };
}
