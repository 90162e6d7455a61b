/** What `<hushbin-history>` says, and in which language. */

import type { Consent } from "../consent.js";
import type { ReportState } from "../store/store.js";
import type { Protection } from "./facts.js";

/** What the parts of an upload are called. */
export type Parts = readonly [
  version: string,
  fingerprint: string,
  id: string,
  reports: string,
  report: string,
];

/** What is said of sums through a shuffler, of which no local ε may be spoken. */
export interface SumWords {
  /** What is told, of names or how many numbers, in so many messages. */
  readonly asked: (items: readonly string[] | number, messages: number) => string;
  /**
   * That there is no local ε, whom people have to trust, and what the central ε means: of the
   * factor exp(ε), rounded up, and the people of a batch, of whom some are counted on.
   */
  readonly meaning: (
    epsilon: string,
    delta: string,
    factor: string,
    people: string,
    honest: string,
  ) => string;
  /** What the window holds, of what it may hold, and its central ε. */
  readonly used: (reports: number, allowed: number, epsilon: string) => string;
  /** What all reports have cost, of central ε. */
  readonly spent: (reports: number, epsilon: string) => string;
  /** What a report cost. */
  readonly cost: (epsilon: string, delta: string) => string;
  /** The parts of an upload, in their order. */
  readonly parts: Parts;
}

/**
 * All that `<hushbin-history>` says. Numbers and dates are given as text, written as the
 * language has them; where a form depends on how many there are, the number comes too.
 */
export interface Words {
  /** The language, as in the attribute `lang`. */
  readonly lang: string;
  /** The heading; none where it is empty. */
  readonly title: string;
  /** Of the task's name and the collector's host. */
  readonly task: (id: string, collector: string) => string;
  /** Whether anything is reported. */
  readonly consent: Readonly<Record<Consent, string>>;
  /** What is asked, of names; `drawn` where each report tells of one of them alone. */
  readonly asked: (names: readonly string[], drawn: boolean) => string;
  /** What is asked, of some number of items without names; undefined for any name at all. */
  readonly askedOf: (items: number | undefined) => string;
  /** What ε means, of the factor exp(ε), rounded up, and what is protected. */
  readonly meaning: (
    epsilon: string,
    factor: string,
    protects: Protection["about"],
    distance: string,
  ) => string;
  /** Added to that where it may fail, with at most this probability. */
  readonly failing: (delta: string) => string;
  /** Added to that where the same report is sent as long as answers stay. */
  readonly permanent: string;
  /** Where reports are only made as if. */
  readonly dryRun: string;
  /** The name of what the running window holds. */
  readonly window: string;
  /** The name of when it ends. */
  readonly ends: string;
  /** The name of what all reports have cost. */
  readonly ever: string;
  /** The name of how long that is remembered. */
  readonly kept: string;
  /** What the window holds, of what it may hold. */
  readonly used: (reports: number, allowed: number, epsilon: string) => string;
  /** What all reports have cost. */
  readonly spent: (reports: number, epsilon: string) => string;
  /** That it is remembered on the device. */
  readonly durable: string;
  /** That it is remembered as long as the page lives. */
  readonly fleeting: string;
  /** How many reports there are, of each state; read aloud as it changes. */
  readonly summary: (reports: number, states: Readonly<Record<ReportState, number>>) => string;
  /** What has become of a report. */
  readonly state: Readonly<Record<ReportState, string>>;
  /** What a report cost. */
  readonly cost: (epsilon: string) => string;
  /** What a report cost that was made before. */
  readonly again: string;
  /** Opens all bytes of a report, of which there are so many. */
  readonly bytes: (bytes: number) => string;
  /** The parts of an upload, in their order. */
  readonly parts: Parts;
  /** In the places of some of these, of clients of `hushbin/sums`. */
  readonly sums: SumWords;
  /** Shows the older reports too. */
  readonly more: (reports: number) => string;
  /** The button that revokes consent. */
  readonly revoke: string;
  /** That consent was revoked here. */
  readonly revoked: string;
  /** That nothing could be read, and why. */
  readonly failed: (message: string) => string;
}

const counted = (count: number, one: string, more = `${one}s`) =>
  `${count} ${count === 1 ? one : more}`;

