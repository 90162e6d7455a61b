/** Tests of sums through a shuffler: sent messages, spent budget, and refused options. */

import { readFileSync } from "node:fs";
import { afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import {
  AnswerError,
  type Client,
  type ClientOptions,
  createClient,
  createRandomizer,
  NetworkError,
  OptionError,
  privacyOf,
  type SumPrivacy,
  type SumTask,
  TaskError,
  UnknownItemError,
} from "../index.js";
import { Analyser, FakeShuffler, hexOf, ID } from "./analyser.js";
import { created, OFTEN, SETTINGS, stubDatabase } from "./harness.js";

const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), "utf8");

/** The format of `tests/support/src/sum_vectors.rs`. */
interface Case {
  readonly given: {
    readonly task: SumTask;
    readonly generator: string;
    readonly answers: readonly (readonly number[])[];
  };
  readonly outcome: {
    readonly fingerprint: string;
    readonly clipped: readonly boolean[];
    readonly left: readonly boolean[];
    readonly messages: readonly string[];
    readonly upload: string;
  };
}

const CASES: readonly Case[] = JSON.parse(read("tests/vectors/sums.json"));

const TIMINGS = {
  id: "timings",
  trust: "shuffler",
  epsilon: 1,
  delta: 1e-6,
  people: 10_000,
  numbers: [
    { name: "load-time", min: 0, max: 10_000, unit: "ms" },
    { name: "zoom", min: 0.25, max: 4 },
  ],
  // On average a quarter of the maximum noise.
  messages: { levels: 8, drawn: 2, trials: 1, threshold: "4611686018427387904", noise: 4 },
} as const satisfies SumTask;
const ANSWERS = { "load-time": 1234, zoom: 1 };
const MESSAGES = 8 * 2 + 4;
const PINS = ["0".repeat(32)];

const SHUFFLED = { trust: "shuffler", epsilon: 1, delta: 1e-6, people: 10_000 } as const;

/** Tasks of questions of each kind. Noise is sent in half of the draws. */
const THEME = {
  ...SHUFFLED,
  id: "theme",
  questions: [{ name: "theme", kind: "choice", options: ["dark", "light", "system"] }],
  messages: { draws: 3, threshold: "9223372036854775808" },
} as const satisfies SumTask;
const FEATURES = {
  ...SHUFFLED,
  id: "features",
  questions: [
    { name: "features", kind: "set", options: ["search", "export", "share"], sparsity: 2 },
  ],
  messages: { draws: 3, threshold: "9223372036854775808", equal: true },
} as const satisfies SumTask;
const FLAGS = {
  ...SHUFFLED,
  id: "flags",
  questions: [
    { name: "beta", kind: "flag" },
    { name: "dark", kind: "flag" },
  ],
  messages: { draws: 1, threshold: "1" },
} as const satisfies SumTask;
const LOAD = {
  ...SHUFFLED,
  id: "load",
  questions: [{ name: "loadMs", kind: "number", min: 0, max: 8000, bins: 256, unit: "ms" }],
  messages: { draws: 1, threshold: "1" },
} as const satisfies SumTask;

/** Returns the input that the core knows by these numbers. */
function inputOf(task: SumTask, values: readonly number[]): unknown {
  if ("questions" in task) {
    const option = (options: readonly string[] | number, value: number) =>
      typeof options === "number" ? value : options[value];
    const answers = task.questions.map((question, at) => {
      const { kind } = question;
      const value = values[at] ?? 0;
      const answer =
        kind === "set"
          ? values.map((own) => option(question.options, own))
          : kind === "choice"
            ? option(question.options, value)
            : kind === "flag"
              ? value === 1
              : value;
      return [question.name, answer] as const;
    });
    return Object.fromEntries(answers);
  }
  const names = "numbers" in task ? task.numbers.map(({ name }) => name) : task.vector.items;
  return typeof names === "number"
    ? values
    : new Map(names.map((name, at) => [name, values[at] ?? 0] as const));
}

const clients: { destroy(): void }[] = [];

function sumsTo(
  shuffler: FakeShuffler,
  pins: readonly string[],
  options: Partial<ClientOptions<SumTask>> = {},
): Client<SumTask> {
  const client = createClient({
    endpoint: "https://shuffler.example",
    task: TIMINGS,
    trust: "shuffler",
    fetch: shuffler.fetchAll,
    consent: true,
    storage: "memory",
    analyser: pins,
    ...options,
  } as ClientOptions<SumTask>);
  clients.push(client);
  return client;
}

