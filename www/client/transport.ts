/** Transport of uploads: one attempt to send them to the collector. */

import { concatBytes } from "./bytes.js";
import { withTimeout } from "./time.js";

/** Result of an attempt to send uploads. */
export type SendResult =
  /** The uploads are on the collector's disk, now or since an earlier attempt. */
  | { readonly kind: "acknowledged" }
  /** The uploads were permanently refused. The same bytes will never be accepted. */
  | {
      readonly kind: "rejected";
      readonly status: number;
      readonly problem: string;
      readonly detail: string | undefined;
    }
  /** The result is unknown or temporary. The same bytes may be sent again. */
  | {
      readonly kind: "retry";
      readonly reason: string;
      readonly status?: number;
      readonly retryAfterMs?: number | undefined;
      readonly cause?: unknown;
    };

/** Way to send uploads to a collector. */
export interface UploadTransport {
  /** Sends uploads. The request has started when this returns. The promise never rejects. */
  sendUploads(uploads: readonly Uint8Array[]): Promise<SendResult>;
}

// Browsers let requests outlive the page while all bodies in progress stay within 64 KiB. All
// scripts of the page share this limit, so some of it is left to them. A request that would exceed
// the rest is sent without keepalive.
const MAX_KEEPALIVE_BYTES = 60 * 1024;
const MAX_KEEPALIVE_REQUESTS = 9;
let keepaliveBytes = 0;
let keepaliveRequests = 0;

/** Prefix of a collector's problem types. */
export const PROBLEM_PREFIX = "urn:hushbin:problem:";

/**
 * Problems with which the collector permanently refuses uploads. Any other response may be
 * temporary, or may come from a proxy, a captive portal or another page.
 */
const PERMANENT_PROBLEMS: readonly string[] = [
  "unknown-task",
  "malformed-upload",
  "fingerprint-mismatch",
  "upload-id-conflict",
  "too-large",
];

/** Maximum delay that a response can request: a day, in case the header is wrong. */
export const MAX_RETRY_AFTER_MS = 86_400_000;

/**
 * Parses the Retry-After header of a response, which has seconds or a date.
 *
 * @returns delay from `now` in milliseconds, at most a day; undefined if there is no such header,
 * or if it cannot be read
 */
export function parseRetryAfter(header: string | null, now: number): number | undefined {
  const text = header ?? "";
  const wait = /^\s*\d+\s*$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), MAX_RETRY_AFTER_MS);
}

/**
 * Options of every request. A request has nothing that identifies the person, and follows no
 * redirect.
 */
const REQUEST_OPTIONS = {
  credentials: "omit",
  referrerPolicy: "no-referrer",
  cache: "no-store",
  // A redirect to a login page would end in a response with status 200. Edge servers reject
  // "error".
  redirect: "manual",
} as const satisfies RequestInit;

/** Response of a server, which may or may not be the collector. */
export interface HttpResponse {
  readonly status: number;
  /** Delay that the response requests, in milliseconds. */
  readonly retryAfterMs: number | undefined;
  /** Fields of the JSON body; empty if it is not JSON. */
  readonly body: Readonly<Partial<Record<string, unknown>>>;
}

/**
 * Makes a request and reads the whole response.
 *
 * @throws unknown if there is no response in time
 */
export function sendRequest(
  fetch: typeof globalThis.fetch,
  url: string,
  init?: RequestInit,
): Promise<HttpResponse> {
  return withTimeout(async (signal) => {
    const response = await fetch(url, { ...REQUEST_OPTIONS, ...init, signal });
    const { status, headers } = response;
    const text = await response.text();
    const retryAfterMs = parseRetryAfter(headers.get("retry-after"), Date.now());
    let body: HttpResponse["body"] = {};
    try {
      body = Object(JSON.parse(text));
    } catch {
      // Not JSON, so not from the collector.
    }
    return { status, retryAfterMs, body };
  });
}

/** Interprets the response to a request with `count` uploads. */
function sendResultOf({ status, retryAfterMs, body }: HttpResponse, count: number): SendResult {
  const { uploads, accepted_reports: accepted, type, detail: found } = body;
  // A status 200 from another server must not discard reports that the collector has not received.
  if ((status === 200 || status === 201) && uploads === count && typeof accepted === "number") {
    return { kind: "acknowledged" };
  }
  const problem = String(type);
  const detail = typeof found === "string" ? found : undefined;
  if (PERMANENT_PROBLEMS.some((slug) => problem === PROBLEM_PREFIX + slug)) {
    return { kind: "rejected", status, problem, detail };
  }
  const own = problem.startsWith(PROBLEM_PREFIX);
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
 * Transport that uses fetch. The body has no content type, so that browsers send no CORS preflight,
 * which would be lost while a page closes.
 */
export class FetchTransport implements UploadTransport {
  readonly #url: string;
  readonly #fetch: typeof globalThis.fetch;

  constructor(url: string, fetch: typeof globalThis.fetch) {
    this.#url = url;
    this.#fetch = fetch;
  }

  async sendUploads(uploads: readonly Uint8Array[]): Promise<SendResult> {
    const body = concatBytes(uploads);
    const { length } = body;
    const keepalive =
      keepaliveBytes + length <= MAX_KEEPALIVE_BYTES && keepaliveRequests < MAX_KEEPALIVE_REQUESTS;
    if (!keepalive) {
      return this.#sendOnce(body, uploads.length, false);
    }
    keepaliveBytes += length;
    keepaliveRequests += 1;
    const outcome = await this.#sendOnce(body, uploads.length, true);
    // The browser counts a request until the response's body has ended. This counter does the same.
    keepaliveBytes -= length;
    keepaliveRequests -= 1;
    // Another script may have used up the browser's quota, which looks like a network failure.
    const network = outcome.kind === "retry" && outcome.status === undefined ? outcome : undefined;
    // A timeout is no sign of an exceeded quota.
    if (network === undefined || isTimeout(network.cause)) {
      return outcome;
    }
    return this.#sendOnce(body, uploads.length, false);
  }

  async #sendOnce(
    body: Uint8Array<ArrayBuffer>,
    count: number,
    keepalive: boolean,
  ): Promise<SendResult> {
    try {
      const init = { method: "POST", body, keepalive };
      return sendResultOf(await sendRequest(this.#fetch, this.#url, init), count);
    } catch (cause) {
      return { kind: "retry", reason: unreachableReason(cause), cause };
    }
  }
}

function isTimeout(cause: unknown): cause is DOMException {
  return cause instanceof DOMException && cause.name === "TimeoutError";
}

/**
 * Returns a text about the reason why there is no response. Unless the reason is a timeout,
 * browsers do not reveal it.
 */
export function unreachableReason(cause: unknown): string {
  return isTimeout(cause)
    ? cause.message
    : "the collector could not be reached, or an extension, a Content-Security-Policy or CORS is in the way";
}
