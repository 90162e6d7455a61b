// Measures the project by each rule. A figure of a rule is a number of cases, with the location of
// each case.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { coreSources, cycleAndLayerViolations, parentModuleImports } from "../check-imports.mjs";
import { DEMO_COLLECTOR_CARGO_ARGS } from "./collector.mjs";
import { compiledFiles, enabledFeatures } from "./compiled-files.mjs";
import { WHOLE_PROJECT } from "./limits.mjs";
import { ROOT } from "./paths.mjs";
import { captureOutput, ExplainedError } from "./run.mjs";
import { codeLineCount, measureNonTestFiles } from "./rust-source.mjs";
import { nonIgnoredFiles } from "./tracked-files.mjs";
import { DEMO_MODULE_CARGO_ARGS, PACKAGE_MODULES } from "./wasm-modules.mjs";
import { fileWordingFigures } from "./words.mjs";

/** @typedef {import("./limits.mjs").Figure} Figure */

const PER_CENT = { per: 100, unit: "%" };
const PER_1000_LINES = { per: 1000, unit: "per 1,000 lines" };

/** @type {Readonly<Record<string, import("./limits.mjs").Rule>>} */
export const RULES = {
  "upward-arrows": { what: "imports of a name from the mod.rs or lib.rs of a folder around" },
  cycles: { what: "cycles of imports" },
  "public-items": { what: "public items, fields and re-exports", ...PER_1000_LINES },
  "long-functions": { what: "functions over 60 lines of code" },
  "long-files": { what: "files over 400 lines of code, tests excluded" },
  "shipped-lines": { what: "lines of Rust code that ship, tests excluded", step: 500 },
  "page-core": { what: "lines of code of the core that pages compile", step: 100 },
  "demo-crates": { what: "crates compiled for the demo" },
  "cfg-attributes": { what: "#[cfg] attributes in src" },
  panics: { what: "panic! and unreachable! in what ships" },
  commands: { what: "commands of hushbin" },
  flags: { what: "flags of hushbin" },
  "npm-entries": { what: "entries of code of the npm package" },
  "changelog-entries": { what: "entries of the changelog that are not one line with a tag" },
  openers: { what: "doc comments that do not open with a noun or a verb", ...PER_CENT },
  symbols: { what: "doc comments that are a symbol alone", ...PER_CENT },
  "dialect-words": { what: "dialect words in comments", per: 1000, unit: "per 1,000 words" },
  "long-sentences": { what: "sentences over 25 words", ...PER_CENT },
  "nested-sentences": { what: "sentences of three or more subordinate clauses", ...PER_CENT },
  "inverted-sentences": { what: "sentences that open with Of, What, Whoever, …", ...PER_CENT },
  walls: { what: "paragraphs over 90 words", ...PER_CENT },
  "dialect-phrases": { what: "dialect phrases", per: 10_000, unit: "per 10,000 words" },
};

/** Names of the project's areas, by folder. The first match counts, so inner folders come first. */
const AREAS = /** @type {const} */ ([
  ["server/analysis/", "analysis"],
  ["server/study/", "study"],
  ["server/", "server"],
  ["src/", "core"],
  ["www/client/", "client"],
  ["www/demo/", "demo"],
  ["www/dashboard/", "dashboard"],
  ["www/docs/", "book"],
  ["www/scripts/", "scripts"],
]);
const areaOf = (file) => AREAS.find(([folder]) => file.startsWith(folder))?.[1] ?? "other";

const MAX_FUNCTION_LINES = 60;
const MAX_FILE_LINES = 400;
const SHIPPED_FILE_PATTERN = /^(src|server\/src|server\/analysis\/src)\//;
const TESTS = /(^|\/)(tests?|benches)\/|\.test\./;

const read = (file) => readFileSync(join(ROOT, file), "utf8");
const toCases = (items, place, text) =>
  items.map((item) => ({ place: place(item), text: text(item) }));

/**
 * Measures the structure of Rust, TypeScript and JavaScript, such as the sizes of files and
 * functions.
 */
