/**
 * Collector that runs in memory, for tests of pages that report.
 *
 * It responds like a real collector, but does not decode reports. It recognises uploads by id,
 * counts each once, and refuses uploads for other tasks. It computes no estimates.
 *
 * @packageDocumentation
 */

import { bytesToHex } from "./bytes.js";
import { createRandomizer } from "./index.js";
import { taskOfLabel } from "./labels.js";
import type { Task } from "./task.js";
import { PROBLEM_PREFIX } from "./transport.js";
import { FINGERPRINT_END, ID_END } from "./upload.js";

/** Fault that happens to a request instead of the collector's response. */
export type TestFault =
  /** The request does not arrive. */
  | "unreachable"
  /** The request arrives, and the response is lost. */
  | "answer-lost"
  /** Another server returns this response. */
  | Response;

/** Upload that the collector accepted. */
export interface TestUpload {
  /** Id of the upload, 32 hexadecimal digits. */
  readonly id: string;
  /** Number of reports in the upload. */
  readonly reports: number;
  /** Bytes of the upload when it arrived first. */
  readonly bytes: Uint8Array;
  /** Label of the reports. Undefined if the task has no labels. */
  readonly label?: string | undefined;
}

/** Collector that runs in memory, with a record of what it has received. */
export interface TestCollector {
  /**
   * Value of the option `endpoint` for `createClient`. There is no server at this address: `fetch`
   * handles all requests.
   */
  readonly endpoint: string;
  /** Value of the option `fetch` for `createClient`. It passes requests to this collector. */
  readonly fetch: typeof globalThis.fetch;
  /** Method and path of every request so far. */
  readonly requests: readonly string[];
  /** Accepted uploads in order of arrival, without duplicates. */
  readonly uploads: readonly TestUpload[];
  /** Total number of reports in the accepted uploads. */
  readonly reports: number;
  /** Makes the next requests fail, each with one of these faults. */
  fail(...faults: readonly TestFault[]): void;
  /** Makes the collector unreachable from now on. */
  down(): void;
  /** Makes the collector reachable again. */
  up(): void;
}

const ENDPOINT = "https://collector.test";

/** Maximum number of reports in an upload. */
const MAX_REPORTS = 4096;

const PROBLEM_RESPONSES = {
  "unknown-task": [404, "There is no such task"],
  "malformed-upload": [400, "The body is not an upload of this task"],
  "fingerprint-mismatch": [409, "The upload was made under other parameters than the task's"],
  "upload-id-conflict": [409, "Another upload was accepted under this upload id"],
  "method-not-allowed": [405, "The method is not served here"],
  "not-found": [404, "Nothing is served here"],
} as const;

type ProblemSlug = keyof typeof PROBLEM_RESPONSES;

/** Returns a response with a JSON body. */
function jsonResponse(status: number, body: unknown, type = "application/json"): Response {
  const text = JSON.stringify(body);
  const headers = { "content-type": type, "cache-control": "no-store" };
  if (globalThis.Response !== undefined) {
    return new Response(text, { status, headers });
  }
  // Jest's jsdom has no Response. These are the members that the client uses.
  const get = (name: string) => new Map(Object.entries(headers)).get(name) ?? null;
  const own = { status, ok: status < 300, headers: { get }, text: async () => text };
  return own as unknown as Response;
}

function problemResponse(slug: ProblemSlug): Response {
  const [status, title] = PROBLEM_RESPONSES[slug];
  const body = { type: PROBLEM_PREFIX + slug, title, status };
  return jsonResponse(status, body, "application/problem+json");
}

/** Returns the method, path and body of a request. */
async function methodPathAndBody(
  input: RequestInfo | URL,
  init?: RequestInit,
): Promise<readonly [method: string, path: string, body: Uint8Array]> {
  if (globalThis.Request !== undefined) {
    const request = new Request(input, init);
    const { pathname } = new URL(request.url);
    return [request.method, pathname, new Uint8Array(await request.arrayBuffer())];
  }
  // Jest's jsdom has no Request. The client sends bytes.
  const { method = "GET", body } = init ?? {};
  return [method, new URL(String(input)).pathname, (body ?? new Uint8Array()) as Uint8Array];
}

const UPLOAD_VERSION_HEX = "01";
/**
 * Number of hexadecimal digits of the version and the fingerprint, which are the first bytes of an
 * upload.
 */
const UPLOAD_PREFIX_HEX_DIGITS = 2 * FINGERPRINT_END;
/** Minimum length of a report in bytes: 8 for the seed and 1 for the response. */
const MIN_REPORT_BYTES = 8 + 1;

/**
 * Reads the number of reports in an upload. Returns this number, and the position of the byte after
 * it. The number is a varint: seven bits in each byte, the low bits first.
 */
function readReportCount(bytes: Uint8Array): readonly [reports: number, end: number] {
  const length = bytes.subarray(ID_END).findIndex((byte) => byte < 128) + 1;
  const digits = bytes.subarray(ID_END, ID_END + length);
  const reports = digits.reduceRight((high, byte) => high * 128 + (byte & 127), 0);
  return [reports, ID_END + length];
}

