/** Tests of requests through a relay: visible data, sealed contents, and trusted responses. */

import { readFileSync } from "node:fs";
import { DhkemX25519HkdfSha256 } from "@hpke/core";
import { DhkemX25519HkdfSha256 as InJavaScript } from "@hpke/dhkem-x25519";
import { beforeAll, describe, expect, it, vi } from "vitest";
import {
  type ClientOptions,
  createClient,
  NetworkError,
  OptionError,
  type Relay,
  type Task,
} from "../index.js";
import { decodeResponse, decryptResponse, encodeRequest } from "../oblivious.js";
import { createRelayFetch } from "../sealed/relay.js";
import { FetchTransport } from "../transport.js";
import { Analyser, bytesOf, FakeShuffler, hexOf, suiteOf } from "./analyser.js";
import {
  type Answer,
  answers,
  clientOf,
  created,
  FakeCollector,
  OFTEN,
  problem,
} from "./harness.js";

const RELAY = "https://relay.example/ohttp";
const REPORTS = "https://collector.example/tasks/often/reports";

const textOf = (text: string) => new TextEncoder().encode(text);

/** Encodes a number of a message in one or two bytes. */
const short = (value: number) => (value < 64 ? [value] : [64 | (value >> 8), value & 255]);

/** Encodes a response in binary form. */
async function encoded(response: Response): Promise<Uint8Array> {
  const line = (text: string) => [...short(text.length), ...textOf(text)];
  const fields = [...response.headers].flatMap(([name, value]) => [...line(name), ...line(value)]);
  const content = new Uint8Array(await response.arrayBuffer());
  const sized = [...short(fields.length), ...fields, ...short(content.length), ...content];
  return new Uint8Array([1, ...short(response.status), ...sized, 0, 0, 0]);
}

/** Decodes an opened request whose lengths take at most two bytes. */
function decoded(message: Uint8Array) {
  let at = 1;
  const part = () => {
    const first = message[at++] ?? 0;
    const length = first < 64 ? first : ((first & 63) << 8) | (message[at++] ?? 0);
    at += length;
    return message.subarray(at - length, at);
  };
  const text = () => Buffer.from(part()).toString();
  const [method, scheme, host, path] = [text(), text(), text(), text()];
  return { method, url: `${scheme}://${host}${path}`, fields: text(), content: part() };
}

/** Relay and gateway in front of a fake collector. */
class Hidden {
  readonly collector: FakeCollector;
  /** Requests as the relay sees them. */
  readonly seen: { url: string; init: RequestInit; bytes: Uint8Array }[] = [];
  /** Opened requests. */
  readonly inside: ReturnType<typeof decoded>[] = [];
  /** Responses of the relay itself, used before the gateway's. */
  readonly instead: Response[] = [];
  /** Change that the relay makes to sealed responses. */
  change = (sealed: Uint8Array) => sealed;
  /** Server behind the gateway. */
  answerer: typeof globalThis.fetch;
  readonly #keys: CryptoKeyPair;
  readonly configuration: string;

  private constructor(keys: CryptoKeyPair, configuration: string, given: Answer[]) {
    this.#keys = keys;
    this.configuration = configuration;
    this.collector = new FakeCollector(...given);
    this.answerer = this.collector.fetch;
  }

  static async create(...given: Answer[]): Promise<Hidden> {
    const kem = new DhkemX25519HkdfSha256();
    const keys = await kem.generateKeyPair();
    const key = hexOf(await kem.serializePublicKey(keys.publicKey));
    return new Hidden(keys, `2a0020${key}000400010001`, given);
  }

  readonly fetch: typeof globalThis.fetch = async (url, init = {}) => {
    const bytes = new Uint8Array(init.body as Uint8Array);
    this.seen.push({ url: String(url), init, bytes });
    return this.instead.shift() ?? this.#answer(bytes, init);
  };

