// The fields of a question: their words, and where the sliders of numbers stop.

import type { ListName, NumberName } from "./state.js";
import { decades, stopsBetween } from "./stops.js";

export interface Words {
  readonly label: string;
  readonly help: string;
}

export interface Field extends Words {
  readonly unit: string;
  readonly stops: readonly number[];
}

export const LIST_FIELDS: Readonly<Record<ListName, Words>> = {
  parts: {
    label: "Options of each choice",
    help: "How many options each has, with commas between; one of 2 is a yes or no. The shares of all of them are estimated, each choice by itself.",
  },
};

export const FIELDS: Readonly<Record<NumberName, Field>> = {
  items: {
    label: "Items",
    unit: "items",
    help: "How many different things are asked about: settings, words, pages.",
    stops: stopsBetween(2, 2 ** 20, true),
  },
  options: {
    label: "Options",
    unit: "options",
    help: "How many answers there are to choose from.",
    stops: stopsBetween(2, 2 ** 20, true),
  },
  columns: {
    label: "Columns",
    unit: "options",
    help: "How many answers the second choice has; each goes with each of the first.",
    stops: stopsBetween(2, 1024, true),
  },
  length: {
    label: "Length",
    unit: "characters",
    help: "Of how many characters texts are told; longer ones are found by their beginning.",
    stops: stopsBetween(1, 64, true),
  },
  count: {
    label: "Numbers",
    unit: "numbers",
    help: "How many numbers everybody has, each from the least to the greatest below.",
    stops: stopsBetween(1, 1024, true),
  },
  dimension: {
    label: "Dimension",
    unit: "numbers",
    help: "How many numbers the vector has.",
    stops: stopsBetween(1, 512, true),
  },
  norm: {
    label: "Length",
    unit: "",
    help: "Maximum Euclidean length; longer vectors are shortened to it.",
    stops: stopsBetween(0.01, 100_000),
  },
  min: {
    label: "Least number",
    unit: "",
    help: "Numbers below count as this one.",
    stops: [0, ...stopsBetween(0.01, 100_000)],
  },
  max: {
    label: "Greatest number",
    unit: "",
    help: "Numbers above count as this one; all that follows is in the same unit.",
    stops: stopsBetween(0.01, 1_000_000),
  },
  bins: {
    label: "Bins",
    unit: "bins",
    help: "Into how many the range is parted.",
    stops: stopsBetween(2, 4096, true),
  },
  quantile: {
    label: "Quantile",
    unit: "of people",
    help: "The part of people below: 0.5 for the median.",
    stops: [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99],
  },
  spread: {
    label: "Spread",
    unit: "",
    help: "Standard deviation of the numbers, to plan for the quantile itself; empty to plan for the share of people below it.",
    stops: stopsBetween(0.01, 1_000_000),
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
    help: "How many report, once each; a shuffler keeps back sums of fewer.",
    stops: stopsBetween(10, 1e9, true),
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
    help: "The most that everything that is shuffled may reveal about one person.",
    stops: stopsBetween(0.001, 12),
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
  within: {
    label: "Shares within ±",
    unit: "",
    help: "Half-width of a 95% interval of a share of people, from 0 to 1, whatever people answer.",
    stops: stopsBetween(0.0001, 0.5),
  },
  margin: {
    label: "Within ±",
    unit: "",
    help: "Half-width of a 95% interval, in the unit of the number; ratings go from −1 to 1.",
    stops: stopsBetween(0.0001, 100_000),
  },
  honest_fraction: {
    label: "Honest part",
    unit: "of people",
    help: "Share of people whose reports or noise can be counted on to hide those of others.",
    stops: Array.from({ length: 20 }, (_, index) => (index + 1) / 20),
  },
};
