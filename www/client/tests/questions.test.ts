import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import {
  AnswerError,
  createRandomizer,
  HushbinError,
  OptionError,
  type ReportInput,
  type Task,
  TaskError,
  UnknownItemError,
  ValueRangeError,
} from "../index.js";
import { webVitalsTask } from "../web-vitals.js";
import { clientOf, FakeCollector, RATINGS, readUpload, SETTINGS, SURVEY } from "./harness.js";
import { ANSWERS } from "./types.js";

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

const WINDOW = { name: "window", drawn: 2, atoms: 5, favoured: 1, values: [1, 3] } as const;

/** Bypasses the type checker, for inputs with wrong types. */
const any = (input: unknown) => input as ReportInput<typeof SURVEY>;
const but = (answers: object) => any({ ...ANSWERS, ...answers });
const without = (name: string) =>
  any(Object.fromEntries(Object.entries(ANSWERS).filter(([key]) => key !== name)));

/** Returns the error that an input raises. It must be an error of this package. */
async function refused(input: unknown, task: Task = SURVEY): Promise<HushbinError> {
  const randomizer = await createRandomizer({ task });
  try {
    randomizer.randomize(input as ReportInput);
  } catch (error) {
    if (error instanceof HushbinError) {
      return error;
    }
    throw error;
  } finally {
    randomizer.free();
  }
  throw new Error("the input was taken");
}

/** Inputs that are invalid for any task. */
const NOT_OBJECTS: [string, unknown][] = [
  ["a list", []],
  ["a list of names", ["theme"]],
  ["a list of more than pairs", [["theme", "dark", "light"]]],
  ["a Set", new Set(["theme"])],
  ["a form's data", new FormData()],
  ["a number", 7],
  ["a text", "dark"],
  ["null", null],
  ["nothing", undefined],
  ["a date", new Date()],
  ["a function", () => ANSWERS],
  ["an instance", new (class Answers {})()],
];

