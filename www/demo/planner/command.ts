// The `hushbin plan` command that makes the same plan as the page.

import type { Survey } from "../shared/analysis.js";
import { isSumInput } from "./curves.js";
import type { PlannerInput } from "./state.js";

/** Formats fields as options of the command `hushbin plan`. */
function commandLineOptions(fields: object): string[] {
  return Object.entries(fields).map(([name, value]) => `--${name.replaceAll("_", "-")} ${value}`);
}

/**
 * Returns fields that describe the parts `of` a question, to be formatted as options of the
 * command.
 */
function questionPartFields(kind: string, of: readonly Record<string, unknown>[]): object {
  const [first = {}, { options: columns, min, max } = {}] = of;
  if (kind === "numbers") return { numbers: of.length, min: first.min, max: first.max };
  if (kind === "together") return { options: of.map(({ options = 2 }) => options).join(",") };
  if (kind !== "cross") return {};
  const { options } = first;
  return columns === undefined ? { options, min, max } : { options, columns };
}

/**
 * Returns the words of the command that makes the same plan. Returns null if the command has no
 * option for one of the inputs. `id` is the id of the task.
 */
export function planCommand(input: PlannerInput, id: string): string[] | null {
  if (isSumInput(input)) return [`hushbin plan --task ${id}.json`];
  const { questions, wanted, ...known } = input;
  const [question] = questions;
  if (!question) return null;
  // The options describe one question. Several questions need a file.
  if (questions.length > 1) return severalQuestionsCommand(input, id);
  const { name, of, mechanism, ...fields } = question;
  if (question.kind === "ratings") {
    const { objective, level } = mechanism as { objective: unknown; level: string };
    if (typeof objective === "object") return null;
    const { kind: _, items, sparsity, value } = question;
    const own = { items, sparsity, value, objective, level };
    return ["hushbin plan", ...commandLineOptions({ ...own, ...known, ...wanted?.[name] })];
  }
  return [
    "hushbin plan",
    ...commandLineOptions(fields),
    ...commandLineOptions(questionPartFields(question.kind, Array.isArray(of) ? of : [])),
    ...commandLineOptions(wanted?.[name] ?? {}),
    ...commandLineOptions(known),
  ];
}

/**
 * Returns the words of the command for several questions, which the command reads from its standard
 * input.
 */
function severalQuestionsCommand({ questions, wanted, ...known }: Survey, id: string): string[] {
  const each = Object.entries(wanted ?? {}).flatMap(([name, own]) =>
    Object.entries(own).map(([field, value]) => `--${field} ${name}=${value}`),
  );
  return [
    // Names and numbers contain no apostrophe, which would end the shell's quotes.
    `echo '${JSON.stringify({ id, questions })}' |`,
    "hushbin plan --task /dev/stdin",
    ...each,
    ...commandLineOptions(known),
  ];
}