  async #answer(bytes: Uint8Array, init: RequestInit): Promise<Response> {
    expect(hexOf(bytes.subarray(0, 7))).toBe("2a002000010001");
    const enc = bytes.slice(7, 39);
    const info = new Uint8Array([...textOf("message/bhttp request\0"), ...bytes.subarray(0, 7)]);
    const recipientKey = this.#keys.privateKey;
    const own = { recipientKey, enc: enc.buffer, info: info.buffer };
    const recipient = await suiteOf(new DhkemX25519HkdfSha256()).createRecipientContext(own);
    const message = new Uint8Array(await recipient.open(bytes.slice(39).buffer));
    expect(message.length % 256).toBe(0);
    const inside = decoded(message);
    this.inside.push(inside);
    const { method, url, content } = inside;
    const body = method === "POST" ? content.slice() : null;
    const answer = await this.answerer(url, { ...init, method, body });
    const secret = await recipient.export(textOf("message/bhttp response").buffer, 16);
    const sealed = await seal(secret, enc, await encoded(answer));
    return new Response(this.change(sealed).slice(), {
      headers: { "content-type": "message/ohttp-res" },
    });
  }

  /** Returns a `fetch` through the relay. */
  way(): typeof globalThis.fetch {
    return createRelayFetch(RELAY, this.configuration, this.fetch);
  }

  transport(): FetchTransport {
    return new FetchTransport(REPORTS, this.way());
  }
}

/** Seals a response like a gateway. */
async function seal(
  secret: ArrayBuffer,
  enc: Uint8Array,
  message: Uint8Array,
  nonce = crypto.getRandomValues(new Uint8Array(16)),
): Promise<Uint8Array> {
  const { subtle } = crypto;
  const salt = new Uint8Array([...enc, ...nonce]);
  const hmac = { name: "HMAC", hash: "SHA-256" };
  const keyed = (key: BufferSource) => subtle.importKey("raw", key, hmac, false, ["sign"]);
  const extracted = await subtle.sign("HMAC", await keyed(salt), secret);
  const expanded = async (label: string, length: number) => {
    const block = await subtle.sign(
      "HMAC",
      await keyed(extracted),
      new Uint8Array([...textOf(label), 1]),
    );
    return new Uint8Array(block.slice(0, length));
  };
  const usages: KeyUsage[] = ["encrypt"];
  const key = await subtle.importKey("raw", await expanded("key", 16), "AES-GCM", false, usages);
  const iv = await expanded("nonce", 12);
  const sealed = await subtle.encrypt({ name: "AES-GCM", iv }, key, message.slice());
  return new Uint8Array([...nonce, ...new Uint8Array(sealed)]);
}

let hidden: Hidden;
beforeAll(async () => {
  hidden = await Hidden.create();
});

describe("the standard's example", () => {
  const path = new URL("../../../tests/reference/ohttp.json", import.meta.url);
  const vector: Record<string, string> = JSON.parse(readFileSync(path, "utf8"));
  const bytes = (name: string) => bytesOf(vector[name] ?? "");
  const kems = { WebCrypto: new DhkemX25519HkdfSha256(), JavaScript: new InJavaScript() };

  it.each(Object.entries(kems))("is made, and its answer opened, by %s", async (_, kem) => {
    const suite = suiteOf(kem);
    const recipientPublicKey = await kem.deserializePublicKey(
      bytes("configuration").slice(3, 35).buffer,
    );
    const privateKey = await kem.deserializePrivateKey(bytes("ephemeral_sk").buffer);
    const enc = bytes("encapsulated_request").slice(7, 39);
    const publicKey = await kem.deserializePublicKey(enc.buffer);
    const head = bytes("encapsulated_request").slice(0, 7);
    const info = new Uint8Array([...textOf("message/bhttp request\0"), ...head]).buffer;
    const ekm = { privateKey, publicKey };
    const sender = await suite.createSenderContext({ recipientPublicKey, info, ekm });
    const sealed = await sender.seal(bytes("request").buffer);
    const request = new Uint8Array([
      ...head,
      ...new Uint8Array(sender.enc),
      ...new Uint8Array(sealed),
    ]);
    expect(hexOf(request)).toBe(vector.encapsulated_request);
    const secret = await sender.export(textOf("message/bhttp response").buffer, 16);
    const answer = bytes("encapsulated_response");
    expect(hexOf(await decryptResponse(secret, enc, answer))).toBe(vector.response);
    // Checks this file's own `seal` as well.
    const nonce = bytes("response_nonce");
    expect(await seal(secret, enc, bytes("response"), nonce)).toEqual(answer);
  });

  it("is written, but for padding, and its answer read", () => {
    const message = encodeRequest("https://example.com/");
    expect(message.length).toBe(256);
    const { request = "" } = vector;
    expect(hexOf(message)).toBe(request.padEnd(512, "0"));
    expect(decodeResponse(bytes("response"))).toMatchObject({ status: 200, body: null });
  });
});

