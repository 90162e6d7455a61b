// npm run test:toy: checks that a new mechanism needs only its own folders and one line.
//
//   node www/scripts/test-toy.mjs
//
// The script copies the repository, adds the mechanism in tests/toy, and adds the toy's line to the
// list of mechanisms. Then it compiles every crate, and takes the toy from a task file to an
// estimate.

import { existsSync } from "node:fs";
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ROOT, TARGET } from "./lib/paths.mjs";
import { captureOutput, ExplainedError, main, run, step, withPath } from "./lib/run.mjs";

const TOY_DIR = "tests/toy/";
const MECHANISM_LIST_FILE = "src/mechanism/mechanism_list.rs";
const LAST_MECHANISM_LINE = "            window: Window,\n";
const TOY_MECHANISM_LINE = "            toy: Toy,\n";
/**
 * Pattern of a crate's version. The copy gets another version, so that cargo keeps the copied
 * crates and build results apart from the originals.
 */
const CRATE_VERSION_PATTERN = /^version = "(.*)"$/m;
/**
 * Returns options of cargo that compile these crates without optimisation. They are for programs
 * that run only a short time.
 *
 * @param {readonly string[]} crates
 */
export const unoptimised = (...crates) =>
  crates.flatMap((name) => ["--config", `profile.dev.package.${name}.opt-level=0`]);
const OPTIONS = unoptimised("hushbin", "hushbin-analysis", "hushbin-tests");

async function filesToCopy() {
  const listed = await captureOutput("git", ["ls-files", "-co", "--exclude-standard"]);
  if (listed === undefined) {
    throw new ExplainedError("git does not list the files of the repository");
  }
  return listed.split("\n").filter((file) => file !== "" && existsSync(join(ROOT, file)));
}

async function copyWithToy(copy) {
  await rm(copy, { recursive: true, force: true });
  const place = async (file, as) => {
    await mkdir(dirname(join(copy, as)), { recursive: true });
    await copyFile(join(ROOT, file), join(copy, as));
  };
  const all = await filesToCopy();
  const ours = all.filter((file) => !file.startsWith(TOY_DIR));
  for (const file of ours) {
    await place(file, file);
  }
  for (const file of all.filter((file) => file.startsWith(TOY_DIR) && file.endsWith(".rs"))) {
    const own = file.slice(TOY_DIR.length);
    if (ours.includes(own)) {
      throw new ExplainedError(`${own} is there already: the toy is to bring files of its own`);
    }
    await place(file, own);
  }
  const manifest = await readFile(join(copy, "Cargo.toml"), "utf8");
  await writeFile(
    join(copy, "Cargo.toml"),
    manifest.replace(CRATE_VERSION_PATTERN, 'version = "$1+toy"'),
  );
  const list = await readFile(join(copy, MECHANISM_LIST_FILE), "utf8");
  if (list.split(LAST_MECHANISM_LINE).length !== 2) {
    throw new ExplainedError(
      `${MECHANISM_LIST_FILE} does not have the line ${LAST_MECHANISM_LINE.trim()} once`,
    );
  }
  await writeFile(
    join(copy, MECHANISM_LIST_FILE),
    list.replace(LAST_MECHANISM_LINE, `${LAST_MECHANISM_LINE}${TOY_MECHANISM_LINE}`),
  );
}

export async function testToy() {
  const copy = join(TARGET, "toy");
  await step("lay out: another mechanism", () => copyWithToy(copy));
  const options = { cwd: copy, env: { ...withPath(), CARGO_TARGET_DIR: TARGET } };
  await step("test: another mechanism, from task file to estimate", () =>
    run("cargo", ["test", ...OPTIONS, "--package", "hushbin-analysis", "--test", "toy"], options),
  );
  await step("check: every crate with another mechanism", () =>
    run("cargo", ["check", "--workspace", "--lib", "--bins"], options),
  );
}

if (process.argv[1] === import.meta.filename) {
  await main(testToy);
}
