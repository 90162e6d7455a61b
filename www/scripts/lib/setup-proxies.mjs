// Installation of nginx and Caddy, which tests start with the files of server/deploy.

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { installPackages } from "./debian.mjs";

/** Finds a program. Debian installs some outside of the PATH of most users. */
const find = (program) =>
  [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"]
    .map((directory) => join(directory, program))
    .find((path) => existsSync(path));

export async function setupProxies() {
  await installPackages({ nginx: () => find("nginx"), caddy: () => find("caddy") });
}
