/**
 * Reads a person's answers, in which items have names, and packs them into the arrays that the core
 * takes.
 */

import { namedValuesOf } from "./entries.js";
import { AnswerError, type HushbinError, UnknownItemError, ValueRangeError } from "./errors.js";
import {
  type ChoiceQuestion,
  type ColumnPart,
  type ItemNamesOrCount,
  type NumberQuestion,
  type Question,
  questionItems,
  type RatingsFields,
  type RowPart,
} from "./question.js";
import type { QuestionsTask, RatingsTask, Task } from "./task.js";

/** Type of the names of items. It is any string if the task does not list the names. */
type ItemName<I> = I extends readonly (infer Name extends string)[] ? Name : string;

/** Type of the names of options. They are indices if the task gives only the number of options. */
export type OptionName<O> = O extends number ? number : ItemName<O>;

/** Values by item name. An absent item, like an item with the value 0, is not reported on. */
type RatingsInput<I> = Readonly<Partial<Record<ItemName<I>, number>>> | ReadonlyMap<string, number>;

/** Type of the answer to a question. */
export type Answer<Q extends Question = Question> = Q extends { readonly kind: "ratings" }
  ? RatingsInput<Q["items"]>
  : Q extends { readonly kind: "set" }
    ? readonly OptionName<Q["options"]>[] | ReadonlySet<OptionName<Q["options"]>>
    : Q extends { readonly kind: "choice" }
      ? OptionName<Q["options"]>
      : Q extends { readonly kind: "flag" }
        ? boolean
        : Q extends { readonly kind: "numbers" }
          ? Readonly<Record<Q["of"][number]["name"], number>> | ReadonlyMap<string, number>
          : Q extends { readonly kind: "cross" | "together" }
            ? PartAnswers<Q["of"][number]> | ReadonlyMap<string, unknown>
            : Q extends { readonly kind: "text" }
              ? string
              : "optional" extends keyof Q
                ? true extends Q["optional"]
                  ? number | null
                  : number
                : number;

/** Answers to all parts of a question, by the name of the part. */
type PartAnswers<P extends RowPart | ColumnPart> = {
  readonly [Name in P["name"]]: PartAnswer<Extract<P, { readonly name: Name }>>;
};

type PartAnswer<P> = P extends { readonly options: infer O }
  ? OptionName<O>
  : P extends { readonly kind: "flag" }
    ? boolean
    : number;

type AnswersByQuestion<Q extends Question> = {
  readonly [Name in Q["name"]]: Answer<Extract<Q, { readonly name: Name }>>;
};

/**
 * One person's input: answers to all questions, by name. For a task without questions, values by
 * item name; an item that is absent or 0 is not reported on.
 *
 * The answer depends on the kind of question.
 *
 * - `choice`: the option's name.
 * - `set`: an array or Set of option names.
 * - `flag`: a boolean.
 * - `number`: a number. If it is optional, `null` for a person without a number.
 * - `numbers`: all numbers, by name.
 * - `cross` and `together`: answers to all parts, by name.
 * - `text`: a string.
 * - `ratings`: values by item name.
 *
 * If a task gives just the number of options or items, indices replace the names.
 *
 * @typeParam T the task; its names are checked if its type is that of a literal
 */
export type ReportInput<T extends Task | string = Task> = T extends QuestionsTask
  ? AnswersByQuestion<T["questions"][number]>
  : T extends RatingsTask
    ? RatingsInput<T["items"]>
    : ReportInput;

/**
 * Answers in which indices or 64-bit keys replace the names. If one item is a key, all items are
 * keys.
 */
export interface PackedEntries {
  /** Number of entries for each question, in order. */
  readonly entryCounts: Uint32Array;
  readonly items: Uint32Array;
  readonly values: Float64Array;
  /** Number of values beyond the ends of their scale, to which the core clips them. */
  readonly clippedCount: number;
  /**
   * Errors for answers, or parts of answers, that the task does not have. These answers are left
   * out.
   */
  readonly unknownAnswerErrors: readonly HushbinError[];
}

const EXPECTED_PARTS_TEXT = "answers to all parts, in an object or Map";

const EXPECTED_TEXTS = {
  sign: "1, -1 or 0",
  real: "a number from -1 to 1",
  ratings: "values by item name, in an object or Map",
  set: "names of different options, in an array or Set",
  choice: "an option's name",
  flag: "true or false",
  number: "a finite number",
  numbers: "numbers by name, in an object or Map",
  cross: EXPECTED_PARTS_TEXT,
  text: "a text",
  together: EXPECTED_PARTS_TEXT,
} as const;

function isRatingValue(kind: RatingsFields["value"], value: unknown): value is number {
  if (kind === "sign") {
    return value === 1 || value === -1 || value === 0;
  }
  // NaN fails both comparisons.
  return typeof value === "number" && value >= -1 && value <= 1;
}

