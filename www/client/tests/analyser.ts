/** Test doubles for sealed reports: an analyser's key pair, and a shuffler that serves keys. */

import { Aes128Gcm, CipherSuite, DhkemX25519HkdfSha256, HkdfSha256 } from "@hpke/core";
import type { DhkemX25519HkdfSha256 as InJavaScript } from "@hpke/dhkem-x25519";
import { expect } from "vitest";
import { FakeCollector } from "./harness.js";

export const bytesOf = (digits: string) => new Uint8Array(Buffer.from(digits, "hex"));
export const hexOf = (bytes: ArrayBuffer | Uint8Array) =>
  Buffer.from(new Uint8Array(bytes)).toString("hex");

export const suiteOf = (kem: DhkemX25519HkdfSha256 | InJavaScript) =>
  new CipherSuite({ kem, kdf: new HkdfSha256(), aead: new Aes128Gcm() });

/** Maximum length of a report of {@link OFTEN} in bytes: a seed and a bucket. */
export const REPORT = 9;
export const ID = 4;
export const ENCAPSULATED = 32;

/** Key pair of an analyser, by default for {@link OFTEN}. */
export class Analyser {
  readonly configuration: Uint8Array<ArrayBuffer>;
  readonly pin: string;
  readonly #keys: CryptoKeyPair;

  private constructor(keys: CryptoKeyPair, configuration: Uint8Array<ArrayBuffer>, pin: string) {
    this.#keys = keys;
    this.configuration = configuration;
    this.pin = pin;
  }

  static async create(fingerprint: string, bytes = REPORT): Promise<Analyser> {
    const kem = new DhkemX25519HkdfSha256();
    const keys = await kem.generateKeyPair();
    const key = hexOf(await kem.serializePublicKey(keys.publicKey));
    const length = bytes.toString(16).padStart(4, "0");
    const configuration = bytesOf(`01${fingerprint}002000010001${key}${length}`);
    const digest = await crypto.subtle.digest("SHA-256", configuration);
    return new Analyser(keys, configuration, hexOf(digest).slice(0, 32));
  }

  /** Hexadecimal configuration, as the shuffler returns it. */
  get key(): string {
    return hexOf(this.configuration);
  }

  /** Opens a sealed report. */
  async open(sealed: Uint8Array): Promise<Uint8Array> {
    expect(hexOf(sealed.subarray(0, ID))).toBe(this.pin.slice(0, 8));
    const enc = sealed.slice(ID, ID + ENCAPSULATED).buffer;
    const text = new TextEncoder().encode("hushbin sealed report\0");
    const info = new Uint8Array([...text, ...this.configuration]).buffer;
    const suite = suiteOf(new DhkemX25519HkdfSha256());
    const recipientKey = this.#keys.privateKey;
    const sent = sealed.slice(ID + ENCAPSULATED).buffer;
    return new Uint8Array(await suite.open({ recipientKey, enc, info }, sent));
  }
}

/** Shuffler that returns these keys, and otherwise responds like the collector. */
export class FakeShuffler extends FakeCollector {
  /** Responses to the next requests for keys, used before the keys. */
  readonly instead: (Response | "down")[] = [];
  asked = 0;
  readonly #keys: readonly string[];
  readonly #reports: typeof globalThis.fetch;

  constructor(...keys: readonly string[]) {
    super();
    this.#keys = keys;
    this.#reports = this.fetch;
  }

  readonly fetchAll: typeof globalThis.fetch = async (url, init) => {
    if (!String(url).endsWith("/keys")) {
      return this.#reports(url, init);
    }
    this.asked += 1;
    const instead = this.instead.shift();
    if (instead === "down") {
      throw new TypeError("fetch failed");
    }
    return instead ?? Response.json({ keys: this.#keys });
  };
}
