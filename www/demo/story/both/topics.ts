// What the chapter on both ways can ask: the means of four numbers, or the shares of eight options.

import type { SumTaskFile } from "../../shared/analysis.js";
import { browsingAnswersOf, languageOf } from "./people.js";
import { BROWSING_TASK, formatWithUnit, LANGUAGE_TASK, LANGUAGES, numberLabel } from "./task.js";

/** A task of the chapter, and how its people answer. */
export interface Topic {
  /** Label of the topic in the form. */
  readonly name: string;
  readonly task: SumTaskFile;
  /** Name of one item in tables. */
  readonly item: string;
  /** Title of the chart. */
  readonly chartTitle: string;
  /** Describes the messages of one person. */
  readonly messagesText: string;
  /** Describes what the table of the local report shows. `most` is the maximum factor, formatted. */
  oddsText(most: string): string;
  /** Returns the answers of an invented person, as the simulation takes them. */
  answersOf(person: number): number[];
  /** Describes the answers of a person. */
  answersInWords(answers: readonly number[]): string;
}

const shuffledPrivacyText =
  "In a batch from thousands of people, no one can see who sent which message. But anyone who links these messages to their sender can read the answer, up to this one person’s noise:";

const NUMBERS: Topic = {
  name: "the means of four numbers",
  task: BROWSING_TASK,
  item: "Number",
  chartTitle: "Means of four numbers: truth, local estimate and shuffled estimate",
  messagesText: `Some messages carry the answer, some are noise and some are blank. Each person sends the same number of messages. ${shuffledPrivacyText}`,
  oddsText: (most) =>
    `The table shows the factor by which these bytes change the odds of a number’s maximum against its minimum. Every report has factors between 1/${most} and ${most}.`,
  answersOf: browsingAnswersOf,
  answersInWords: (answers) =>
    BROWSING_TASK.numbers
      .map(({ name, min, max, ...rest }, index) => {
        const unit = "unit" in rest ? rest.unit : undefined;
        const value = formatWithUnit(answers[index] ?? 0, [min, max], unit);
        return `${numberLabel(name).toLowerCase()} ${value}`;
      })
      .join(", "),
};

const LANGUAGE: Topic = {
  name: "the shares of eight languages",
  task: LANGUAGE_TASK,
  item: "Language",
  chartTitle: "Shares of eight languages: truth, local estimate and shuffled estimate",
  messagesText: `One message names the language. Few people also send a message of noise, which names a random language. ${shuffledPrivacyText}`,
  oddsText: (most) =>
    `The table shows the factor by which these bytes change the odds of each language against the others. Every report has factors between 1/${most} and ${most}.`,
  answersOf: (person) => [languageOf(person)],
  answersInWords: ([index = 0]) => LANGUAGES[index] ?? "",
};

/** Topics to choose from, by the value of the form's control. */
export const TOPICS: Readonly<Record<string, Topic>> = { numbers: NUMBERS, language: LANGUAGE };

/** Topic that the chapter shows first. */
export const FIRST_TOPIC: Topic = NUMBERS;

/**
 * Returns the answers of `people` people, one person after the other. The first person has the
 * number `first`.
 */
export const answersOfPeople = ({ answersOf }: Topic, first: number, people: number) =>
  Float64Array.from(Array.from({ length: people }, (_, index) => answersOf(first + index)).flat());