/** Item or option, given by its index, or by its 64-bit key if any name is possible. */
type ItemCode = number | bigint;

/**
 * Returns a function that finds an item or option. It finds options by index if the task gives only
 * the number of options, and everything else by name.
 */
function itemFinder(
  listed: ItemNamesOrCount,
  byNumber: boolean,
  keyOf: (name: string) => bigint,
): (name: unknown) => ItemCode | undefined {
  if (listed === "open") {
    return (name) => (typeof name === "string" ? keyOf(name) : undefined);
  }
  if (typeof listed !== "number") {
    const indices = new Map<unknown, number>(listed.map((name, index) => [name, index]));
    return (name) => indices.get(name);
  }
  return (name) => {
    const index = Number(name);
    // Only the canonical spelling: not "01", "1e0", "" or "-0".
    return (byNumber ? index : String(index)) === name && index === index >>> 0 && index < listed
      ? index
      : undefined;
  };
}

/** Returns the smallest and the largest number that are not clipped. */
function unclippedRange(question: NumberQuestion): readonly [number, number] {
  const edges = "edges" in question ? question.edges : [question.min, question.max];
  return [Number(edges[0]), Number(edges[edges.length - 1])];
}

/** Entries that have been read so far. */
class EntryBuffer {
  readonly items: ItemCode[] = [];
  readonly values: number[] = [];
  readonly unknownAnswerErrors: HushbinError[];
  clippedCount = 0;

  constructor(unknown: HushbinError[] = []) {
    this.unknownAnswerErrors = unknown;
  }

  add(item: ItemCode, value: number): void {
    this.items.push(item);
    this.values.push(value);
  }

  /**
   * Adds a value if it is a finite number. Counts it as clipped if it is not between `first` and
   * `last`. Returns whether it is a finite number.
   */
  addIfFinite(item: number, value: unknown, first: number, last: number): boolean {
    // Returns false for anything but numbers.
    const finite = Number.isFinite(value);
    if (finite) {
      this.add(item, value as number);
      this.clippedCount += Number((value as number) < first || (value as number) > last);
    }
    return finite;
  }
}

type AnswerReader = (answer: unknown, packed: EntryBuffer) => void;

/**
 * Returns a function that reads the answers to one question. A task that only asks for ratings has
 * one question, which has no name.
 *
 * @param as text at the end of error messages, which names the part of a question
 */
function answerReader(
  question: Question,
  taskId: string,
  keyOf: (name: string) => bigint,
  as = "",
): AnswerReader {
  const { kind, name } = question;
  const wrong = (answer: unknown, or = "") =>
    new AnswerError(name || undefined, answer, EXPECTED_TEXTS[kind] + or + as);
  if (kind === "flag") {
    return (answer, packed) => {
      if (typeof answer !== "boolean") {
        throw wrong(answer);
      }
      packed.add(Number(answer), 1);
    };
  }
  if (kind === "text") {
    return (answer, packed) => {
      if (typeof answer !== "string") {
        throw wrong(answer);
      }
      const characters = [...answer];
      for (const length of question.prefixes) {
        // Mark a prefix that continues with a character that no text contains.
        const goesOn = length < characters.length;
        const text = goesOn ? `${characters.slice(0, length).join("")}\uFFFF` : answer;
        packed.add(keyOf(text), 1);
      }
    };
  }
  if (kind === "number") {
    const [first, last] = unclippedRange(question);
    const optional = "optional" in question && question.optional;
    return (answer, packed) => {
      if (optional && answer === null) {
        packed.add(1, 1);
      } else if (!packed.addIfFinite(0, answer, first, last)) {
        throw wrong(answer, optional ? " or null" : "");
      }
    };
  }
  const find = itemFinder(questionItems(question), kind === "set" || kind === "choice", keyOf);
  const item = (given: unknown, packed: EntryBuffer) => {
    const found = find(given);
    if (found === undefined) {
      const where = name ? `question ${JSON.stringify(name)}${as}` : `task ${taskId}`;
      packed.unknownAnswerErrors.push(
        typeof given === "string" ? new UnknownItemError(given, where) : wrong(given),
      );
    }
    return found;
  };
  const named = (answer: unknown) => {
    const entries = namedValuesOf(answer);
    if (entries === undefined) {
      throw wrong(answer);
    }
    return entries;
  };
  if (kind === "numbers") {
    return (answer, packed) => {
      const given = new Map(named(answer));
      given.forEach((_, attribute) => void item(attribute, packed));
      question.of.forEach((each, index) => {
        const value = given.get(each.name);
        if (!packed.addIfFinite(index, value, each.min, each.max)) {
          throw new AnswerError(name, value, `a finite number as ${JSON.stringify(each.name)}`);
        }
      });
    };
  }
  if (kind === "cross" || kind === "together") {
    const readers = question.of.map((each) => {
      // Errors name the whole question. The reader ignores its mechanism.
      const part = { ...each, name } as Question;
      return answerReader(part, taskId, keyOf, ` as ${JSON.stringify(each.name)}`);
    });
    return (answer, packed) => {
      const given = new Map(named(answer));
      given.forEach((_, part) => void item(part, packed));
      const all = new EntryBuffer(packed.unknownAnswerErrors);
      question.of.forEach((each, index) => void readers[index]?.(given.get(each.name), all));
      if (kind === "together") {
        all.items.forEach((option, index) => void packed.add(index, Number(option)));
        return;
      }
      const columns = question.of[1].kind === "number" ? all.values : all.items;
      packed.add(all.items[0] as ItemCode, Number(columns[1]));
      packed.clippedCount += all.clippedCount;
    };
  }
  if (kind === "ratings") {
    return (answer, packed) => {
      for (const [rated, value] of named(answer)) {
        // Unknown names are refused even with value 0: they are typing errors.
        const found = item(rated, packed);
        if (isRatingValue(question.value, value)) {
          if (found !== undefined) {
            packed.add(found, value);
          }
        } else {
          packed.unknownAnswerErrors.push(
            new ValueRangeError(rated, value, EXPECTED_TEXTS[question.value]),
          );
        }
      }
    };
  }
  return (answer, packed) => {
    // Recognises Sets of other windows too.
    const isSet = Object.prototype.toString.call(answer) === "[object Set]";
    const several = Array.isArray(answer) || isSet;
    const options = several ? [...(answer as Iterable<unknown>)] : [answer];
    if (several !== (kind === "set") || new Set(options).size < options.length) {
      throw wrong(answer);
    }
    for (const option of options) {
      const found =
        // Every person has to answer a choice.
        item(option, packed) ?? (kind === "choice" ? drawOptionIndex(question.options) : undefined);
      if (found !== undefined) {
        packed.add(found, 1);
      }
    }
  };
}

