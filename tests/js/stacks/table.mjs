// Generates the book's table of stacks from the list that the tests run.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { STACKS } from "./list.mjs";

const FOLDER = import.meta.dirname;
export const CHAPTER = join(FOLDER, "../../../www/docs/src/page/stacks.md");
const BLOCK = /(?<=<!-- stacks: .*-->\n)[\s\S]*?(?=<!-- \/stacks -->)/;

/** @param {import("./list.mjs").Stack} stack */
function ran({ build, start, run, page, asks = [] }) {
  const commands = [build, start, run]
    .filter((command) => command !== undefined)
    .map((command) => `\`${command.replace(/ --port PORT.*| --socket-addr\S+/, "")}\``);
  const reports = [...(page ? ["in each engine"] : []), ...asks.map((path) => `from \`${path}\``)];
  const where = reports.length > 0 ? `${reports.join(", ")}` : "once";
  return [...commands, where].join("; ");
}

/** @returns {string} the table, with the tools' versions from the lock file */
function table() {
  const { packages } = JSON.parse(readFileSync(join(FOLDER, "package-lock.json"), "utf8"));
  const rows = STACKS.map((stack) => {
    const version = stack.tool === undefined ? "" : packages[`node_modules/${stack.tool}`].version;
    return `| ${stack.name} | ${version} | ${ran(stack)} |`;
  });
  return ["| stack | version | what ran and reported |", "|---|---|---|", ...rows].join("\n");
}

const chapter = () => readFileSync(CHAPTER, "utf8");

/** Returns whether the chapter has the table of this list and these versions. */
export const tableIsCurrent = () => (chapter().match(BLOCK)?.[0] ?? "").includes(`\n${table()}\n`);

/**
 * Returns the chapter, with a new table if the current one is outdated.
 *
 * @param {readonly string[]} seen names and versions of the engines that ran the stacks
 */
export function chapterAfter(seen) {
  if (tableIsCurrent()) {
    return chapter();
  }
  return chapter().replace(BLOCK, `\n${table()}\n\nLast run with ${seen.join(", ")}.\n\n`);
}
