// The questions of the command. Each has a flag, and is asked at the terminal if the flag is missing.

import { maximumCertaintyPercent } from "../client/certainty.js";
import { checkFree, pathsOf } from "./files.js";
import { InputError, parseError, parsePeople } from "./input.js";
import { type Asked, joined, KINDS, type Kind, SHARE_KINDS } from "./kinds.js";
import { checkTask, chooseEpsilon, type Planned, plusMinus, visitors } from "./planner.js";
import { bold, explainErrors, print, type Terminal } from "./terminal.js";

/** Values of the flags that are given. */
export interface Flags
  extends Readonly<Partial<Record<"at-most" | "people" | "error" | "id" | "out", string>>> {
  /** Questions in the order of the flags, each with its flag. */
  readonly questions: readonly (readonly [flag: string, value: string])[];
}

/** Answers to all questions, and the plan that they lead to. */
export interface Interview {
  readonly id: string;
  readonly asked: Asked;
  readonly plan: Planned;
}

/** Parses the value of a flag. An error names the flag. */
function parseFlag<T>(name: string, value: string, parse: (text: string) => T): T {
  try {
    return parse(value.trim());
  } catch (error) {
    throw error instanceof InputError ? new InputError(`--${name}: ${error.message}`) : error;
  }
}

/** Questions that flags give, each with its kind. */
type GivenQuestions = readonly (readonly [kind: Kind, value: string])[];

/** Returns the questions whose flags are given. */
function givenQuestions(flags: Flags): GivenQuestions {
  const given = flags.questions.flatMap(([flag, value]) =>
    KINDS.filter((kind) => kind.flag === flag).map((kind) => [kind, value] as const),
  );
  const has = (flag: Kind["flag"]) => given.some(([kind]) => kind.flag === flag);
  if (given.length > 1 && has("number")) {
    throw new InputError(
      "--number and another question are given, expected a task of its own for each number",
    );
  }
  if (has("set") !== (flags["at-most"] !== undefined)) {
    throw new InputError("only one of --set and --at-most is given, expected both");
  }
  return given;
}

/** Throws an {@link InputError} if a flag is missing for which nobody could be asked. */
function requireFlags(flags: Flags, given: GivenQuestions): void {
  const kinds = KINDS.map(({ flag }) => `--${flag}`).join(", ");
  const missing = [
    ...(flags.people === undefined ? ["--people"] : []),
    ...(flags.error === undefined ? ["--error"] : []),
    ...(given.length === 0 ? [`one of ${kinds}`] : []),
  ];
  if (missing.length > 0) {
    throw new InputError(`there is no terminal to ask at, expected ${missing.join(" and ")}`);
  }
}

/** Splits the value of a kind's flag into the parts that a terminal asks for. */
function flagParts(kind: Kind, value: string, atMost: string | undefined): string[] {
  if (kind.parts.length === 1) {
    return [value];
  }
  const [, name, rest] = /^([^=]*)=(.*)$/.exec(value) ?? [];
  if (name === undefined || rest === undefined) {
    throw new InputError(`"${value}" has no "=", expected a name, "=" and ${kind.afterName}`);
  }
  const isSet = kind.flag === "set";
  return [name.trim(), rest.trim(), ...(isSet ? [atMost?.trim() ?? ""] : [])];
}

/** Checks the parts of a question, and the names in them. */
function askedOf(kind: Kind, parts: readonly string[]): Asked {
  kind.parts.forEach(({ check }, at) => void check(parts[at] ?? ""));
  const asked = kind.asked(parts);
  checkTask(asked.id, asked);
  return asked;
}

/** Returns the kind with this number in the menu. */
function chosenKind(answer: string, kinds: readonly Kind[]): Kind {
  const chosen = /^\d$/.test(answer) ? kinds[Number(answer) - 1] : undefined;
  if (chosen === undefined) {
    throw new InputError(`"${answer}" is none of them, expected 1 to ${kinds.length}`);
  }
  return chosen;
}

/** Asks what the user wants to know. */
async function askWhat(terminal: Terminal): Promise<Asked> {
  print(bold("1. What do you want to know?"));
  KINDS.forEach(({ words }, at) => void print(`   ${at + 1}  ${words}`));
  const all: Asked[] = [];
  let kind: Kind | undefined = await terminal.ask(`Choose 1 to ${KINDS.length}`, (answer) =>
    chosenKind(answer, KINDS),
  );
  while (kind !== undefined) {
    all.push(await askParts(kind, all, terminal));
    kind =
      kind.flag === "number"
        ? undefined
        : await terminal.ask("Enter, or 1 to 3 for another question", (answer) =>
            answer === "" ? undefined : chosenKind(answer, SHARE_KINDS),
          );
  }
  return joined(all);
}

