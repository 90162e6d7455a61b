// The texts of the questions, for each item of the task. An item without a text is shown by its
// name.

import { displayedName } from "../../client/displayed-name.js";

export interface Question {
  readonly item: string;
  readonly text: string;
  /** Short name for charts. */
  readonly label: string;
  /** Share of invented people who answer yes, before the visitor changes it. */
  readonly yesShare: number;
  /** Share of invented people who answer no, before the visitor changes it. */
  readonly noShare: number;
}

const KNOWN: readonly Question[] = [
  { item: "dark-mode", text: "Dark mode is on", label: "Dark mode", yesShare: 0.4, noShare: 0.06 },
  {
    item: "autoplay",
    text: "Videos may start by themselves",
    label: "Autoplay",
    yesShare: 0.04,
    noShare: 0.3,
  },
  {
    item: "notifications",
    text: "Sites may send notifications",
    label: "Notifications",
    yesShare: 0.05,
    noShare: 0.41,
  },
  { item: "ad-blocker", text: "An ad blocker is on", label: "Ad blocker", yesShare: 0.33, noShare: 0.04 },
  { item: "location", text: "Sites may ask where you are", label: "Location", yesShare: 0.08, noShare: 0.16 },
  {
    item: "save-passwords",
    text: "The browser keeps your passwords",
    label: "Saved passwords",
    yesShare: 0.22,
    noShare: 0.07,
  },
  {
    item: "third-party-cookies",
    text: "Third-party cookies are allowed",
    label: "3rd-party cookies",
    yesShare: 0.03,
    noShare: 0.12,
  },
  {
    item: "assistant",
    text: "The assistant button is useful",
    label: "Assistant",
    yesShare: 0.02,
    noShare: 0.14,
  },
  {
    item: "reader-mode",
    text: "Reader mode is worth a button",
    label: "Reader mode",
    yesShare: 0.12,
    noShare: 0.02,
  },
  {
    item: "translation",
    text: "Foreign pages are translated",
    label: "Translation",
    yesShare: 0.16,
    noShare: 0.06,
  },
  {
    item: "spell-check",
    text: "Spelling is checked as you type",
    label: "Spell check",
    yesShare: 0.14,
    noShare: 0.05,
  },
  { item: "sync", text: "Tabs follow you to other devices", label: "Sync", yesShare: 0.1, noShare: 0.1 },
];

/** Returns the question for each item of a task, in the task's order. */
export function questionsOf(items: readonly string[]): Question[] {
  return items.map(
    (item) =>
      KNOWN.find((question) => question.item === item) ?? {
        item,
        text: displayedName(item),
        label: displayedName(item),
        yesShare: 0.3,
        noShare: 0.3,
      },
  );
}

/** Returns the word for an answer: yes, no or not set. */
export function answerWord(value: 1 | -1 | 0): string {
  return value === 1 ? "yes" : value === -1 ? "no" : "not set";
}
