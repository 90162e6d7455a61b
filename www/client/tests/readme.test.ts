/** Compares the lists in the package's README with the source. */

import { readFileSync } from "node:fs";
import { expect, it } from "vitest";

const read = (file: string) => readFileSync(new URL(`../${file}`, import.meta.url), "utf8");
const README = read("README.md");

/** Returns the first column of the table under a heading. */
function listed(heading: string): string[] {
  const [, section = ""] = README.split(`\n${heading}`);
  const [table = ""] = (section.split("\n|---")[1] ?? "").split("\n## ");
  return [...table.matchAll(/^\| `([\w-]+)` \|/gm)].map(([, name = ""]) => name);
}

/** Returns the names that a source declares between two texts. */
function declared(file: string, from: string, to: string, name: RegExp): string[] {
  const [, rest = ""] = read(file).split(from);
  const [body = ""] = rest.split(to);
  return [...body.matchAll(name)].map(([, found = ""]) => found);
}

it("lists every code of an error, with the class that has it", () => {
  const codes = declared("errors.ts", "export type ErrorCode =", ";", /"([\w-]+)"/g);
  expect(listed("## Errors")).toEqual(codes);
  const ofTasks = declared("errors.ts", "export type TaskErrorCode =", ";", /"([\w-]+)"/g);
  for (const code of codes) {
    const named = new RegExp(`class (\\w+) extends BaseError \\{\\s+readonly code = "${code}"`);
    const expected = ofTasks.includes(code) ? "TaskError" : named.exec(read("errors.ts"))?.[1];
    expect(README).toContain(`| \`${code}\` | \`${expected}\` |`);
  }
});

it("lists every option", () => {
  const kinds = [
    "interface Common",
    "interface ReportSealing",
    "type Local",
    "interface Sum",
    "type Client",
    "interface LabelOption",
  ];
  const options = kinds.flatMap((kind) => {
    const found = declared("options.ts", `export ${kind}`, "\n}", /readonly (\w+)\??:/g);
    expect(found.length, kind).toBeGreaterThan(0);
    return found;
  });
  expect(listed("## Options").sort()).toEqual([...new Set(options)].sort());
});

it("lists every reason why nothing was reported", () => {
  const reasons = declared("receipt.ts", "readonly reason?:", ";", /"([\w-]+)"/g);
  expect(listed("## Report")).toEqual(reasons);
});
