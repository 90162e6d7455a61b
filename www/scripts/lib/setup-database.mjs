// Installation of PostgreSQL and PgBouncer, of which tests start servers.

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

/** Finds PgBouncer, which Debian installs outside of the PATH of most users. */
function findPgBouncer() {
  const directories = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin"];
  return directories
    .map((directory) => join(directory, "pgbouncer"))
    .find((path) => existsSync(path));
}

export async function setupDatabase() {
  await installPackages({ postgresql: findPostgres, pgbouncer: findPgBouncer });
}