describe("through a relay", () => {
  it("a report is sent, of which the relay sees nothing but its length", async () => {
    const client = clientOf(hidden.collector, { fetch: hidden.way() });
    await client.report(answers(1));
    await client.flush();
    const [sent] = await client.history();
    expect(sent?.state).toBe("acknowledged");
    const [request] = hidden.collector.sent;
    expect(request?.url).toBe(REPORTS);
    expect(request?.bytes).toEqual(sent?.bytes);

    const [seen] = hidden.seen;
    expect(seen?.url).toBe(RELAY);
    expect(seen?.init).toMatchObject({
      method: "POST",
      headers: { "content-type": "message/ohttp-req" },
      credentials: "omit",
      referrerPolicy: "no-referrer",
      redirect: "manual",
      keepalive: true,
    });
    const text = Buffer.from(seen?.bytes ?? []).toString("latin1");
    for (const secret of [sent?.bytes.subarray(1, 17), sent?.bytes.subarray(17, 33)]) {
      expect(text).not.toContain(Buffer.from(secret ?? []).toString("latin1"));
    }
    expect(text).not.toMatch(/often|reports|collector/);
    // Requests of similar lengths have the same sealed length.
    expect((seen?.bytes.length ?? 0) - 55).toBe(256);
  });

  it("a task is described", async () => {
    const gateway = await Hidden.create();
    const { fingerprint } = await clientOf(new FakeCollector()).ready();
    gateway.collector.answers.push(Response.json({ task: OFTEN, fingerprint }));
    const client = clientOf(gateway.collector, {
      fetch: gateway.way(),
      task: "often",
      fingerprint,
    });
    await client.ready();
    expect(gateway.inside).toMatchObject([
      { method: "GET", url: "https://collector.example/tasks/often", fields: "" },
    ]);
  });

  it("the page's origin is told inside, with what it posts", async () => {
    vi.stubGlobal("location", { origin: "https://page.example", href: "https://page.example/a" });
    try {
      const gateway = await Hidden.create();
      const way = createRelayFetch("/relay", gateway.configuration, gateway.fetch);
      await new FetchTransport(REPORTS, way).sendUploads([Uint8Array.of(1)]);
      expect(gateway.seen[0]?.url).toBe("https://page.example/relay");
      expect(gateway.inside[0]?.fields).toMatch(/origin.https:\/\/page\.example/);
    } finally {
      vi.unstubAllGlobals();
    }
  });

  it("the same bytes are sent again, sealed anew, after answers of every kind", async () => {
    const gateway = await Hidden.create("down", problem(503, "overloaded"), created());
    const transport = gateway.transport();
    const upload = [new Uint8Array(70).fill(7)];
    gateway.instead.push(new Response("<html>", { status: 502 }));
    const outcomes = [];
    for (let attempt = 0; attempt < 3; attempt += 1) {
      outcomes.push((await transport.sendUploads(upload)).kind);
    }
    expect(outcomes).toEqual(["retry", "retry", "acknowledged"]);
    expect(gateway.inside).toHaveLength(3);
    expect(new Set(gateway.inside.map(({ content }) => hexOf(content)))).toEqual(
      new Set(["07".repeat(70)]),
    );
    expect(new Set(gateway.seen.map(({ bytes }) => hexOf(bytes))).size).toBe(gateway.seen.length);
  });

  it("what the collector refuses for good is refused", async () => {
    const gateway = await Hidden.create(problem(413, "too-large"));
    expect(await gateway.transport().sendUploads([Uint8Array.of(1)])).toMatchObject({
      kind: "rejected",
      status: 413,
      detail: "because too-large",
    });
  });

  it.each([
    ["takes everything", created()],
    ["knows no task", problem(404, "unknown-task")],
    ["refuses for good", problem(413, "too-large")],
    ["redirects", Response.error()],
  ])("a relay that itself %s is not believed", async (_, answer) => {
    const gateway = await Hidden.create();
    // Without a network, a second attempt would follow.
    gateway.instead.push(answer, answer.clone());
    expect(await gateway.transport().sendUploads([Uint8Array.of(1)])).toMatchObject({
      kind: "retry",
    });
    expect(gateway.collector.sent).toEqual([]);
  });

  it("is waited for where it asks to", async () => {
    const gateway = await Hidden.create();
    gateway.instead.push(new Response("", { status: 429, headers: { "retry-after": "7" } }));
    expect(await gateway.transport().sendUploads([Uint8Array.of(1)])).toMatchObject({
      kind: "retry",
      status: 429,
      retryAfterMs: 7000,
    });
  });

  it("a key that the gateway has not is named", async () => {
    const gateway = await Hidden.create();
    const type = "https://iana.org/assignments/http-problem-types#ohttp-key";
    gateway.instead.push(Response.json({ type }, { status: 400 }));
    expect(await gateway.transport().sendUploads([Uint8Array.of(1)])).toMatchObject({
      kind: "retry",
      reason: expect.stringMatching(/has not the key of relay\.gateway/),
    });
    // A client waits for the task, and `flush` throws.
    gateway.instead.push(...[1, 2].map(() => Response.json({ type }, { status: 400 })));
    const client = clientOf(gateway.collector, { fetch: gateway.way(), task: "often" });
    await expect(client.flush()).rejects.toThrow(NetworkError);
  });

  it.each([
    ["cut", (sealed: Uint8Array) => sealed.subarray(0, -1)],
    ["cut short", (sealed: Uint8Array) => sealed.subarray(0, 10)],
    ["changed", (sealed: Uint8Array) => sealed.map((byte, at) => (at === 20 ? byte ^ 1 : byte))],
    ["empty", () => new Uint8Array()],
  ])("an answer that is %s is none", async (_, change) => {
    const gateway = await Hidden.create();
    gateway.change = change;
    expect(await gateway.transport().sendUploads([Uint8Array.of(1)])).toMatchObject({
      kind: "retry",
    });
  });

  describe("and sealed to an analyser", () => {
    const sealedBy = (gateway: Hidden, options: Partial<ClientOptions<Task>> = {}) =>
      createClient<Task>({
        endpoint: "https://shuffler.example",
        task: OFTEN,
        analyser: ["0".repeat(32)],
        relay: { url: RELAY, gateway: gateway.configuration.toUpperCase() },
        fetch: gateway.fetch,
        consent: true,
        maxEpsilon: Number.POSITIVE_INFINITY,
        storage: "memory",
        ...options,
      } as ClientOptions<Task>);

    it("a report goes with nobody's key but theirs, and waits for no others", async () => {
      const { fingerprint } = await clientOf(new FakeCollector()).ready();
      const analyser = await Analyser.create(fingerprint);
      const gateway = await Hidden.create();
      const shuffler = new FakeShuffler(analyser.key);
      gateway.answerer = shuffler.fetchAll;
      const timers = vi.spyOn(globalThis, "setTimeout");
      const delays = () => timers.mock.calls.map(([, ms]) => ms).filter((ms) => ms !== 30_000);
      try {
        const client = sealedBy(gateway, { analyser: [analyser.pin] });
        await client.report(answers(1));
        expect(delays()).toEqual([0]);
        await client.flush();
        const [sent] = await client.history();
        expect(sent?.state).toBe("acknowledged");
        expect(shuffler.sent.map(({ bytes }) => hexOf(bytes))).toEqual([
          hexOf(sent?.bytes ?? new Uint8Array()),
        ]);
        await analyser.open((sent?.bytes ?? new Uint8Array()).subarray(34));
        client.destroy();
        timers.mockClear();
        const patient = sealedBy(gateway, { analyser: [analyser.pin], delayMs: 700 });
        await patient.report(answers(2));
        expect(delays()).toEqual([700]);
        patient.destroy();
      } finally {
        timers.mockRestore();
      }
    });

    it("keys are waited for, and a dry run asks nobody", async () => {
      const gateway = await Hidden.create(problem(503, "no-keys"));
      const client = sealedBy(gateway);
      await expect(client.flush()).rejects.toThrow(NetworkError);
      client.destroy();
      expect(gateway.inside).toMatchObject([
        { method: "GET", url: "https://shuffler.example/tasks/often/keys" },
      ]);
      const dry = sealedBy(gateway, { dryRun: true });
      expect(await dry.report(answers(1))).toMatchObject({ sent: true });
      dry.destroy();
      expect(gateway.seen).toHaveLength(1);
    });

    it.each(["keys", "reports"])("nothing is sent once it is stopped, of %s", async (what) => {
      const { fingerprint } = await clientOf(new FakeCollector()).ready();
      const analyser = await Analyser.create(fingerprint);
      const gateway = await Hidden.create();
      gateway.answerer = new FakeShuffler(analyser.key).fetchAll;
      const client = sealedBy(gateway, { analyser: [analyser.pin], consent: false, delayMs: 1e6 });
      client.grant();
      if (what === "reports") {
        await client.report(answers(1));
      }
      const before = gateway.seen.length;
      const flushed = client.flush().catch(({ code }) => code);
      // The request is being sealed.
      const encrypt = crypto.subtle.encrypt.bind(crypto.subtle);
      const sealing = vi.spyOn(crypto.subtle, "encrypt").mockImplementation((...given) => {
        client.destroy();
        return encrypt(...given);
      });
      expect(["closed", "network"]).toContain(await flushed);
      expect(sealing).toHaveBeenCalled();
      expect(gateway.seen.length).toBe(before);
      await expect(client.report(answers(2))).rejects.toMatchObject({ code: "closed" });
    });

    it("a relay is the one that the client was made with", async () => {
      const { fingerprint } = await clientOf(new FakeCollector()).ready();
      const analyser = await Analyser.create(fingerprint);
      const gateway = await Hidden.create();
      gateway.answerer = new FakeShuffler(analyser.key).fetchAll;
      const relay = { url: RELAY, gateway: gateway.configuration };
      const client = sealedBy(gateway, { analyser: [analyser.pin], relay, consent: false });
      Object.assign(relay, { url: "https://other.example", gateway: "" });
      client.grant();
      await client.report(answers(1));
      client.destroy();
      expect(gateway.seen[0]?.url).toBe(RELAY);
    });

    it("a dry run asks the relay for the task, and nobody for keys", async () => {
      const { fingerprint } = await clientOf(new FakeCollector()).ready();
      const gateway = await Hidden.create(Response.json({ task: OFTEN, fingerprint }));
      const dry = sealedBy(gateway, {
        task: "often",
        fingerprint,
        dryRun: true,
      } as unknown as Partial<ClientOptions<Task>>);
      expect(await dry.report(answers(1))).toMatchObject({ sent: true });
      await dry.flush();
      dry.destroy();
      expect(gateway.seen.map(({ url }) => url)).toEqual([RELAY]);
      expect(gateway.inside).toMatchObject([
        { method: "GET", url: "https://shuffler.example/tasks/often" },
      ]);
    });
  });
});

