// The questions of the command. Each has a flag, and is asked at the terminal if the flag is missing.

import { maximumCertaintyPercent } from "../client/certainty.js";
import { checkFree, pathsOf } from "./files.js";
import { InputError, parseError, parsePeople } from "./input.js";
import { type Asked, KINDS, type Kind } from "./kinds.js";
import { checkTask, chooseEpsilon, type Planned, plusMinus, visitors } from "./planner.js";
import { bold, explainErrors, print, type Terminal } from "./terminal.js";

/** Values of the flags that are given. */
export type Flags = Readonly<
  Partial<Record<Kind["flag"] | "at-most" | "people" | "error" | "id" | "out", string>>
>;

/** Answers to all questions, and the plan that they lead to. */
export interface Interview {
  readonly id: string;
  readonly asked: Asked;
  readonly plan: Planned;
}

/** Parses the value of a flag. An error names the flag. */
function parseFlag<T>(name: keyof Flags, value: string, parse: (text: string) => T): T {
  try {
    return parse(value.trim());
  } catch (error) {
    throw error instanceof InputError ? new InputError(`--${name}: ${error.message}`) : error;
  }
}

/** Returns the kind whose flag is given, if there is one. */
function givenKind(flags: Flags): Kind | undefined {
  const [kind, other] = KINDS.filter(({ flag }) => flags[flag] !== undefined);
  if (kind !== undefined && other !== undefined) {
    throw new InputError(`--${kind.flag} and --${other.flag} are given, expected one of them`);
  }
  if ((kind?.flag === "set") !== (flags["at-most"] !== undefined)) {
    throw new InputError("only one of --set and --at-most is given, expected both");
  }
  return kind;
}

/** Throws an {@link InputError} if a flag is missing for which nobody could be asked. */
function requireFlags(flags: Flags, kind: Kind | undefined): void {
  const kinds = KINDS.map(({ flag }) => `--${flag}`).join(", ");
  const missing = [
    ...(flags.people === undefined ? ["--people"] : []),
    ...(flags.error === undefined ? ["--error"] : []),
    ...(kind === undefined ? [`one of ${kinds}`] : []),
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
  return [name.trim(), rest.trim(), ...(atMost === undefined ? [] : [atMost.trim()])];
}

/** Checks the parts of a question, and the names in them. */
function askedOf(kind: Kind, parts: readonly string[]): Asked {
  kind.parts.forEach(({ check }, at) => void check(parts[at] ?? ""));
  const asked = kind.asked(parts);
  checkTask(asked.id, asked);
  return asked;
}

/** Asks what the user wants to know. */
async function askWhat(terminal: Terminal): Promise<Asked> {
  print(bold("1. What do you want to know?"));
  KINDS.forEach(({ words }, at) => void print(`   ${at + 1}  ${words}`));
  const kind = await terminal.ask(`Choose 1 to ${KINDS.length}`, (answer) => {
    const chosen = /^\d$/.test(answer) ? KINDS[Number(answer) - 1] : undefined;
    if (chosen === undefined) {
      throw new InputError(`"${answer}" is none of them, expected 1 to ${KINDS.length}`);
    }
    return chosen;
  });
  for (;;) {
    const parts: string[] = [];
    for (const { prompt, check } of kind.parts) {
      const checked = (answer: string) => {
        check(answer);
        return answer;
      };
      parts.push(await terminal.ask(prompt, checked));
    }
    const asked = explainErrors(() => askedOf(kind, parts));
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
  const kind = givenKind(flags);
  if (!terminal.isInteractive) {
    requireFlags(flags, kind);
  }
  const asked =
    kind === undefined
      ? await askWhat(terminal)
      : parseFlag(kind.flag, flags[kind.flag] ?? "", (text) =>
          askedOf(kind, flagParts(kind, text, flags["at-most"])),
        );
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
