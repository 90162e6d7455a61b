/**
 * Type tests: `report` checks the names and kinds of a task that is a literal. This code never
 * runs; `tsc` fails if an expected error is missing.
 */

import { task as RATINGS } from "../../examples/next/app/features.js";
import { task as LAYOUTS } from "../../examples/typed/layouts.js";
import { task as TIMINGS } from "../../examples/typed/timings.js";
import { task as VISITS } from "../../examples/typed/visits.js";
import {
  type Client,
  createClient,
  createRandomizer,
  HushbinError,
  type Question,
  type ReportInput,
  type Task,
  type TaskError,
} from "../index.js";
import { webVitalsTask } from "../web-vitals.js";
import { PLUGINS, SETTINGS, SURVEY } from "./harness.js";

const endpoint = "https://collector.example";

/** Answers to SURVEY. */
export const ANSWERS = {
  theme: "dark",
  version: 3,
  beta: true,
  loadMs: 1830,
  seconds: 0.5,
  features: ["search"],
  plugins: ["any"],
  opinions: { "dark-mode": 1 },
  layout: { width: 1200, zoom: 1.5, toString: 0 },
  loadByPlan: { plan: "pro", loadMs: 1830 },
  betaByVersion: { version: 3, beta: true },
  settings: { compact: true, font: "sans", zoom: 2 },
} as const satisfies ReportInput<typeof SURVEY>;

export async function questions() {
  const client = createClient({ endpoint, task: SURVEY });
  await client.report(ANSWERS);
  await client.report({ ...ANSWERS, features: new Set(["share"] as const), opinions: new Map() });
  await client.report({ ...ANSWERS, features: [], opinions: {} });

  const vitals = createClient({ endpoint, task: webVitalsTask });
  await vitals.report({ LCP: 1200, INP: null, CLS: 0, TTFB: null });
  // @ts-expect-error a metric without a value is null
  await vitals.report({ LCP: 1200, CLS: 0, TTFB: null });
  // @ts-expect-error this number is not optional
  await client.report({ ...ANSWERS, loadMs: null });
  // @ts-expect-error no such question
  await client.report({ ...ANSWERS, themes: "dark" });
  // @ts-expect-error no such option
  await client.report({ ...ANSWERS, theme: "drak" });
  // @ts-expect-error options that are counted have indices
  await client.report({ ...ANSWERS, version: "3" });
  // @ts-expect-error a flag is no number
  await client.report({ ...ANSWERS, beta: 1 });
  // @ts-expect-error a number is no text
  await client.report({ ...ANSWERS, loadMs: "1830" });
  // @ts-expect-error a choice is one option
  await client.report({ ...ANSWERS, theme: ["dark"] });
  // @ts-expect-error a set is several options
  await client.report({ ...ANSWERS, features: "search" });
  // @ts-expect-error a text is no open set
  await client.report({ ...ANSWERS, plugins: "any" });
  // @ts-expect-error no such option
  await client.report({ ...ANSWERS, features: ["serach"] });
  // @ts-expect-error no such item
  await client.report({ ...ANSWERS, opinions: { darkmode: 1 } });
  // @ts-expect-error ratings are numbers
  await client.report({ ...ANSWERS, opinions: { "dark-mode": true } });
  await client.report({ ...ANSWERS, layout: new Map([["width", 1200]]) });
  // @ts-expect-error every number is given
  await client.report({ ...ANSWERS, layout: { width: 1200 } });
  // @ts-expect-error no such number
  await client.report({ ...ANSWERS, layout: { ...ANSWERS.layout, height: 800 } });
  // @ts-expect-error numbers are no texts
  await client.report({ ...ANSWERS, layout: { ...ANSWERS.layout, width: "1200" } });
  await client.report({ ...ANSWERS, loadByPlan: new Map<string, unknown>([["plan", "pro"]]) });
  await client.report({ ...ANSWERS, settings: new Map<string, unknown>([["zoom", 1]]) });
  // @ts-expect-error all parts are given
  await client.report({ ...ANSWERS, settings: { compact: true, zoom: 2 } });
  // @ts-expect-error no such option
  await client.report({ ...ANSWERS, settings: { ...ANSWERS.settings, font: "mono" } });
  // @ts-expect-error options that are counted have indices
  await client.report({ ...ANSWERS, settings: { ...ANSWERS.settings, zoom: "2" } });
  // @ts-expect-error a flag is no number
  await client.report({ ...ANSWERS, settings: { ...ANSWERS.settings, compact: 1 } });
  // @ts-expect-error no such part
  await client.report({ ...ANSWERS, settings: { ...ANSWERS.settings, theme: "dark" } });
  // @ts-expect-error both parts are given
  await client.report({ ...ANSWERS, loadByPlan: { plan: "pro" } });
  // @ts-expect-error no such option
  await client.report({ ...ANSWERS, loadByPlan: { plan: "team", loadMs: 1 } });
  // @ts-expect-error a number is no text
  await client.report({ ...ANSWERS, loadByPlan: { plan: "pro", loadMs: "1" } });
  // @ts-expect-error no such part
  await client.report({ ...ANSWERS, loadByPlan: { ...ANSWERS.loadByPlan, beta: true } });
  // @ts-expect-error options that are counted have indices
  await client.report({ ...ANSWERS, betaByVersion: { version: "3", beta: true } });
  // @ts-expect-error a flag is no number
  await client.report({ ...ANSWERS, betaByVersion: { version: 3, beta: 1 } });
  const { theme: _, ...rest } = ANSWERS;
  // @ts-expect-error every question is answered
  await client.report(rest);
}

