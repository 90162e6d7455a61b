/** Tests of reports sealed to an analyser: the key, the bytes, and a missing key. */

import { readFileSync } from "node:fs";
import { DhkemX25519HkdfSha256 } from "@hpke/core";
import { DhkemX25519HkdfSha256 as InJavaScript } from "@hpke/dhkem-x25519";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import {
  type Client,
  type ClientOptions,
  createClient,
  NetworkError,
  OptionError,
  SealingError,
  type Task,
} from "../index.js";
import { LocalReportMaker } from "../randomizer.js";
import {
  Analyser,
  bytesOf,
  ENCAPSULATED,
  FakeShuffler,
  hexOf,
  ID,
  REPORT,
  suiteOf,
} from "./analyser.js";
import {
  answers,
  clientOf,
  created,
  FakeCollector,
  MEMO,
  OFTEN,
  problem,
  settled,
  storedLedgers,
  stubDatabase,
} from "./harness.js";

/** Parses an upload: the version, the id and one sealed report. */
function readSealed(bytes: Uint8Array) {
  expect(bytes[33]).toBe(1);
  return { version: bytes[0], id: hexOf(bytes.subarray(17, 33)), sealed: bytes.subarray(34) };
}

const clients: Client[] = [];

function sealedTo(
  shuffler: FakeShuffler,
  pins: readonly string[],
  options: Partial<ClientOptions<Task>> = {},
): Client {
  const client = createClient<Task>({
    endpoint: "https://shuffler.example",
    task: OFTEN,
    fetch: shuffler.fetchAll,
    consent: true,
    maxEpsilon: Number.POSITIVE_INFINITY,
    storage: "memory",
    analyser: pins,
    ...options,
  } as ClientOptions<Task>);
  clients.push(client);
  return client;
}

let fingerprint: string;
let analyser: Analyser;
let other: Analyser;

