/** Texts of `<hushbin-history>`: their types, and the English texts. */

import type { Consent } from "../consent-state.js";
import type { ReportState } from "../store/store.js";
import type { Protection } from "./facts.js";

/** Names of the parts of an upload. */
export type UploadPartNames = readonly [
  version: string,
  fingerprint: string,
  id: string,
  reports: string,
  report: string,
];

/**
 * Texts about a sum task, whose messages go through a shuffler. It has a central ε and no local ε.
 */
export interface SumWords {
  /**
   * Returns a statement of what a report covers: named items, or a number of items. It also states
   * the number of messages that carry the report. If `varies`, it is the maximum number.
   */
  readonly covers: (items: readonly string[] | number, messages: number, varies: boolean) => string;
  /**
   * Returns the meaning of the central ε, and says who must be trusted.
   *
   * `certainty` is the largest certainty, in per cent, that an observer can reach from 50 %. A
   * batch has at least `people` people, and `honest` of them are assumed to follow the protocol.
   */
  readonly meaning: (
    epsilon: string,
    delta: string,
    certainty: string,
    people: string,
    honest: string,
  ) => string;
  /**
   * Returns the number of reports in this window, the number of reports allowed in it, and the
   * central ε spent in it.
   */
  readonly used: (reports: number, allowed: number, epsilon: string) => string;
  /** Returns the number of all reports so far, and the central ε that they spent. */
  readonly spent: (reports: number, epsilon: string) => string;
  /** Returns a text about the central ε and the δ of one report. */
  readonly cost: (epsilon: string, delta: string) => string;
  /** Names of the parts of an upload, in order. */
  readonly parts: UploadPartNames;
}

/**
 * Texts of `<hushbin-history>`.
 *
 * Functions get numbers and dates as texts that are formatted for the language. If the grammar
 * depends on a count, they get the count as a number.
 */
export interface Words {
  /** Language tag, as in the attribute `lang`. */
  readonly lang: string;
  /** Heading. An empty string means no heading. */
  readonly title: string;
  /** Returns a line with the id of the task and the host of the collector. */
  readonly task: (id: string, collector: string) => string;
  /** Returns a statement of the label that reports of this page say. */
  readonly label: (label: string) => string;
  /** Text for each state of consent. */
  readonly consent: Readonly<Record<Consent, string>>;
  /**
   * Returns a statement of the names that a report covers. If `drawn`, each report covers one of
   * them, chosen at random.
   */
  readonly covers: (names: readonly string[], drawn: boolean) => string;
  /**
   * Returns a statement of the number of unnamed items that a report covers. If `items` is
   * `undefined`, any name is possible.
   */
  readonly coversCount: (items: number | undefined) => string;
  /**
   * Returns the meaning of the ε of one report.
   *
   * `certainty` is how certain an observer who was 50 % certain can become, in per cent. If only
   * similar inputs are protected, `distance` is the largest difference between two of them.
   */
  readonly meaning: (
    epsilon: string,
    certainty: string,
    protects: Protection["about"],
    distance: string,
  ) => string;
  /** Returns an addition to `meaning`: the bound fails with at most this probability. */
  readonly failure: (delta: string) => string;
  /**
   * Returns an addition to `meaning`: the maximum ε that the reports of a year can spend, and its
   * meaning.
   */
  readonly year: (
    reports: number,
    days: number,
    reportsAYear: number,
    epsilon: string,
    certainty: string,
  ) => string;
  /** Text added to `year`. It says that reports have no common id. */
  readonly unlinked: string;
  /**
   * Returns an addition to `meaning` if reports are made from a memo, in place of `year` and
   * `unlinked`: the days for which the memo is kept, the ε of all reports of these days together,
   * and its meaning.
   */
  readonly memo: (days: number, epsilon: string, certainty: string) => string;
  /**
   * Text added to `meaning` if the task has cover reports: a report is sent without an answer, too.
   */
  readonly cover: string;
  /** Text for a dry run, in which reports are made but not sent. */
  readonly dryRun: string;
  /** Label for the number of reports in this window. */
  readonly window: string;
  /** Label for the time at which this window ends. */
  readonly ends: string;
  /** Label for the time at which the report of this window is sent, if it is held until then. */
  readonly held: string;
  /** Label for the number of all reports so far. */
  readonly total: string;
  /** Label for the statement `onDevice`, `inMemory` or `noStorage`. */
  readonly storage: string;
  /**
   * Returns the number of reports in this window, the number of reports allowed in it, and the ε
   * spent in it.
   */
  readonly used: (reports: number, allowed: number, epsilon: string) => string;
  /**
   * Returns the number of all reports so far, and the ε that they spent. `certainty` is the
   * certainty, in per cent, that an observer can reach by linking all reports to each other.
   */
  readonly spent: (reports: number, epsilon: string, certainty: string) => string;
  /** Statement of how long this list is remembered if it is stored on the device. */
  readonly onDevice: string;
  /** Statement of how long this list is remembered if it is kept in memory. */
  readonly inMemory: string;
  /** Statement that nothing is reported, because this browser cannot remember what it reported. */
  readonly noStorage: string;
  /**
   * Returns a text with the number of reports in each state. Screen readers announce changes of
   * this text.
   */
  readonly summary: (reports: number, states: Readonly<Record<ReportState, number>>) => string;
  /** Text for each state of a report. */
  readonly state: Readonly<Record<ReportState, string>>;
  /** Returns a text with the ε that one report cost. */
  readonly cost: (epsilon: string) => string;
  /** Returns the label of the button that shows the bytes of a report. */
  readonly bytes: (bytes: number) => string;
  /** Names of the parts of an upload, in order. */
  readonly parts: UploadPartNames;
  /** Texts for sum tasks, which replace the texts of the same name. */
  readonly sums: SumWords;
  /** Returns the label of the button that shows older reports. */
  readonly more: (reports: number) => string;
  /** Label of the button that withdraws consent. */
  readonly revoke: string;
  /** Confirmation that consent was withdrawn here. */
  readonly revoked: string;
  /** Returns an error message that contains the reason. */
  readonly failed: (message: string) => string;
}