/** Returns the sealed messages of an upload. */
function sealedIn(bytes: Uint8Array, messages: number): Uint8Array[] {
  let count = 0;
  let begin = 33;
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[begin++] ?? 0;
    count |= (byte & 0x7f) << shift;
    if (byte < 0x80) {
      break;
    }
  }
  expect([bytes[0], count]).toEqual([2, messages]);
  const length = (bytes.length - begin) / count;
  return Array.from({ length: count }, (_, at) =>
    bytes.slice(begin + at * length, begin + (at + 1) * length),
  );
}

let analyser: Analyser;

beforeAll(async () => {
  const { fingerprint } = await createRandomizer({ task: TIMINGS });
  analyser = await Analyser.create(fingerprint, 1);
});
afterEach(() => {
  clients.splice(0).forEach((client) => void client.destroy());
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

describe("the vectors of sums", () => {
  it.each(CASES.map((each) => [each.given.task.id, each] as const))(
    "hold: %s",
    async (_, { given, outcome }) => {
      vi.spyOn(crypto, "getRandomValues").mockImplementation((array) => {
        (array as unknown as Uint8Array).set(Buffer.from(given.generator, "hex"));
        return array;
      });
      const randomizer = await createRandomizer({ task: given.task });
      expect(randomizer.fingerprint).toBe(outcome.fingerprint);
      const [clipped, left] = [outcome.clipped, outcome.left].map(
        (own) => own.filter(Boolean).length,
      );
      const all = given.answers.map((values) =>
        hexOf(randomizer.randomize(inputOf(given.task, values) as never)),
      );
      expect(all).toEqual(outcome.messages);
      expect([randomizer.clipped, randomizer.truncated]).toEqual([clipped, left]);
      const { uploadHeader, countMessages } = Object.getPrototypeOf(randomizer);
      const last = Buffer.from(all.at(-1) ?? "", "hex");
      const count: number = countMessages.call(randomizer, last);
      expect(count).toBeLessThanOrEqual(randomizer.messages);
      const header: Uint8Array = uploadHeader.call(randomizer, count);
      expect(hexOf(header) + all.at(-1)).toBe(outcome.upload);
      randomizer.free();
    },
  );
});

describe("what a page shows before anybody agrees", () => {
  interface Said {
    readonly task: SumTask;
    readonly privacy: Readonly<Record<string, unknown>>;
    readonly honest_people: number;
    readonly message_bytes: number;
    readonly messages: number;
  }
  const all: readonly Said[] = JSON.parse(read("tests/vectors/sum-privacy.json"));

  it.each(all.map((said) => [said.task.id, said] as const))(
    "is what the analyser says: %s",
    async (_, { task, privacy, honest_people, message_bytes, messages }) => {
      expect(await privacyOf(task)).toEqual({
        trust: privacy.trust,
        centralEpsilon: privacy.central_epsilon,
        delta: privacy.delta,
        people: privacy.people,
        honestPeople: honest_people,
        messages,
        bytes: 33 + (messages < 128 ? 1 : 2) + messages * (52 + message_bytes),
        statement: privacy.statement,
      } satisfies Readonly<Record<keyof SumPrivacy, unknown>>);
    },
  );

  it("is known without consent, of the task alone", async () => {
    const privacy = await privacyOf(TIMINGS);
    expect(privacy).toMatchObject({ trust: "shuffler", messages: MESSAGES });
    expect(privacy.statement).toMatch(/^There is no local ε/);
  });

  it("has the budget in the same terms", async () => {
    const shuffler = new FakeShuffler();
    const client = sumsTo(shuffler, PINS, { consent: false });
    const spent = await client.budget();
    expect(spent).toMatchObject({ centralEpsilon: 1, delta: 1e-6, allowed: 1, centralSpent: 0 });
    expect(spent).not.toHaveProperty("epsilon");
    expect(await client.report(ANSWERS)).toEqual({
      sent: false,
      reason: "no-consent",
      centralEpsilon: 0,
      delta: 0,
    });
    expect(shuffler.asked).toBe(0);
  });
});

describe("a report", () => {
  it("is messages that are sealed one by one, as many as everybody sends", async () => {
    const shuffler = new FakeShuffler(analyser.key);
    const client = sumsTo(shuffler, [analyser.pin]);
    expect(await client.report(ANSWERS)).toEqual({
      sent: true,
      centralEpsilon: 1,
      delta: 1e-6,
    });
    const [made] = await client.history();
    const bytes = made?.bytes ?? new Uint8Array();
    expect(made).toMatchObject({ centralEpsilon: 1, state: "waiting" });
    expect(made).not.toHaveProperty("epsilon");
    expect(bytes).toHaveLength((await privacyOf(TIMINGS)).bytes);
    const sealed = sealedIn(bytes, MESSAGES);
    // Two messages under one key would show that they have the same sender.
    expect(new Set(sealed.map((own) => hexOf(own.slice(ID, ID + 32)))).size).toBe(MESSAGES);
    const opened = await Promise.all(sealed.map((own) => analyser.open(own)));
    expect(opened.every((own) => own.length === 1 && (own[0] ?? 9) <= 4)).toBe(true);
    shuffler.answers.push(created());
    await client.flush();
    const sent = shuffler.sent.at(-1);
    expect(sent?.url).toBe("https://shuffler.example/tasks/timings/reports");
    expect(hexOf(sent?.bytes ?? new Uint8Array())).toBe(hexOf(bytes));
    expect(client.pending).toBe(0);
  });

  it("is sent again with the same bytes", async () => {
    const shuffler = new FakeShuffler(analyser.key);
    shuffler.answers.push("down", "down", created());
    const client = sumsTo(shuffler, [analyser.pin], { delayMs: 86_400_000 });
    await client.report(ANSWERS);
    await expect(client.flush()).rejects.toThrow(NetworkError);
    await client.flush();
    const [first, second] = shuffler.sent.slice(-2).map(({ bytes }) => hexOf(bytes));
    expect(first).toBe(second);
  });

  /**
   * Tests the mean of messages for a number at 3/4. Over 2,000 people, noise has the variance 2·q(1
   * − q) = 0.375 of a level each. Five standard errors, with a probability of 6·10⁻⁷, are
   * 5·√(0.375/2000)/8 = 0.0086.
   */
  it("says numbers without bias", async () => {
    const randomizer = await createRandomizer({ task: TIMINGS });
    const PEOPLE = 2000;
    let sum = 0;
    for (let person = 0; person < PEOPLE; person += 1) {
      const messages = randomizer.randomize({ "load-time": 8750, zoom: 4 });
      messages.forEach((message) => {
        sum += message === 1 ? 1 : message === 2 ? -1 : 0;
      });
    }
    expect(Math.abs(sum / PEOPLE / 8 - 0.75)).toBeLessThan(0.0086);
    expect([randomizer.clipped, randomizer.truncated]).toEqual([0, 0]);
    randomizer.randomize({ "load-time": 10_001, zoom: 4 });
    expect(randomizer.clipped).toBe(1);
  });

  it("of thousands of messages is one upload", async () => {
    const task = { ...TIMINGS, messages: { ...TIMINGS.messages, levels: 1024, noise: 2048 } };
    const { fingerprint } = await createRandomizer({ task });
    const own = await Analyser.create(fingerprint, 1);
    const shuffler = new FakeShuffler(own.key);
    const client = sumsTo(shuffler, [own.pin], { task });
    expect(await client.report(ANSWERS)).toMatchObject({ sent: true });
    const [made] = await client.history();
    expect(made?.bytes).toHaveLength(33 + 2 + 4096 * 53);
    expect((await privacyOf(task)).bytes).toBe(33 + 2 + 4096 * 53);
    sealedIn(made?.bytes ?? new Uint8Array(), 4096);
    shuffler.answers.push(created());
    await client.flush();
    expect(shuffler.sent).toHaveLength(1);
  });

  it("takes vectors in order, of arrays of any kind, or by name", async () => {
    const vector = { ...TIMINGS, numbers: undefined, vector: { items: 3, length: 2 } };
    const { numbers: _, ...task } = { ...vector, messages: { ...TIMINGS.messages, drawn: 8 } };
    const counted = await createRandomizer({ task });
    for (const input of [[1, 0, -1], new Float32Array(3), new Float64Array(3)]) {
      expect(counted.randomize(input)).toHaveLength(8 * 8 + 4);
    }
    for (const input of [[1, 0], {}, { 0: 1, 1: 0, 2: 0 }, "123", null, [1, 0, "1"], [1, 0, NaN]]) {
      expect(() => counted.randomize(input as never)).toThrow(AnswerError);
    }
    const named = await createRandomizer({
      task: { ...task, vector: { items: ["x", "y", "z"], length: 2 } },
    });
    expect(named.randomize({ x: 1, y: 0, z: -1 })).toHaveLength(8 * 8 + 4);
    expect(() => named.randomize({ x: 1 } as never)).toThrow(AnswerError);
  });

  it("takes every number, and no other", async () => {
    const client = sumsTo(new FakeShuffler(analyser.key), [analyser.pin]);
    for (const [input, error] of [
      [{ "load-time": 1 }, AnswerError],
      [{ ...ANSWERS, zoom: Number.NaN }, AnswerError],
      [{ ...ANSWERS, zoom: "1" }, AnswerError],
      [{ ...ANSWERS, zom: 1 }, UnknownItemError],
      [[1, 2], AnswerError],
      [undefined, AnswerError],
    ] as const) {
      await expect(client.report(input as never)).rejects.toThrow(error);
    }
    expect(await client.budget()).toMatchObject({ used: 0, centralSpent: 0 });
  });

  it("is read before report returns", async () => {
    const task = {
      ...TIMINGS,
      numbers: undefined,
      vector: { items: 2, length: 2 },
    } as unknown as SumTask;
    const { numbers: _, ...own } = task as SumTask & { numbers?: undefined };
    const { fingerprint } = await createRandomizer({ task: own as SumTask });
    const key = await Analyser.create(fingerprint, 1);
    const client = sumsTo(new FakeShuffler(key.key), [key.pin], { task: own as SumTask });
    const vector = new Float64Array([1, 0]);
    const report = client.report(vector as never);
    vector.fill(Number.NaN);
    expect(await report).toMatchObject({ sent: true });
  });
});

describe("a report on questions", () => {
  /** Codes of the messages of an answer, sorted. */
  const codesOf = async <T extends SumTask>(task: T, input: unknown, bytes = 1) => {
    const randomizer = await createRandomizer({ task });
    const report = randomizer.randomize(input as never);
    const codes = Array.from({ length: report.length / bytes }, (_, at) => {
      const [low = 0, high = 0] = report.subarray(at * bytes, (at + 1) * bytes);
      return low < 128 ? low : low - 128 + 128 * high;
    });
    return codes.sort((a, b) => a - b);
  };

  it("has the own messages of each kind", async () => {
    // With a threshold of 1 there is noise with a probability of 2⁻⁶⁴.
    const silent = { draws: 1, threshold: "1" } as const;
    const theme = { ...THEME, messages: silent };
    expect(await codesOf(theme, { theme: "dark" })).toEqual([1]);
    expect(await codesOf(theme, new Map([["theme", "system"]]))).toEqual([3]);
    const features = { ...FEATURES, messages: silent };
    expect(await codesOf(features, { features: [] })).toEqual([4, 5]);
    expect(await codesOf(features, { features: new Set(["share"]) })).toEqual([3, 4]);
    expect(await codesOf(features, { features: ["share", "search"] })).toEqual([1, 3]);
    expect(await codesOf(FLAGS, { beta: false, dark: true })).toEqual([1, 4]);
    // 16 nodes of 16 bins, then the bins.
    expect(await codesOf(LOAD, { loadMs: 0 }, 2)).toEqual([1, 17]);
    expect(await codesOf(LOAD, { loadMs: 1e9 }, 2)).toEqual([16, 272]);
    const indexed = {
      ...THEME,
      questions: [{ name: "shop", kind: "choice", options: 1000 }],
      messages: silent,
    } as const;
    expect(await codesOf(indexed, { shop: 999 }, 2)).toEqual([1000]);
  });

  it("is as many sealed messages as were drawn", async () => {
    const { fingerprint } = await createRandomizer({ task: THEME });
    const key = await Analyser.create(fingerprint, 1);
    const counts = new Set<number>();
    for (let person = 0; person < 20; person += 1) {
      const client = sumsTo(new FakeShuffler(key.key), [key.pin], { task: THEME });
      expect(await client.report({ theme: "dark" } as never)).toMatchObject({ sent: true });
      const [made] = await client.history();
      const bytes = made?.bytes ?? new Uint8Array();
      const count = bytes[33] ?? 0;
      const opened = await Promise.all(sealedIn(bytes, count).map((own) => key.open(own)));
      expect(opened.every((own) => own.length === 1 && [1, 2, 3].includes(own[0] ?? 0))).toBe(true);
      expect(opened.some((own) => own[0] === 1)).toBe(true);
      expect(bytes.length).toBeLessThanOrEqual((await privacyOf(THEME)).bytes);
      counts.add(count);
    }
    expect([...counts].every((count) => count >= 1 && count <= 4)).toBe(true);
    // All numbers are equal with a probability of about 2·(3/8)²⁰ = 6·10⁻⁹.
    expect(counts.size).toBeGreaterThan(1);
    const randomizer = await createRandomizer({ task: THEME });
    const { countMessages } = Object.getPrototypeOf(randomizer);
    for (const wrong of [0, 5]) {
      const report = new Uint8Array(wrong);
      expect(() => countMessages.call(randomizer, report)).toThrow(/messages, expected 1 to 4/);
    }
  });

  it("has equally many messages if the task says so", async () => {
    const randomizer = await createRandomizer({ task: FEATURES });
    expect(randomizer.messages).toBe(5);
    for (const features of [[], ["share"], ["search", "export", "share"]] as const) {
      expect(randomizer.randomize({ features })).toHaveLength(5);
    }
    // A set with more options than are sent.
    expect([randomizer.clipped, randomizer.truncated]).toEqual([1, 0]);
  });

  it("takes answers as with a local ε, and no others", async () => {
    const theme = await createRandomizer({ task: THEME });
    const features = await createRandomizer({ task: FEATURES });
    const flags = await createRandomizer({ task: FLAGS });
    const load = await createRandomizer({ task: LOAD });
    const refused = (run: () => unknown, error: unknown, message: RegExp) => {
      expect(run).toThrow(error as never);
      expect(run).toThrow(message);
    };
    refused(
      // @ts-expect-error not an option
      () => theme.randomize({ theme: "blue" }),
      UnknownItemError,
      /question "theme" has no item "blue"/,
    );
    // @ts-expect-error no answer
    refused(() => theme.randomize({}), AnswerError, /"theme" is undefined, expected an option/);
    // @ts-expect-error an index, but options have names
    refused(() => theme.randomize({ theme: 1 }), AnswerError, /expected an option's name/);
    refused(() => theme.randomize("dark" as never), AnswerError, /answers by question/);
    refused(() => theme.randomize({ theme: "dark", them: 1 } as never), UnknownItemError, /"them"/);
    // @ts-expect-error not an option
    refused(() => features.randomize({ features: ["find"] }), UnknownItemError, /"find"/);
    // @ts-expect-error not several
    refused(() => features.randomize({ features: "share" }), AnswerError, /in an array or Set/);
    refused(
      () => features.randomize({ features: ["share", "share"] }),
      AnswerError,
      /different options/,
    );
    // @ts-expect-error not a boolean
    refused(() => flags.randomize({ beta: 1, dark: true }), AnswerError, /true or false/);
    // @ts-expect-error a flag without an answer
    refused(() => flags.randomize({ beta: true }), AnswerError, /"dark" is undefined/);
    for (const loadMs of [Number.NaN, "1", undefined]) {
      refused(() => load.randomize({ loadMs } as never), AnswerError, /a finite number/);
    }
  });
});

describe("the central budget", () => {
  it("is one report in a window, and is kept apart from a local one", async () => {
    stubDatabase();
    const shuffler = new FakeShuffler(analyser.key);
    // A task of the same name with a local ε.
    const local = createClient({
      endpoint: "https://shuffler.example",
      task: { ...SETTINGS, id: "timings" },
      fetch: shuffler.fetchAll,
      consent: true,
    });
    clients.push(local);
    await local.report({ autoplay: 1 });
    const client = sumsTo(shuffler, [analyser.pin], { storage: "device" });
    expect(await client.report(ANSWERS)).toMatchObject({ sent: true });
    expect(await client.report(ANSWERS)).toMatchObject({ reason: "over-budget", delta: 0 });
    const other = sumsTo(shuffler, [analyser.pin], { storage: "device" });
    expect(await other.report({ ...ANSWERS, zoom: 2 })).toEqual({
      sent: false,
      reason: "over-budget",
      centralEpsilon: 0,
      delta: 0,
    });
    const spent = await other.budget();
    expect(spent).toMatchObject({
      centralEpsilon: 1,
      delta: 1e-6,
      allowed: 1,
      used: 1,
      centralSpent: 1,
      reports: 1,
      durable: true,
    });
    expect(spent).not.toHaveProperty("epsilon");
    expect(spent).not.toHaveProperty("spent");
    expect(await local.budget()).toMatchObject({ epsilon: 2, spent: 2, reports: 1 });
    expect(await local.history()).toHaveLength(1);
    expect(await client.history()).toHaveLength(1);
  });

  it("is capped by an option of its own", async () => {
    const shuffler = new FakeShuffler(analyser.key);
    const client = sumsTo(shuffler, [analyser.pin], { maxCentralEpsilon: 0.5 });
    const report = client.report(ANSWERS);
    await expect(report).rejects.toMatchObject({ code: "over-max-epsilon" });
    await expect(report).rejects.toThrow(/central ε = 1 in 30 days, maxCentralEpsilon is 0.5/);
    expect(shuffler.asked).toBe(0);
  });

  it("is withdrawn with consent", async () => {
    const client = sumsTo(new FakeShuffler(analyser.key), [analyser.pin]);
    await client.report(ANSWERS);
    await client.revoke();
    expect((await client.history()).map(({ state }) => state)).toEqual(["withdrawn"]);
    expect(await client.report(ANSWERS)).toMatchObject({ reason: "no-consent" });
    expect(await client.budget()).toMatchObject({ centralSpent: 1 });
  });
});

describe("is refused", () => {
  const made = (options: object) => {
    const client = createClient({
      endpoint: "https://shuffler.example",
      task: TIMINGS,
      trust: "shuffler",
      analyser: PINS,
      consent: true,
      storage: "memory",
      fetch: () => Promise.reject(new Error("nothing is fetched")),
      ...options,
    } as ClientOptions<SumTask>);
    clients.push(client);
    return client;
  };
  /** Returns the error that all waiting calls throw. Nothing is spent. */
  async function refused(options: object): Promise<unknown> {
    const client = made(options);
    const error = await client.report(ANSWERS).catch((error: unknown) => error);
    await expect(client.ready()).rejects.toEqual(error);
    expect(await client.history()).toEqual([]);
    expect(await client.budget()).toMatchObject({ reports: 0 });
    return error;
  }

  it.each([undefined, "collector", true])(
    "a page that does not say whom to trust: %s",
    async (trust) => {
      const error = await refused({ trust });
      expect(error).toBeInstanceOf(OptionError);
      expect(error).toMatchObject({ option: "trust", message: /there is no local ε/ });
    },
  );

  it("a cap on the local ε, which there is none of", async () => {
    expect(await refused({ maxEpsilon: 2 })).toMatchObject({
      message: "maxEpsilon is 2, expected maxCentralEpsilon: there is no local ε",
    });
    for (const maxCentralEpsilon of [-1, Number.NaN, "1"]) {
      await expect(refused({ maxCentralEpsilon })).rejects.toMatchObject({
        option: "maxCentralEpsilon",
      });
    }
  });

  it("a task that is only named", async () => {
    expect(await refused({ task: "timings" })).toMatchObject({
      option: "trust",
      message: "trust is shuffler, expected none: the task is not one of sums",
    });
  });

  it("a task that is only named, and that the collector says is one of sums", async () => {
    const fetch = async () => Response.json({ task: TIMINGS, fingerprint: "0".repeat(32) });
    const client = createClient({
      endpoint: "https://collector.example",
      task: "timings",
      consent: true,
      storage: "memory",
      fetch,
    });
    clients.push(client);
    const report = client.report({ "load-time": 1, zoom: 1 });
    await expect(report).rejects.toMatchObject({ code: "invalid-task", message: /"trust"/ });
  });

  it("no analyser, one that is none, and no relay", async () => {
    for (const analyser of [undefined, [], "0".repeat(32), ["g".repeat(32)]]) {
      expect(await refused({ analyser })).toMatchObject({ option: "analyser" });
    }
    expect(await refused({ relay: { url: "relay", gateway: "00" } })).toMatchObject({
      option: "relay.gateway",
    });
  });

  it("what only sums take, of a task with a local ε", async () => {
    const options = { task: OFTEN, maxEpsilon: undefined, analyser: undefined };
    expect(await refused(options)).toMatchObject({ option: "trust" });
    const central = { ...options, trust: undefined, maxCentralEpsilon: 0 };
    expect(await refused(central)).toMatchObject({
      message: "maxCentralEpsilon is 0, expected maxEpsilon: the task has a local ε",
    });
    const relay = { ...options, trust: undefined, relay: {} };
    expect(await refused(relay)).toMatchObject({ option: "analyser" });
  });

  const { messages } = TIMINGS;
  it.each<[string, object, RegExp]>([
    ["no messages", { messages: undefined }, /hushbin task check/],
    ["a threshold that is a number", { messages: { ...messages, threshold: 1 } }, /threshold/],
    [
      "a threshold of 65 bits",
      { messages: { ...messages, threshold: "18446744073709551616" } },
      /2\^64/,
    ],
    ["another spelling", { messages: { ...messages, threshold: "01" } }, /digits/],
    ["half a person", { people: 0.5 }, /people is 0.5/],
    ["both kinds", { vector: { items: 2, length: 1 } }, /unknown field "numbers"/],
    ["neither kind", { numbers: undefined }, /numbers is not a list/],
    ["no δ", { delta: undefined }, /delta is not a number/],
    ["another trust", { trust: "me" }, /trust is "me"/],
  ])("a task with %s", async (_, change, message) => {
    const error = await refused({ task: { ...TIMINGS, ...change } });
    expect(error).toBeInstanceOf(TaskError);
    expect(error).toMatchObject({ code: "invalid-task", message });
  });

  it.each<[string, object, RegExp]>([
    ["no question", { questions: [] }, /one question, or several of the kind "flag"/],
    [
      "several questions that are no flags",
      { questions: [FLAGS.questions[0], ...THEME.questions] },
      /one question, or several of the kind "flag"/,
    ],
    ["a kind that is not counted", { questions: [{ name: "a", kind: "text" }] }, /kind is "text"/],
    [
      "a field of another kind",
      { questions: [{ ...FLAGS.questions[0], options: 3 }] },
      /unknown field "options"/,
    ],
    ["messages of numbers", { messages }, /unknown field "levels"/],
    ["no draw that can win", { messages: { draws: 1, threshold: "0" } }, /from 1 to 2\^64/],
    [
      "a threshold above always",
      { messages: { draws: 1, threshold: "18446744073709551617" } },
      /from 1 to 2\^64/,
    ],
    ["equal that is a number", { messages: { ...THEME.messages, equal: 1 } }, /true or false/],
    ["numbers as well", { numbers: TIMINGS.numbers }, /unknown field "numbers"/],
  ])("a task of questions with %s", async (_, change, message) => {
    const task = { ...THEME, ...change } as unknown as SumTask;
    await expect(createRandomizer({ task })).rejects.toMatchObject({
      code: "invalid-task",
      message,
    });
  });

  it.each<[string, object]>([
    ["one option", { questions: [{ ...THEME.questions[0], options: 1 }] }],
    ["open options", { questions: [{ ...THEME.questions[0], options: "open" }] }],
    ["a sparsity above the options", { questions: [{ ...FEATURES.questions[0], sparsity: 4 }] }],
    ["two flags of one name", { questions: [FLAGS.questions[0], FLAGS.questions[0]] }],
    ["one bin", { questions: [{ ...LOAD.questions[0], bins: 1 }] }],
    ["no draws", { messages: { ...THEME.messages, draws: 0 } }],
    ["too many draws", { messages: { ...THEME.messages, draws: 65 } }],
  ])("by the core, a task of questions with %s", async (_, change) => {
    const task = { ...THEME, ...change } as unknown as SumTask;
    await expect(createRandomizer({ task })).rejects.toMatchObject({ code: "invalid-task" });
  });

  it.each<[string, object]>([
    ["an ε out of range", { epsilon: 13 }],
    ["two reports a window", { budget: { reports: 2 } }],
    ["a memo", { budget: { memo: { epsilon: 2, days: 365 } } }],
    ["more coordinates than there are", { messages: { ...messages, drawn: 3 } }],
    ["no noise", { messages: { ...messages, threshold: "0" } }],
    ["one honest person", { people: 2 }],
  ])("by the core, a task with %s", async (_, change) => {
    const task = { ...TIMINGS, ...change } as SumTask;
    await expect(createRandomizer({ task })).rejects.toMatchObject({ code: "invalid-task" });
  });

  it("a task with another fingerprint than was pinned", async () => {
    const client = sumsTo(new FakeShuffler(analyser.key), [analyser.pin], {
      fingerprint: "0".repeat(32),
    });
    await expect(client.ready()).rejects.toMatchObject({ code: "fingerprint-mismatch" });
  });
});

it("seals nothing in a dry run, and asks nobody for keys", async () => {
  const shuffler = new FakeShuffler();
  const client = sumsTo(shuffler, PINS, { dryRun: true });
  expect(await client.report(ANSWERS)).toMatchObject({ sent: true, centralEpsilon: 1 });
  await client.flush();
  expect([shuffler.asked, shuffler.sent.length]).toEqual([0, 0]);
});

it("says what it does, and that its ε is central", async () => {
  const said = vi.spyOn(console, "groupCollapsed").mockImplementation(() => {});
  vi.spyOn(console, "log").mockImplementation(() => {});
  const client = sumsTo(new FakeShuffler(analyser.key), [analyser.pin], { debug: true });
  await client.report(ANSWERS);
  await client.report(ANSWERS);
  expect(said.mock.calls).toEqual([
    [
      "hushbin timings: sent, central ε 1 but for 0.000001, no local ε, " +
        `${MESSAGES} messages in ${(await privacyOf(TIMINGS)).bytes} bytes`,
    ],
    ["hushbin timings: over-budget"],
  ]);
});

it("makes a report afresh after the module has failed", async () => {
  const randomizer = await createRandomizer({ task: TIMINGS });
  randomizer.randomize({ "load-time": 20_000, zoom: 1 });
  const own = await import("../sums/module.js");
  expect(() =>
    own.callSumsCore(() => {
      throw new Error("trap");
    }),
  ).toThrow(/restarts it/);
  expect(randomizer.randomize(ANSWERS)).toHaveLength(MESSAGES);
  expect(randomizer.clipped).toBe(1);
  randomizer.free();
  expect(() => randomizer.randomize(ANSWERS)).toThrow(/closed/);
});

// Last in this file, because later imports are separate copies of the modules.
it("the vectors hold where there is no WebAssembly", async () => {
  vi.resetModules();
  vi.stubGlobal("WebAssembly", undefined);
  const own = await import("../index.js");
  const [{ given, outcome } = CASES[0] as Case] = CASES.slice(2);
  vi.spyOn(crypto, "getRandomValues").mockImplementation((array) => {
    (array as unknown as Uint8Array).set(Buffer.from(given.generator, "hex"));
    return array;
  });
  const randomizer = await own.createRandomizer({ task: given.task });
  const all = given.answers.map((values) => hexOf(randomizer.randomize(values as never)));
  expect(all).toEqual(outcome.messages);
});

it("goes by a task as it was when it was given", async () => {
  const given = () => structuredClone(TIMINGS) as { id: string; epsilon: number } & typeof TIMINGS;
  const [ofClient, ofRandomizer, told] = [given(), given(), given()];
  const client = sumsTo(new FakeShuffler(analyser.key), [analyser.pin], {
    task: ofClient,
    consent: false,
  });
  const randomizer = createRandomizer({ task: ofRandomizer });
  const privacy = privacyOf(told);
  for (const task of [ofClient, ofRandomizer, told]) {
    Object.assign(task, { epsilon: 1.5, people: 2000 });
    Object.assign((task.numbers as unknown as object[])[0] ?? {}, { max: 99 });
  }
  client.grant();
  const { fingerprint } = await createRandomizer({ task: TIMINGS });
  expect(await client.ready()).toEqual({ task: TIMINGS, fingerprint });
  expect(client.about.task).toEqual(TIMINGS);
  expect(await randomizer).toMatchObject({ task: TIMINGS, fingerprint });
  expect(await privacy).toEqual(await privacyOf(TIMINGS));
});
