/**
 * Requests through a relay: Oblivious HTTP (RFC 9458), with messages in binary form (RFC 9292).
 * This separate file is imported with the first such request.
 */

import type { CipherSuite } from "@hpke/core";
import { concatBytes } from "./bytes.js";

/** Relay through which requests go, and key with which they are sealed. */
export interface RelayRoute {
  /** URL of the relay. */
  readonly relay: string;
  /** Key configuration of the gateway. */
  readonly gatewayKeyConfiguration: Uint8Array;
  /** Sends a request to the relay. */
  readonly fetch: typeof globalThis.fetch;
  /** Cipher suite that seals requests. */
  readonly suite: CipherSuite;
}

/**
 * Start and end of the key in a key configuration, in bytes. The id of the key and the KEM precede
 * it.
 */
const KEY_START_OFFSET = 3;
const KEY_END_OFFSET = 35;
/** Identifiers of HKDF-SHA256 and of AES-128-GCM, two bytes each. */
const SYMMETRIC_ALGORITHM_IDS = [0, 1, 0, 1];

const utf8BytesOf = (text: string) => new TextEncoder().encode(text);
const REQUEST_LABEL = utf8BytesOf("message/bhttp request\0");
const RESPONSE_LABEL = utf8BytesOf("message/bhttp response");

/**
 * Length in bytes of the exported secret, and of the response nonce. `KEY_BITS` and `NONCE_BITS`
 * are the lengths of the AEAD's key and nonce.
 */
const SECRET_BYTES = 16;
const KEY_BITS = 128;
const NONCE_BITS = 96;

/**
 * Step of padding in bytes: messages are padded to a multiple of it. A relay learns only the padded
 * length.
 */
const PADDING_STEP = 256;

/** Problem type in the response of a gateway that does not have the key of a request. */
const UNKNOWN_KEY_PROBLEM = "http-problem-types#ohttp-key";

/** Encodes a number below 2^30 in as few bytes as possible (RFC 9000, section 16). */
function encodeVarint(value: number): number[] {
  if (value < 1 << 6) {
    return [value];
  }
  return value < 1 << 14
    ? [(value >> 8) | 0x40, value & 255]
    : [(value >> 24) | 0x80, (value >> 16) & 255, (value >> 8) & 255, value & 255];
}

/** Returns bytes after their encoded length. */
function withLengthPrefix(bytes: Uint8Array): Uint8Array {
  return concatBytes([new Uint8Array(encodeVarint(bytes.length)), bytes]);
}

/**
 * Encodes a request as a padded binary message. A POST request contains the origin of the page, as
 * browsers send it.
 */
export function encodeRequest(url: string, { method = "GET", body }: RequestInit = {}): Uint8Array {
  const { protocol, host, pathname, search } = new URL(url);
  const origin: string | undefined = globalThis.location?.origin;
  const fields = method === "POST" && origin ? ["origin", origin] : [];
  const control = [method, protocol.slice(0, -1), host, pathname + search];
  const content = body instanceof Uint8Array ? body : new Uint8Array();
  const texts = (all: readonly string[]) =>
    concatBytes(all.map((text) => withLengthPrefix(utf8BytesOf(text))));
  // Framing indicator 0: a request of known length, without trailers.
  const parts = [
    Uint8Array.of(0),
    texts(control),
    withLengthPrefix(texts(fields)),
    withLengthPrefix(content),
  ];
  const length = concatBytes(parts).length + 1;
  // The zero byte before the padding is an empty trailer section.
  return concatBytes([
    ...parts,
    new Uint8Array(1 + ((PADDING_STEP - (length % PADDING_STEP)) % PADDING_STEP)),
  ]);
}

/** Returns functions that read a binary message piece by piece. */
function messageReader(bytes: Uint8Array) {
  let at = 0;
  const take = (length: number) => {
    const taken = bytes.subarray(at, at + length);
    if (taken.length !== length) {
      throw new RangeError("the answer through the relay ends early");
    }
    at += length;
    return taken;
  };
  const next = () => {
    const [first = 0] = take(1);
    // The two highest bits give the length of the number: 1, 2, 4 or 8 bytes.
    const more = take((1 << (first >> 6)) - 1);
    return more.reduce((value, byte) => value * 256 + byte, first & 63);
  };
  const ended = () => at === bytes.length;
  // Empty sections may be omitted at the end of a message.
  return { next, ended, part: () => take(ended() ? 0 : next()) };
}