async function structureFigures() {
  const rust = (await nonIgnoredFiles(/\.rs$/)).filter((file) => !TESTS.test(file));
  const measured = measureNonTestFiles(new Map(rust.map((file) => [file, read(file)])));
  const ships = measured.filter(({ file }) => SHIPPED_FILE_PATTERN.test(file));
  const scripts = (await nonIgnoredFiles(/\.(ts|mjs)$/)).filter((file) => !TESTS.test(file));
  const lengths = [
    ...measured.map(({ file, code }) => ({ file, code })),
    ...scripts.map((file) => ({ file, code: codeLineCount(read(file)) })),
  ];
  const longest = (items) => [...items].sort((a, b) => b.code - a.code);
  const places = (files, of) =>
    files.flatMap((file) =>
      toCases(
        of(file),
        ({ line }) => `${file.file}:${line}`,
        ({ text }) => text,
      ),
    );
  const publics = (area) => {
    const files = ships.filter(({ file }) => areaOf(file) === area);
    return {
      found: places(files, ({ publics }) => publics),
      of: files.reduce((sum, { lines }) => sum + lines, 0),
    };
  };
  const functions = measured.flatMap(({ file, functions }) =>
    functions.map((each) => ({ file, ...each })),
  );
  const core = ships.filter(({ file }) => areaOf(file) === "core");
  const kept = new Set(measured.map(({ file }) => file));
  return {
    "upward-arrows": wholeProjectFigure({
      found: toCases(
        await parentModuleImports((file) => kept.has(file)),
        ({ from, line }) => `${from}:${line}`,
        ({ name, through, to }) => `${name}, of ${through ?? to}`,
      ),
    }),
    cycles: wholeProjectFigure({
      found: toCases(
        (await cycleAndLayerViolations()).filter((text) => text.startsWith("cycle")),
        () => "",
        (text) => text,
      ),
    }),
    "public-items": { core: publics("core"), analysis: publics("analysis") },
    "long-functions": wholeProjectFigure({
      found: toCases(
        longest(functions.filter(({ code }) => code > MAX_FUNCTION_LINES)),
        ({ file, line }) => `${file}:${line}`,
        ({ name, code }) => `${name}: ${code} lines`,
      ),
    }),
    "long-files": wholeProjectFigure({
      found: toCases(
        longest(lengths.filter(({ code }) => code > MAX_FILE_LINES)),
        ({ file }) => file,
        ({ code }) => `${code} lines`,
      ),
    }),
    "shipped-lines": wholeProjectFigure({
      found: toCases(
        longest(ships),
        ({ file }) => file,
        ({ code }) => `${code} lines`,
      ),
      count: ships.reduce((sum, { code }) => sum + code, 0),
    }),
    "cfg-attributes": wholeProjectFigure({ found: places(core, ({ cfgs }) => cfgs) }),
    panics: wholeProjectFigure({ found: places(ships, ({ panics }) => panics) }),
  };
}

/**
 * Measures the source files from which the modules of pages are compiled, and the total for each
 * module.
 */
async function pageCore() {
  const core = await coreSources();
  const manifest = read("Cargo.toml");
  const modules = PACKAGE_MODULES.map(([name, , options]) => ({
    name,
    files: compiledFiles("src", core, enabledFeatures(manifest, options)),
  }));
  const files = [...new Map(modules.flatMap(({ files }) => files.map((own) => [own.file, own])))];
  const all = { name: "all", files: files.map(([, own]) => own) };
  const sum = (files, of) => files.reduce((lines, file) => lines + of(file), 0);
  const text = ({ lines, code }) => `${lines} lines, ${code} of them code`;
  const modulesSummed = [all, ...modules].map(({ name, files }) => ({
    place: `module ${name}:`,
    text: text({ lines: sum(files, ({ lines }) => lines), code: sum(files, ({ code }) => code) }),
  }));
  const longest = all.files.sort((a, b) => b.code - a.code);
  return wholeProjectFigure({
    found: [...modulesSummed, ...toCases(longest, ({ file }) => file, text)],
    count: sum(all.files, ({ code }) => code),
  });
}

/** @param {Figure} figure */
const wholeProjectFigure = (figure) => ({ [WHOLE_PROJECT]: figure });

/** Options of cargo that build each program and module of the demo. */
const DEMO_BUILD_CARGO_ARGS = [
  DEMO_COLLECTOR_CARGO_ARGS,
  ...[
    ...PACKAGE_MODULES.map(([, , features]) => ["--package", "hushbin", ...features]),
    DEMO_MODULE_CARGO_ARGS,
  ].map((args) => [...args, "--target", "wasm32-unknown-unknown"]),
];

/**
 * Returns the packages that `cargo tree --prefix none --format {p}` has printed.
 *
 * @param {string} tree
 * @returns {string[]}
 */
export const packagesInCargoTree = (tree) => [
  ...new Set(tree.split("\n").map((line) => line.split(" ").slice(0, 2).join(" "))),
];

/**
 * Counts the crates that cargo compiles for the programs and modules of the demo. A crate counts
 * once for this machine and once for WebAssembly.
 */