/** Splits the body of a request into its uploads. Returns a problem if the body is invalid. */
function splitUploads(body: Uint8Array, fingerprint: string): TestUpload[] | ProblemSlug {
  const digits = bytesToHex(body);
  const prefix = UPLOAD_VERSION_HEX + fingerprint;
  if (!digits.startsWith(UPLOAD_VERSION_HEX) || digits.length < UPLOAD_PREFIX_HEX_DIGITS) {
    return "malformed-upload";
  }
  if (!digits.startsWith(prefix)) {
    return "fingerprint-mismatch";
  }
  const uploads: TestUpload[] = [];
  let total = 0;
  for (let start = 0; start < body.length; ) {
    // Elsewhere the prefix occurs only by chance, with a probability of 1 in 2¹²⁸.
    let end = digits.indexOf(prefix, 2 * start + UPLOAD_PREFIX_HEX_DIGITS);
    // An odd position is in the middle of a byte.
    while (end % 2 === 1) {
      end = digits.indexOf(prefix, end + 1);
    }
    const bytes = body.slice(start, end < 0 ? undefined : end / 2);
    const [reports, header] = readReportCount(bytes);
    total += reports;
    if (reports < 1 || total > MAX_REPORTS || bytes.length < header + reports * MIN_REPORT_BYTES) {
      return "malformed-upload";
    }
    uploads.push({ id: bytesToHex(bytes.subarray(FINGERPRINT_END, ID_END)), reports, bytes });
    start += bytes.length;
  }
  return uploads;
}

/**
 * Creates a collector in memory for one task.
 *
 * If the task has cover reports, the client holds each report, and `flush` does not send it. The
 * receipt with `sent: true` shows that an answer has replaced the report that is held, and
 * `heldUntil` of `budget()` is its time. Let the timers of your test framework pass that time, then
 * call `flush`.
 *
 * @example
 * ```ts
 * const collector = createTestCollector({ task });
 * const { endpoint, fetch } = collector;
 * const client = createClient({ endpoint, fetch, task, consent: true, storage: "memory" });
 * await client.report({ theme: "dark" });
 * await client.flush();
 * expect(collector.reports).toBe(1);
 * ```
 */
export function createTestCollector({ task }: { readonly task: Task }): TestCollector {
  const requests: string[] = [];
  const taken = new Map<string, TestUpload>();
  const faults: TestFault[] = [];
  let isDown = false;
  const labels: readonly (string | undefined)[] = task.labels ?? [undefined];
  let fingerprints: Promise<readonly string[]> | undefined;

  async function fingerprintOf(label: string | undefined): Promise<string> {
    const randomizer = await createRandomizer({ task, label });
    randomizer.free();
    return randomizer.fingerprint;
  }

  /** Stores the uploads that have not arrived before, and returns the collector's response. */
  function storeUploads(uploads: readonly TestUpload[]): Response {
    const before = taken.size;
    let accepted = 0;
    let conflict = false;
    for (const upload of uploads) {
      const known = taken.get(upload.id);
      if (known === undefined) {
        taken.set(upload.id, upload);
        accepted += upload.reports;
      } else {
        conflict ||= bytesToHex(known.bytes) !== bytesToHex(upload.bytes);
      }
    }
    if (conflict) {
      return problemResponse("upload-id-conflict");
    }
    const fresh = taken.size - before;
    const duplicates = uploads.length - fresh;
    const answer = {
      uploads: uploads.length,
      accepted_reports: accepted,
      duplicate_uploads: duplicates,
    };
    return jsonResponse(fresh > 0 ? 201 : 200, answer);
  }

  async function respond(method: string, path: string, body: Uint8Array): Promise<Response> {
    const [, id = "", reports] = /^\/tasks\/([^/]+)(\/reports)?$/.exec(path) ?? [];
    if (id === "") {
      return problemResponse("not-found");
    }
    if (method !== (reports === undefined ? "GET" : "POST")) {
      return problemResponse("method-not-allowed");
    }
    const [name, label] = decodeURIComponent(id).split(":");
    const isAnyLabel = reports !== undefined && label === undefined;
    if (name !== task.id || !(isAnyLabel || labels.includes(label))) {
      return problemResponse("unknown-task");
    }
    fingerprints ??= Promise.all(labels.map(fingerprintOf));
    const all = await fingerprints;
    const given = bytesToHex(body.subarray(1, FINGERPRINT_END));
    const index = isAnyLabel ? Math.max(all.indexOf(given), 0) : labels.indexOf(label);
    const fingerprint = all[index] ?? "";
    if (reports === undefined) {
      return jsonResponse(200, { task: taskOfLabel(task, label), fingerprint });
    }
    const uploads = splitUploads(body, fingerprint);
    return typeof uploads === "string"
      ? problemResponse(uploads)
      : storeUploads(uploads.map((upload) => ({ ...upload, label: labels[index] })));
  }

  const collector: TestCollector = {
    endpoint: ENDPOINT,
    requests,
    get uploads() {
      return [...taken.values()];
    },
    get reports() {
      return collector.uploads.reduce((sum, { reports }) => sum + reports, 0);
    },
    async fetch(input, init) {
      const [method, path, body] = await methodPathAndBody(input, init);
      requests.push(`${method} ${path}`);
      const fault = isDown ? "unreachable" : faults.shift();
      if (typeof fault === "object") {
        return fault;
      }
      if (fault !== "unreachable") {
        const own = await respond(method, path, body);
        if (fault === undefined) {
          return own;
        }
      }
      throw new TypeError("fetch failed");
    },
    fail(...next) {
      faults.push(...next);
    },
    down() {
      isDown = true;
    },
    up() {
      isDown = false;
    },
  };
  return collector;
}