describe("an answer", () => {
  it("is read whatever lengths take", async () => {
    const content = new Uint8Array(70_000).map((_, at) => at);
    const length = [0x80, 1, 0x11, 0x70];
    const message = new Uint8Array([1, 0x40, 201, 4, 1, 97, 1, 98, ...length, ...content, 0, 0]);
    const response = decodeResponse(message);
    expect(response.status).toBe(201);
    expect(response.headers.get("a")).toBe("b");
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(content);
  });

  it.each(["", "00", "03", "01", "0140", "0140c805", "0140c8010140", "0140c8ffffffffffffffff"])(
    "is none in %s",
    (digits) => {
      expect(() => decodeResponse(bytesOf(digits))).toThrow();
    },
  );
});

describe("a request", () => {
  it.each([0, 1, 40, 63, 64, 200, 16_383, 16_384, 70_000])(
    "with %i bytes is padded to whole steps",
    (length) => {
      const body = new Uint8Array(length).fill(7);
      const message = encodeRequest(REPORTS, { method: "POST", body });
      expect(message.length % 256).toBe(0);
      expect(message.length - length).toBeLessThan(256 + 80);
      expect(hexOf(message)).toContain("07".repeat(length));
    },
  );
});

it.each<[string, unknown]>([
  ["url", { url: "ftp://relay.example", gateway: "" }],
  ["url", { url: "", gateway: "" }],
  ["gateway", { url: RELAY, gateway: "" }],
  ["gateway", { url: RELAY, gateway: "zz" }],
  ["gateway", { url: RELAY, gateway: undefined }],
  ["gateway", { url: RELAY, gateway: `2a0020${"0".repeat(64)}000400010003` }],
  ["gateway", { url: RELAY, gateway: `2a0010${"0".repeat(64)}000400010001` }],
  ["gateway", { url: RELAY, gateway: `2a0020${"0".repeat(62)}000400010001` }],
  ["gateway", { url: RELAY, gateway: `2a0020${"0".repeat(64)}0004000100010` }],
])("refuses as relay.%s of %j, and reports nothing", async (option, relay) => {
  const own = relay as Relay;
  const whole = {
    ...own,
    gateway: own.gateway === "" && option === "url" ? hidden.configuration : own.gateway,
  };
  const client = createClient<Task>({
    endpoint: "https://shuffler.example",
    task: OFTEN,
    analyser: ["0".repeat(32)],
    relay: whole,
    maxEpsilon: Number.POSITIVE_INFINITY,
    consent: true,
    storage: "memory",
    fetch: () => Promise.reject(new Error("nothing is fetched")),
  });
  const error = await client.report(answers(1)).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(OptionError);
  expect(error).toMatchObject({ option: `relay.${option}` });
  expect(await client.budget()).toMatchObject({ reports: 0, spent: 0 });
  client.destroy();
});