const STATES: Words["state"] = {
  waiting: "waiting to be sent",
  acknowledged: "received by the collector",
  refused: "refused by the collector",
  withdrawn: "withdrawn before the collector confirmed it",
};

const others = (distance: string): Readonly<Record<Protection["about"], string>> => ({
  everything: "any other answers",
  item: "any other answer about one item, the rest being equal,",
  near: `other answers that differ by at most ${distance} in sum`,
});

/** What `<hushbin-history>` says unless it is told otherwise. */
export const ENGLISH: Words = {
  lang: "en-GB",
  title: "What leaves this browser",
  task: (id, collector) => `${id}, collected by ${collector}`,
  consent: {
    granted: "You have agreed to these reports.",
    pending: "You have not agreed to reports: nothing is reported.",
    signal:
      "Your browser asks sites not to follow you (Global Privacy Control or Do Not Track): nothing is reported.",
  },
  asked: (names, drawn) =>
    drawn && names.length > 1
      ? `Each report tells, randomised, of one of these, which chance picks: ${names.join(", ")}.`
      : `Each report tells, randomised, of: ${names.join(", ")}.`,
  askedOf: (items) =>
    items === undefined
      ? "Each report tells, randomised, of whatever your answers name."
      : `Each report tells, randomised, of ${counted(items, "item")}.`,
  meaning: (epsilon, factor, protects, distance) =>
    `What a report costs is its ε. At ε\u00a0=\u00a0${epsilon} whoever sees it, the operator of the collector included, finds ${others(distance)[protects]} at most ${factor} times less plausible than yours.`,
  failing: (delta) => `That may fail, with a probability of at most ${delta}.`,
  permanent:
    "While your answers stay the same, the same report is sent again and costs nothing more; that such reports are from one browser can be seen.",
  dryRun: "This is a dry run: reports are made, and nothing is sent.",
  window: "In this period",
  ends: "The period ends",
  ever: "In all",
  kept: "Remembered",
  used: (reports, allowed, epsilon) =>
    `${reports} of ${counted(allowed, "report")}, ε\u00a0${epsilon}`,
  spent: (reports, epsilon) => `${counted(reports, "report")}, ε\u00a0${epsilon}`,
  durable: "on this device, until this site's data is cleared",
  fleeting: "until this page is closed",
  summary: (reports, states) => {
    if (reports === 0) {
      return "Nothing has left this browser.";
    }
    const some = (Object.keys(STATES) as ReportState[])
      .filter((state) => states[state] > 0)
      .map((state) => `${states[state]} ${STATES[state]}`);
    return `${counted(reports, "report")}: ${some.join(", ")}.`;
  },
  state: STATES,
  cost: (epsilon) => `ε\u00a0${epsilon}`,
  again: "sent again, ε\u00a00",
  bytes: (bytes) => `Its exact ${counted(bytes, "byte")}`,
  parts: [
    "version of the format",
    "which task it answers",
    "its own random number",
    "how many reports",
    "the randomised report",
  ],
  sums: {
    asked: (items, messages) =>
      `Each report says, in ${counted(messages, "message")} that are sealed one by one: ${typeof items === "number" ? counted(items, "number") : items.join(", ")}.`,
    meaning: (epsilon, delta, factor, people, honest) =>
      `You trust a shuffler: there is no local ε, and whoever links these messages to you, as the shuffler could together with who can open them, reads what you answered. Shuffled among those of at least ${people} people, of whom ${honest} follow the protocol, they make any other answers at most ${factor} times less plausible than yours (a central ε\u00a0=\u00a0${epsilon}), but for a probability of ${delta}.`,
    used: (reports, allowed, epsilon) =>
      `${reports} of ${counted(allowed, "report")}, central ε\u00a0${epsilon}`,
    spent: (reports, epsilon) => `${counted(reports, "report")}, central ε\u00a0${epsilon}`,
    cost: (epsilon, delta) => `central ε\u00a0${epsilon}, δ\u00a0${delta}`,
    parts: [
      "version of the format",
      "which task it answers",
      "its own random number",
      "how many messages",
      "the sealed messages",
    ],
  },
  more: (reports) => `Show all ${reports}`,
  revoke: "Withdraw my agreement",
  revoked: "You have withdrawn: nothing more is reported.",
  failed: (message) => `This could not be read: ${message}`,
};
