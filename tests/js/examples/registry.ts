/**
 * A local npm registry for `npm install`. It serves this package as packed, and the packages pinned
 * by the tests of stacks.
 */

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { createReadStream, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { NPM_PACKAGE_DIR } from "../../../www/scripts/lib/paths.mjs";
import { stackToolsFolder } from "../../../www/scripts/lib/stack-tools.mjs";

interface Version {
  readonly manifest: { readonly name: string; readonly version: string };
  /** Sends the tarball. */
  readonly send: (response: ServerResponse) => void;
}

const manifestIn = (folder: string) =>
  JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Version["manifest"];

/** Packs an installed package as its authors would have. */
function packAgain(folder: string, response: ServerResponse): void {
  const names = ["--exclude=./node_modules", "--transform=s,^\\.,package,"];
  const tar = spawn("tar", ["-c", ...names, "."], {
    cwd: folder,
    stdio: ["ignore", "pipe", "inherit"],
  });
  tar.stdout.pipe(response);
}

/**
 * Returns the installed packages by path of the lock file, which also lists those for other
 * machines.
 */
function installed(): Version[] {
  const tools = stackToolsFolder();
  const { packages } = JSON.parse(
    readFileSync(join(tools, "node_modules/.package-lock.json"), "utf8"),
  );
  return Object.keys(packages).map((path) => {
    const folder = join(tools, path);
    return { manifest: manifestIn(folder), send: (response) => packAgain(folder, response) };
  });
}

/** @param folder folder of the package's tarball */
function packed(folder: string): Version {
  const options = { cwd: folder, encoding: "utf8" } as const;
  const name = execFileSync("npm", ["pack", NPM_PACKAGE_DIR, "--silent"], options).trim();
  return {
    manifest: manifestIn(NPM_PACKAGE_DIR),
    send: (response) => createReadStream(join(folder, name)).pipe(response),
  };
}

export interface Registry {
  readonly url: string;
  /** Folder for npm's cache. */
  readonly cache: string;
  close(): void;
}

export async function serveRegistry(): Promise<Registry> {
  const folder = mkdtempSync(join(tmpdir(), "hushbin-registry-"));
  const all = [packed(folder), ...installed()];
  const tarball = ({ manifest: { name, version } }: Version) => `/${name}/-/${version}.tgz`;
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url ?? "");
    const asked = all.find((each) => tarball(each) === path);
    const versions = all.filter(({ manifest }) => `/${manifest.name}` === path);
    const latest = versions[0]?.manifest;
    if (asked !== undefined) {
      asked.send(response);
    } else if (latest === undefined) {
      response.writeHead(404).end("{}");
    } else {
      const told = versions.map((each) => {
        const dist = { tarball: `http://${request.headers.host}${tarball(each)}` };
        return [each.manifest.version, { ...each.manifest, dist }] as const;
      });
      const document = {
        name: latest.name,
        "dist-tags": { latest: latest.version },
        versions: Object.fromEntries(told),
      };
      response.end(JSON.stringify(document));
    }
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  if (address === null || typeof address === "string") {
    throw new Error("a server on a port has an address with a port");
  }
  return {
    url: `http://127.0.0.1:${address.port}`,
    cache: join(folder, "cache"),
    close() {
      server.close();
      server.closeAllConnections();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
