// Checks the dependencies: licences, sources and duplicates, by the rules of .deny.toml; the
// versions of Node that packages accept; and known vulnerabilities, if the databases of these can
// be reached.
//
//   node www/scripts/check-dependencies.mjs
//
// RustSec's database is on GitHub, and npm's is in its registry. A machine that reaches neither
// passes with a notice.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import semver from "semver";
import { ROOT } from "./lib/paths.mjs";
import { captureOutput, ExplainedError, main, print, run } from "./lib/run.mjs";
import { cargoDeny, requiredToolEnv } from "./lib/tools.mjs";

/** Lowest severity at which an advisory of npm fails the check. */
const SEVERITY = "high";

/** Oldest version of Node that every package must accept, as README and CONTRIBUTING promise. */
const OLDEST_NODE = "20.19.0";

/**
 * Returns the packages that do not accept this version of Node.
 *
 * @param {{ packages: Record<string, { version?: string, engines?: { node?: string } }> }} lock
 * @param {string} node
 */
export function packagesRefusing(lock, node) {
  return Object.entries(lock.packages)
    .filter(([, { engines }]) => !semver.satisfies(node, engines?.node ?? "*"))
    .map(([path, { version, engines }]) => `${path} ${version} asks for Node ${engines?.node}`);
}

function checkOldestNodeAccepted() {
  const lock = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8"));
  const found = packagesRefusing(lock, OLDEST_NODE);
  if (found.length > 0) {
    throw new ExplainedError(`packages must accept Node ${OLDEST_NODE}:\n${found.join("\n")}`);
  }
}

/** @param {NodeJS.ProcessEnv} env */
async function checkRust(env) {
  // Check all crates, not just the core.
  const deny = ["--workspace", "--log-level", "error", "check"];
  await run("cargo-deny", [...deny, "bans", "licenses", "sources"], { env });
  if ((await captureOutput("cargo-deny", ["fetch", "db"], env)) === undefined) {
    print("  RustSec's database cannot be reached: its advisories were not asked");
    return;
  }
  await run("cargo-deny", [...deny, "advisories"], { env });
}

async function checkNpm() {
  const { spawnSync } = await import("node:child_process");
  const options = /** @type {const} */ ({ cwd: ROOT, encoding: "utf8" });
  const { stdout } = spawnSync("npm", ["audit", "--json", `--audit-level=${SEVERITY}`], options);
  const report = JSON.parse(stdout || "{}");
  if (report.auditReportVersion === undefined) {
    print("  npm's registry answers no audit: its advisories were not asked");
    return;
  }
  const { high = 0, critical = 0 } = report.metadata.vulnerabilities;
  if (high + critical > 0) {
    const packages = Object.keys(report.vulnerabilities).join(", ");
    throw new ExplainedError(`npm audit: ${high} high, ${critical} critical, in ${packages}`);
  }
}

export async function checkDependencies() {
  checkOldestNodeAccepted();
  await checkRust(await requiredToolEnv(cargoDeny));
  await checkNpm();
}

if (process.argv[1] === import.meta.filename) {
  await main(checkDependencies);
}
