#!/usr/bin/env node
// The command `npx hushbin init`: writes a task, its TypeScript module and code that reports.

import { parseArgs } from "node:util";
import { COLLECTOR_ADDRESS, type Paths, pathsOf, writeFiles } from "./files.js";
import { InputError } from "./input.js";
import { type Flags, interview } from "./interview.js";
import { bold, Interrupted, print, Terminal } from "./terminal.js";

const COLLECTOR_PAGE =
  "https://github.com/hushbin/hushbin/blob/main/www/docs/src/operate/run.md#get-it";

const USAGE = `Usage: npx hushbin init [OPTIONS]

Asks what you want to know, how many visitors report and how exact the answer must be. Writes a task
for the collector, the same task for your page, and code that reports. Options answer the questions,
so that no terminal is needed.

What you want to know. All but --number may be given together and repeated:
  --flags A,B              yes/no settings
  --choice NAME=A,B,C      one of several options
  --set NAME=A,B,C         several of many options, with --at-most
  --at-most N              number of options that one person has at most
  --number NAME=0..30s     a number, with its range and unit

  --people N               number of visitors who agree to report, in 30 days
  --error E                error of the estimates at 95 % confidence, in percentage points or in the
                           unit of the number
  --id ID                  name of the task and of its files (default from the question)
  --out DIR                folder of the files (default the current one)
  --help                   print this text`;

const text = { type: "string" } as const;
const question = { type: "string", multiple: true } as const;
const QUESTION_OPTIONS = { flags: question, choice: question, set: question, number: question };
const OPTIONS = {
  ...QUESTION_OPTIONS,
  "at-most": text,
  ...{ people: text, error: text, id: text, out: text },
  help: { type: "boolean" },
} as const;

/** Parses the arguments. Returns undefined if they ask for help. */
function parseArguments(args: readonly string[]): Flags | undefined {
  const [command, ...others] = args;
  if (command === "--help" || command === "help") {
    return undefined;
  }
  if (command !== "init") {
    const given = command === undefined ? "no command" : `the command "${command}"`;
    throw new InputError(
      `${given} is given, expected npx hushbin init; the collector is a program of its own: ` +
        COLLECTOR_PAGE,
    );
  }
  try {
    const { values, tokens } = parseArgs({ args: others, options: OPTIONS, tokens: true });
    const { help, flags, choice, set, number, ...rest } = values;
    const questions = tokens.flatMap((token) =>
      token.kind === "option" && token.name in QUESTION_OPTIONS
        ? [[token.name, token.value ?? ""] as const]
        : [],
    );
    return help ? undefined : { ...rest, questions };
  } catch (error) {
    const { message } = error as Error;
    throw new InputError(
      `${message.split(/\. |\n/)[0]}; npx hushbin init --help lists all options`,
    );
  }
}

/** Quotes a path for a shell, unless it has plain characters only. */
const quoted = (path: string) =>
  /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;

function printNextSteps({ task, module, page }: Paths): void {
  print(`${bold("Written:")}
  ${task}: the task, for the collector
  ${module}: the same task, for your page
  ${page}: code that reports

${bold("Next:")}
  1. Get the collector, a program of its own:
     ${COLLECTOR_PAGE}
  2. Start it, and leave it running:
     hushbin serve --data data --task ${quoted(task)} --listen ${COLLECTOR_ADDRESS} --development
  3. Import report from ${page} into your page, and call it after the person agrees.
  4. See the estimates: http://${COLLECTOR_ADDRESS}/dashboard/`);
}

async function run(args: readonly string[]): Promise<void> {
  const flags = parseArguments(args);
  if (flags === undefined) {
    return print(USAGE);
  }
  const terminal = new Terminal();
  try {
    const { id, asked, plan } = await interview(flags, terminal);
    const folder = flags.out ?? ".";
    const paths = pathsOf(folder, id);
    writeFiles(folder, paths, id, asked, plan);
    printNextSteps(paths);
  } finally {
    terminal.close();
  }
}

/** Exit codes. Input that cannot be used has the code of wrong usage. */
const [FAILED, WRONG_USAGE, INTERRUPTED] = [1, 2, 130];

function exitCode(error: unknown): number {
  if (error instanceof Interrupted) {
    process.stderr.write("\nhushbin: interrupted, nothing was written\n");
    return INTERRUPTED;
  }
  process.stderr.write(`hushbin: ${(error as Error).message}\n`);
  if (error instanceof InputError) {
    return WRONG_USAGE;
  }
  // An error of the file system explains itself. All else is a fault of this command.
  if (!(error instanceof Error && "syscall" in error)) {
    console.error(error);
  }
  return FAILED;
}

run(process.argv.slice(2)).catch((error: unknown) => {
  process.exitCode = exitCode(error);
});