const wrong = [null, "", false].flatMap((relay) => [
  { relay, analyser: ["0".repeat(32)] },
  { relay },
]);
it.each(wrong)("refuses $relay as a relay, and sends nothing without one: %o", async (given) => {
  const fetch = vi.fn(() => Promise.reject(new Error("nothing is fetched")));
  const client = createClient<Task>({
    endpoint: "https://shuffler.example",
    task: OFTEN,
    ...given,
    maxEpsilon: Number.POSITIVE_INFINITY,
    consent: true,
    storage: "memory",
    fetch,
  } as unknown as ClientOptions<Task>);
  const error = await client.report(answers(1)).catch((error: unknown) => error);
  expect(error).toBeInstanceOf(OptionError);
  expect(error).toMatchObject({ option: "relay" });
  await expect(client.flush()).rejects.toMatchObject({ option: "relay" });
  expect(fetch).not.toHaveBeenCalled();
  client.destroy();
});

it.each(["trust", "maxCentralEpsilon"])("refuses null as %s", async (option) => {
  const client = createClient<Task>({
    endpoint: "https://shuffler.example",
    task: OFTEN,
    [option]: null,
    maxEpsilon: Number.POSITIVE_INFINITY,
    consent: true,
    storage: "memory",
  } as unknown as ClientOptions<Task>);
  await expect(client.report(answers(1))).rejects.toMatchObject({ code: "option", option });
  client.destroy();
});
