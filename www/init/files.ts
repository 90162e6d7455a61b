// Files that the command writes.

import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { InputError } from "./input.js";
import type { Asked } from "./kinds.js";
import type { Planned } from "./planner.js";

/** Address at which the printed command starts a collector. */
export const COLLECTOR_ADDRESS = "127.0.0.1:8080";

/** Paths of the written files. */
export interface Paths {
  readonly task: string;
  readonly module: string;
  readonly page: string;
}

export function pathsOf(folder: string, id: string): Paths {
  const path = (name: string) => join(folder, name);
  return { task: path(`${id}.json`), module: path(`${id}.ts`), page: path(`${id}-page.ts`) };
}

/** Throws an {@link InputError} if a file would be overwritten. */
export function checkFree(paths: Paths): void {
  const existing = Object.values(paths).find((path) => existsSync(path));
  if (existing !== undefined) {
    throw new InputError(
      `${existing} exists and is not overwritten, expected another id or folder`,
    );
  }
}

/** Formats a name as a property of an object. A quoted `__proto__` would set the prototype. */
const property = (name: string) =>
  name === "__proto__"
    ? '["__proto__"]'
    : /^[A-Za-z_$][\w$]*$/.test(name)
      ? name
      : JSON.stringify(name);

/** Formats the answers of one visitor as code that a comment may contain. */
function answersCode(example: Asked["example"]): string {
  const fields = Object.entries(example).map(
    ([name, answer]) => `${property(name)}: ${JSON.stringify(answer)}`,
  );
  return `{ ${fields.join(", ")} }`.replaceAll("*/", String.raw`*\/`);
}

/** Returns code by which a page reports. A page may import it before the person agrees. */
const pageCode = (
  id: string,
  { example }: Asked,
) => `import { createClient, type ReportInput } from "hushbin";
import { task } from "./${id}";

// The address of your collector.
const client = createClient({ endpoint: "http://${COLLECTOR_ADDRESS}", task });

/**
 * Reports a person's own answers. Call this only after the person agrees. A browser sends one report
 * in 30 days, however often this runs.
 *
 * @example
 * report(${answersCode(example)});
 */
export function report(answers: ReportInput<typeof task>): void {
  client.grant();
  client.record(answers);
}
`;

/** Writes the files of a task. Existing files are never overwritten. */
export function writeFiles(folder: string, paths: Paths, id: string, asked: Asked, plan: Planned) {
  checkFree(paths);
  mkdirSync(folder, { recursive: true });
  const write = (path: string, text: string) => writeFileSync(path, text, { flag: "wx" });
  write(paths.task, plan.task_file);
  write(paths.module, plan.module);
  write(paths.page, pageCode(id, asked));
}
