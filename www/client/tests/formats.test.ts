/** Tests that this version reads, and writes back, the browser data of every released version. */

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { version } from "../../../package.json";
import type { LedgerMemo } from "../budget.js";
import type { Task } from "../index.js";
import { LocalReportMaker } from "../randomizer.js";
import { requestResult } from "../store/indexed.js";
import { clientOf, FakeCollector, MEMO, stubDatabase } from "./harness.js";

const ALL = new URL("../../../tests/reference/formats/", import.meta.url);
const DAY_MS = 86_400_000;
const TASK: Task = { ...MEMO, budget: { days: 7, memo: { epsilon: 2, days: 30 } } };

interface Dump {
  readonly version: number;
  readonly stores: Record<string, StoreDump>;
}

interface StoreDump {
  readonly autoIncrement: boolean;
  readonly indexes: Record<string, string[]>;
  readonly rows: [IDBValidKey, Record<string, unknown>][];
}

/** Recording of one version. */
interface Recorded {
  readonly at: number;
  readonly database: Dump;
}

/** JSON replacer for bytes, which JSON lacks. */
const encode = (_key: string, value: unknown) =>
  value instanceof Uint8Array ? { bytes: Buffer.from(value).toString("hex") } : value;

function decode(_key: string, value: unknown): unknown {
  const { bytes, ...others } = Object(value);
  return typeof bytes === "string" && Object.keys(others).length === 0
    ? Uint8Array.from(Buffer.from(bytes, "hex"))
    : value;
}

async function dump(): Promise<Dump> {
  const database = await requestResult(indexedDB.open("hushbin"));
  const stores: Record<string, StoreDump> = {};
  for (const name of database.objectStoreNames) {
    const store = database.transaction(name).objectStore(name);
    const [keys, values] = await Promise.all([
      requestResult(store.getAllKeys()),
      requestResult(store.getAll()),
    ]);
    const indexes = [...store.indexNames].map((own) => [own, store.index(own).keyPath]);
    const rows: StoreDump["rows"] = keys.map((key, at) => [key, values[at]]);
    const { autoIncrement } = store;
    stores[name] = { autoIncrement, indexes: Object.fromEntries(indexes), rows };
  }
  database.close();
  return { version: database.version, stores };
}

/** Restores the database that a version has left in a browser. */
async function restore({ version, stores }: Dump): Promise<void> {
  const opening = indexedDB.open("hushbin", version);
  opening.onupgradeneeded = () => {
    for (const [name, { autoIncrement, indexes, rows }] of Object.entries(stores)) {
      const store = opening.result.createObjectStore(name, { autoIncrement });
      for (const [own, path] of Object.entries(indexes)) {
        store.createIndex(own, path);
      }
      for (const [key, value] of rows) {
        store.put(value, key);
      }
    }
  };
  (await requestResult(opening)).close();
}

const recorded = (directory: string): Recorded =>
  JSON.parse(readFileSync(new URL(`${directory}/browser.json`, ALL), "utf8"), decode);

const visit = (collector = new FakeCollector()) =>
  clientOf(collector, { task: TASK, storage: "device" });

const hex = (bytes: Uint8Array | undefined) => Buffer.from(bytes ?? []).toString("hex");

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"] });
  stubDatabase();
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/**
 * Writes the recording of this version once: `HUSHBIN_WRITE_FORMATS=1 npx vitest run --project
 * client formats`.
 */
it.runIf(process.env.HUSHBIN_WRITE_FORMATS)("is written for later versions to read", async () => {
  const at = Date.UTC(2026, 0, 8);
  vi.setSystemTime(at - 7 * DAY_MS);
  const client = visit();
  await client.report({ dark: true });
  await client.flush();
  vi.setSystemTime(at);
  await client.report({ dark: false });
  client.destroy();
  const database = await dump();
  const rows = database.stores.reports?.rows ?? [];
  expect(rows.map(([, { state }]) => state)).toEqual(["acknowledged", "waiting"]);
  const own: Recorded = { at, database };
  const text = `${JSON.stringify(own, encode, 1)}\n`;
  writeFileSync(new URL(`${version}/browser.json`, ALL), text, { flag: "wx" });
});

