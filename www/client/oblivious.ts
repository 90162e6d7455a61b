/**
 * Requests through a relay: Oblivious HTTP (RFC 9458) of messages in binary form (RFC 9292), in a
 * file of its own that is imported with the first of them.
 */

import type { CipherSuite } from "@hpke/core";
import { joined } from "./bytes.js";

/** Where requests go, and to whom they are sealed. */
export interface Relayed {
  /** The relay's URL. */
  readonly relay: string;
  /** The gateway's key configuration. */
  readonly gateway: Uint8Array;
  /** Sends to the relay. */
  readonly fetch: typeof globalThis.fetch;
  /** Ciphers that requests are sealed by. */
  readonly suite: CipherSuite;
}

/** Of a configuration: the key's id and the KEM, then the key. */
const KEY = 3;
const KEY_END = 35;
/** HKDF-SHA256 and AES-128-GCM. */
const SYMMETRIC = [0, 1, 0, 1];

const bytesOf = (text: string) => new TextEncoder().encode(text);
const REQUEST = bytesOf("message/bhttp request\0");
const RESPONSE = bytesOf("message/bhttp response");

/** Bytes of the exported secret and of a response's nonce; bits of the AEAD's key and nonce. */
const SECRET = 16;
const KEY_BITS = 128;
const NONCE_BITS = 96;

/** Messages have multiples of so many bytes, which is all that a relay can tell of them. */
const STEP = 256;

/** What a gateway answers whose key it is not. */
const UNKNOWN_KEY = "http-problem-types#ohttp-key";

/** A number in as few bytes as may be (RFC 9000, section 16), below 2^30. */
function number(value: number): number[] {
  if (value < 1 << 6) {
    return [value];
  }
  return value < 1 << 14
    ? [(value >> 8) | 0x40, value & 255]
    : [(value >> 24) | 0x80, (value >> 16) & 255, (value >> 8) & 255, value & 255];
}

/** Bytes behind their length. */
function measured(bytes: Uint8Array): Uint8Array {
  return joined([new Uint8Array(number(bytes.length)), bytes]);
}

/** A request, padded. A page's origin is told with what it posts, as browsers do. */
export function written(url: string, { method = "GET", body }: RequestInit = {}): Uint8Array {
  const { protocol, host, pathname, search } = new URL(url);
  const origin: string | undefined = globalThis.location?.origin;
  const fields = method === "POST" && origin ? ["origin", origin] : [];
  const control = [method, protocol.slice(0, -1), host, pathname + search];
  const content = body instanceof Uint8Array ? body : new Uint8Array();
  const texts = (all: readonly string[]) => joined(all.map((text) => measured(bytesOf(text))));
  // One of known length, without trailers.
  const parts = [Uint8Array.of(0), texts(control), measured(texts(fields)), measured(content)];
  const length = joined(parts).length + 1;
  return joined([...parts, new Uint8Array(1 + ((STEP - (length % STEP)) % STEP))]);
}

/** Reads parts of a message, one after the other. */
function reader(bytes: Uint8Array) {
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
    const more = take((1 << (first >> 6)) - 1);
    return more.reduce((value, byte) => value * 256 + byte, first & 63);
  };
  const ended = () => at === bytes.length;
  // What would be empty may be left out at the end.
  return { next, ended, part: () => take(ended() ? 0 : next()) };
}

/**
 * The answer in a message.
 *
 * @throws RangeError where it is none
 */
export function read(message: Uint8Array): Response {
  const { next, part } = reader(message);
  if (next() !== 1) {
    throw new RangeError("the answer through the relay is none of known length");
  }
  const status = next();
  const lines = reader(part());
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  const headers = new Headers();
  while (!lines.ended()) {
    headers.append(text(lines.part()), text(lines.part()));
  }
  const content = part();
  // Answers of some statuses may have none, not even an empty one.
  return new Response(content.length > 0 ? content.slice() : null, { status, headers });
}

/**
 * The message in a sealed answer.
 *
 * @param encapsulated what the request's key was encapsulated in
 * @throws DOMException where it is not the gateway's
 */
export async function opened(
  secret: ArrayBuffer,
  encapsulated: Uint8Array,
  sealed: Uint8Array,
): Promise<Uint8Array> {
  const { subtle } = crypto;
  const salt = joined([encapsulated, sealed.subarray(0, SECRET)]);
  const base = await subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]);
  const derived = (info: string, bits: number) =>
    subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt, info: bytesOf(info) }, base, bits);
  const raw = await derived("key", KEY_BITS);
  const key = await subtle.importKey("raw", raw, "AES-GCM", false, ["decrypt"]);
  const iv = await derived("nonce", NONCE_BITS);
  return new Uint8Array(await subtle.decrypt({ name: "AES-GCM", iv }, key, sealed.slice(SECRET)));
}

/**
 * What stands for an answer that is not sealed, of the relay or of a gateway that could not open
 * the request: its status and how long to wait, since anybody between could have made up more.
 */
async function unsealed(response: Response): Promise<Response> {
  const { status, headers } = response;
  if (status === 0) {
    return Response.error();
  }
  const detail = "the gateway has not the key of relay.gateway";
  const body = (await response.text()).includes(UNKNOWN_KEY)
    ? { type: "urn:hushbin:problem:ohttp-key", detail }
    : {};
  const wait = headers.get("retry-after");
  return new Response(JSON.stringify(body), {
    status,
    ...(wait !== null && { headers: { "retry-after": wait } }),
  });
}

/**
 * Makes a request through a relay, sealed anew, whatever was sent before.
 *
 * @throws unknown where there is no answer, or none of the gateway's
 */
export async function exchange(
  way: Relayed,
  url: string,
  init: RequestInit = {},
): Promise<Response> {
  const { relay, gateway, fetch, suite } = way;
  const head = joined([gateway.subarray(0, KEY), new Uint8Array(SYMMETRIC)]);
  const key = gateway.slice(KEY, KEY_END);
  const sender = await suite.createSenderContext({
    recipientPublicKey: await suite.kem.deserializePublicKey(key.buffer),
    info: joined([REQUEST, head]).buffer,
  });
  const sealed = await sender.seal(written(url, init));
  const encapsulated = new Uint8Array(sender.enc);
  const response = await fetch(relay, {
    ...init,
    method: "POST",
    headers: { "content-type": "message/ohttp-req" },
    body: joined([head, encapsulated, new Uint8Array(sealed)]),
  });
  if (response.status !== 200) {
    return unsealed(response);
  }
  const answer = new Uint8Array(await response.arrayBuffer());
  const secret = await sender.export(RESPONSE, SECRET);
  return read(await opened(secret, encapsulated, answer));
}