beforeAll(async () => {
  ({ fingerprint } = await clientOf(new FakeCollector()).ready());
  analyser = await Analyser.create(fingerprint);
  other = await Analyser.create(fingerprint);
});
afterEach(() => {
  clients.splice(0).forEach((client) => void client.destroy());
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

describe.each(["the browser's curve", "a curve in JavaScript"])("with %s", (curve) => {
  it("every report is sealed by itself, to one length, and opens to what would be sent", async () => {
    if (curve === "a curve in JavaScript") {
      const generate = crypto.subtle.generateKey.bind(crypto.subtle);
      const lacking = (algorithm: { name?: string } | string, ...rest: unknown[]) =>
        algorithm === "X25519" || (algorithm as { name?: string }).name === "X25519"
          ? Promise.reject(new DOMException("no such curve", "NotSupportedError"))
          : (generate as (...all: unknown[]) => Promise<unknown>)(algorithm, ...rest);
      vi.spyOn(crypto.subtle, "generateKey").mockImplementation(lacking as never);
    }
    const shuffler = new FakeShuffler(analyser.key);
    const client = sealedTo(shuffler, [analyser.pin]);
    for (let number = 0; number < 20; number += 1) {
      expect(await client.report(answers(number))).toMatchObject({ sent: true });
    }
    const history = await client.history();
    expect(history).toHaveLength(20);
    const encapsulated = new Set<string>();
    for (const { bytes } of history) {
      const { version, sealed } = readSealed(bytes);
      expect(version).toBe(2);
      expect(hexOf(bytes.subarray(1, 17))).toBe(fingerprint);
      expect(sealed).toHaveLength(ID + ENCAPSULATED + REPORT + 16);
      encapsulated.add(hexOf(sealed.subarray(ID, ID + ENCAPSULATED)));
      const report = await analyser.open(sealed);
      expect(report).toHaveLength(REPORT);
      // The byte after the seed is the bucket, below 20.
      expect(report[8]).toBeLessThan(20);
    }
    expect(encapsulated.size).toBe(20);
    shuffler.answers.push(created(20));
    await client.flush();
    expect(hexOf(shuffler.sent[0]?.bytes ?? new Uint8Array())).toBe(
      history.map(({ bytes }) => hexOf(bytes)).join(""),
    );
    expect(shuffler.asked).toBe(1);
  });
});

it("is sent again with the same bytes", async () => {
  const shuffler = new FakeShuffler(analyser.key);
  // The request fails with keepalive and without it.
  shuffler.answers.push("down", "down", created());
  const client = sealedTo(shuffler, [analyser.pin], { delayMs: 86_400_000 });
  await client.report(answers(1));
  await expect(client.flush()).rejects.toThrow(NetworkError);
  await client.flush();
  const [first, second] = shuffler.sent.slice(-2).map(({ bytes }) => hexOf(bytes));
  expect(first).toBe(second);
});

it("seals to a key that is pinned, whatever else is named", async () => {
  const shuffler = new FakeShuffler(other.key, analyser.key);
  const client = sealedTo(shuffler, ["0".repeat(32), analyser.pin.toUpperCase()]);
  await client.report(answers(1));
  const [sent] = await client.history();
  await analyser.open(readSealed(sent?.bytes ?? new Uint8Array()).sealed);
});

it("goes by the options as they were when the client was made", async () => {
  const shuffler = new FakeShuffler(other.key, analyser.key);
  const pins = [analyser.pin];
  const options = {
    endpoint: "https://shuffler.example",
    task: OFTEN,
    fetch: shuffler.fetchAll,
    maxEpsilon: Number.POSITIVE_INFINITY,
    storage: "memory" as const,
    analyser: pins,
  };
  const client = createClient<Task>(options as ClientOptions<Task>);
  clients.push(client);
  pins[0] = other.pin;
  Object.assign(options, {
    task: { id: "timings", trust: "shuffler" },
    trust: "shuffler",
    maxCentralEpsilon: 9,
    analyser: [other.pin],
    relay: { url: "https://relay.example", gateway: "" },
  });
  client.grant();
  await client.report(answers(1));
  const [sent] = await client.history();
  await analyser.open(readSealed(sent?.bytes ?? new Uint8Array()).sealed);
});

const wrongKeys = {
  "of nobody known": () => [other.key],
  "no key": () => ["", "zz", analyser.key.slice(2)],
  none: () => [],
};
it.each(Object.entries(wrongKeys))("refuses keys: %s", async (_, keys) => {
  const shuffler = new FakeShuffler(...keys());
  const client = sealedTo(shuffler, [analyser.pin]);
  await expect(client.report(answers(1))).rejects.toThrow(SealingError);
  await expect(client.report(answers(1))).rejects.toMatchObject({ code: "sealing" });
  expect(await client.budget()).toMatchObject({ reports: 0, spent: 0 });
  expect(shuffler.sent).toEqual([]);
});

it("refuses a pinned key for reports of another task", async () => {
  const strange = await Analyser.create("0".repeat(32));
  const client = sealedTo(new FakeShuffler(strange.key), [strange.pin]);
  await expect(client.report(answers(1))).rejects.toThrow(SealingError);
});

it("says so where a key is for shorter reports, and spends nothing", async () => {
  const short = await Analyser.create(fingerprint, REPORT - 1);
  const client = sealedTo(new FakeShuffler(short.key), [short.pin]);
  const error = await client.report(answers(1)).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(SealingError);
  expect(error).toMatchObject({ code: "sealing", message: /expected at most 8/ });
  expect(await client.budget()).toMatchObject({ reports: 0, spent: 0 });
});

it("says so where the browser cannot encrypt", async () => {
  const client = sealedTo(new FakeShuffler(analyser.key), [analyser.pin]);
  await client.ready();
  const failure = new DOMException("no", "OperationError");
  vi.spyOn(crypto.subtle, "encrypt").mockRejectedValue(failure);
  await expect(client.report(answers(1))).rejects.toMatchObject({ code: "sealing" });
  expect(await client.budget()).toMatchObject({ reports: 0, spent: 0 });
});

it("waits for keys, tells flush, and seals once they are there", async () => {
  const shuffler = new FakeShuffler(analyser.key);
  shuffler.instead.push(problem(503, "no-keys"), "down", new Response("<html>"));
  const client = sealedTo(shuffler, [analyser.pin]);
  const report = client.report(answers(1));
  await expect(client.flush()).rejects.toThrow(NetworkError);
  expect(await client.history()).toEqual([]);
  expect(await report).toMatchObject({ sent: true });
  expect(shuffler.asked).toBeGreaterThan(3);
}, 20_000);

it("says so where the browser has no WebCrypto", async () => {
  const { getRandomValues } = crypto;
  vi.stubGlobal("crypto", { getRandomValues: getRandomValues.bind(crypto) });
  const client = sealedTo(new FakeShuffler(analyser.key), [analyser.pin]);
  await expect(client.report(answers(1))).rejects.toThrow(SealingError);
});

it("asks nobody and seals nothing in a dry run", async () => {
  const shuffler = new FakeShuffler();
  const client = sealedTo(shuffler, [analyser.pin], { dryRun: true });
  expect(await client.report(answers(1))).toMatchObject({ sent: true });
  expect(shuffler.asked).toBe(0);
});

it.each(
  [undefined, [], "0".repeat(32), ["0".repeat(31)], ["g".repeat(32)], [1]].map((pins) => ({
    pins,
  })),
)("refuses $pins as pins, and reports nothing", async ({ pins }) => {
  const shuffler = new FakeShuffler(analyser.key);
  const client = sealedTo(shuffler, pins as never);
  const error = await client.report(answers(1)).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(OptionError);
  expect(error).toMatchObject({ option: "analyser" });
  expect(await client.budget()).toMatchObject({ reports: 0, spent: 0 });
  expect([shuffler.asked, shuffler.sent.length]).toEqual([0, 0]);
});

it("spends what the task allows, in tabs that report at once", async () => {
  stubDatabase();
  const task = { ...OFTEN, budget: { reports: 3 } };
  const { fingerprint: own } = await clientOf(new FakeCollector(), { task }).ready();
  const key = await Analyser.create(own);
  const shuffler = new FakeShuffler(key.key);
  const options = { task, storage: "device" } as const;
  const tabs = [0, 1, 2].map(() => sealedTo(shuffler, [key.pin], options));
  const all = tabs.flatMap((client, tab) =>
    [0, 1, 2].map((number) => client.report(answers(3 * tab + number))),
  );
  const outcomes = (await Promise.all(all)).map(({ reason = "sent" }) => reason);
  expect(outcomes.filter((outcome) => outcome === "sent")).toHaveLength(3);
  expect(await tabs[0]?.budget()).toMatchObject({ used: 3, spent: 6, reports: 3 });
});

describe("a report from a memo", () => {
  const task: Task = MEMO;
  const later = () => vi.setSystemTime(Date.now() + 30 * 86_400_000);
  let key: Analyser;

  beforeEach(async () => {
    vi.useFakeTimers({ toFake: ["Date"] });
    stubDatabase();
    const { fingerprint: own } = await clientOf(new FakeCollector(), { task }).ready();
    key = await Analyser.create(own);
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const tab = () => sealedTo(new FakeShuffler(key.key), [key.pin], { task, storage: "device" });
  const opened = async (client: Client) => {
    const sealed = (await client.history()).map(({ bytes }) => readSealed(bytes).sealed);
    return Promise.all(sealed.map(async (each) => hexOf(await key.open(each))));
  };

  it("is sealed as it was made, and made only once", async () => {
    const draws = vi.spyOn(LocalReportMaker.prototype, "drawMemoSlot");
    const makes = vi.spyOn(LocalReportMaker.prototype, "makeFromMemo");
    const client = tab();
    for (const dark of [true, false, true]) {
      expect(await client.report({ dark })).toMatchObject({ sent: true, epsilon: 1 });
      later();
    }
    expect(draws).toHaveBeenCalledOnce();
    expect(makes).toHaveBeenCalledTimes(3);
    expect(await opened(client)).toEqual(makes.mock.results.map(({ value }) => hexOf(value)));
    expect(await client.budget()).toMatchObject({ spent: 2, reports: 3 });
  });

  it("is made anew from the memo that another tab has stored in the meantime", async () => {
    const [client, other] = [tab(), tab()] as [Client, Client];
    await Promise.all([client.ready(), other.ready()]);
    const draws = vi.spyOn(LocalReportMaker.prototype, "drawMemoSlot");
    draws.mockReturnValueOnce(0).mockReturnValueOnce(1);
    const makes = vi.spyOn(LocalReportMaker.prototype, "makeFromMemo");
    // The other tab reports while the first is sealing, and its window ends.
    const encrypt = crypto.subtle.encrypt.bind(crypto.subtle);
    const sealing = vi.spyOn(crypto.subtle, "encrypt").mockImplementationOnce(async (...given) => {
      sealing.mockImplementation(encrypt);
      expect(await other.report({ dark: true })).toMatchObject({ sent: true });
      later();
      return encrypt(...given);
    });
    expect(await client.report({ dark: false })).toMatchObject({ sent: true, epsilon: 1 });
    // The memo that the first tab drew is dropped.
    expect(makes.mock.calls).toEqual([[0], [1], [1]]);
    const [ledger] = await storedLedgers();
    expect(ledger?.memo?.slot).toBe(1);
    expect(await opened(client)).toEqual(
      makes.mock.results.slice(1).map(({ value }) => hexOf(value)),
    );
    expect(await client.budget()).toMatchObject({ used: 1, spent: 2, reports: 2 });
  });

  it("is dropped, with its memo, once consent is revoked", async () => {
    const client = tab();
    await client.ready();
    const encrypt = crypto.subtle.encrypt.bind(crypto.subtle);
    vi.spyOn(crypto.subtle, "encrypt").mockImplementationOnce(async (...given) => {
      await client.revoke();
      return encrypt(...given);
    });
    expect(await client.report({ dark: true })).toMatchObject({ reason: "no-consent" });
    expect(await storedLedgers()).toMatchObject([{ memo: null, spent: 0, revoked: 1 }]);
  });
});

it("is sealed when it is held, with and without an answer", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const { budget: _, ...flag } = MEMO;
  const task: Task = { ...flag, budget: { cover: { minutes: 30 } } };
  for (const answered of [false, true]) {
    stubDatabase();
    const { fingerprint: own } = await clientOf(new FakeCollector(), { task }).ready();
    const key = await Analyser.create(own);
    const makes = vi.spyOn(LocalReportMaker.prototype, "makeReport");
    const shuffler = new FakeShuffler(key.key);
    const tab = () => sealedTo(shuffler, [key.pin], { task, storage: "device" });
    const client = tab();
    await client.ready();
    if (answered) {
      expect(await client.report({ dark: true })).toMatchObject({ sent: true });
    }
    await client.flush();
    expect(shuffler.sent).toEqual([]);
    client.destroy();
    vi.setSystemTime(Date.now() + 30 * 60_000);
    await tab().flush();
    const [sent, ...others] = shuffler.sent;
    expect(others).toEqual([]);
    const { version, sealed } = readSealed(sent?.bytes ?? new Uint8Array());
    expect(version).toBe(2);
    expect(hexOf(await key.open(sealed))).toBe(hexOf(makes.mock.results.at(-1)?.value));
    expect(makes).toHaveBeenCalledTimes(answered ? 2 : 1);
    makes.mockRestore();
  }
  vi.useRealTimers();
});

it("is not replaced by an answer that is sealed to another key", async () => {
  const { budget: _, ...flag } = MEMO;
  const task: Task = { ...flag, budget: { cover: { minutes: 30 } } };
  stubDatabase();
  const { fingerprint: own } = await clientOf(new FakeCollector(), { task }).ready();
  const [old, next] = [await Analyser.create(own), await Analyser.create(own)];
  const pins = [old.pin, next.pin];
  const first = sealedTo(new FakeShuffler(old.key, next.key), pins, { task, storage: "device" });
  await first.ready();
  first.destroy();
  const later = sealedTo(new FakeShuffler(next.key, old.key), pins, { task, storage: "device" });
  // The id of the key would show the shuffler that this is not the cover report.
  expect(await later.report({ dark: true })).toMatchObject({ reason: "over-budget" });
});

it("drops what was sealed for a budget that another tab has spent meanwhile", async () => {
  stubDatabase();
  const task = { ...OFTEN, budget: { reports: 1 } };
  const { fingerprint: own } = await clientOf(new FakeCollector(), { task }).ready();
  const key = await Analyser.create(own);
  const shuffler = new FakeShuffler(key.key);
  const [client, tab] = [0, 1].map(() =>
    sealedTo(shuffler, [key.pin], { task, storage: "device" }),
  ) as [Client, Client];
  await Promise.all([client.ready(), tab.ready()]);
  // The second tab reports while the first is sealing.
  const encrypt = crypto.subtle.encrypt.bind(crypto.subtle);
  const sealing = vi.spyOn(crypto.subtle, "encrypt").mockImplementationOnce(async (...given) => {
    sealing.mockImplementation(encrypt);
    expect(await tab.report(answers(2))).toMatchObject({ sent: true });
    return encrypt(...given);
  });
  expect(await client.report(answers(1))).toMatchObject({ reason: "over-budget", epsilon: 0 });
  expect(sealing).toHaveBeenCalledTimes(2);
  expect(await client.history()).toHaveLength(1);
  expect(await client.budget()).toMatchObject({ used: 1, spent: 2, reports: 1 });
});

it("counts a report in the window of the moment in which it is stored", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  try {
    const task = { ...OFTEN, budget: { reports: 1 } };
    const { fingerprint: own } = await clientOf(new FakeCollector(), { task }).ready();
    const key = await Analyser.create(own);
    const client = sealedTo(new FakeShuffler(key.key), [key.pin], { task });
    await client.ready();
    const later = Date.now() + 31 * 86_400_000;
    const encrypt = crypto.subtle.encrypt.bind(crypto.subtle);
    vi.spyOn(crypto.subtle, "encrypt").mockImplementation(async (...given) => {
      vi.setSystemTime(later);
      return encrypt(...given);
    });
    expect(await client.report(answers(1))).toMatchObject({ sent: true, epsilon: 2 });
    expect((await client.history())[0]?.at.getTime()).toBe(later);
    expect(await client.report(answers(2))).toMatchObject({ reason: "over-budget" });
    const { until } = await client.budget();
    expect(until?.getTime()).toBe(later + 30 * 86_400_000);
  } finally {
    vi.useRealTimers();
  }
});

it("makes nothing once consent is revoked, whatever is being sealed", async () => {
  const shuffler = new FakeShuffler(analyser.key);
  const client = sealedTo(shuffler, [analyser.pin]);
  await client.report(answers(1));
  const report = client.report(answers(2));
  await client.revoke();
  expect(await report).toMatchObject({ reason: "no-consent" });
  expect((await client.history()).map(({ state }) => state)).toEqual(["withdrawn"]);
});

describe("the standard's example", () => {
  const path = new URL("../../../tests/reference/hpke.json", import.meta.url);
  const vector = JSON.parse(readFileSync(path, "utf8"));
  const kems = { WebCrypto: new DhkemX25519HkdfSha256(), JavaScript: new InJavaScript() };
  it.each(Object.entries(kems))("is made, and opened, by %s", async (_, kem) => {
    const buffer = (digits: string) => bytesOf(digits).buffer;
    const suite = suiteOf(kem);
    const [info, enc] = [buffer(vector.info), buffer(vector.enc)];
    expect([suite.kem.id, suite.kdf.id, suite.aead.id]).toEqual([
      vector.kem_id,
      vector.kdf_id,
      vector.aead_id,
    ]);
    const recipientPublicKey = await kem.deserializePublicKey(buffer(vector.pkRm));
    const recipientKey = await kem.deserializePrivateKey(buffer(vector.skRm));
    const privateKey = await kem.deserializePrivateKey(buffer(vector.skEm));
    const publicKey = await kem.deserializePublicKey(enc);
    const ekm = { privateKey, publicKey };
    const sender = await suite.createSenderContext({ recipientPublicKey, info, ekm });
    const recipient = await suite.createRecipientContext({ recipientKey, enc, info });
    expect(hexOf(sender.enc)).toBe(vector.enc);
    for (const { pt, aad, ct } of vector.encryptions) {
      expect(hexOf(await sender.seal(buffer(pt), buffer(aad)))).toBe(ct);
      expect(hexOf(await recipient.open(buffer(ct), buffer(aad)))).toBe(pt);
    }
  });
});

it("is a client like any other", () => {
  expect(Object.getPrototypeOf(sealedTo(new FakeShuffler(), [analyser.pin]))).toBe(
    Object.getPrototypeOf(createClient({ endpoint: "https://shuffler.example", task: OFTEN })),
  );
});

// Last in this file, because later imports are separate copies of the modules.
describe("code that cannot be loaded", () => {
  it.each(["shuffled", "sealing"])(
    "%s.js: says so, spends nothing, and is tried again",
    async (file) => {
      vi.resetModules();
      let failing = true;
      vi.doMock(`../${file}.js`, async (original) => {
        if (failing) {
          throw new TypeError("Failed to fetch dynamically imported module");
        }
        return original();
      });
      const own = await import("../index.js");
      const shuffler = new FakeShuffler(analyser.key);
      const client = own.createClient<Task>({
        endpoint: "https://shuffler.example",
        task: OFTEN,
        fetch: shuffler.fetchAll,
        consent: true,
        storage: "memory",
        maxEpsilon: Number.POSITIVE_INFINITY,
        analyser: [analyser.pin],
      });
      clients.push(client);
      const error = await client.report(answers(1)).catch((error: unknown) => error);
      expect(error).toBeInstanceOf(own.SealingError);
      expect(error).toMatchObject({ code: "sealing", message: /could not be loaded/ });
      expect(await client.budget()).toMatchObject({ reports: 0, spent: 0 });
      expect(await client.history()).toEqual([]);
      failing = false;
      vi.doUnmock(`../${file}.js`);
      expect(await client.report(answers(1))).toMatchObject({ sent: true, epsilon: 2 });
      vi.resetModules();
    },
  );
});

it("a client that is closed waits for the reports that it makes as it is left", async () => {
  const shuffler = new FakeShuffler(analyser.key);
  const client = sealedTo(shuffler, [analyser.pin], { delayMs: 1e6 });
  await client.ready();
  client.atLeave(() => answers(1));
  // The client loads this file too, which may take longer than the pause below.
  await import("../leaving.js");
  await settled();
  await client.close();
  expect(shuffler.sent).toHaveLength(1);
});
