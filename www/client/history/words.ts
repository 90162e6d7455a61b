/** What `<hushbin-history>` says, and in which language. */

import type { Consent } from "../consent.js";
import type { ReportState } from "../store/store.js";
import type { Protection } from "./facts.js";

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
  /** The names of what follows. */
  readonly window: string;
  readonly ends: string;
  readonly ever: string;
  readonly kept: string;
  /** What the window holds, of what it may hold. */
  readonly used: (reports: number, allowed: number, epsilon: string) => string;
  /** What all reports have cost. */
  readonly spent: (reports: number, epsilon: string) => string;
  /** Where it is remembered. */
  readonly durable: string;
  readonly fleeting: string;
  /** How many reports there are, of each state; read aloud as it changes. */
  readonly summary: (reports: number, states: Readonly<Record<ReportState, number>>) => string;
  readonly state: Readonly<Record<ReportState, string>>;
  /** What a report cost. */
  readonly cost: (epsilon: string) => string;
  /** What a report cost that was made before. */
  readonly again: string;
  readonly bytes: (bytes: number) => string;
  /** The parts of an upload, in their order. */
  readonly parts: readonly [
    version: string,
    fingerprint: string,
    id: string,
    reports: string,
    report: string,
  ];
  /** Shows the older reports too. */
  readonly more: (reports: number) => string;
  readonly revoke: string;
  readonly revoked: string;
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
    `What a report costs is its ε. At ε = ${epsilon} whoever sees it, the operator of the collector included, finds ${others(distance)[protects]} at most ${factor} times less plausible than yours.`,
  failing: (delta) => `That may fail, with a probability of at most ${delta}.`,
  permanent:
    "While your answers stay the same, the same report is sent again and costs nothing more; that such reports are from one browser can be seen.",
  dryRun: "This is a dry run: reports are made, and nothing is sent.",
  window: "In this period",
  ends: "The period ends",
  ever: "In all",
  kept: "Remembered",
  used: (reports, allowed, epsilon) => `${reports} of ${counted(allowed, "report")}, ε ${epsilon}`,
  spent: (reports, epsilon) => `${counted(reports, "report")}, ε ${epsilon}`,
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
  cost: (epsilon) => `ε ${epsilon}`,
  again: "sent again, ε 0",
  bytes: (bytes) => `All ${counted(bytes, "byte")} of it`,
  parts: [
    "version of the format",
    "which task it answers",
    "a number that was drawn for it",
    "how many reports",
    "the randomised report",
  ],
  more: (reports) => `Show all ${reports}`,
  revoke: "Withdraw my agreement",
  revoked: "You have withdrawn: nothing more is reported.",
  failed: (message) => `This could not be read: ${message}`,
};
