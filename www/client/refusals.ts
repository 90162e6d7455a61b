/**
 * Reasons for which the core refuses a task, as text. A separate file that is imported on demand.
 */

/** Texts for the core's error codes, by number. */
export const ERROR_TEXTS: Readonly<Partial<Record<number, string>>> = {
  1: "a parameter is out of range",
  2: "the id is not 1 to 64 of a-z, 0-9 and '-', first no '-'",
  3: "a name is empty, too long or holds a control character",
  4: "two items or questions share a name",
  5: "parameters or lengths do not go together",
  7: "an item does not exist",
  8: "an item occurs twice",
  9: "a value is not one that the task takes",
  12: "malformed",
  14: "too many or too few answers",
  15: "the module lacks the mechanism, or a kind of question",
};
