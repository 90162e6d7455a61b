// The source of a release: a clone of HEAD, and its metadata.

import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { RELEASE_BUILD_DIR, ROOT, TOOLS } from "../paths.mjs";
import { captureOutput, ExplainedError, run, withPath } from "../run.mjs";
import { toolFolder, toolPath, zig } from "../tools.mjs";
import { changelogSection } from "./changelog.mjs";
import { packages } from "./components.mjs";
import { versionMismatches } from "./versions.mjs";

/**
 * @typedef {object} Source
 * @property {string} folder the clone
 * @property {string} target cargo's target directory
 * @property {NodeJS.ProcessEnv} env environment of all programs
 * @property {readonly string[]} remapping options of rustc that remove folders of this machine from
 * programs
 * @property {string} commit
 * @property {number} time of the commit, in seconds since 1970
 * @property {string} version
 * @property {string} repository
 * @property {readonly (import("./versions.mjs").Crate & { metadata: any })[]} crates of the
 * workspace
 * @property {ReadonlyMap<string, string>} folders of all packages, by key
 * @property {string} changes section of the CHANGELOG for the version
 */

/** Pattern of environment variables that could change the bytes of a build. */
const BUILD_VARIABLE_PATTERN =
  /^(RUSTC|RUSTFLAGS|RUSTUP_TOOLCHAIN|CARGO_(BUILD|ENCODED|INCREMENTAL|PROFILE|TARGET)|(HOST|TARGET)?_?(CC|CXX|AR|C(XX|PP)?FLAGS))/;

const cargoHome = () => process.env.CARGO_HOME ?? join(homedir(), ".cargo");

/** Returns folders of this machine whose paths must not appear in published files. */
export const machinePaths = () =>
  [...new Set([ROOT, RELEASE_BUILD_DIR, TOOLS, cargoHome(), homedir()])].map((path) => `${path}/`);

/** Returns options of rustc that replace folders of this machine in programs by fixed names. */
export async function pathRemapOptions(folder, env) {
  const registries = join(cargoHome(), "registry/src");
  const sysroot = await captureOutput("rustc", ["--print", "sysroot"], env, folder);
  const [, hash] =
    (await captureOutput("rustc", ["-vV"], env, folder))?.match(/^commit-hash: (.*)$/m) ?? [];
  return [
    ...readdirSync(registries).map((name) => [join(registries, name), "/crates"]),
    // If the sources of the standard library are installed, programs contain the path of their
    // folder.
    [join(sysroot ?? "", "lib/rustlib/src/rust"), `/rustc/${hash}`],
    [folder, "/hushbin"],
  ].map(([from, to]) => `--remap-path-prefix=${from}=${to}`);
}

/** Returns the environment in which all programs of a release build run. */
function environment(target, time) {
  const kept = Object.entries(withPath()).filter(([name]) => !BUILD_VARIABLE_PATTERN.test(name));
  return {
    ...Object.fromEntries(kept),
    CARGO_TARGET_DIR: target,
    CARGO_ZIGBUILD_ZIG_PATH: toolPath(zig),
    SOURCE_DATE_EPOCH: String(time),
    LC_ALL: "C",
    TZ: "UTC",
  };
}

/** Runs `git` in the project, and returns its output. */
export async function git(...args) {
  const answer = await captureOutput("git", ["-c", "safe.directory=*", ...args]);
  if (answer === undefined) {
    throw new ExplainedError(`git ${args.join(" ")} failed: this runs in a checkout`);
  }
  return answer;
}

export const headCommit = () => git("rev-parse", "HEAD");

/**
 * Clones the project at a commit. The clone contains only files under version control.
 *
 * @param {string} workshop a folder for the clone and for cargo's output
 * @param {string} commit
 */
export async function clone(workshop, commit) {
  const folder = join(workshop, "hushbin");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(workshop, { recursive: true });
  const quiet = { quiet: true };
  const checkedOut = ["-c", "safe.directory=*", "-c", "advice.detachedHead=false"];
  await run("git", [...checkedOut, "clone", "--no-checkout", ROOT, folder], quiet);
  await run("git", [...checkedOut, "-C", folder, "checkout", commit], quiet);
  await run("cargo", ["fetch", "--locked"], { cwd: folder, quiet: true });
  return { folder, commit };
}

/**
 * Installs the tools that building the clone needs, in the versions of the clone's lock files.
 *
 * @param {{ folder: string }} cloned
 * @param {readonly string[]} targets of Rust that only releases need
 */
export async function installCloneTools({ folder }, targets) {
  await run("node", ["www/scripts/setup.mjs", "--no-tests"], { cwd: folder });
  if ((await captureOutput("rustup", ["--version"])) !== undefined) {
    await run("rustup", ["target", "add", ...targets], { cwd: folder, quiet: true });
  }
}

/**
 * Returns the section of the CHANGELOG for the version. In a dry run, the section of unreleased
 * changes is enough.
 *
 * @throws Failed if there is no such section
 */
function changelogForVersion(text, version, dryRun) {
  const found =
    changelogSection(text, version) ?? (dryRun ? changelogSection(text, "Unreleased") : undefined);
  if (found === undefined) {
    throw new ExplainedError(`CHANGELOG.md has no section ${version}`);
  }
  return found;
}

/**
 * Reads the metadata of the clone, and checks that all versions agree.
 *
 * @param {string} workshop
 * @param {{ folder: string, commit: string }} cloned
 * @param {boolean} dryRun
 * @returns {Promise<Source>}
 * @throws Failed if versions disagree
 */
export async function readSourceMetadata(workshop, { folder, commit }, dryRun) {
  const time = Number(await git("show", "--no-patch", "--format=%ct", commit));
  const target = join(workshop, "target");
  const env = environment(target, time);
  const { crates, folders } = await packages({ folder, env });
  const read = (file) => readFileSync(join(folder, file), "utf8");
  const manifest = JSON.parse(read("package.json"));
  const found = versionMismatches(manifest.version, crates, {
    "package-lock.json": JSON.parse(read("package-lock.json")).version,
  });
  if (found.length > 0) {
    throw new ExplainedError(found.join("\n"));
  }
  return {
    ...{ folder, target, env, commit, time, crates, folders },
    remapping: await pathRemapOptions(folder, env),
    version: manifest.version,
    repository: crates[0].repository,
    changes: changelogForVersion(read("CHANGELOG.md"), manifest.version, dryRun),
  };
}

/**
 * Returns the folder of the C library that static programs contain. The library's licence is there.
 */
export const muslFolder = () => join(toolFolder(zig), zig.folder ?? "", "lib/libc/musl");
