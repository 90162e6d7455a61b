// List of stacks, each of which runs the app in its folder. The book's table is generated from it.

/**
 * @typedef {object} Stack
 * @property {string} name name in the table
 * @property {string} folder folder of the app
 * @property {string} [tool] package whose version is shown; installed from package-lock.json
 * @property {string} [build] command that builds the files to serve
 * @property {string} [site] folder of built files, if they are served unchanged
 * @property {string} [start] command that serves on PORT until it is stopped
 * @property {string} [run] command that reports once and exits
 * @property {true} [page] opened in each engine, where it reports once. Unless `start` is given, a
 *   server of files on another origin than the collector serves it
 * @property {readonly string[]} [asks] paths on which the server itself reports once
 * @property {string} [slim] source file that imports the package, changed as its README says for
 *   modules that are served as files
 * @property {string} [policy] Content-Security-Policy of the page
 */

/** @type {readonly Stack[]} */
export const STACKS = [
  {
    name: "Vite, dev server",
    folder: "vite",
    tool: "vite",
    start: "vite --port PORT --strictPort",
    page: true,
  },
  {
    name: "Vite, build",
    folder: "vite",
    tool: "vite",
    build: "vite build",
    site: "dist",
    page: true,
  },
  {
    name: "Vite, module as a file",
    folder: "vite",
    tool: "vite",
    build: "vite build",
    site: "dist",
    slim: "main.js",
    page: true,
  },
  { name: "webpack", folder: "webpack", tool: "webpack", build: "webpack", page: true },
  {
    name: "webpack, module as a file",
    folder: "webpack",
    tool: "webpack",
    build: "webpack",
    slim: "main.js",
    page: true,
  },
  {
    name: "Rollup",
    folder: "rollup",
    tool: "rollup",
    build: "rollup --config --silent",
    page: true,
  },
  {
    name: "Rollup, module as a file",
    folder: "rollup",
    tool: "rollup",
    build: "rollup --config --silent",
    slim: "main.js",
    page: true,
  },
  {
    name: "esbuild",
    folder: "esbuild",
    tool: "esbuild",
    build: "esbuild main.js --bundle --format=esm --outdir=dist",
    page: true,
  },
  {
    name: "esbuild, module as a file",
    folder: "esbuild",
    tool: "esbuild",
    build:
      "esbuild main.js --bundle --format=esm --outdir=dist --loader:.wasm=file --public-path=dist",
    slim: "main.js",
    page: true,
  },
  {
    name: "Parcel",
    folder: "parcel",
    tool: "parcel",
    build: "parcel build index.html",
    site: "dist",
    page: true,
  },
  {
    name: "Parcel, module as a file",
    folder: "parcel",
    tool: "parcel",
    build: "parcel build index.html",
    site: "dist",
    slim: "main.js",
    page: true,
  },
  {
    name: "Next.js: client component, routes of Node.js and edge",
    folder: "next",
    tool: "next",
    build: "next build",
    start: "next start --port PORT",
    page: true,
    asks: ["/node", "/edge"],
  },
  {
    name: "Next.js, module as a file",
    folder: "next",
    tool: "next",
    build: "next build",
    start: "next start --port PORT",
    slim: "app/page.js",
    page: true,
  },
  { name: "ES module, no bundler", folder: "module", page: true },
  { name: "Import map", folder: "import-map", page: true },
  {
    name: "Strict Content-Security-Policy",
    folder: "csp",
    page: true,
    policy:
      "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self' http://collector.invalid",
  },
  { name: "Script tag, with integrity", folder: "script-tag", page: true },
  { name: "Web worker", folder: "web-worker", page: true },
  { name: "Shared worker", folder: "shared-worker", page: true },
  { name: "Service worker", folder: "service-worker", page: true },
  { name: "Node.js, ES module", folder: "node-esm", run: "node main.mjs" },
  { name: "Node.js, CommonJS", folder: "node-cjs", run: "node main.cjs" },
  { name: "Deno", folder: "deno", tool: "deno", run: "deno run --allow-net main.js" },
  { name: "Bun", folder: "bun", tool: "bun", run: "bun main.js" },
  {
    name: "workerd",
    folder: "workerd",
    tool: "workerd",
    build:
      "esbuild main.js --bundle --format=esm --outdir=dist --conditions=workerd --loader:.wasm=copy --asset-names=[name]",
    start: "workerd serve config.capnp --socket-addr=http=127.0.0.1:PORT",
    asks: ["/"],
  },
  {
    name: "Vitest",
    folder: "vitest",
    tool: "vitest",
    run: "vitest run --environment node",
  },
  {
    name: "Vitest, jsdom",
    folder: "vitest",
    tool: "vitest",
    run: "vitest run --environment jsdom",
  },
  { name: "Jest", folder: "jest", tool: "jest", run: "jest --env=node" },
  { name: "Jest, jsdom", folder: "jest", tool: "jest", run: "jest --env=./jsdom-with-fetch.js" },
];
