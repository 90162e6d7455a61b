// The numbers of a question: their words and where their sliders stop.

import type { NumberName } from "./state.js";
import { decades, stopsBetween } from "./stops.js";

export interface Field {
  readonly label: string;
  readonly unit: string;
  readonly help: string;
  readonly stops: readonly number[];
}

export const FIELDS: Readonly<Record<NumberName, Field>> = {
  items: {
    label: "Items",
    unit: "items",
    help: "How many different things are asked about: settings, words, pages.",
    stops: stopsBetween(2, 2 ** 20, true),
  },
  sparsity: {
    label: "Sparsity",
    unit: "entries",
    help: "How many items one person reports on; whoever has more sends a random choice of them.",
    stops: stopsBetween(1, 1024, true),
  },
  people: {
    label: "People",
    unit: "people",
    help: "How many report, once each.",
    stops: stopsBetween(100, 1e9, true),
  },
  people_per_day: {
    label: "People per day",
    unit: "a day",
    help: "How many reports a day brings; empty if you do not know.",
    stops: stopsBetween(1, 1e8, true),
  },
  epsilon: {
    label: "Local ε",
    unit: "",
    help: "The most that one report may give away about its person, to anybody; smaller is quieter.",
    stops: stopsBetween(0.05, 12),
  },
  cap: {
    label: "Local ε at most",
    unit: "",
    help: "What one report may give away to whoever could link it to its person.",
    stops: stopsBetween(0.05, 12),
  },
  central_epsilon: {
    label: "Shuffled ε",
    unit: "",
    help: "The most that all reports, shuffled, may give away about one person.",
    stops: stopsBetween(0.001, 4),
  },
  delta: {
    label: "δ of the shuffled ε",
    unit: "",
    help: "The probability that the shuffled ε does not hold: far below one in the number of people.",
    stops: decades(-15, -3),
  },
  standard_error: {
    label: "Standard error",
    unit: "",
    help: "How far estimates may be off, as a root mean square over all items, of values from −1 to 1.",
    stops: stopsBetween(0.0001, 0.5),
  },
  smallest: {
    label: "Smallest frequency",
    unit: "of people",
    help: "The share of people with the rarest item that is still to be told from none.",
    stops: stopsBetween(0.0001, 1),
  },
  honest_fraction: {
    label: "Honest part",
    unit: "of people",
    help: "The share of people whose reports can be counted on to hide those of others.",
    stops: Array.from({ length: 20 }, (_, index) => (index + 1) / 20),
  },
};