/** Answers to VISITS. */
export const VISIT = {
  theme: '"system"',
  version: 3,
  beta: true,
  features: ["search", "someone's own templates"],
  plugins: ["any"],
  rating: 4,
  loadMs: 1830,
  layout: { width: 1200, zoom: 1.5 },
  loadByPlan: { plan: "pro", loadMs: 1830 },
  settings: { compact: true, font: "sans" },
  query: "dark mode",
  opinions: { "dark-mode": 1 },
} as const satisfies ReportInput<typeof VISITS>;

/** A module that `hushbin task types` writes has the same type checks as a literal. */
export async function generated() {
  const client = await createClient({ endpoint, task: VISITS });
  await client.report(VISIT);
  // @ts-expect-error no such question
  await client.report({ ...VISIT, themes: "dark" });
  // @ts-expect-error no such option
  await client.report({ ...VISIT, theme: "system" });
  // @ts-expect-error options that are counted have indices
  await client.report({ ...VISIT, version: "3" });
  // @ts-expect-error a flag is no number
  await client.report({ ...VISIT, beta: 1 });
  // @ts-expect-error no such option
  await client.report({ ...VISIT, features: ["serach"] });
  // @ts-expect-error a set is several options
  await client.report({ ...VISIT, plugins: "any" });
  // @ts-expect-error a number is no text
  await client.report({ ...VISIT, rating: "4" });
  // @ts-expect-error a number in bins is no text
  await client.report({ ...VISIT, loadMs: "1830" });
  // @ts-expect-error every number is given
  await client.report({ ...VISIT, layout: { width: 1200 } });
  // @ts-expect-error no such option
  await client.report({ ...VISIT, loadByPlan: { plan: "team", loadMs: 1 } });
  // @ts-expect-error no such part
  await client.report({ ...VISIT, settings: { ...VISIT.settings, theme: "dark" } });
  // @ts-expect-error a text is no number
  await client.report({ ...VISIT, query: 8 });
  // @ts-expect-error no such item
  await client.report({ ...VISIT, opinions: { darkmode: 1 } });
  const { query: _, ...rest } = VISIT;
  // @ts-expect-error every question is answered
  await client.report(rest);
  const rated = await createClient({ endpoint, task: RATINGS });
  await rated.report({ search: 1 });
  // @ts-expect-error no such item
  await rated.report({ serch: 1 });
}

