// The number fields and list fields of the form: labels, help texts, and stops of the sliders.

import { maximumCertaintyPercent } from "../../client/certainty.js";
import type { ListFieldName, NumberFieldName } from "./state.js";
import { powersOfTen, sliderStopsBetween } from "./stops.js";

export interface FieldText {
  readonly label: string;
  readonly help: string;
}

export interface NumberField extends FieldText {
  readonly unit: string;
  readonly stops: readonly number[];
}

const formatCertainty = (percent: string) => `${percent}\u00a0% sure`;

export const LIST_FIELDS: Readonly<Record<ListFieldName, FieldText>> = {
  parts: {
    label: "Options per choice",
    help: "Number of options for each choice, separated by commas. A yes-or-no question has 2 options. You get the shares of all options, separately for each choice.",
  },
};

export const FIELDS: Readonly<Record<NumberFieldName, NumberField>> = {
  items: {
    label: "Items",
    unit: "items",
    help: "Number of things you ask about, for example settings, words or pages.",
    stops: sliderStopsBetween(2, 2 ** 20, true),
  },
  options: {
    label: "Options",
    unit: "options",
    help: "Number of answers to choose from.",
    stops: sliderStopsBetween(2, 2 ** 20, true),
  },
  columns: {
    label: "Columns",
    unit: "options",
    help: "Number of options for the second answer. You get one estimate for each pair: an option of the first answer with an option of the second.",
    stops: sliderStopsBetween(2, 1024, true),
  },
  length: {
    label: "Text length",
    unit: "characters",
    help: "Maximum number of characters of a text. If a text is longer, the report covers only its beginning.",
    stops: sliderStopsBetween(1, 64, true),
  },
  count: {
    label: "Answers per person",
    unit: "answers",
    help: "Count of numbers, or of yes-or-no answers, that each person has. All numbers have the same range.",
    stops: sliderStopsBetween(1, 1024, true),
  },
  dimension: {
    label: "Dimension",
    unit: "numbers",
    help: "Number of coordinates of the vector.",
    stops: sliderStopsBetween(1, 512, true),
  },
  norm: {
    label: "Vector length",
    unit: "",
    help: "Maximum Euclidean length of the vector. Longer vectors are shortened to this length.",
    stops: sliderStopsBetween(0.01, 100_000),
  },
  min: {
    label: "Minimum",
    unit: "",
    help: "Numbers below the minimum count as the minimum.",
    stops: [0, ...sliderStopsBetween(0.01, 100_000)],
  },
  max: {
    label: "Maximum",
    unit: "",
    help: "Numbers above the maximum count as the maximum. Errors and intervals are in the same unit as the numbers.",
    stops: sliderStopsBetween(0.01, 1_000_000),
  },
  bins: {
    label: "Bins",
    unit: "bins",
    help: "Number of bins that divide the range.",
    stops: sliderStopsBetween(2, 4096, true),
  },
  quantile: {
    label: "Quantile",
    unit: "of people",
    help: "Share of people below the quantile, for example 0.5 for the median.",
    stops: [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99],
  },
  spread: {
    label: "Spread",
    unit: "",
    help: "Standard deviation of the numbers. If you set it, errors are those of the quantile itself. If you leave it empty, errors are those of the share of people below the quantile.",
    stops: sliderStopsBetween(0.01, 1_000_000),
  },
  sparsity: {
    label: "Sparsity",
    unit: "items",
    help: "Maximum number of items in one report. If a person has more items, the report covers a random selection of them.",
    stops: sliderStopsBetween(1, 1024, true),
  },
  people: {
    label: "People",
    unit: "people",
    help: "Number of people, who send one report each. A shuffler holds back a batch from fewer people.",
    stops: sliderStopsBetween(10, 1e9, true),
  },
  people_per_day: {
    label: "People per day",
    unit: "per day",
    help: "Number of people who report per day. Leave the field empty if you do not know this number.",
    stops: sliderStopsBetween(1, 1e8, true),
  },
  epsilon: {
    label: "Local ε",
    unit: "",
    help: `Privacy loss of one report. A smaller ε is more private. At ε = 1, someone who was ${formatCertainty("50")} of an answer can become at most ${formatCertainty(maximumCertaintyPercent(1))}. At ε = 0.5 the limit is ${formatCertainty(maximumCertaintyPercent(0.5))}, at ε = 2 it is ${formatCertainty(maximumCertaintyPercent(2))}.`,
    stops: sliderStopsBetween(0.05, 12),
  },
  cap: {
    label: "Maximum local ε",
    unit: "",
    help: "Maximum privacy loss of one report, against anyone who can link the report to a person.",
    stops: sliderStopsBetween(0.05, 12),
  },
  central_epsilon: {
    label: "Shuffled ε",
    unit: "",
    help: "Maximum privacy loss of one person against anyone who sees only the shuffled batch.",
    stops: sliderStopsBetween(0.001, 12),
  },
  delta: {
    label: "δ of the shuffled ε",
    unit: "",
    help: "Probability that the shuffled ε does not hold. Choose it far below 1 divided by the number of people.",
    stops: powersOfTen(-15, -3),
  },
  standard_error: {
    label: "Standard error",
    unit: "",
    help: "Maximum root mean square error over all items, for values from −1 to 1.",
    stops: sliderStopsBetween(0.0001, 0.5),
  },
  smallest_frequency: {
    label: "Smallest frequency",
    unit: "of people",
    help: "Share of people who have the rarest item that you want to detect. Its estimate still stands out from 0.",
    stops: sliderStopsBetween(0.0001, 1),
  },
  within: {
    label: "Interval half-width of shares",
    unit: "",
    help: "Half-width of the 95% interval for a share of people, from 0 to 1. The worst case over answers is assumed.",
    stops: sliderStopsBetween(0.0001, 0.5),
  },
  margin: {
    label: "Interval half-width",
    unit: "",
    help: "Half-width of the 95% interval for an estimate, in the unit of the number. Ratings range from −1 to 1.",
    stops: sliderStopsBetween(0.0001, 100_000),
  },
  honest_fraction: {
    label: "Share of honest people",
    unit: "of people",
    help: "Share of people who follow the protocol. Only the reports and the noise of honest people hide other reports.",
    stops: Array.from({ length: 20 }, (_, index) => (index + 1) / 20),
  },
};