async function demoCratesFigure() {
  const found = new Set();
  for (const args of DEMO_BUILD_CARGO_ARGS) {
    const tree = ["tree", "--locked", ...args, "--edges", "normal,build", "--prefix", "none"];
    const listed = await captureOutput("cargo", [...tree, "--format", "{p}"]);
    if (listed === undefined) {
      throw new ExplainedError(`cargo ${tree.join(" ")} failed`);
    }
    const target = args.includes("--target") ? "module" : "program";
    for (const name of packagesInCargoTree(listed)) {
      found.add(`${target}: ${name}`);
    }
  }
  return figureListingNames([...found].sort());
}

/** Returns a figure whose cases are these names. */
const figureListingNames = (names) => ({ found: names.map((name) => ({ place: name, text: "" })) });

/**
 * Returns the public names that users have to learn: commands, flags and exports.
 *
 * @param {string} page the book's page of commands
 * @param {Record<string, unknown>} exports of the npm package
 */
export function commandsFlagsAndExports(page, exports) {
  const commands = [...page.matchAll(/^## `hushbin ([^`]*)`/gm)].map(([, name = ""]) => name);
  const flags = [...page.matchAll(/^\| `([^`]*)`/gm)].flatMap(
    ([, argument = ""]) => argument.match(/--[a-z][a-z-]*/g) ?? [],
  );
  return {
    commands,
    flags: [...new Set(flags)].sort(),
    "npm-entries": Object.keys(exports).filter((name) => !/\.\w+$/.test(name)),
  };
}

/**
 * Returns the unreleased entries of the changelog that lack the required form: one line that starts
 * with the kind of change.
 *
 * @param {string} changelog
 * @returns {import("./limits.mjs").Case[]}
 */
export function malformedChangelogEntries(changelog) {
  const [before = "", unreleased = ""] = changelog.split(/^## Unreleased$/m);
  const first = before.split("\n").length;
  const lines = (unreleased.split(/^## /m)[0] ?? "").split("\n");
  return lines.flatMap((text, at) => {
    const entry = text.startsWith("- ");
    const tagged = /^- \*\*(added|changed|fixed|removed|security)\*\*:? \S/.test(text);
    const goesOn = /^\s+\S/.test(lines[at + 1] ?? "");
    return entry && (!tagged || goesOn) ? [{ place: `CHANGELOG.md:${first + at}`, text }] : [];
  });
}

/** Names of the rules whose cases are sorted by length, because the longest cases are the worst. */
const RULES_SORTED_BY_LENGTH = ["long-sentences", "nested-sentences", "walls"];

/** Measures the wording of comments and prose, for each rule and area. */
async function wordingFigures() {
  /** @type {Record<string, Record<string, { found: import("./limits.mjs").Case[], of: number }>>} */
  const all = {};
  for (const file of await nonIgnoredFiles(/\.(rs|ts|mjs|md)$/)) {
    const area = areaOf(file);
    for (const [rule, { found, of }] of Object.entries(
      fileWordingFigures(file, read(file)) ?? {},
    )) {
      const areas = all[rule] ?? {};
      all[rule] = areas;
      const before = areas[area] ?? { found: [], of: 0 };
      const place = ({ line }) => `${file}:${line}`;
      areas[area] = {
        found: [...before.found, ...toCases(found, place, ({ text }) => text)],
        of: (before.of ?? 0) + of,
      };
    }
  }
  for (const { found } of RULES_SORTED_BY_LENGTH.flatMap((rule) =>
    Object.values(all[rule] ?? {}),
  )) {
    found.sort((a, b) => b.text.length - a.text.length);
  }
  return all;
}

/**
 * Measures the project by all rules.
 *
 * @returns {Promise<Record<string, Record<string, Figure>>>} figures by rule and area
 */
export async function figures() {
  const { exports } = JSON.parse(read("package.json"));
  const learned = commandsFlagsAndExports(read("www/docs/src/reference/cli.md"), exports);
  const measured = {
    ...(await structureFigures()),
    "page-core": await pageCore(),
    "changelog-entries": wholeProjectFigure({
      found: malformedChangelogEntries(read("CHANGELOG.md")),
    }),
    "demo-crates": wholeProjectFigure(await demoCratesFigure()),
    ...Object.fromEntries(
      Object.entries(learned).map(([rule, names]) => [
        rule,
        wholeProjectFigure(figureListingNames(names)),
      ]),
    ),
    ...(await wordingFigures()),
  };
  return Object.fromEntries(
    Object.keys(RULES).map((rule) => [
      rule,
      Object.fromEntries(
        Object.entries(measured[rule] ?? {}).sort(([a], [b]) => a.localeCompare(b)),
      ),
    ]),
  );
}