/** A module that was changed by hand is checked to be a task. */
export const CHANGED: readonly Task[] = [
  { ...VISITS, questions: [{ ...VISITS.questions[2], weight: 1 }], budget: { days: 90 } },
  // @ts-expect-error no such kind
  { ...VISITS, questions: [{ ...VISITS.questions[2], kind: "flog" }] },
  // @ts-expect-error a flag has no options
  { ...VISITS, questions: [{ ...VISITS.questions[2], options: ["no", "yes"] }] },
  // @ts-expect-error no such mechanism
  { ...RATINGS, mechanism: { ...RATINGS.mechanism, name: "colision" } },
  // @ts-expect-error no such field
  { ...RATINGS, budget: { day: 7 } },
  { ...RATINGS, budget: { memo: { epsilon: 2, days: 365 } } },
  // @ts-expect-error a memo lasts for some days
  { ...RATINGS, budget: { memo: { epsilon: 2 } } },
  // @ts-expect-error no such field
  { ...RATINGS, budget: { answers: "permanent" } },
];

export async function literals() {
  const client = createClient({
    endpoint,
    task: {
      id: "one",
      epsilon: 1,
      questions: [{ name: "beta", kind: "flag", mechanism: SURVEY.questions[2].mechanism }],
    },
  });
  await client.report({ beta: true });
  // @ts-expect-error no such question
  await client.report({ alpha: true });
  const randomizer = await createRandomizer({ task: (await client.ready()).task });
  randomizer.randomize({ beta: false });
  // @ts-expect-error a flag is no text
  randomizer.randomize({ beta: "no" });
}

export async function ratings() {
  const client = createClient({ endpoint, task: SETTINGS });
  await client.report({ "dark-mode": 1 });
  await client.report(new Map([["dark-mode", 1]]));
  // @ts-expect-error no such item
  await client.report({ darkMode: 1 });
  const open = createClient({ endpoint, task: PLUGINS });
  await open.report({ anything: 1 });
}

export async function receipts() {
  const client = createClient({ endpoint, task: SURVEY });
  client.record(ANSWERS);
  // @ts-expect-error no such option
  client.record({ ...ANSWERS, theme: "drak" });
  const { reason } = await client.report(ANSWERS);
  // @ts-expect-error no such reason
  return reason === "sent";
}

export function errors(error: unknown) {
  if (!(error instanceof HushbinError)) {
    return undefined;
  }
  // @ts-expect-error the code does not say yet that it is such an error
  error.retryAfterMs;
  switch (error.code) {
    case "network":
      return error.retryAfterMs;
    case "upload-rejected":
      return error.reports;
    case "unknown-item":
      return error.item;
    case "loose-level":
      return error satisfies TaskError;
    default:
      return error.message;
  }
}

export function labels() {
  createClient({ endpoint, task: LAYOUTS, label: "wide" }).record({ "found-help": true });
  createClient({ endpoint, task: "layouts", label: "wide" });
  // @ts-expect-error a task with labels needs one
  createClient({ endpoint, task: LAYOUTS });
  // @ts-expect-error no such label
  createClient({ endpoint, task: LAYOUTS, label: "narrow" });
}

export async function loose(task: Task, questions: readonly Question[]) {
  const clients: Client[] = [
    createClient({ endpoint, task }),
    createClient({ endpoint, task: "survey" }),
    createClient({ endpoint, task: { id: "survey", epsilon: 1, questions } }),
    createClient({ endpoint, task: SURVEY }),
  ];
  for (const client of clients) {
    await client.report(ANSWERS);
    await client.report({ "dark-mode": 1 });
    // Any number may be optional.
    await client.report({ theme: null });
  }
}

