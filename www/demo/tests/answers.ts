// Plans for the tests.

import type { Plan } from "../shared/analysis.js";

/** Returns a plan for the mean of a number. */
export function numberPlan(): Plan {
  return {
    solved_for: "people",
    people: 1000,
    days: null,
    task: { id: "planned", questions: [{}] },
    epsilon: 1,
    effective_epsilon: 1,
    protects: "a person's whole input",
    central: null,
    questions: [
      {
        name: "number",
        kind: "number",
        mechanism: { name: "window" },
        sparsity: 1,
        answers: 1,
        cells: null,
        share: 1,
        reports: 1000,
        errors_of: "mean",
        number_name: null,
        unit: null,
        standard_error: 0.25,
        bias: null,
        error: 0.25,
        half_width: 0.49,
        simultaneous_half_width: 0.49,
        wanted_half_width: 0.5,
        wanted_error: null,
        range: 30,
        smallest_frequency: null,
        distance: null,
        as_ratings: 2,
      },
    ],
    others: [],
    together_over_drawn: null,
    verdict: { kind: "useful", text: "" },
    assumes: "",
  };
}
