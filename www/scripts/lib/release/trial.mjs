// Tries out a release. It starts the program of the container image, as the image's configuration
// says, in a directory with nothing else. Then it installs the npm package, which reports to this
// program.

import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { task } from "../../../../tests/js/stacks/survey.js";
import { findOnPath } from "../browser.mjs";
import { installPackages } from "../debian.mjs";
import { ExplainedError, run, startInBackground } from "../run.mjs";

/** Names of the architectures in container images, by the names in Node. */
const IMAGE_ARCH_BY_NODE_ARCH = { x64: "amd64", arm64: "arm64" };
/** Static emulators that run programs of other architectures. */
const EMULATORS = { amd64: "qemu-x86_64-static", arm64: "qemu-aarch64-static" };

const COLLECTOR_CONFIG = `data = "/var/lib/hushbin"
tasks = ["settings.json"]
listen = "127.0.0.1:0"
development = true
`;

const read = (file) => JSON.parse(readFileSync(file, "utf8"));

/**
 * Unpacks the files of the image for one architecture.
 *
 * @param {string} archive
 * @param {string} architecture
 * @param {string} folder
 */
async function unpackImage(archive, architecture, folder) {
  const layout = join(folder, "layout");
  const root = join(folder, "root");
  mkdirSync(layout);
  mkdirSync(root);
  await run("tar", ["-xf", archive, "-C", layout]);
  const blob = ({ digest }) => join(layout, "blobs", digest.replace(":", "/"));
  const [all] = read(join(layout, "index.json")).manifests;
  const found = read(blob(all)).manifests.find((one) => one.platform.architecture === architecture);
  const manifest = read(blob(found));
  for (const layer of manifest.layers) {
    await run("tar", ["-xpzf", blob(layer), "--numeric-owner", "-C", root]);
  }
  return { root, config: read(blob(manifest.config)).config };
}

/**
 * Returns the words of the command that emulates an architecture. They are empty if this machine
 * needs no emulator, and undefined if it has no suitable emulator.
 */
async function emulatorCommand(architecture) {
  if (IMAGE_ARCH_BY_NODE_ARCH[process.arch] === architecture) {
    return [];
  }
  const find = () => findOnPath([EMULATORS[architecture]]);
  if (existsSync("/etc/debian_version")) {
    await installPackages({ "qemu-user-static": find });
  }
  const found = find();
  return found === undefined ? undefined : [found];
}

/**
 * Starts the program of the image as the image's user. Resolves when the program accepts
 * connections.
 */
async function start({ root, config }, emulators) {
  writeFileSync(join(root, "etc/hushbin/hushbin.toml"), COLLECTOR_CONFIG);
  writeFileSync(join(root, "etc/hushbin/settings.json"), JSON.stringify(task));
  const inside = emulators.map((path) => {
    writeFileSync(join(root, "emulator"), readFileSync(path), { mode: 0o755 });
    return "/emulator";
  });
  const user = `--userspec=${config.User}`;
  const { child, exited, stop } = startInBackground(
    "chroot",
    [user, root, ...inside, ...config.Entrypoint],
    { stdio: ["ignore", "pipe", "inherit"] },
  );
  const lines = createInterface({
    input: /** @type {import("node:stream").Readable} */ (child.stdout),
  });
  const [line] = (await Promise.race([once(lines, "line"), exited])) ?? [];
  const [, url] = line?.match(/^hushbin listening on (http:\S+)$/) ?? [];
  if (url === undefined) {
    throw new ExplainedError("the image's program ended before it listened");
  }
  return { url, stop };
}

/** Installs the npm package into a new project, and sends one report with it. */
async function reportWithPackage(tarball, url, folder) {
  const project = join(folder, "project");
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
  await run("npm", ["install", "--offline", "--no-audit", "--no-fund", tarball], {
    cwd: project,
    quiet: true,
  });
  writeFileSync(
    join(project, "report.js"),
    `import { createClient } from "hushbin";
const task = ${JSON.stringify(task)};
const reportingClient = await createClient({ endpoint: ${JSON.stringify(url)}, task, consent: true });
await reportingClient.report({ "dark-mode": 1, autoplay: -1 });
await reportingClient.flush();
await reportingClient.close();
`,
  );
  await run("node", ["report.js"], { cwd: project });
}

/**
 * Tries out the files of a release.
 *
 * @param {string} archive the images
 * @param {string} architecture
 * @param {string} tarball the npm package
 * @returns {Promise<string>} a summary
 */
export async function tryRelease(archive, architecture, tarball) {
  // Changing the root directory and the user requires root.
  const emulators = process.getuid?.() === 0 ? await emulatorCommand(architecture) : undefined;
  if (emulators === undefined) {
    return `not run: this takes root and, on other machines, ${EMULATORS[architecture]}`;
  }
  const folder = mkdtempSync(join(tmpdir(), "hushbin-release-"));
  // The image's user needs access to the folders inside.
  chmodSync(folder, 0o755);
  try {
    const image = await unpackImage(archive, architecture, folder);
    const { url, stop } = await start(image, emulators);
    try {
      await reportWithPackage(tarball, url, folder);
      const answer = await fetch(`${url}/tasks/${task.id}/estimates`);
      const { reports } = /** @type {any} */ (await answer.json());
      if (reports !== 1) {
        throw new ExplainedError(`one report was sent, and ${reports} were counted`);
      }
    } finally {
      await stop();
    }
    return "its user, in a directory with nothing else: one report sent by the package, one counted";
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