/** Returns the index of a uniformly random option. It does not depend on the answer. */
function drawOptionIndex(options: ChoiceQuestion["options"]): number {
  const count = typeof options === "number" ? options : options.length;
  const [word = 0] = crypto.getRandomValues(new Uint32Array(1));
  // Uniform up to a relative bias of count / 2³².
  return Math.floor((word / 2 ** 32) * count);
}

/** Reader that checks a person's answers to one task. */
export class InputReader {
  readonly #hasQuestions: boolean;
  /** Readers of answers, by the name of their question, in the order of the questions. */
  readonly #readerByQuestion: ReadonlyMap<string, AnswerReader>;

  /** @param keyOf returns the core's 64-bit key of a name, for questions without a list of names */
  constructor(task: Task, keyOf: (name: string) => bigint) {
    this.#hasQuestions = "questions" in task;
    const questions: readonly Question[] =
      "questions" in task ? task.questions : [{ ...task, name: "", kind: "ratings" }];
    this.#readerByQuestion = new Map(
      questions.map((each) => [each.name, answerReader(each, task.id, keyOf)]),
    );
  }

  /**
   * @throws AnswerError
   * @throws UnknownItemError
   * @throws ValueRangeError
   */
  packAnswers(input: unknown): PackedEntries {
    const entries = this.#hasQuestions ? namedValuesOf(input) : [["", input] as const];
    if (entries === undefined) {
      throw new AnswerError(undefined, input, "an object of answers by question");
    }
    const packed = new EntryBuffer();
    for (const [name, answer] of entries) {
      if (!this.#readerByQuestion.has(name)) {
        packed.unknownAnswerErrors.push(new AnswerError(name, answer, "none, as it is not asked"));
      }
    }
    const answers = new Map(entries);
    const lengths = Uint32Array.from(this.#readerByQuestion, ([name, reader]) => {
      const before = packed.items.length;
      try {
        reader(answers.get(name), packed);
      } catch (error) {
        // A name that is not known explains why another one is missing.
        throw packed.unknownAnswerErrors[0] ?? error;
      }
      return packed.items.length - before;
    });
    const { items, values, clippedCount: clipped, unknownAnswerErrors: unknown } = packed;
    // A key takes two 32-bit words, the low word first.
    const keyed = items.some((item) => typeof item === "bigint");
    return {
      entryCounts: lengths,
      items: keyed
        ? new Uint32Array(BigUint64Array.from(items, BigInt).buffer)
        : Uint32Array.from(items, Number),
      values: Float64Array.from(values),
      clippedCount: clipped,
      unknownAnswerErrors: unknown,
    };
  }
}