/** Asks for the parts of one question, whose names differ from those of earlier ones. */
async function askParts(kind: Kind, earlier: readonly Asked[], terminal: Terminal): Promise<Asked> {
  for (;;) {
    const parts: string[] = [];
    for (const { prompt, check } of kind.parts) {
      const checked = (answer: string) => {
        check(answer);
        return answer;
      };
      parts.push(await terminal.ask(prompt, checked));
    }
    const asked = explainErrors(() => {
      const own = askedOf(kind, parts);
      const all = joined([...earlier, own]);
      checkTask(all.id, all);
      return own;
    });
    if (asked !== undefined) {
      return asked.value;
    }
  }
}

/** Returns the id of the task, whose files must not exist. */
async function chooseId(flags: Flags, asked: Asked, terminal: Terminal): Promise<string> {
  const check = (id: string) => {
    checkTask(id, asked);
    checkFree(pathsOf(flags.out ?? ".", id));
    return id;
  };
  if (flags.id !== undefined) {
    return parseFlag("id", flags.id, check);
  }
  if (!terminal.isInteractive) {
    return check(asked.id);
  }
  const free = explainErrors(() => check(asked.id));
  return free?.value ?? terminal.ask("Another id for the task", check);
}

async function choosePeople(flags: Flags, check: (people: number) => void, terminal: Terminal) {
  const parse = (text: string) => {
    const people = parsePeople(text);
    check(people);
    return people;
  };
  if (flags.people !== undefined) {
    return parseFlag("people", flags.people, parse);
  }
  print(bold("2. How many visitors report in 30 days? Count only those who agree to it."));
  return terminal.ask("Visitors, such as 10000", parse);
}

function printCost(plan: Planned, asked: Asked, wanted: number): void {
  const { epsilon, error, errorAtOne, people, spending } = plan;
  const more = error < 0.9 * wanted ? ", more exact than you asked" : "";
  const milder =
    errorAtOne === undefined
      ? ""
      : ` ε = 1 would protect them better, and give ${plusMinus(errorAtOne, asked)}.`;
  print(`
ε = ${epsilon} is enough: ${visitors(people)} give ${asked.estimate} to ${plusMinus(error, asked)} (95 % confidence)${more}.${milder}
A guess about a visitor that was 50 % sure becomes at most ${maximumCertaintyPercent(epsilon)} % sure after a report.
${spending}
`);
}

/** Asks for an error until the user accepts what it costs. */
async function askPlan(
  terminal: Terminal,
  { unit, errorLimit }: Asked,
  planFor: (text: string) => Planned,
): Promise<Planned> {
  const inUnit = unit === "points" ? " in percentage points" : unit && ` in ${unit}`;
  print(bold("3. How exact?"));
  const example = Number((errorLimit / 25).toPrecision(1));
  let plan = await terminal.ask(`Error${inUnit}, such as ${example}`, planFor);
  for (;;) {
    const next = await terminal.ask("Enter to write the files, or another error", (answer) =>
      answer === "" ? undefined : planFor(answer),
    );
    if (next === undefined) {
      return plan;
    }
    plan = next;
  }
}

/** Takes the answers from the flags, and asks for the others. */
export async function interview(flags: Flags, terminal: Terminal): Promise<Interview> {
  const given = givenQuestions(flags);
  if (!terminal.isInteractive) {
    requireFlags(flags, given);
  }
  const fromFlags = given.map(([kind, value]) =>
    parseFlag(kind.flag, value, (text) => askedOf(kind, flagParts(kind, text, flags["at-most"]))),
  );
  const asked = given.length === 0 ? await askWhat(terminal) : joined(fromFlags);
  checkTask(asked.id, asked);
  const id = await chooseId(flags, asked, terminal);
  const people = await choosePeople(flags, (own) => checkTask(id, asked, own), terminal);
  const planFor = (text: string) => {
    const wanted = parseError(text, asked.unit, asked.errorLimit);
    const plan = chooseEpsilon(id, asked, people, wanted);
    printCost(plan, asked, wanted);
    return plan;
  };
  const plan =
    flags.error === undefined
      ? await askPlan(terminal, asked, planFor)
      : parseFlag("error", flags.error, planFor);
  return { id, asked, plan };
}