describe("answers", () => {
  it("are taken of every kind", async () => {
    const randomizer = await createRandomizer({ task: SURVEY });
    const inputs = [
      ANSWERS,
      but({ features: [], plugins: [], opinions: {} }),
      but({ features: new Set(["print", "search"]), opinions: new Map([["autoplay", -1]]) }),
      but({ theme: "system", version: 11, beta: false, loadMs: 0, seconds: 10 }),
      any(Object.assign(Object.create(null), ANSWERS)),
    ];
    for (const input of inputs) {
      expect(randomizer.randomize(input)).toHaveLength(9);
    }
    randomizer.free();
  });

  it("are refused where there is no question, or more than questions", async () => {
    expect(await refused(but({ themes: "dark" }))).toMatchObject({
      name: "AnswerError",
      code: "answer",
      question: "themes",
      answer: "dark",
    });
    // The error names the misspelled question, not the unanswered one.
    expect(await refused(any({ ...without("theme"), themes: "dark" }))).toMatchObject({
      question: "themes",
    });
  });

  it.each(SURVEY.questions.map(({ name }) => name))("are refused without %s", async (name) => {
    for (const input of [without(name), but({ [name]: undefined }), but({ [name]: null })]) {
      const error = await refused(input);
      expect(error).toBeInstanceOf(AnswerError);
      expect(error).toMatchObject({ question: name });
      expect(error.message).toContain(name);
    }
  });

  it("are refused where a name is only inherited", async () => {
    const mechanism = SURVEY.questions[2].mechanism;
    const names = ["constructor", "__proto__"];
    const questions = names.map((name) => ({ name, kind: "flag", mechanism }) as const);
    const task = { id: "odd", epsilon: 1, questions };
    expect(await refused({}, task)).toMatchObject({ question: "constructor", answer: undefined });
    const randomizer = await createRandomizer({ task });
    const own = Object.fromEntries(names.map((name) => [name, true]));
    expect(randomizer.randomize(own)).toHaveLength(9);
  });

  it.each<[string, object, string]>([
    ["a list for a choice", { theme: ["dark"] }, "theme"],
    ["two answers to a choice", { theme: ["dark", "light"] }, "theme"],
    ["a Set for a choice", { theme: new Set(["dark"]) }, "theme"],
    ["an index where options have names", { theme: 0 }, "theme"],
    ["an option's index beyond", { version: 12 }, "version"],
    ["an option's index below", { version: -1 }, "version"],
    ["a fraction of an index", { version: 1.5 }, "version"],
    ["no number for an index", { version: Number.NaN }, "version"],
    ["a number for a flag", { beta: 1 }, "beta"],
    ["a text for a flag", { beta: "false" }, "beta"],
    ["a boxed flag", { beta: Object(true) }, "beta"],
    ["a text for a number", { loadMs: "1830" }, "loadMs"],
    ["NaN", { loadMs: Number.NaN }, "loadMs"],
    ["no end", { seconds: Number.POSITIVE_INFINITY }, "seconds"],
    ["a bigint", { seconds: 3n }, "seconds"],
    ["one option for a set", { features: "search" }, "features"],
    ["an object for a set", { features: { search: true } }, "features"],
    ["an option twice", { features: ["search", "print", "search"] }, "features"],
    ["an open option twice", { plugins: ["a", "a"] }, "plugins"],
    ["a number in a set of names", { features: [0] }, "features"],
    ["a hole in a set", { plugins: new Array(1) }, "plugins"],
    ["an object in a set", { plugins: [Object.create(null)] }, "plugins"],
    ["a list for ratings", { opinions: ["autoplay"] }, "opinions"],
    ["a Set for ratings", { opinions: new Set(["autoplay"]) }, "opinions"],
    ["a number for ratings", { opinions: 1 }, "opinions"],
    ["a number for numbers", { layout: 1200 }, "layout"],
    ["a list for numbers", { layout: [1200, 1, 0] }, "layout"],
  ])("are refused: %s", async (_, wrong, question) => {
    const error = await refused(but(wrong));
    expect(error).toBeInstanceOf(AnswerError);
    expect(error).toMatchObject({ code: "answer", question });
  });

  it("may be null for a number that is optional, and only then", async () => {
    const randomizer = await createRandomizer({ task: webVitalsTask });
    const none = { LCP: null, INP: null, CLS: null, TTFB: null };
    const reports = [none, { ...none, LCP: 1200 }, { LCP: 0, INP: 1e9, CLS: 0.1, TTFB: -1 }];
    for (const answers of reports) {
      expect(randomizer.randomize(answers)).toHaveLength(9);
    }
    expect(randomizer.clipped).toBe(2);
    for (const wrong of [undefined, Number.NaN, "0", false]) {
      expect(await refused({ ...none, INP: wrong }, webVitalsTask)).toMatchObject({
        code: "answer",
        question: "INP",
        message: expect.stringContaining("a finite number or null"),
      });
    }
    expect(await refused(but({ seconds: null }))).toMatchObject({ question: "seconds" });
  });

  it("give every number by its name", async () => {
    const { layout } = ANSWERS;
    const { width: _, ...others } = layout;
    const cases: [object, string, unknown][] = [
      [{}, "width", undefined],
      [others, "width", undefined],
      [{ width: 1, zoom: 1 }, "toString", undefined],
      [{ ...layout, zoom: null }, "zoom", null],
      [{ ...layout, zoom: "1" }, "zoom", "1"],
      [{ ...layout, zoom: Number.NaN }, "zoom", Number.NaN],
      [{ ...layout, width: Number.NEGATIVE_INFINITY }, "width", Number.NEGATIVE_INFINITY],
      [new Map([["zoom", 1]]), "width", undefined],
    ];
    for (const [wrong, name, answer] of cases) {
      const error = await refused(but({ layout: wrong }));
      expect(error).toBeInstanceOf(AnswerError);
      expect(error).toMatchObject({ code: "answer", question: "layout", answer });
      expect(error.message).toContain("layout");
      expect(error.message).toContain(`"${name}"`);
    }
    for (const wrong of [{ ...layout, height: 800 }, new Map([["height", 800]])]) {
      const error = await refused(but({ layout: wrong }));
      expect(error).toBeInstanceOf(UnknownItemError);
      expect(error).toMatchObject({ code: "unknown-item", item: "height" });
      expect(error.message).toContain("layout");
    }
    const randomizer = await createRandomizer({ task: SURVEY });
    const reordered = { toString: 0, zoom: 1.5, width: 1200 };
    for (const right of [layout, reordered, new Map(Object.entries(layout))]) {
      expect(randomizer.randomize(but({ layout: right }))).toHaveLength(9);
    }
  });

  it("give both parts of a cross by their names", async () => {
    const { loadByPlan, betaByVersion } = ANSWERS;
    const cases: [object, string, string, unknown][] = [
      [{ loadByPlan: {} }, "loadByPlan", "plan", undefined],
      [{ loadByPlan: { plan: "pro" } }, "loadByPlan", "loadMs", undefined],
      [{ loadByPlan: { loadMs: 1 } }, "loadByPlan", "plan", undefined],
      [{ loadByPlan: { ...loadByPlan, plan: 0 } }, "loadByPlan", "plan", 0],
      [{ loadByPlan: { ...loadByPlan, plan: ["pro"] } }, "loadByPlan", "plan", ["pro"]],
      [{ loadByPlan: { ...loadByPlan, loadMs: Number.NaN } }, "loadByPlan", "loadMs", Number.NaN],
      [{ loadByPlan: { ...loadByPlan, loadMs: "1" } }, "loadByPlan", "loadMs", "1"],
      [{ betaByVersion: { ...betaByVersion, version: 12 } }, "betaByVersion", "version", 12],
      [{ betaByVersion: { ...betaByVersion, beta: 1 } }, "betaByVersion", "beta", 1],
    ];
    for (const [wrong, question, part, answer] of cases) {
      const error = await refused(but(wrong));
      expect(error).toBeInstanceOf(AnswerError);
      expect(error).toMatchObject({ code: "answer", question, answer });
      expect(error.message).toContain(question);
      expect(error.message).toContain(`as "${part}"`);
    }
    for (const wrong of ["pro", 7, null, ["pro", 1], new Set(["pro"])]) {
      const error = await refused(but({ loadByPlan: wrong }));
      expect(error).toBeInstanceOf(AnswerError);
      expect(error).toMatchObject({ code: "answer", question: "loadByPlan", answer: wrong });
    }
    const unknown: [object, string][] = [
      [{ ...loadByPlan, beta: true }, "beta"],
      [{ ...loadByPlan, plan: "team" }, "team"],
    ];
    for (const [wrong, item] of unknown) {
      const error = await refused(but({ loadByPlan: wrong }));
      expect(error).toBeInstanceOf(UnknownItemError);
      expect(error).toMatchObject({ code: "unknown-item", item });
      expect(error.message).toContain("loadByPlan");
    }
    const randomizer = await createRandomizer({ task: SURVEY });
    const reordered = { loadMs: 20_000, plan: "free" };
    for (const right of [loadByPlan, reordered, new Map(Object.entries(loadByPlan))]) {
      expect(randomizer.randomize(but({ loadByPlan: right }))).toHaveLength(9);
    }
    expect(randomizer.clipped).toBe(1);
  });

  it("give all parts of what is asked together by their names", async () => {
    const { settings } = ANSWERS;
    const cases: [object, string, unknown][] = [
      [{}, "compact", undefined],
      [{ compact: true, zoom: 2 }, "font", undefined],
      [{ ...settings, compact: 1 }, "compact", 1],
      [{ ...settings, font: 1 }, "font", 1],
      [{ ...settings, font: ["sans"] }, "font", ["sans"]],
      [{ ...settings, zoom: 4 }, "zoom", 4],
    ];
    for (const [wrong, part, answer] of cases) {
      const error = await refused(but({ settings: wrong }));
      expect(error).toBeInstanceOf(AnswerError);
      expect(error).toMatchObject({ code: "answer", question: "settings", answer });
      expect(error.message).toContain("settings");
      expect(error.message).toContain(`as "${part}"`);
    }
    for (const wrong of ["sans", true, null, [true, "sans", 2]]) {
      const error = await refused(but({ settings: wrong }));
      expect(error).toMatchObject({ code: "answer", question: "settings", answer: wrong });
    }
    const unknown: [object, string][] = [
      [{ ...settings, theme: "dark" }, "theme"],
      [{ ...settings, font: "mono" }, "mono"],
      [{ ...settings, zoom: "2" }, "2"],
    ];
    for (const [wrong, item] of unknown) {
      const error = await refused(but({ settings: wrong }));
      expect(error).toBeInstanceOf(UnknownItemError);
      expect(error).toMatchObject({ code: "unknown-item", item });
      expect(error.message).toContain("settings");
    }
    const randomizer = await createRandomizer({ task: SURVEY });
    const reordered = { zoom: 0, font: "serif", compact: false };
    for (const right of [settings, reordered, new Map(Object.entries(settings))]) {
      expect(randomizer.randomize(but({ settings: right }))).toHaveLength(9);
    }
  });

  it("name options and items that exist", async () => {
    const cases: [object, string][] = [
      [{ theme: "drak" }, "drak"],
      [{ theme: "" }, ""],
      [{ version: "3" }, "3"],
      [{ features: ["search", "toString"] }, "toString"],
      [{ opinions: { captions: 0 } }, "captions"],
    ];
    for (const [wrong, item] of cases) {
      const error = await refused(but(wrong));
      expect(error).toBeInstanceOf(UnknownItemError);
      expect(error).toMatchObject({ code: "unknown-item", item });
      expect(error.message).toContain(Object.keys(wrong)[0]);
    }
    const rated = await refused(but({ opinions: { autoplay: 0.5 } }));
    expect(rated).toBeInstanceOf(ValueRangeError);
    expect(rated).toMatchObject({ item: "autoplay" });
  });

  it.each(NOT_OBJECTS)("are refused as %s", async (_, input) => {
    for (const task of [SURVEY, SETTINGS, RATINGS]) {
      const error = await refused(input, task);
      expect(error).toBeInstanceOf(AnswerError);
      expect(error).toMatchObject({ code: "answer", question: undefined, answer: input });
    }
  });

  it.each([
    ["a Map", new Map(Object.entries(ANSWERS))],
    ["pairs", Object.entries(ANSWERS)],
    [
      "a Map of another window",
      runInNewContext("new Map(given)", { given: Object.entries(ANSWERS) }),
    ],
    ["an object of another window", runInNewContext("({ ...given })", { given: ANSWERS })],
  ])("are taken in %s", async (_, input) => {
    const randomizer = await createRandomizer({ task: SURVEY });
    expect(randomizer.randomize(input as typeof ANSWERS).length).toBeGreaterThan(8);
    randomizer.free();
  });

  it("are refused in a Map with names that are none", async () => {
    expect(await refused(new Map([[7, 1]]), RATINGS)).toMatchObject({ code: "answer" });
  });

  it("are read before anything is drawn or queued", async () => {
    const collector = new FakeCollector();
    const client = clientOf(collector, { task: SURVEY });
    await expect(client.report(but({ beta: 1 }) as ReportInput)).rejects.toThrow(AnswerError);
    expect(client.pending).toBe(0);
    await client.report(ANSWERS);
    expect(client.pending).toBe(1);
    await client.close();
    expect(collector.counts).toEqual([1]);
  });

  it("draw nothing where they are refused", async () => {
    // With the same seed, refused inputs in between change no report.
    const made = async (wrong: boolean) => {
      const random = crypto.getRandomValues;
      crypto.getRandomValues = (array) => {
        (array as unknown as Uint8Array).fill(7);
        return array;
      };
      try {
        const randomizer = await createRandomizer({ task: SURVEY });
        return Array.from({ length: 8 }, () => {
          if (wrong) {
            expect(() => randomizer.randomize(but({ opinions: null }))).toThrow(AnswerError);
          }
          return hex(randomizer.randomize(ANSWERS));
        });
      } finally {
        crypto.getRandomValues = random;
      }
    };
    expect(await made(true)).toEqual(await made(false));
  });

  it("count what is clipped, and what is sampled down", async () => {
    const randomizer = await createRandomizer({ task: SURVEY });
    for (const [answers, clipped] of [
      [{ loadMs: 0, seconds: 10 }, 0],
      [{ loadMs: 3000, seconds: 0 }, 0],
      [{ loadMs: 3000.5, seconds: 0 }, 1],
      [{ loadMs: -1e-9, seconds: 11 }, 3],
      [{ loadMs: 1e308, seconds: -1e308 }, 5],
      [{ layout: { width: 4000, zoom: 0.25, toString: -1 } }, 5],
      [{ layout: { width: 4001, zoom: 0, toString: 0 } }, 7],
    ] as const) {
      randomizer.randomize(but(answers));
      expect(randomizer.clipped).toBe(clipped);
    }
    expect(() => randomizer.randomize(but({ loadMs: 4000, theme: "" }))).toThrow(UnknownItemError);
    expect(randomizer.clipped).toBe(7);
    expect(randomizer.sampledDown).toBe(0);
    for (let times = 0; times < 200; times += 1) {
      randomizer.randomize(but({ features: ["search", "share", "print"] }));
    }
    // One report in 14 answers this question. None of 200 does with a probability of 4e-7.
    expect(randomizer.sampledDown).toBeGreaterThan(0);
    expect(randomizer.sampledDown).toBeLessThan(200);
  });

  it("are reported on by the questions' weights, whatever they are", async () => {
    const { mechanism } = SURVEY.questions[2];
    const wide = { ...mechanism, hashing: "independent", buckets: 100_000 } as const;
    const randomizer = await createRandomizer({
      task: {
        id: "weights",
        epsilon: 2,
        questions: [
          { name: "often", kind: "flag", weight: 3, mechanism },
          { name: "seldom", kind: "set", options: "open", sparsity: 1, mechanism: wide },
        ],
      },
    });
    const reports = 4000;
    for (const input of [
      { often: true, seldom: [] },
      { often: false, seldom: ["this", "that"] },
    ]) {
      let seldom = 0;
      for (let times = 0; times < reports; times += 1) {
        // A bucket takes one byte if it is below 128: few of the wide question's are, and all of
        // the flag's.
        seldom += Number(randomizer.randomize(input).length > 9);
      }
      // Two-sided, α = 1e-6. One byte in 782 of the wide reports is within it.
      const z = (seldom - reports / 4) / Math.sqrt((reports * 3) / 16);
      expect(Math.abs(z)).toBeLessThan(4.9);
    }
    randomizer.free();
  });

  it("are packed by question and person", async () => {
    const { mechanism } = SURVEY.questions[2];
    const randomizer = await createRandomizer({
      task: {
        id: "packed",
        epsilon: 2,
        questions: [
          { name: "beta", kind: "flag", mechanism },
          { name: "load", kind: "number", edges: [0, 1, 2], mechanism },
          { name: "parts", kind: "set", options: 9, sparsity: 2, mechanism: SETTINGS.mechanism },
        ],
      },
    });
    const { kind, of, mechanism: window } = SURVEY.questions[8];
    const layout = { name: "layout", kind, of, mechanism: window } as const;
    const numbers = await createRandomizer({ task: { id: "n", epsilon: 2, questions: [layout] } });
    const packed = (items: number[], values: number[]) => () =>
      numbers.randomizeMany(
        Uint32Array.of(items.length),
        Uint32Array.from(items),
        Float64Array.from(values),
      );
    expect(packed([0, 1, 2], [5000, 1, 0])()).toHaveLength(9);
    expect(packed([2, 0, 1], [5000, 1, 0])()).toHaveLength(9);
    // A seed and a cell: one byte for up to 128 cells, two bytes for more.
    const lengths = async (drawn: number, atoms: number) => {
      const values = Array.from({ length: atoms >> 1 }, (_, index) => index + 1);
      const mechanism = { name: "window", drawn, atoms, favoured: 1, values } as const;
      const asked = { ...layout, mechanism };
      const randomizer = await createRandomizer({
        task: { id: "n", epsilon: 2, questions: [asked] },
      });
      const people = Uint32Array.from({ length: 200 }, () => 3);
      const items = Uint32Array.from({ length: 600 }, (_, index) => index % 3);
      const numbers = Float64Array.from({ length: 600 }, () => 1);
      const bytes = randomizer.randomizeMany(people, items, numbers).length / 200;
      randomizer.free();
      return bytes;
    };
    expect(await lengths(1, 2)).toBe(9);
    expect(await lengths(3, 5)).toBe(9);
    expect(await lengths(2, 64)).toBeGreaterThan(9.5);
    await expect(lengths(3, 17)).rejects.toThrow(TaskError);
    await expect(lengths(4, 2)).rejects.toThrow(TaskError);
    expect(packed([0, 1], [1, 1])).toThrow(OptionError);
    expect(packed([0, 1, 3], [1, 1, 1])).toThrow(OptionError);
    expect(packed([0, 1, 1], [1, 1, 1])).toThrow(OptionError);
    expect(packed([0, 1, 2], [1, 1, Number.NaN])).toThrow(OptionError);
    const pack = (lengths: number[], items: number[], values: number[]) => () =>
      randomizer.randomizeMany(
        Uint32Array.from(lengths),
        Uint32Array.from(items),
        Float64Array.from(values),
      );
    expect(pack([1, 1, 0, 1, 1, 2], [1, 0, 0, 0, 3, 8], [1, 1.5, 1, -7, 1, 1])()).toHaveLength(18);
    expect(pack([], [], [])()).toHaveLength(0);
    // A person has too few questions, no answer, or two answers; or a number is not finite.
    expect(pack([1, 1], [1, 0], [1, 1])).toThrow(OptionError);
    expect(pack([0, 1, 0], [0], [1])).toThrow(OptionError);
    expect(pack([2, 1, 0], [0, 1, 0], [1, 1, 1])).toThrow(OptionError);
    expect(pack([1, 1, 0], [1, 0], [1, Number.NaN])).toThrow(OptionError);
    expect(pack([2 ** 31, 2 ** 31, 0], [], [])).toThrow(OptionError);
    // None of these calls trapped: the randomiser still works.
    expect(pack([1, 1, 0], [0, 0], [1, 2])()).toHaveLength(9);
  });
});

