/** One attempt to hand uploads to the collector. */

import { joined } from "./bytes.js";
import { inTime } from "./time.js";

/** What became of an attempt. */
export type Outcome =
  /** On the collector's disk, now or since an earlier attempt. */
  | { readonly kind: "acknowledged" }
  /** Refused for good: the same bytes will never be taken. */
  | {
      readonly kind: "rejected";
      readonly status: number;
      readonly problem: string;
      readonly detail: string | undefined;
    }
  /** Unknown or temporary: the same bytes may be sent again. */
  | {
      readonly kind: "retry";
      readonly reason: string;
      readonly status?: number;
      readonly retryAfterMs?: number | undefined;
      readonly cause?: unknown;
    };

/** Hands uploads to a collector. */
export interface Transport {
  /** Never rejects. The request is on its way when this returns. */
  send(uploads: readonly Uint8Array[]): Promise<Outcome>;
}

// Browsers let requests outlive the page as long as the bodies under way, of
// all scripts of the page together, stay within 64 KiB. The rest is left to
// others; a request over our share is sent like any other.
const KEEPALIVE_BYTES = 60 * 1024;
const KEEPALIVE_REQUESTS = 9;
let keepaliveBytes = 0;
let keepaliveRequests = 0;

/** What every problem type of a collector begins with. */
export const PROBLEM = "urn:hushbin:problem:";

/**
 * What a collector refuses for good, by the collector's own word. Anything else that
 * answers is a proxy, a portal or a page in its place, or passes.
 */
const FINAL: readonly string[] = [
  "unknown-task",
  "malformed-upload",
  "fingerprint-mismatch",
  "upload-id-conflict",
  "too-large",
];

/**
 * What a Retry-After header asks for: seconds or a date.
 *
 * @returns milliseconds from `now`, at most a day; undefined when there is no
 * such header or it cannot be read
 */
export function parseRetryAfter(header: string | null, now: number): number | undefined {
  const text = header ?? "";
  const wait = /^\s*\d+\s*$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), 86_400_000);
}

/** What every request has: nothing that tells who asks, and no way elsewhere. */
const REQUEST = {
  credentials: "omit",
  referrerPolicy: "no-referrer",
  cache: "no-store",
  // Not followed: to a login page, which answers 200. Servers at the edge refuse "error".
  redirect: "manual",
} as const satisfies RequestInit;

/** What was answered. */
export interface Answer {
  readonly status: number;
  /** How long the answer asks to wait. */
  readonly retryAfterMs: number | undefined;
  /** Its fields; none where it is no JSON. */
  readonly body: Readonly<Partial<Record<string, unknown>>>;
}

/**
 * Makes a request, and reads the answer to its end.
 *
 * @throws unknown where there is none in time
 */
export function answerTo(
  fetch: typeof globalThis.fetch,
  url: string,
  init?: RequestInit,
): Promise<Answer> {
  return inTime(async (signal) => {
    const response = await fetch(url, { ...REQUEST, ...init, signal });
    const { status, headers } = response;
    const text = await response.text();
    const retryAfterMs = parseRetryAfter(headers.get("retry-after"), Date.now());
    let body: Answer["body"] = {};
    try {
      body = Object(JSON.parse(text));
    } catch {
      // Not the collector's.
    }
    return { status, retryAfterMs, body };
  });
}

/** What an answer to `count` uploads says. */
function outcomeOf({ status, retryAfterMs, body }: Answer, count: number): Outcome {
  const { uploads, accepted, type, detail: said } = body;
  // Somebody else's 200 must not end what the collector has not seen.
  if ((status === 200 || status === 201) && uploads === count && typeof accepted === "number") {
    return { kind: "acknowledged" };
  }
  const problem = String(type);
  const detail = typeof said === "string" ? said : undefined;
  if (FINAL.some((slug) => problem === PROBLEM + slug)) {
    return { kind: "rejected", status, problem, detail };
  }
  const own = problem.startsWith(PROBLEM);
  return {
    kind: "retry",
    reason: own
      ? `the collector answered ${status}${detail === undefined ? "" : `: ${detail}`}`
      : `not the collector answered, but something else, with ${status === 0 ? "a redirect" : `status ${status}`}`,
    status,
    retryAfterMs,
  };
}

/**
 * Sends by fetch. The body has no content type, so a browser asks no
 * permission of another origin first (a preflight would be lost as a page is
 * closed).
 */
export class FetchTransport implements Transport {
  readonly #url: string;
  readonly #fetch: typeof globalThis.fetch;

  constructor(url: string, fetch: typeof globalThis.fetch) {
    this.#url = url;
    this.#fetch = fetch;
  }

  async send(uploads: readonly Uint8Array[]): Promise<Outcome> {
    const body = joined(uploads);
    const { length } = body;
    const keepalive =
      keepaliveBytes + length <= KEEPALIVE_BYTES && keepaliveRequests < KEEPALIVE_REQUESTS;
    if (!keepalive) {
      return this.#attempt(body, uploads.length, false);
    }
    keepaliveBytes += length;
    keepaliveRequests += 1;
    const outcome = await this.#attempt(body, uploads.length, true);
    // The browser counts until the answer's body has ended, and so does this.
    keepaliveBytes -= length;
    keepaliveRequests -= 1;
    // Another script may hold the browser's quota, which fails like a network.
    const network = outcome.kind === "retry" && outcome.status === undefined ? outcome : undefined;
    if (network === undefined || isTimeout(network.cause)) {
      return outcome;
    }
    return this.#attempt(body, uploads.length, false);
  }

  async #attempt(
    body: Uint8Array<ArrayBuffer>,
    count: number,
    keepalive: boolean,
  ): Promise<Outcome> {
    try {
      const init = { method: "POST", body, keepalive };
      return outcomeOf(await answerTo(this.#fetch, this.#url, init), count);
    } catch (cause) {
      return { kind: "retry", reason: unreachable(cause), cause };
    }
  }
}

function isTimeout(cause: unknown): cause is DOMException {
  return cause instanceof DOMException && cause.name === "TimeoutError";
}

/** Why nobody answered, in words. A browser does not say more. */
export function unreachable(cause: unknown): string {
  return isTimeout(cause)
    ? cause.message
    : "the collector could not be reached, or an extension, a Content-Security-Policy or CORS is in the way";
}
