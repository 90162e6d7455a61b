// Installation of PostgreSQL, of which tests start servers.

import { existsSync, readdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import { installPackages } from "./debian.mjs";

const DEBIAN_POSTGRES_DIR = "/usr/lib/postgresql";

/** Finds the folder of PostgreSQL's programs in the same way as the tests do. */
function findPostgres() {
  const versions = existsSync(DEBIAN_POSTGRES_DIR) ? readdirSync(DEBIAN_POSTGRES_DIR) : [];
  const below = versions.map((version) => join(DEBIAN_POSTGRES_DIR, version, "bin"));
  const inPath = (process.env.PATH ?? "").split(delimiter);
  return [...below, ...inPath].find((directory) =>
    ["initdb", "pg_basebackup", "pg_isready", "postgres", "psql"].every((program) =>
      existsSync(join(directory, program)),
    ),
  );
}

export async function setupDatabase() {
  await installPackages({ postgresql: findPostgres });
}