describe.each(readdirSync(ALL))("what a browser has kept since %s", (directory) => {
  it("is spent, sent and remembered", async () => {
    const { at, database } = recorded(directory);
    const [, waiting] = (database.stores.reports?.rows ?? []).map(
      ([, { bytes }]) => bytes as Uint8Array,
    );
    const memo = database.stores.ledgers?.rows[1]?.[1].memo as LedgerMemo;
    const makes = vi.spyOn(LocalReportMaker.prototype, "makeFromMemo");
    await restore(database);
    vi.setSystemTime(at + DAY_MS);
    const collector = new FakeCollector();
    const client = visit(collector);
    expect(await client.budget()).toMatchObject({ used: 1, reports: 2, spent: 2 });
    expect(await client.report({ dark: true })).toMatchObject({ reason: "over-budget" });
    await client.flush();
    // Exactly the same bytes, so that the report is counted once.
    expect(collector.sent.map(({ bytes }) => hex(bytes))).toEqual([hex(waiting)]);
    vi.setSystemTime(at + 8 * DAY_MS);
    // From the same memo, which spends nothing more in total.
    expect(await client.report({ dark: true })).toMatchObject({ sent: true, epsilon: 1 });
    expect(makes.mock.calls).toEqual([[memo.slot]]);
    expect(await client.budget()).toMatchObject({ used: 1, reports: 3, spent: 2 });
    await client.flush();
    const again = collector.sent.at(-1)?.bytes;
    expect(hex(again?.subarray(17, 33))).not.toBe(hex(waiting?.subarray(17, 33)));
  });

  it("is what this version writes, for the way back", async () => {
    const { at, database } = recorded(directory);
    await restore(database);
    vi.setSystemTime(at + 8 * DAY_MS);
    const client = visit();
    await client.report({ dark: true });
    vi.setSystemTime(at + 15 * DAY_MS);
    await client.report({ dark: false });
    await client.flush();
    client.destroy();
    const shape = ({ version, stores }: Dump) => [
      version,
      ...Object.entries(stores).map(([name, { rows, ...store }]) => [
        name,
        store,
        // The list of charges grows.
        ...new Set(
          rows.map(([, row]) => (Array.isArray(row) ? "list" : Object.keys(row).sort().join())),
        ),
      ]),
    ];
    const written = await dump();
    expect(written.stores.reports?.rows).toHaveLength(4);
    expect(shape(written)).toEqual(shape(database));
    const types = (row: Record<string, unknown> | undefined) =>
      Object.entries(row ?? {}).map(([key, value]) => [key, value?.constructor.name]);
    const [before, after] = [database, written].map(({ stores }) =>
      types(stores.ledgers?.rows[1]?.[1]),
    );
    expect(after).toEqual(before);
  });

  it("keeps what a version has added that this one does not know", async () => {
    const { at, database } = recorded(directory);
    for (const { rows } of Object.values(database.stores)) {
      for (const [, row] of rows.filter(([, row]) => !Array.isArray(row))) {
        row.more = "of it";
      }
    }
    await restore(database);
    vi.setSystemTime(at + DAY_MS);
    const client = visit();
    expect(await client.report({ dark: true })).toMatchObject({ reason: "over-budget" });
    await client.flush();
    vi.setSystemTime(at + 8 * DAY_MS);
    await client.report({ dark: true });
    client.destroy();
    const { stores } = await dump();
    // The row of the collector is a list, the row of the task follows it.
    expect(stores.ledgers?.rows.map(([, row]) => row.more)).toEqual([undefined, "of it"]);
    expect(stores.reports?.rows.map(([, row]) => row.more)).toEqual(["of it", "of it", undefined]);
  });
});

it("is left alone where a later version wrote it: nothing is drawn, stored or sent", async () => {
  const { at, database } = recorded(version);
  await restore({ ...database, version: database.version + 1 });
  const before = await dump();
  vi.setSystemTime(at + 30 * DAY_MS);
  const collector = new FakeCollector();
  const client = visit(collector);
  await expect(client.report({ dark: true })).rejects.toThrow(
    expect.objectContaining({
      code: "storage",
      message: expect.stringMatching(/version/),
    }),
  );
  expect(collector.sent).toEqual([]);
  client.destroy();
  expect(await dump()).toEqual(before);
});