const countWithNoun = (count: number, one: string, more = `${one}s`) =>
  `${count} ${count === 1 ? one : more}`;

const STATE_TEXTS: Words["state"] = {
  waiting: "waiting to be sent",
  acknowledged: "received by the collector",
  refused: "refused by the collector",
  withdrawn: "withdrawn before the collector confirmed it",
};

const protectedInformationTexts = (
  distance: string,
): Readonly<Record<Protection["about"], string>> => ({
  everything: "an answer of yours",
  item: "your answer about one item, even if they know all others,",
  near: `which of two inputs is yours, if these differ by at most ${distance} in sum,`,
});

/** English texts, the default. */
export const ENGLISH: Words = {
  lang: "en-GB",
  title: "What leaves this browser",
  task: (id, collector) => `Task ${id}, collected by ${collector}`,
  label: (label) =>
    `Reports from this page say that you belong to the group “${label}”. No noise hides this from the server. If few people belong to it, it can show which reports are yours.`,
  consent: {
    granted: "You have agreed to these reports.",
    pending: "You have not agreed to reports: nothing is reported.",
    signal:
      "Your browser asks sites not to follow you (Global Privacy Control or Do Not Track): nothing is reported.",
  },
  covers: (names, drawn) =>
    drawn && names.length > 1
      ? `Each report covers one of these, chosen at random: ${names.join(", ")}.`
      : `Each report covers: ${names.join(", ")}.`,
  coversCount: (items) =>
    items === undefined
      ? "Each report covers the names in your answers."
      : `Each report covers ${countWithNoun(items, "item")}.`,
  meaning: (epsilon, certainty, protects, distance) =>
    `Random noise is added to each report in this browser. Someone who is 50\u00a0% sure of ${protectedInformationTexts(distance)[protects]} is at most ${certainty}\u00a0% sure after seeing one report (ε\u00a0=\u00a0${epsilon}). This limit also holds for the operator of the collector.`,
  year: (reports, days, reportsAYear, epsilon, certainty) =>
    `This browser sends at most ${countWithNoun(reports, "report")} in ${countWithNoun(days, "day")}, so at most ${reportsAYear} in a year. Someone who knows that all of these are yours is at most ${certainty}\u00a0% sure of an answer that never changed (ε\u00a0=\u00a0${epsilon}).`,
  unlinked:
    "Nothing in a report says who sent it, or which other reports are yours. The server that receives it sees your network address.",
  memo: (days, epsilon, certainty) =>
    `This browser keeps one noisy answer for ${countWithNoun(days, "day")}, and makes all reports of that time from it. Someone who knows that all of these are yours is at most ${certainty}\u00a0% sure of the answer that you gave first (ε\u00a0=\u00a0${epsilon}), however many they are. If your answer changes, no report shows it until the ${countWithNoun(days, "day")} are over. Reports from one noisy answer resemble each other slightly, so there is a small probability that someone finds out which ones are yours. The server that receives a report sees your network address.`,
  cover:
    "This browser sends a report in each period even if you give no answer. The report then says so, with the same noise. So its arrival does not show whether you have answered.",
  failure: (delta) => `This limit fails with a probability of at most ${delta}.`,
  dryRun: "This is a dry run: reports are made, but nothing is sent.",
  window: "Reports in this period",
  ends: "The period ends",
  held: "Its report is sent",
  total: "All reports",
  storage: "This list is kept",
  used: (reports, allowed, epsilon) =>
    `${reports} of ${countWithNoun(allowed, "report")}, ε\u00a0${epsilon}`,
  spent: (reports, epsilon, certainty) =>
    reports === 0
      ? "none"
      : `${countWithNoun(reports, "report")}; someone who links all of them is at most ${certainty}\u00a0% sure of an answer that never changed (ε\u00a0${epsilon})`,
  onDevice: "on this device, until this site's data is cleared; the count then starts again",
  inMemory: "until this page is closed",
  noStorage: "nowhere: this browser stores nothing for this page, so nothing is reported",
  summary: (reports, states) => {
    if (reports === 0) {
      return "Nothing has left this browser.";
    }
    const some = (Object.keys(STATE_TEXTS) as ReportState[])
      .filter((state) => states[state] > 0)
      .map((state) => `${states[state]} ${STATE_TEXTS[state]}`);
    return `${countWithNoun(reports, "report")}: ${some.join(", ")}.`;
  },
  state: STATE_TEXTS,
  cost: (epsilon) => `ε\u00a0${epsilon}`,
  bytes: (bytes) => `Show the ${countWithNoun(bytes, "byte")}`,
  parts: [
    "format version",
    "fingerprint of the questions",
    "random id, new for each report",
    "number of reports in this upload",
    "the report with its noise",
  ],
  sums: {
    covers: (items, messages, varies) =>
      `Each report covers: ${typeof items === "number" ? countWithNoun(items, "number") : items.join(", ")}. It is sent as ${varies ? "at most " : ""}${countWithNoun(messages, "sealed message")}.`,
    meaning: (epsilon, delta, certainty, people, honest) =>
      `You trust a shuffler. There is no local ε: anyone who links these messages to you reads your answers, for example the shuffler and the analyser together. A shuffled batch has at least ${people} people, and ${honest} of them are assumed to follow the protocol. Anyone who sees only the batch can go from 50\u00a0% sure of your answer to at most ${certainty}\u00a0% sure (central ε\u00a0=\u00a0${epsilon}), except with a probability of ${delta}.`,
    used: (reports, allowed, epsilon) =>
      `${reports} of ${countWithNoun(allowed, "report")}, central ε\u00a0${epsilon}`,
    spent: (reports, epsilon) => `${countWithNoun(reports, "report")}, central ε\u00a0${epsilon}`,
    cost: (epsilon, delta) => `central ε\u00a0${epsilon}, δ\u00a0${delta}`,
    parts: [
      "format version",
      "fingerprint of the questions",
      "random id, new for each report",
      "number of messages",
      "the sealed messages",
    ],
  },
  more: (reports) => `Show all ${reports} reports`,
  revoke: "Withdraw my agreement",
  revoked:
    "You have withdrawn. Waiting reports are deleted, and nothing more is sent. Received reports stay in the totals.",
  failed: (message) => `The list could not be read: ${message}`,
};
