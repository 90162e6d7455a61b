/** Tests of the check of a collector's task log. */

import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { expect, it } from "vitest";
import { checkTaskLog, type TaskLogOptions } from "../task-log.js";

const PINNED = "07".repeat(16);
const OTHER = "08".repeat(16);
type Change = readonly [event: "added" | "removed", task: string, fingerprint: string];
const FIRST: Change = ["added", "t", PINNED];

/** Returns a log with these changes, by other code than the client's. */
function logOf(changes: readonly Change[], key?: KeyObject) {
  let hash = "0".repeat(64);
  const entries = changes.map(([event, task, fingerprint], index) => {
    const numbers = Buffer.alloc(17);
    numbers.writeBigUInt64BE(BigInt(index + 1), 0);
    numbers.writeBigUInt64BE(100n, 8);
    numbers[16] = event === "added" ? 1 : 2;
    const parts = [hash, numbers.toString("hex"), fingerprint, Buffer.from(task).toString("hex")];
    const bytes = Buffer.from(parts.join(""), "hex");
    const hasher = createHash("sha256").update("hushbin task log\0\x01").update(bytes);
    hash = hasher.digest("hex");
    return { number: index + 1, time: 100, event, task, fingerprint, hash };
  });
  return { entries, hash, ...(key && { signature: signatureOf(key, hash) }) };
}

function signatureOf(key: KeyObject, hash: string) {
  const signed = Buffer.concat([Buffer.from("hushbin task log head\0"), Buffer.from(hash, "hex")]);
  const { x = "" } = key.export({ format: "jwk" });
  const public_key = Buffer.from(x, "base64url").toString("hex");
  return { public_key, signature: sign(null, signed, key).toString("hex") };
}

function check(log: unknown, options: Partial<TaskLogOptions> = {}) {
  const fetch = async () => new Response(typeof log === "string" ? log : JSON.stringify(log));
  const endpoint = "https://collector.test/";
  return checkTaskLog({ endpoint, task: "t", fingerprint: PINNED, fetch, ...options });
}

it("returns the head, and accepts a log that extends it", async () => {
  const first = logOf([FIRST]);
  const head = await check(first);
  expect(head).toEqual({ entries: 1, hash: first.hash });
  const second = await check(logOf([FIRST, ["added", "u", OTHER]]), { head });
  expect(second.entries).toBe(2);
});

it("recognises an older and a forked log", async () => {
  const head = await check(logOf([FIRST, ["added", "u", OTHER]]));
  await expect(check(logOf([FIRST]), { head })).rejects.toMatchObject({ code: "task-log-older" });
  const fork = check(logOf([FIRST, ["added", "u", PINNED]]), { head });
  await expect(fork).rejects.toMatchObject({ code: "task-log-forked", entry: 2 });
});

it("recognises a task that a collector shows to one visitor only", async () => {
  const log = logOf([FIRST]);
  const shown = check(log, { fingerprint: OTHER });
  await expect(shown).rejects.toMatchObject({ code: "task-log-unlisted" });
  const removed = check(logOf([FIRST, ["removed", "t", PINNED]]));
  await expect(removed).rejects.toMatchObject({ code: "task-log-unlisted" });
});

it("recognises changed, dropped and reordered entries", async () => {
  const log = logOf([FIRST, ["added", "u", OTHER], ["added", "v", OTHER]]);
  const [one, two, three] = log.entries;
  for (const entries of [
    [one, { ...two, fingerprint: PINNED }, three],
    [one, { ...two, time: 101 }, three],
    [one, three],
    [one, three, two],
  ]) {
    const found = check({ ...log, entries });
    await expect(found).rejects.toMatchObject({ code: "task-log-chain", entry: 2 });
  }
  const cut = check({ ...log, entries: [one, two] });
  await expect(cut).rejects.toMatchObject({ code: "task-log-chain" });
});

it("verifies the signature by the expected key", async () => {
  const { privateKey } = generateKeyPairSync("ed25519");
  const log = logOf([FIRST], privateKey);
  const publicKey = log.signature?.public_key;
  await check(log, { publicKey });
  const other = logOf([FIRST], generateKeyPairSync("ed25519").privateKey);
  const swapped = { ...log, signature: { ...other.signature, public_key: publicKey } };
  for (const wrong of [other, swapped, logOf([FIRST])]) {
    const found = check(wrong, { publicKey });
    await expect(found).rejects.toMatchObject({ code: "task-log-signature" });
  }
});

it("refuses responses that are no log", async () => {
  const log = logOf([FIRST]);
  const [entry] = log.entries;
  const text = JSON.stringify(log);
  for (const wrong of ["", "null", "{}", text.slice(0, -1), { ...log, entries: [null] }]) {
    await expect(check(wrong)).rejects.toMatchObject({ code: "task-log-malformed" });
  }
  const short = { ...log, entries: [{ ...entry, fingerprint: "07" }] };
  await expect(check(short)).rejects.toMatchObject({ code: "task-log-malformed", entry: 1 });
  const fetch = async () => new Response("", { status: 500 });
  await expect(check(log, { fetch })).rejects.toMatchObject({ code: "task-log-network" });
});
