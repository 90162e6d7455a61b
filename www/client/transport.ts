/** One attempt to hand an upload to the collector. */

/** What became of an attempt. */
export type Outcome =
  /** On the collector's disk, now or since an earlier attempt. */
  | { readonly kind: "acknowledged" }
  /** Refused for good: the same bytes will never be taken. */
  | {
      readonly kind: "rejected";
      readonly status: number;
      readonly problem: string | undefined;
      readonly detail: string | undefined;
    }
  /** Unknown or temporary: the same bytes may be sent again. */
  | {
      readonly kind: "retry";
      readonly reason: string;
      readonly status: number | undefined;
      readonly retryAfterMs: number | undefined;
      readonly cause: unknown;
    };

/** Hands bytes to a collector. */
export interface Transport {
  /** Never rejects. The request is on its way when this returns. */
  send(bytes: Uint8Array<ArrayBuffer>): Promise<Outcome>;
}

/** No answer for so long counts as none. */
const TIMEOUT_MS = 30_000;

// Browsers let requests outlive the page as long as the bodies under way, of
// all scripts of the page together, stay within 64 KiB. The rest is left to
// others; a request over our share is sent like any other.
const KEEPALIVE_BYTES = 60 * 1024;
const KEEPALIVE_REQUESTS = 9;
let keepaliveBytes = 0;
let keepaliveRequests = 0;

/**
 * What a Retry-After header asks for: seconds or a date.
 *
 * @returns milliseconds from `now`, at most a day; undefined when there is no
 * such header or it cannot be read
 */
export function parseRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null) {
    return undefined;
  }
  const wait = /^\s*\d+\s*$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now;
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), 86_400_000);
}

/** Request timeout, too early, too many requests: the 4xx that pass. */
const PASSING: readonly number[] = [408, 425, 429];

async function problemOf(
  response: Response,
): Promise<{ problem: string | undefined; detail: string | undefined }> {
  const word = (value: unknown) => (typeof value === "string" ? value : undefined);
  try {
    const body: Partial<Record<string, unknown>> | null = await response.json();
    return { problem: word(body?.type), detail: word(body?.detail) ?? word(body?.title) };
  } catch {
    // Not from a collector; the status says enough.
    return { problem: undefined, detail: undefined };
  }
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

  async send(bytes: Uint8Array<ArrayBuffer>): Promise<Outcome> {
    const keepalive =
      keepaliveBytes + bytes.length <= KEEPALIVE_BYTES && keepaliveRequests < KEEPALIVE_REQUESTS;
    if (keepalive) {
      keepaliveBytes += bytes.length;
      keepaliveRequests += 1;
    }
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), TIMEOUT_MS);
    try {
      const response = await this.#fetch(this.#url, {
        method: "POST",
        body: bytes,
        keepalive,
        credentials: "omit",
        referrerPolicy: "no-referrer",
        cache: "no-store",
        signal: abort.signal,
      });
      return await this.#outcome(response);
    } catch (cause) {
      const reason = abort.signal.aborted
        ? `the collector did not answer within ${TIMEOUT_MS / 1000} s`
        : "the collector could not be reached";
      return { kind: "retry", reason, status: undefined, retryAfterMs: undefined, cause };
    } finally {
      clearTimeout(timer);
      if (keepalive) {
        keepaliveBytes -= bytes.length;
        keepaliveRequests -= 1;
      }
    }
  }

  async #outcome(response: Response): Promise<Outcome> {
    const { status } = response;
    if (response.ok) {
      // The body says nothing that matters here; reading it frees the connection.
      response.arrayBuffer().catch(() => {});
      return { kind: "acknowledged" };
    }
    const { problem, detail } = await problemOf(response);
    if (status >= 400 && status < 500 && !PASSING.includes(status)) {
      return { kind: "rejected", status, problem, detail };
    }
    return {
      kind: "retry",
      reason: `the collector answered ${status}${detail === undefined ? "" : `: ${detail}`}`,
      status,
      retryAfterMs: parseRetryAfter(response.headers.get("retry-after"), Date.now()),
      cause: undefined,
    };
  }
}
