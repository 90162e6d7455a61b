/**
 * Check of a collector's public task log: that a pinned fingerprint is listed, and that the list
 * only grows.
 *
 * @packageDocumentation
 */

import { bytesFromHex, bytesToHex, concatBytes } from "./bytes.js";

/** Codes of {@link TaskLogError}. */
export type TaskLogErrorCode =
  /** The log could not be fetched. */
  | "task-log-network"
  /** The response is not a task log. */
  | "task-log-malformed"
  /** A number or hash in the log is wrong. */
  | "task-log-chain"
  /** The signature is missing or wrong, or by another key. */
  | "task-log-signature"
  /** The log does not extend the remembered head. */
  | "task-log-forked"
  /** The log has fewer entries than the remembered head. */
  | "task-log-older"
  /** The task is not in the log with this fingerprint, or was removed. */
  | "task-log-unlisted";

/** Error thrown if the check of a task log fails. */
export class TaskLogError extends Error {
  /** Stable name of this kind of error. */
  readonly code: TaskLogErrorCode;
  /** Number of the first invalid or differing entry, if there is one. */
  readonly entry: number | undefined;

  /** @internal */
  constructor(code: TaskLogErrorCode, message: string, entry?: number, options?: ErrorOptions) {
    super(message, options);
    this.name = "TaskLogError";
    this.code = code;
    this.entry = entry;
  }
}

/** Head of a task log, which a caller remembers. */
export interface TaskLogHead {
  /** Number of entries. */
  readonly entries: number;
  /** Hash of the last entry, 64 hexadecimal digits. */
  readonly hash: string;
}

/** Options of {@link checkTaskLog}. */
export interface TaskLogOptions {
  /** URL of the collector, as for `createClient`. */
  readonly endpoint: string;
  /** Id of the task. */
  readonly task: string;
  /** Pinned fingerprint of the task, 32 hexadecimal digits. */
  readonly fingerprint: string;
  /** Head that an earlier check returned. The log must extend it. */
  readonly head?: TaskLogHead | undefined;
  /** Public Ed25519 key, 64 hexadecimal digits. If given, it must have signed the head. */
  readonly publicKey?: string | undefined;
  /** Function that fetches the log (default `globalThis.fetch`). */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Time limit for the log, in milliseconds (default 10000). */
  readonly timeoutMs?: number | undefined;
}

interface Entry {
  readonly number: number;
  readonly time: number;
  readonly event: "added" | "removed";
  readonly task: string;
  readonly fingerprint: string;
  readonly hash: string;
}

interface Log {
  readonly entries: readonly Entry[];
  readonly hash: string;
  readonly signature?: { readonly public_key: string; readonly signature: string };
}

const NO_HASH = "0".repeat(64);
const utf8 = new TextEncoder();

async function fetchLog(options: TaskLogOptions): Promise<Log> {
  const { endpoint, fetch = globalThis.fetch, timeoutMs = 10_000 } = options;
  let text: string;
  try {
    const address = `${endpoint.replace(/\/+$/, "")}/task-log`;
    const response = await fetch(address, {
      credentials: "omit",
      signal: AbortSignal.timeout(timeoutMs),
    });
    if (!response.ok) {
      throw new Error(`status ${response.status}, expected 200`);
    }
    text = await response.text();
  } catch (cause) {
    const why = `the task log could not be fetched: ${cause}`;
    throw new TaskLogError("task-log-network", why, undefined, { cause });
  }
  let log: Log | undefined;
  try {
    log = JSON.parse(text);
  } catch {}
  if (!Array.isArray(log?.entries) || typeof log.hash !== "string") {
    throw new TaskLogError("task-log-malformed", "the response is no task log");
  }
  return log;
}

/** Returns true if all fields of an entry have the expected types and lengths. */
function isEntry(entry: Entry | null | undefined): boolean {
  return (
    typeof entry?.task === "string" &&
    (entry.event === "added" || entry.event === "removed") &&
    Number.isSafeInteger(entry.time) &&
    entry.time >= 0 &&
    bytesFromHex(String(entry.fingerprint)).length === 16
  );
}

/** Returns the hash that an entry has after the hash `previous`, in hexadecimal. */
async function entryHash(entry: Entry, previous: string): Promise<string> {
  const numbers = new DataView(new ArrayBuffer(17));
  numbers.setBigUint64(0, BigInt(entry.number));
  numbers.setBigUint64(8, BigInt(entry.time));
  numbers.setUint8(16, entry.event === "added" ? 1 : 2);
  const bytes = concatBytes([
    utf8.encode("hushbin task log\0\x01"),
    bytesFromHex(previous),
    new Uint8Array(numbers.buffer),
    bytesFromHex(entry.fingerprint),
    utf8.encode(entry.task),
  ]);
  return bytesToHex(new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)));
}

async function checkChain({ entries, hash }: Log): Promise<void> {
  let previous = NO_HASH;
  for (const [index, entry] of entries.entries()) {
    const number = index + 1;
    if (!isEntry(entry)) {
      throw new TaskLogError("task-log-malformed", `entry ${number} is malformed`, number);
    }
    if (entry.number !== number || entry.hash !== (await entryHash(entry, previous))) {
      throw new TaskLogError("task-log-chain", `entry ${number} has a wrong hash`, number);
    }
    previous = entry.hash;
  }
  if (hash !== previous) {
    throw new TaskLogError("task-log-chain", "the head is not the last hash", entries.length);
  }
}

async function checkSignature({ hash, signature }: Log, publicKey: string): Promise<void> {
  let valid = false;
  if (signature?.public_key === publicKey) {
    try {
      const raw = bytesFromHex(publicKey);
      const key = await crypto.subtle.importKey("raw", raw, "Ed25519", false, ["verify"]);
      const signed = concatBytes([utf8.encode("hushbin task log head\0"), bytesFromHex(hash)]);
      const bytes = bytesFromHex(signature.signature);
      valid = await crypto.subtle.verify("Ed25519", key, bytes, signed);
    } catch (cause) {
      const why = "the signature cannot be verified here";
      throw new TaskLogError("task-log-signature", why, undefined, { cause });
    }
  }
  if (!valid) {
    throw new TaskLogError("task-log-signature", "the head is not signed by this key");
  }
}

/**
 * Fetches a collector's task log and checks it. Returns the head, to be remembered for the next
 * check and compared with the head that another visitor got.
 *
 * @throws TaskLogError if a check fails
 */
export async function checkTaskLog(options: TaskLogOptions): Promise<TaskLogHead> {
  const log = await fetchLog(options);
  await checkChain(log);
  const { task, fingerprint, head, publicKey } = options;
  if (publicKey !== undefined) {
    await checkSignature(log, publicKey);
  }
  const { entries, hash } = log;
  if (head !== undefined) {
    if (entries.length < head.entries) {
      const why = `the log has ${entries.length} entries, expected at least ${head.entries}`;
      throw new TaskLogError("task-log-older", why);
    }
    if ((entries[head.entries - 1]?.hash ?? NO_HASH) !== head.hash) {
      const why = `entry ${head.entries} differs from the remembered head`;
      throw new TaskLogError("task-log-forked", why, head.entries);
    }
  }
  const last = entries.filter((entry) => entry.task === task).at(-1);
  if (last?.event !== "added" || last.fingerprint !== fingerprint) {
    const why = `task ${JSON.stringify(task)} is not in the log with fingerprint ${fingerprint}`;
    throw new TaskLogError("task-log-unlisted", why);
  }
  return { entries: entries.length, hash };
}
