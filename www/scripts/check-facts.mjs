// Checks that facts which several files state agree, and that the files which documents name exist.
//
//   node www/scripts/check-facts.mjs

import { readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { tableIsCurrent } from "../../tests/js/stacks/table.mjs";
import { ROOT } from "./lib/paths.mjs";
import { ExplainedError, main } from "./lib/run.mjs";
import { nonIgnoredFiles } from "./lib/tracked-files.mjs";

const readRepositoryFile = (file) => readFileSync(join(ROOT, file), "utf8");

function firstMatch(file, pattern) {
  const [, value] = readRepositoryFile(file).match(pattern) ?? [];
  if (value === undefined) {
    throw new ExplainedError(`${file} has nothing like ${pattern}`);
  }
  return value;
}

const RELEASES_DOC_PATH = "www/docs/src/reference/releases.md";
const BROWSER_VERSIONS_PATTERN = /(Chrome \d+, Firefox \d+, Safari \d+)/;

/**
 * Returns the facts on which files disagree.
 *
 * @returns {string[]}
 */
function disagreements() {
  const manifest = firstMatch("Cargo.toml", /^rust-version = "([\d.]+)"$/m);
  const rust = [
    ["rust-toolchain.toml", firstMatch("rust-toolchain.toml", /^channel = "(\d+\.\d+)[\d.]*"$/m)],
    ["README.md", firstMatch("README.md", /Rust (\d+\.\d+)/)],
    [".github/CONTRIBUTING.md", firstMatch(".github/CONTRIBUTING.md", /Rust (\d+\.\d+)/)],
    [RELEASES_DOC_PATH, firstMatch(RELEASES_DOC_PATH, /Rust (\d+\.\d+)/)],
  ];
  const { engines, version } = JSON.parse(readRepositoryFile("package.json"));
  const node = engines.node.replace(">=", "");
  const asked = ["README.md", ".github/CONTRIBUTING.md", RELEASES_DOC_PATH];
  // The comment of FEATURES lists the oldest browsers.
  const browsers = firstMatch("www/scripts/lib/wasm.mjs", BROWSER_VERSIONS_PATTERN);
  return [
    ...rust
      .filter(([, stated]) => stated !== manifest)
      .map(([file, stated]) => `${file}: Rust ${stated}; Cargo.toml: ${manifest}`),
    ...asked
      .map((file) => firstMatch(file, /Node (\d+)/))
      .filter((stated) => stated !== node)
      .map((stated) => `Node ${stated} is asked for; package.json: ${node}`),
    ...["www/docs/src/page/stacks.md", RELEASES_DOC_PATH]
      .filter((file) => firstMatch(file, BROWSER_VERSIONS_PATTERN) !== browsers)
      .map((file) => `${file}: other browsers than www/scripts/lib/wasm.mjs has`),
    ...[firstMatch("Cargo.toml", /^version = "([^"]+)"$/m)]
      .filter((stated) => stated !== version)
      .map((stated) => `Cargo.toml: version ${stated}; package.json: ${version}`),
    ...(tableIsCurrent()
      ? []
      : [
          "www/docs/src/page/stacks.md: another table of stacks than tests/js/stacks has; write it: npx vitest run --project stacks -u",
        ]),
  ];
}

const resolveFromDocument = (file, path) => posix.join(posix.dirname(file), path);

const CODE_FENCE_PATTERN = /^```[\s\S]*?^```/gm;
const RELATIVE_LINK_PATTERN = /\]\((?!https?:|mailto:|#)([^)\s]+)\)/g;
/**
 * Pattern of a path in backticks, from the root or relative to the document. A path with the
 * placeholder `*` or `…` does not match.
 */
const QUOTED_PATH_PATTERN = /`((?:src|server|www|tests|benches|\.github|\.ci)\/[^`\s*…{}<>]*)`/g;

/**
 * Returns the files that a document links to or names, although they do not exist.
 *
 * @param {string} file
 * @param {string} text
 * @param {(path: string) => boolean} exists
 * @returns {string[]}
 */
export function missingFiles(file, text, exists) {
  const prose = text.replace(CODE_FENCE_PATTERN, "");
  const links = [...prose.matchAll(RELATIVE_LINK_PATTERN)]
    .map(([, target = ""]) => target.replace(/#.*/, ""))
    // Targets with `::` are links to Rust items, in documents that rustdoc includes.
    .filter((target) => target !== "" && !target.includes("::"))
    .map((target) => resolveFromDocument(file, target))
    .filter((path) => !exists(path));
  const paths = [...prose.matchAll(QUOTED_PATH_PATTERN)]
    .map(([, path = ""]) => path)
    .filter((path) => !exists(path) && !exists(resolveFromDocument(file, path)));
  return [...links, ...paths].map((path) => `${file} names ${path}, which is not there`);
}

/**
 * Pattern of a link whose text is a name in backticks and whose target is a Rust file. The file
 * must define the name.
 */
const RUST_ITEM_LINK_PATTERN = /\[`([A-Za-z_]\w*)`\]\(([^)\s#]+\.rs)\)/g;

/**
 * Returns the items that a document attributes to a file that does not define them.
 *
 * @param {string} file
 * @param {string} text
 * @param {(path: string) => string} source
 * @returns {string[]}
 */
export function undefinedNames(file, text, source) {
  return [...text.replace(CODE_FENCE_PATTERN, "").matchAll(RUST_ITEM_LINK_PATTERN)]
    .map(([, name = "", target = ""]) => ({ name, home: resolveFromDocument(file, target) }))
    .filter(({ name, home }) => {
      const defines = new RegExp(`\\b(?:fn|struct|enum|trait|type|mod|const)\\s+${name}\\b`);
      return !defines.test(source(home));
    })
    .map(({ name, home }) => `${file} names ${name} of ${home}, which does not define it`);
}

export async function checkFacts() {
  const there = new Set(await nonIgnoredFiles(/./));
  for (const file of [...there]) {
    for (let folder = dirname(file); folder !== "."; folder = dirname(folder)) {
      there.add(folder);
    }
  }
  const exists = (path) => there.has(path.replace(/\/$/, ""));
  const documents = [...there].filter((file) => file.endsWith(".md"));
  const found = [
    ...disagreements(),
    ...documents.flatMap((file) => missingFiles(file, readRepositoryFile(file), exists)),
    ...documents.flatMap((file) =>
      undefinedNames(file, readRepositoryFile(file), (path) =>
        exists(path) ? readRepositoryFile(path) : "",
      ),
    ),
  ];
  if (found.length > 0) {
    throw new ExplainedError(found.join("\n"));
  }
}

if (process.argv[1] === import.meta.filename) {
  await main(checkFacts);
}