/**
 * Decodes a response from a binary message.
 *
 * @throws RangeError if the message is not a response of known length, or ends early
 */
export function decodeResponse(message: Uint8Array): Response {
  const { next, part } = messageReader(message);
  // Framing indicator 1: a response of known length.
  if (next() !== 1) {
    throw new RangeError("the answer through the relay is none of known length");
  }
  const status = next();
  const lines = messageReader(part());
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  const headers = new Headers();
  while (!lines.ended()) {
    headers.append(text(lines.part()), text(lines.part()));
  }
  const content = part();
  // Responses of some statuses may have no body, not even an empty one.
  return new Response(content.length > 0 ? content.slice() : null, { status, headers });
}

/**
 * Decrypts a sealed response.
 *
 * @param encapsulated encapsulated key of the request
 * @throws DOMException if the gateway did not seal the response
 */
export async function decryptResponse(
  secret: ArrayBuffer,
  encapsulated: Uint8Array,
  sealed: Uint8Array,
): Promise<Uint8Array> {
  const { subtle } = crypto;
  const salt = concatBytes([encapsulated, sealed.subarray(0, SECRET_BYTES)]);
  const base = await subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]);
  const derived = (info: string, bits: number) =>
    subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt, info: utf8BytesOf(info) }, base, bits);
  const raw = await derived("key", KEY_BITS);
  const key = await subtle.importKey("raw", raw, "AES-GCM", false, ["decrypt"]);
  const iv = await derived("nonce", NONCE_BITS);
  return new Uint8Array(
    await subtle.decrypt({ name: "AES-GCM", iv }, key, sealed.slice(SECRET_BYTES)),
  );
}

/**
 * Returns the response to use if the received response is not sealed. Such a response comes from
 * the relay, or from a gateway that could not open the request.
 *
 * It has only the status, the requested delay and one known problem of the received response,
 * because any party on the way could have invented the rest.
 */
async function sanitizeUnsealedResponse(response: Response): Promise<Response> {
  const { status, headers } = response;
  if (status === 0) {
    return Response.error();
  }
  const detail = "the gateway has not the key of relay.gateway";
  const body = (await response.text()).includes(UNKNOWN_KEY_PROBLEM)
    ? { type: "urn:hushbin:problem:ohttp-key", detail }
    : {};
  const wait = headers.get("retry-after");
  return new Response(JSON.stringify(body), {
    status,
    ...(wait !== null && { headers: { "retry-after": wait } }),
  });
}

/**
 * Sends a request through a relay. Each request is sealed with a new key.
 *
 * @throws unknown without a response, or if the gateway did not seal it
 */
export async function exchangeThroughRelay(
  route: RelayRoute,
  url: string,
  init: RequestInit = {},
): Promise<Response> {
  const { relay, gatewayKeyConfiguration: gateway, fetch, suite } = route;
  const head = concatBytes([
    gateway.subarray(0, KEY_START_OFFSET),
    new Uint8Array(SYMMETRIC_ALGORITHM_IDS),
  ]);
  const key = gateway.slice(KEY_START_OFFSET, KEY_END_OFFSET);
  const sender = await suite.createSenderContext({
    recipientPublicKey: await suite.kem.deserializePublicKey(key.buffer),
    info: concatBytes([REQUEST_LABEL, head]).buffer,
  });
  const sealed = await sender.seal(encodeRequest(url, init));
  const encapsulated = new Uint8Array(sender.enc);
  const response = await fetch(relay, {
    ...init,
    method: "POST",
    headers: { "content-type": "message/ohttp-req" },
    body: concatBytes([head, encapsulated, new Uint8Array(sealed)]),
  });
  if (response.status !== 200) {
    return sanitizeUnsealedResponse(response);
  }
  const answer = new Uint8Array(await response.arrayBuffer());
  const secret = await sender.export(RESPONSE_LABEL, SECRET_BYTES);
  return decodeResponse(await decryptResponse(secret, encapsulated, answer));
}
