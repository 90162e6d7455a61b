// The words of the questions. Their ids are the task's items; an item without
// words here is shown by its id.

export interface Question {
  readonly item: string;
  readonly text: string;
  /** A few words, for charts. */
  readonly label: string;
  /** Shares of the invented crowd that say yes and no, at the start. */
  readonly yes: number;
  readonly no: number;
}

const KNOWN: readonly Question[] = [
  { item: "dark-mode", text: "Dark mode is on", label: "Dark mode", yes: 0.62, no: 0.21 },
  {
    item: "autoplay",
    text: "Videos may start by themselves",
    label: "Autoplay",
    yes: 0.12,
    no: 0.55,
  },
  {
    item: "notifications",
    text: "Sites may send notifications",
    label: "Notifications",
    yes: 0.08,
    no: 0.74,
  },
  { item: "ad-blocker", text: "An ad blocker is on", label: "Ad blocker", yes: 0.43, no: 0.22 },
  {
    item: "location",
    text: "Sites may ask where you are",
    label: "Location",
    yes: 0.25,
    no: 0.35,
  },
  {
    item: "save-passwords",
    text: "The browser keeps your passwords",
    label: "Saved passwords",
    yes: 0.57,
    no: 0.18,
  },
  {
    item: "third-party-cookies",
    text: "Third-party cookies are allowed",
    label: "3rd-party cookies",
    yes: 0.3,
    no: 0.3,
  },
  {
    item: "assistant",
    text: "The assistant button is useful",
    label: "Assistant",
    yes: 0.05,
    no: 0.4,
  },
];

/** The questions of a task, in its order. */
export function questionsOf(items: readonly string[]): Question[] {
  return items.map(
    (item) =>
      KNOWN.find((question) => question.item === item) ?? {
        item,
        text: item,
        label: item,
        yes: 0.3,
        no: 0.3,
      },
  );
}

/** An answer in words. */
export function answerWord(value: 1 | -1 | 0): string {
  return value === 1 ? "yes" : value === -1 ? "no" : "not set";
}
