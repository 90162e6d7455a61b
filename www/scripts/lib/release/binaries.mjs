// Builds the collector as a static program for each architecture, and the files that belong to it.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { captureOutput, ExplainedError, run } from "../run.mjs";
import { cargoZigbuildTool, toolFolder, zig } from "../tools.mjs";
import {
  componentKey,
  linkedComponents,
  lockedPackage,
  npmModuleComponents,
} from "./components.mjs";
import { checkStatic } from "./elf.mjs";
import { componentLicences, licenceTextsIn, notices } from "./licences.mjs";
import { imageArchive } from "./oci.mjs";
import { billOfMaterials } from "./sbom.mjs";
import { muslFolder } from "./source.mjs";
import { gzip, tar } from "./tar.mjs";

/**
 * @typedef {import("./source.mjs").Source} Source
 * @typedef {import("./components.mjs").Component} Component
 */

const CRATE = "hushbin-server";

/** Names of the architectures in container images, by the name of Rust's target. */
export const ARCHITECTURES = new Map([
  ["x86_64-unknown-linux-musl", "amd64"],
  ["aarch64-unknown-linux-musl", "arm64"],
]);

/**
 * Returns the name of a target's archive, which is also the name of the folder in it. `cargo
 * binstall` expects this name.
 *
 * @param {Pick<Source, "crates" | "repository" | "version">} source
 * @param {string} target
 */
export function archiveName({ crates, repository, version }, target) {
  const told = crates.find(({ name }) => name === CRATE)?.metadata?.binstall;
  const words = { repo: repository, version, target, bin: "hushbin", "binary-ext": "" };
  const filled = (template) =>
    template.replaceAll(/\{ (\S+) \}/g, (_, word) => {
      if (words[word] === undefined) {
        throw new ExplainedError(`cargo binstall is told of { ${word} }, which is not known here`);
      }
      return words[word];
    });
  const url = filled(told["pkg-url"]);
  const expected = `${repository}/releases/download/v${version}/`;
  if (!url.startsWith(expected)) {
    throw new ExplainedError(`cargo binstall would look at ${url}, which is not in ${expected}`);
  }
  return { archive: basename(url), folder: dirname(filled(told["bin-dir"])) };
}

/**
 * Compiles the collector for one target, as a position-independent executable. The linker does not
 * make one by default.
 *
 * @param {Source} source
 */
async function compile({ folder, target, env, remapping }, triple) {
  await run(
    "cargo-zigbuild",
    ["zigbuild", "--release", "--locked", "--package", CRATE, "--target", triple],
    {
      cwd: folder,
      env: {
        ...env,
        PATH: `${join(toolFolder(cargoZigbuildTool), "bin")}:${env.PATH}`,
        CARGO_ENCODED_RUSTFLAGS: [...remapping, "-Clink-arg=-pie"].join("\x1f"),
      },
    },
  );
  const program = readFileSync(join(target, triple, "release/hushbin"));
  checkStatic(program, triple.split("-")[0] ?? "");
  return program;
}

/**
 * Returns the linked components that do not come from cargo, each with its licence texts.
 *
 * @param {Source} source
 */
async function runtimeComponents({ folder, env }) {
  const said = await captureOutput("rustc", ["--version"], env, folder);
  const sysroot = (await captureOutput("rustc", ["--print", "sysroot"], env, folder)) ?? "";
  const musl = { name: `musl-of-zig-${zig.version}`, licence: "MIT", needs: [] };
  const std = { name: "std", version: said?.split(" ")[1] ?? "", licence: "MIT OR Apache-2.0" };
  return {
    components: [{ ...std, needs: [] }, musl],
    ofStd: readFileSync(join(sysroot, "share/doc/rust/COPYRIGHT-library.html")),
    parts: [{ ...musl, texts: licenceTextsIn(muslFolder()) }],
  };
}

/**
 * Reads all files that are directly in a folder.
 *
 * @param {string} folder
 */
const readFilesInFolder = (folder) =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => ({ path: name, data: readFileSync(join(folder, name)) }));

/**
 * Makes the program for one target, with its bill of materials and its archive.
 *
 * @param {Source} source
 */
async function makeProgram(source, triple, out) {
  const { folder, time, version } = source;
  const program = await compile(source, triple);
  const { root, others } = await linkedComponents(source, ["--package", CRATE, "--target", triple]);
  const own = await runtimeComponents(source);
  const bill = billOfMaterials(root, "application", [...others, ...own.components], time);
  writeFileSync(join(out, `hushbin-${version}-${triple}.cdx.json`), bill);
  const parts = [...componentLicences(others, source.folders), ...own.parts];
  const title = "What is linked into the program, and under which licences.";
  const licences = [
    ...readFilesInFolder(folder).filter(({ path }) => path.startsWith("LICENSE-")),
    { path: "LICENSE-THIRD-PARTY", data: notices(title, parts) },
    { path: "LICENSE-STD.html", data: own.ofStd },
  ];
  const names = archiveName(source, triple);
  const below = (entries, prefix) =>
    entries.map((entry) => ({ ...entry, path: `${names.folder}/${prefix}${entry.path}` }));
  const archive = tar(
    [
      ...below([{ path: "hushbin", data: program, mode: 0o755 }, ...licences], ""),
      ...below([{ path: "CHANGELOG.md", data: readFileSync(join(folder, "CHANGELOG.md")) }], ""),
      ...below(readFilesInFolder(join(folder, "server/config")), "config/"),
      ...below(readFilesInFolder(join(folder, "server/deploy")), "deploy/"),
    ],
    time,
  );
  writeFileSync(join(out, names.archive), gzip(archive));
  return { program, licences };
}

/**
 * Returns the file name of the container image.
 *
 * @param {Pick<Source, "version">} source
 */
export const imageFileName = ({ version }) => `hushbin-${version}-image.tar`;

/**
 * Makes the programs for all targets, and the container image.
 *
 * @param {Source} source
 * @param {string} out
 * @param {(name: string, work: () => Promise<any>) => Promise<any>} step
 */
export async function makePrograms(source, out, step) {
  const platforms = [];
  for (const [triple, architecture] of ARCHITECTURES) {
    const made = await step(`program: ${triple}`, () => makeProgram(source, triple, out));
    platforms.push({ architecture, ...made });
  }
  await step("image: both programs", async () => {
    const { version, commit: revision, repository, time } = source;
    const image = { version, revision, source: repository, time, platforms };
    writeFileSync(join(out, imageFileName(source)), imageArchive(image));
  });
}

/**
 * Makes the bill of materials of the npm package.
 *
 * @param {Source} source
 * @param {string} out
 * @param {readonly string[]} thirdParty bundled packages of npm
 */
export async function makeNpmPackageSbom(source, out, thirdParty) {
  const { folder, time, version } = source;
  const { own: code, thirdParty: crates } = await npmModuleComponents(source);
  const lock = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"));
  const bundled = thirdParty.map((name) => lockedPackage(lock, name));
  /** @type {Component} */
  const own = {
    ...{ name: "hushbin", version, registry: "npm", licence: code.licence },
    needs: [...code.needs, ...bundled.map(componentKey)].sort(),
  };
  const bill = billOfMaterials(own, "library", [...crates, ...bundled], time);
  writeFileSync(join(out, `hushbin-${version}-npm.cdx.json`), bill);
}