export const wrong: readonly Question[] = [
  // @ts-expect-error a flag has no options
  { name: "beta", kind: "flag", options: ["no", "yes"], mechanism: SETTINGS.mechanism },
  // @ts-expect-error no choice is open
  { name: "theme", kind: "choice", options: "open", mechanism: SETTINGS.mechanism },
  // @ts-expect-error a number has a scale
  { name: "loadMs", kind: "number", mechanism: SETTINGS.mechanism },
  // @ts-expect-error numbers have a range each
  { name: "layout", kind: "numbers", of: ["width"], mechanism: SETTINGS.mechanism },
  // @ts-expect-error a number cannot be part of "together"
  { name: "all", kind: "together", of: [{ name: "a", kind: "number", min: 0, max: 1, levels: 2 }] },
  // @ts-expect-error a cross has two parts
  { name: "both", kind: "cross", of: [{ name: "a", kind: "flag" }], mechanism: SETTINGS.mechanism },
];

export async function sums() {
  const options = { endpoint, analyser: [], trust: "shuffler" } as const;
  const client: Client<typeof TIMINGS> = createClient({ ...options, task: TIMINGS });
  await client.report({ "load-time": 1234, zoom: 1 });
  await client.report(new Map([["zoom", 1]]));
  const { centralEpsilon } = await client.report({ "load-time": 1234, zoom: 1 });
  // @ts-expect-error every number is required
  await client.report({ zoom: 1 });
  // @ts-expect-error no such name
  await client.report({ "load-time": 1, zom: 1 });
  // @ts-expect-error ε of the budget is central
  (await client.budget()).epsilon;
  // @ts-expect-error ε of its reports is central
  (await client.history())[0]?.epsilon;
  // @ts-expect-error the trusted party is required
  createClient({ endpoint, analyser: [], task: TIMINGS });
  // @ts-expect-error the analyser's pins are required
  createClient({ endpoint, trust: "shuffler", task: TIMINGS });
  // @ts-expect-error there is no local ε to limit
  createClient({ ...options, task: TIMINGS, maxEpsilon: 1 });
  const { numbers: _, ...rest } = TIMINGS;
  const counted = createClient({
    ...options,
    task: { ...rest, vector: { items: 3, length: 1 } },
  });
  await counted.report([1, 0, -1]);
  await counted.report(new Float32Array(3));
  // @ts-expect-error its numbers have no names
  await counted.report({ x: 1 });
  const named = createClient({
    ...options,
    task: { ...rest, vector: { items: ["x", "y"], length: 1 } },
  });
  await named.report({ x: 1, y: 0 });
  // @ts-expect-error both numbers are required
  await named.report({ x: 1 });
  const randomizer = await createRandomizer({ task: TIMINGS });
  randomizer.randomize({ "load-time": 1, zoom: 1 });
  // @ts-expect-error both numbers are required
  randomizer.randomize({ zoom: 1 });
  return [centralEpsilon, randomizer.truncated];
}

export async function sealed() {
  const relay = { url: "https://relay.example", gateway: "00" };
  const client = createClient({ endpoint, task: SETTINGS, analyser: ["00"], relay, maxEpsilon: 1 });
  await client.report({ "dark-mode": 1 });
  const { epsilon } = await client.report({ "dark-mode": 1 });
  createClient({ endpoint, task: "settings", analyser: ["00"] });
  // @ts-expect-error reports through a relay must be sealed
  createClient({ endpoint, task: SETTINGS, relay });
  // @ts-expect-error the task has a local ε
  createClient({ endpoint, task: SETTINGS, analyser: ["00"], trust: "shuffler" });
  // @ts-expect-error a local ε has no central limit
  createClient({ endpoint, task: SETTINGS, maxCentralEpsilon: 1 });
  // @ts-expect-error a task of sums cannot be given by id
  createClient({ endpoint, task: "timings", analyser: ["00"], trust: "shuffler" });
  return epsilon;
}