describe("tasks of questions", () => {
  const [theme, , beta, loadMs, seconds, features, , opinions, layout, byPlan, , settings] =
    SURVEY.questions;
  const [plan, load] = byPlan.of;
  const [width, zoom] = layout.of;
  const asking = (...questions: readonly object[]) => ({ id: "survey", epsilon: 2, questions });
  const PATTERN = { name: "pattern", outputs: 4, favoured: [0] };

  it.each<[string, object, readonly string[]]>([
    ["no list of questions", { id: "survey", epsilon: 2, questions: theme }, ["questions"]],
    ["no question", asking(), ["out of range"]],
    ["items beside questions", { ...SETTINGS, questions: [theme] }, ["unknown field", "items"]],
    ["no object", asking(7 as unknown as object), ["kind"]],
    ["no kind", asking({ ...theme, kind: undefined }), ["theme", "kind"]],
    ["an unknown kind", asking({ ...theme, kind: "poem" }), ["theme", "kind", '"poem"']],
    ["no name", asking({ ...theme, name: undefined }), ["name"]],
    ["an empty name", asking({ ...theme, name: "" }), ["name"]],
    ["a name twice", asking(theme, theme), ["share a name"]],
    ["no mechanism", asking({ ...theme, mechanism: undefined }), ["theme", "mechanism"]],
    ["an unknown field", asking({ ...theme, extra: 1 }), ["theme", '"extra"']],
    ["no options", asking({ ...theme, options: undefined }), ["theme", "options"]],
    ["open options of a choice", asking({ ...theme, options: "open" }), ["together"]],
    ["one option", asking({ ...theme, options: ["dark"] }), ["out of range"]],
    ["options that are no names", asking({ ...theme, options: ["dark", 2] }), ["options[1]"]],
    ["items of a choice", asking({ ...theme, items: 3 }), ["theme", '"items"']],
    ["sparsity of a choice", asking({ ...theme, sparsity: 1 }), ["theme", '"sparsity"']],
    ["a value of a set", asking({ ...features, value: "sign" }), ["features", '"value"']],
    ["no sparsity of a set", asking({ ...features, sparsity: undefined }), ["sparsity"]],
    ["no value of ratings", asking({ ...opinions, value: undefined }), ["opinions", "value"]],
    ["options of a flag", asking({ ...beta, options: ["no", "yes"] }), ["beta", '"options"']],
    ["a unit of a flag", asking({ ...beta, unit: "ms" }), ["beta", '"unit"']],
    ["levels beside edges", asking({ ...seconds, levels: 3 }), ["seconds", '"levels"']],
    ["no max", asking({ ...loadMs, max: undefined }), ["loadMs", "max"]],
    ["min above max", asking({ ...loadMs, min: 4000 }), ["together"]],
    ["levels of a number", asking({ ...loadMs, levels: 3 }), ["loadMs", '"levels"']],
    ["an empty unit", asking({ ...loadMs, unit: "" }), ["name"]],
    ["a unit that is no text", asking({ ...loadMs, unit: 1 }), ["loadMs", "unit"]],
    ["no edges", asking({ ...seconds, edges: [] }), ["malformed"]],
    ["one edge", asking({ ...seconds, edges: [1] }), ["out of range"]],
    ["edges that descend", asking({ ...seconds, edges: [2, 1, 0] }), ["together"]],
    ["edges that are no numbers", asking({ ...seconds, edges: [0, "1"] }), ["edges[1]"]],
    ["a step that is no number", asking({ ...seconds, step: "1" }), ["seconds", "step"]],
    ["a step without edges", asking({ ...loadMs, step: 1 }), ["loadMs", '"step"']],
    ["a mean of some people", asking({ ...loadMs, optional: true }), ["loadMs", '"optional"']],
    ["a text for a flag", asking({ ...seconds, optional: "yes" }), ["seconds", "optional"]],
    [
      "an optional column",
      asking({
        ...byPlan,
        of: [byPlan.of[0], { name: "x", kind: "number", edges: [0, 1, 2], optional: true }],
      }),
      ["loadByPlan", '"optional"'],
    ],
    ["an endless edge", asking({ ...seconds, edges: [0, 1 / 0] }), ["seconds", "edges[1]"]],
    [
      "a pattern of all outputs",
      asking({ ...seconds, mechanism: { ...PATTERN, favoured: [0, 1, 2, 3] } }),
      ["together"],
    ],
    [
      "a pattern of none",
      asking({ ...seconds, mechanism: { ...PATTERN, favoured: [] } }),
      ["together"],
    ],
    [
      "a pattern of no numbers",
      asking({ ...seconds, mechanism: { ...PATTERN, favoured: ["1"] } }),
      ["seconds", "favoured[0]"],
    ],
    [
      "a pattern of few outputs",
      asking({ ...seconds, mechanism: { ...PATTERN, outputs: 1 } }),
      ["out of range"],
    ],
    ["numbers of nothing", asking({ ...layout, of: undefined }), ["layout", "of"]],
    ["no numbers", asking({ ...layout, of: [] }), ["out of range"]],
    ["a name for a number", asking({ ...layout, of: ["width"] }), ["layout", "of[0]"]],
    ["a number without an end", asking({ ...layout, of: [{ ...width, max: undefined }] }), ["max"]],
    ["levels of numbers", asking({ ...layout, of: [{ ...width, levels: 2 }] }), ['"levels"']],
    [
      "a range that descends",
      asking({ ...layout, of: [{ ...width, min: 4000 }, zoom] }),
      ["together"],
    ],
    [
      "an empty unit of a number",
      asking({ ...layout, of: [{ ...width, unit: "" }, zoom] }),
      ["name"],
    ],
    ["two numbers of a name", asking({ ...layout, of: [width, width] }), ["share a name"]],
    [
      "more drawn than there are",
      asking({ ...layout, mechanism: { ...layout.mechanism, drawn: 4 } }),
      ["out of range"],
    ],
    ["one of several numbers", asking({ ...layout, of: [width] }), ["invalid"]],
    ["numbers rated", asking({ ...layout, mechanism: features.mechanism }), ["together"]],
    ["ratings by a window", asking({ ...opinions, mechanism: layout.mechanism }), ["together"]],
    ["no atoms", asking({ ...layout, mechanism: { name: "window", drawn: 1 } }), ["atoms"]],
    ["favoured 0", asking({ ...layout, mechanism: { ...WINDOW, favoured: 0 } }), ["out of range"]],
    [
      "many favoured",
      asking({ ...layout, mechanism: { ...WINDOW, favoured: 3 } }),
      ["out of range"],
    ],
    ["many cells", asking({ ...layout, mechanism: { ...WINDOW, atoms: 65 } }), ["together"]],
    ["few values", asking({ ...layout, mechanism: { ...WINDOW, values: [1] } }), ["together"]],
    [
      "values that fall",
      asking({ ...layout, mechanism: { ...WINDOW, values: [3, 1] } }),
      ["together"],
    ],
    [
      "a fraction of an atom",
      asking({ ...layout, mechanism: { ...WINDOW, atoms: 4.5 } }),
      ["atoms"],
    ],
    [
      "a fraction of a value",
      asking({ ...layout, mechanism: { ...WINDOW, values: [1, 1.5] } }),
      ["1"],
    ],
    ["one part", asking({ ...byPlan, of: [plan] }), ["loadByPlan", "two parts"]],
    ["three parts", asking({ ...byPlan, of: [plan, load, plan] }), ["loadByPlan", "two parts"]],
    ["no parts", asking({ ...byPlan, of: undefined }), ["loadByPlan", "of"]],
    ["rows of numbers", asking({ ...byPlan, of: [load, plan] }), ["together"]],
    ["two parts of a name", asking({ ...byPlan, of: [plan, plan] }), ["share a name"]],
    ["an empty name of a part", asking({ ...byPlan, of: [{ ...plan, name: "" }, load] }), ["name"]],
    ["a set as a part", asking({ ...byPlan, of: [plan, { ...load, kind: "set" }] }), ["kind"]],
    ["a part in a part", asking({ ...byPlan, of: [byPlan, load] }), ["loadByPlan", "kind"]],
    ["a weight of a part", asking({ ...byPlan, of: [plan, { ...load, weight: 1 }] }), ['"weight"']],
    ["open rows", asking({ ...byPlan, of: [{ ...plan, options: "open" }, load] }), ["together"]],
    ["one level of a part", asking({ ...byPlan, of: [plan, { ...load, levels: 1 }] }), ["range"]],
    [
      "too many cells",
      asking({ ...byPlan, of: [{ ...plan, options: 1 << 20 }, load] }),
      ["out of range"],
    ],
    ["one part to ask together", asking({ ...settings, of: [plan] }), ["out of range"]],
    ["nothing to ask together", asking({ ...settings, of: [] }), ["out of range"]],
    ["no parts to ask together", asking({ ...settings, of: undefined }), ["settings", "of"]],
    ["numbers asked together", asking({ ...settings, of: [plan, load] }), ["together"]],
    ["parts asked together of a name", asking({ ...settings, of: [plan, plan] }), ["share a name"]],
    ["a set asked together", asking({ ...settings, of: [plan, features] }), ["settings", "kind"]],
    ["sparsity of parts", asking({ ...settings, sparsity: 3 }), ["settings", '"sparsity"']],
    ["weight 0", asking({ ...beta, weight: 0 }), ["out of range"]],
    ["a fraction of a weight", asking({ ...beta, weight: 1.5 }), ["beta", "weight is 1.5"]],
    ["too great a weight", asking({ ...beta, weight: 1_000_001 }), ["out of range"]],
  ])("are refused with %s", async (_, task, said) => {
    const error = await createRandomizer({ task: task as Task }).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(TaskError);
    expect(error).toMatchObject({ code: "invalid-task" });
    for (const each of said) {
      expect((error as Error).message).toContain(each);
    }
  });

  it("have a fingerprint that depends on every parameter", async () => {
    const variants = [
      asking(theme, beta),
      asking(beta, theme),
      { ...asking(theme, beta), id: "other" },
      { ...asking(theme, beta), epsilon: 3 },
      asking({ ...theme, name: "colours" }, beta),
      asking({ ...theme, options: ["dark", "light", "other"] }, beta),
      asking({ ...theme, options: 3 }, beta),
      asking({ ...theme, kind: "set", sparsity: 1 }, beta),
      asking(byPlan),
      asking({ ...byPlan, of: [{ ...plan, name: "tariff" }, load] }),
      asking({ ...byPlan, of: [{ ...plan, options: ["free", "paid"] }, load] }),
      asking({ ...byPlan, of: [{ ...plan, options: 2 }, load] }),
      asking({ ...byPlan, of: [{ name: "plan", kind: "flag" }, load] }),
      asking({ ...byPlan, of: [plan, { ...load, unit: "s" }] }),
      asking({ ...byPlan, of: [plan, { ...load, max: 9999 }] }),
      asking({ ...byPlan, of: [plan, { ...load, levels: 2 }] }),
      asking({ ...byPlan, of: [plan, { name: "loadMs", kind: "number", edges: [0, 1, 2, 3] }] }),
      asking({ ...byPlan, of: [plan, { name: "loadMs", kind: "choice", options: 3 }] }),
      asking(theme, { ...beta, weight: 2 }),
      asking(theme, { ...beta, mechanism: { ...beta.mechanism, hashing: "independent" } }),
      asking(loadMs),
      asking({ ...loadMs, unit: undefined }),
      asking({ ...loadMs, unit: "s" }),
      asking({ ...loadMs, min: -1 }),
      asking({ ...loadMs, max: 1 }),
      asking(seconds),
      asking({ ...seconds, edges: [0, 1, 11] }),
      asking({ ...seconds, step: 1 }),
      asking({ ...seconds, step: 0.5 }),
      asking({ ...seconds, optional: true }),
      asking({ ...seconds, edges: [-0, 1, 10] }),
      asking(opinions),
      asking({ ...opinions, value: "real" }),
      asking({ ...opinions, sparsity: 1 }),
      asking(layout),
      asking({ ...layout, of: [zoom, width] }),
      asking({ ...layout, of: [width, { ...zoom, name: "height" }] }),
      asking({ ...layout, of: [width, { ...zoom, unit: "px" }] }),
      asking({ ...layout, of: [width, { ...zoom, min: 0 }] }),
      asking({ ...layout, of: [width, zoom] }),
      asking({ ...layout, mechanism: { ...layout.mechanism, favoured: 1 } }),
      asking({ ...layout, mechanism: { ...layout.mechanism, drawn: 1 } }),
      asking({ ...layout, mechanism: WINDOW }),
      asking({ ...layout, mechanism: { ...WINDOW, drawn: 1 } }),
      asking({ ...layout, mechanism: { ...WINDOW, favoured: 2 } }),
      asking({ ...layout, mechanism: { ...WINDOW, values: [2, 3] } }),
    ];
    const found = new Set<string>();
    for (const task of variants) {
      const randomizer = await createRandomizer({ task: task as Task });
      found.add(randomizer.fingerprint);
      randomizer.free();
    }
    expect(found.size).toBe(variants.length);
    const said = await createRandomizer({ task: asking(theme, { ...beta, weight: 3 }) as Task });
    const weightless = { ...theme, weight: 1 };
    const written = await createRandomizer({ task: asking(weightless, beta) as Task });
    expect(written.fingerprint).toBe(said.fingerprint);
    const required = await createRandomizer({
      task: asking({ ...seconds, optional: false }) as Task,
    });
    expect(found).toContain(required.fingerprint);
  });

  it("have the fingerprint of the core", async () => {
    const of = [
      { name: "width", min: 0, max: 4000, unit: "px" },
      { name: "zoom", min: -1.5, max: 3 },
    ] as const;
    const mechanism = { ...WINDOW, favoured: 2, values: [3, 8] };
    const numbers = { name: "layout", kind: "numbers", of, mechanism } as const;
    const flag = { ...beta, weight: 19, mechanism: { ...beta.mechanism, buckets: 2 } };
    const questions = [{ ...numbers, weight: 100 }, flag];
    const randomizer = await createRandomizer({
      task: { id: "asked", epsilon: 4, questions } as Task,
    });
    // The same as in tests/core/window/question.rs.
    expect(randomizer.fingerprint).toBe("d7d2c24187581b560cf8179c55f85afa");
    randomizer.free();
  });

  it("are taken from the collector", async () => {
    const { fingerprint } = await createRandomizer({ task: SURVEY });
    const task = JSON.parse(JSON.stringify(SURVEY));
    const collector = new FakeCollector(Response.json({ task, fingerprint }));
    const client = clientOf(collector, { task: "survey" });
    expect(await client.ready()).toEqual({ task: SURVEY, fingerprint });
    await client.report(ANSWERS);
    await client.close();
    expect(collector.sent).toHaveLength(2);
    expect(readUpload(collector.sent[1]?.bytes ?? new Uint8Array())).toMatchObject({
      fingerprint,
      count: 1,
    });
  });
});
