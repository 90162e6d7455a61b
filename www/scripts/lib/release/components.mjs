// What a release is made of: the crates that are linked, by cargo's own tree, and what else is
// named by hand.

/**
 * @typedef {object} Component
 * @property {string} name
 * @property {string} [version]
 * @property {"cargo" | "npm"} [registry] undefined where it is of none
 * @property {string} licence an expression of SPDX
 * @property {string} [sha256] of what the registry has
 * @property {string} [sha512] the same
 * @property {string[]} needs keys of others
 */

/**
 * What tells components apart.
 *
 * @param {{ name: string, version?: string }} component
 */
export const key = ({ name, version }) => (version === undefined ? name : `${name}@${version}`);

/** How {@link parseTree} has it printed; without what runs in the compiler alone. */
export const TREE = [
  ...["--edges", "normal,no-proc-macro", "--prefix", "depth"],
  ...["--format", "{p}|{l}", "--locked"],
];

/**
 * @param {string} text of `cargo tree` with the options {@link TREE}
 * @param {ReadonlyMap<string, string>} checksums of Cargo.lock, by key
 * @returns {Component[]} the root first, the others sorted
 */
export function parseTree(text, checksums) {
  /** @type {Map<string, Component>} */
  const found = new Map();
  /** @type {Component[]} */
  const above = [];
  for (const line of text.split("\n")) {
    const [, depth, name = "", version = "", licence = ""] =
      line.match(/^(\d+)(\S+) v(\S+)(?: \([^)]*\))?\|(.*?)(?: \(\*\))?$/) ?? [];
    if (depth === undefined) {
      continue;
    }
    const own = key({ name, version });
    const sha256 = checksums.get(own);
    const component = found.get(own) ?? {
      ...{ name, version, registry: "cargo", needs: [] },
      // As cargo spelled it once.
      licence: licence.replaceAll("/", " OR "),
      ...(sha256 === undefined ? {} : { sha256 }),
    };
    found.set(own, component);
    above.length = Number(depth);
    const parent = above.at(-1);
    if (parent !== undefined && !parent.needs.includes(own)) {
      parent.needs.push(own);
    }
    above.push(component);
  }
  const [root, ...others] = found.values();
  return root === undefined ? [] : [root, ...others.sort((a, b) => (key(a) < key(b) ? -1 : 1))];
}

/**
 * @param {string} lock the text of Cargo.lock
 * @returns {Map<string, string>} checksums by key
 */
export function lockedChecksums(lock) {
  const packages = lock.matchAll(
    /^name = "(.*)"\nversion = "(.*)"\nsource = ".*"\nchecksum = "(.*)"$/gm,
  );
  return new Map(
    [...packages].map(([, name = "", version = "", sum = ""]) => [key({ name, version }), sum]),
  );
}

/**
 * A package of npm as the lock file has it.
 *
 * @param {any} lock package-lock.json
 * @param {string} name
 * @returns {Component}
 */
export function lockedPackage(lock, name) {
  const { version, license, integrity, dependencies = {} } = lock.packages[`node_modules/${name}`];
  const needs = Object.keys(dependencies).map((own) =>
    key({ name: own, version: lock.packages[`node_modules/${own}`].version }),
  );
  const sha512 = Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex");
  return { name, version, registry: "npm", licence: license, sha512, needs };
}
