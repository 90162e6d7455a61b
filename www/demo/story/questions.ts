// The texts of the questions, for each item of the task. An item without a text is shown by its
// name.

import { displayedName } from "../../client/displayed-name.js";

export interface Question {
  readonly item: string;
  readonly text: string;
  /** Short name for charts. */
  readonly label: string;
  /** Share of invented people who answer yes, before the visitor changes it. */
  readonly yes: number;
  /** Share of invented people who answer no, before the visitor changes it. */
  readonly no: number;
}

const KNOWN: readonly Question[] = [
  { item: "dark-mode", text: "Dark mode is on", label: "Dark mode", yes: 0.4, no: 0.06 },
  {
    item: "autoplay",
    text: "Videos may start by themselves",
    label: "Autoplay",
    yes: 0.04,
    no: 0.3,
  },
  {
    item: "notifications",
    text: "Sites may send notifications",
    label: "Notifications",
    yes: 0.05,
    no: 0.41,
  },
  { item: "ad-blocker", text: "An ad blocker is on", label: "Ad blocker", yes: 0.33, no: 0.04 },
  { item: "location", text: "Sites may ask where you are", label: "Location", yes: 0.08, no: 0.16 },
  {
    item: "save-passwords",
    text: "The browser keeps your passwords",
    label: "Saved passwords",
    yes: 0.22,
    no: 0.07,
  },
  {
    item: "third-party-cookies",
    text: "Third-party cookies are allowed",
    label: "3rd-party cookies",
    yes: 0.03,
    no: 0.12,
  },
  {
    item: "assistant",
    text: "The assistant button is useful",
    label: "Assistant",
    yes: 0.02,
    no: 0.14,
  },
  {
    item: "reader-mode",
    text: "Reader mode is worth a button",
    label: "Reader mode",
    yes: 0.12,
    no: 0.02,
  },
  {
    item: "translation",
    text: "Foreign pages are translated",
    label: "Translation",
    yes: 0.16,
    no: 0.06,
  },
  {
    item: "spell-check",
    text: "Spelling is checked as you type",
    label: "Spell check",
    yes: 0.14,
    no: 0.05,
  },
  { item: "sync", text: "Tabs follow you to other devices", label: "Sync", yes: 0.1, no: 0.1 },
];

/** Returns the question for each item of a task, in the task's order. */
export function questionsOf(items: readonly string[]): Question[] {
  return items.map(
    (item) =>
      KNOWN.find((question) => question.item === item) ?? {
        item,
        text: displayedName(item),
        label: displayedName(item),
        yes: 0.3,
        no: 0.3,
      },
  );
}

/** Returns the word for an answer: yes, no or not set. */
export function answerWord(value: 1 | -1 | 0): string {
  return value === 1 ? "yes" : value === -1 ? "no" : "not set";
}
