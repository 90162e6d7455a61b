// The components of a release: the linked crates, which cargo's dependency tree lists, and further
// components that this project names itself.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { captureOutput, ExplainedError } from "../run.mjs";
import { INIT_MODULE_CRATE } from "../wasm-modules.mjs";

/**
 * @typedef {object} Checkout
 * @property {string} folder
 * @property {NodeJS.ProcessEnv} [env]
 */

/**
 * @typedef {object} Component
 * @property {string} name
 * @property {string} [version]
 * @property {"cargo" | "npm"} [registry] undefined if it is in no registry
 * @property {string} licence an SPDX expression
 * @property {string} [sha256] SHA-256 of the file in the registry
 * @property {string} [sha512] SHA-512 of the file in the registry
 * @property {string[]} needs keys of the components that this component needs
 */

/**
 * Returns the key that identifies a component.
 *
 * @param {{ name: string, version?: string }} component
 */
export const componentKey = ({ name, version }) =>
  version === undefined ? name : `${name}@${version}`;

const WASM_TARGET = ["--target", "wasm32-unknown-unknown"];
/**
 * Options of cargo that select the crates in the npm package's modules, for {@link
 * linkedComponents}: in the modules of pages, and in the module of its command.
 */
const NPM_MODULE_CARGO_ARGS = [
  [
    ...["--package", "hushbin", ...WASM_TARGET],
    ...["--no-default-features", "--features", "complete,wasm-module,wasm-sums-module"],
  ],
  ["--package", INIT_MODULE_CRATE, ...WASM_TARGET],
];

/**
 * Options of `cargo tree` that print the format for {@link parseTree}. Crates that run only in the
 * compiler are left out.
 */
const CARGO_TREE_OPTIONS = [
  ...["--edges", "normal,no-proc-macro", "--prefix", "depth"],
  ...["--format", "{p}|{l}", "--locked"],
];

/**
 * Parses a dependency tree of cargo.
 *
 * @param {string} text of `cargo tree` with the options {@link CARGO_TREE_OPTIONS}
 * @param {ReadonlyMap<string, string>} checksums of Cargo.lock, by key
 * @returns {Component[]} the root first, then the rest, sorted
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
    const own = componentKey({ name, version });
    const sha256 = checksums.get(own);
    const component = found.get(own) ?? {
      ...{ name, version, registry: "cargo", needs: [] },
      // Older crates separate licences by a slash.
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
  return root === undefined
    ? []
    : [root, ...others.sort((a, b) => (componentKey(a) < componentKey(b) ? -1 : 1))];
}

/**
 * Reads the checksums of crates from a lock file.
 *
 * @param {string} lock the text of Cargo.lock
 * @returns {Map<string, string>} checksums by key
 */
export function lockedChecksums(lock) {
  const packages = lock.matchAll(
    /^name = "(.*)"\nversion = "(.*)"\nsource = ".*"\nchecksum = "(.*)"$/gm,
  );
  return new Map(
    [...packages].map(([, name = "", version = "", sum = ""]) => [
      componentKey({ name, version }),
      sum,
    ]),
  );
}

/**
 * Returns a component for an npm package, from npm's lock file.
 *
 * @param {any} lock package-lock.json
 * @param {string} name
 * @returns {Component}
 */
export function lockedPackage(lock, name) {
  const { version, license, integrity, dependencies = {} } = lock.packages[`node_modules/${name}`];
  const needs = Object.keys(dependencies).map((own) =>
    componentKey({ name: own, version: lock.packages[`node_modules/${own}`].version }),
  );
  const sha512 = Buffer.from(integrity.replace("sha512-", ""), "base64").toString("hex");
  return { name, version, registry: "npm", licence: license, sha512, needs };
}

/**
 * Returns the components that cargo links into a program or a module.
 *
 * @param {Checkout} checkout
 * @param {readonly string[]} options of cargo
 */
export async function linkedComponents({ folder, env }, options) {
  const printed = await captureOutput(
    "cargo",
    ["tree", ...CARGO_TREE_OPTIONS, ...options],
    env,
    folder,
  );
  const checksums = lockedChecksums(readFileSync(join(folder, "Cargo.lock"), "utf8"));
  const [root, ...others] = parseTree(printed ?? "", checksums);
  if (root === undefined) {
    throw new ExplainedError(`cargo tree ${options.join(" ")} lists nothing`);
  }
  return { root, others };
}

/**
 * Returns the components that are linked into the npm package's modules.
 *
 * @param {Checkout} checkout
 * @returns {Promise<{ own: Component, thirdParty: Component[] }>} the package's own code, and the
 * third-party crates, sorted
 */
export async function npmModuleComponents(checkout) {
  const linked = [];
  for (const options of NPM_MODULE_CARGO_ARGS) {
    const { root, others } = await linkedComponents(checkout, options);
    linked.push(root, ...others);
  }
  // Crates of the workspace have no checksum.
  const isThirdParty = ({ sha256 }) => sha256 !== undefined;
  const keys = [...new Set(linked.filter(isThirdParty).map(componentKey))].sort();
  // Features differ between the modules, and with them the needs of a crate.
  const joined = (components) => ({
    ...components[0],
    needs: keys.filter((key) => components.some(({ needs }) => needs.includes(key))),
  });
  return {
    own: joined(linked.filter((component) => !isThirdParty(component))),
    thirdParty: keys.map((key) =>
      joined(linked.filter((component) => componentKey(component) === key)),
    ),
  };
}

/**
 * Returns the packages that Cargo.lock lists, each with the folder of its source.
 *
 * @param {Checkout} checkout
 * @returns {Promise<{ crates: any[], folders: Map<string, string> }>} the workspace's crates, and
 * all folders by key
 */
export async function packages({ folder, env }) {
  const printed = await captureOutput(
    "cargo",
    ["metadata", "--locked", "--format-version=1"],
    env,
    folder,
  );
  if (printed === undefined) {
    throw new ExplainedError("cargo metadata failed: Cargo.lock is not what Cargo.toml asks for");
  }
  const { packages, workspace_members: members } = JSON.parse(printed);
  return {
    crates: packages.filter(({ id }) => members.includes(id)),
    folders: new Map(packages.map((one) => [componentKey(one), dirname(one.manifest_path)])),
  };
}
