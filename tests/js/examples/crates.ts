/** The packed crates, for a project that depends on them as if from crates.io. */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT, TARGET } from "../../../www/scripts/lib/paths.mjs";

const CRATES = ["hushbin", "hushbin-analysis", "hushbin-server"];
const VERSION = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")).version as string;

/**
 * Packs and unpacks the crates, in one folder per state, because cargo compares modification times.
 */
function unpacked(): string {
  const packages = CRATES.flatMap((name) => ["--package", name]);
  const options = ["--offline", "--quiet", "--no-verify", "--allow-dirty"];
  execFileSync("cargo", ["package", ...options, ...packages], { cwd: ROOT, stdio: "pipe" });
  const files = CRATES.map((name) => join(TARGET, "package", `${name}-${VERSION}.crate`));
  const hash = createHash("sha256");
  for (const file of files) {
    hash.update(readFileSync(file));
  }
  const folder = join(TARGET, "crates", hash.digest("hex").slice(0, 16));
  if (!existsSync(folder)) {
    rmSync(join(TARGET, "crates"), { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    for (const file of files) {
      execFileSync("tar", ["-xzf", file], { cwd: folder });
    }
  }
  return folder;
}

/**
 * Makes a project use the packed crates instead of those of crates.io. The project shares the
 * workspace's compiled dependencies through its lock file, compiler and profiles.
 *
 * @param project folder of the project
 * @returns the environment in which cargo builds it
 */
export function usePackedCrates(project: string): NodeJS.ProcessEnv {
  const folder = unpacked();
  const patches = CRATES.map(
    (name) => `${name} = { path = ${JSON.stringify(join(folder, `${name}-${VERSION}`))} }`,
  );
  const manifest = readFileSync(join(ROOT, "Cargo.toml"), "utf8");
  const profiles = manifest.match(/^\[profile\.dev\][\s\S]*?(?=^\[profile\.release\])/m)?.[0] ?? "";
  mkdirSync(join(project, ".cargo"));
  const config = ["[patch.crates-io]", ...patches, "", profiles].join("\n");
  writeFileSync(join(project, ".cargo/config.toml"), config);
  for (const file of ["Cargo.lock", "rust-toolchain.toml"]) {
    copyFileSync(join(ROOT, file), join(project, file));
  }
  return { CARGO_TARGET_DIR: TARGET, CARGO_NET_OFFLINE: "true" };
}
