// A small file server on this machine, for the demo and for pages under test.

import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { ExplainedError } from "./run.mjs";

const MEDIA_TYPES = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/x-icon",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".map": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
  ".woff2": "font/woff2",
};

/**
 * Strict content security policy under which the package works. It forbids inline code and allows
 * WebAssembly.
 */
const STRICT_CONTENT_POLICY =
  "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src *; img-src 'self' data:";

/**
 * Content security policy for mdBook's pages, which contain inline scripts and styles, and show the
 * planner in a frame.
 */
export const BOOK_POLICY = "default-src 'self' 'unsafe-inline'; img-src 'self' data:";

/**
 * Starts a server for the files of directories, each below a prefix, and for generated documents.
 *
 * @param {object} options
 * @param {Readonly<Record<string, string>>} options.directories by prefix, such as "/dist/"
 * @param {Readonly<Record<string, { type: string, body: string | (() => string) }>>} [options.documents] by path;
 * a function is called at each request
 * @param {number} [options.port] by default a free one
 * @param {string} [options.policy] the pages' content security policy
 * @param {Readonly<Record<string, string>>} [options.policies] different policies, by prefix
 * @returns {Promise<{ url: string, close: () => void }>}
 */
export async function serve({
  directories,
  documents = {},
  port = 0,
  policy = STRICT_CONTENT_POLICY,
  policies = {},
}) {
  const prefixes = Object.keys(directories).sort((a, b) => b.length - a.length);
  const server = createServer(async (request, response) => {
    const answer = (status, type, body) => {
      const own = Object.keys(policies).find((prefix) => pathname.startsWith(prefix));
      response.writeHead(status, {
        "content-type": type,
        // Browsers revalidate each file. "no-store" would keep pages out of Firefox's back/forward
        // cache.
        "cache-control": "no-cache",
        "content-security-policy": own === undefined ? policy : policies[own],
      });
      if (typeof body === "string") {
        response.end(body);
      } else {
        body.pipe(response);
      }
    };
    let { pathname } = new URL(request.url ?? "/", "http://localhost");
    try {
      pathname = normalize(decodeURIComponent(pathname));
    } catch {
      return answer(400, "text/plain", "bad path\n");
    }
    const document = documents[pathname];
    if (document !== undefined) {
      const { type, body } = document;
      return answer(200, type, typeof body === "string" ? body : body());
    }
    const prefix = prefixes.find((candidate) => pathname.startsWith(candidate));
    const directory = prefix === undefined ? undefined : directories[prefix];
    // The path is normalised and absolute, so it has no ".." that could lead out of the folder. For
    // the path of a folder, its index.html is served.
    const rest = pathname.slice(prefix?.length).replace(/(?<=^|\/)$/, "index.html");
    const file = directory === undefined ? undefined : join(directory, rest);
    const found = file === undefined ? undefined : await stat(file).catch(() => undefined);
    if (file === undefined || !found?.isFile()) {
      return answer(404, "text/plain", "not found\n");
    }
    return answer(
      200,
      MEDIA_TYPES[extname(file)] ?? "application/octet-stream",
      createReadStream(file),
    );
  });
  await new Promise((resolve, reject) => {
    server.on("error", (/** @type {NodeJS.ErrnoException} */ error) =>
      reject(error.code === "EADDRINUSE" ? new ExplainedError(`port ${port} is in use`) : error),
    );
    server.listen(port, "127.0.0.1", () => resolve(undefined));
  });
  const address = server.address();
  if (address === null || typeof address === "string") {
    throw new Error("a server on a port has an address with a port");
  }
  return {
    url: `http://localhost:${address.port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
