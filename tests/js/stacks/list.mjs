// The stacks: each runs the app in its folder. The book's table is made of this list.

/**
 * @typedef {object} Stack
 * @property {string} name as the table has it
 * @property {string} folder its app
 * @property {string} [tool] the package whose version is told; installed from package-lock.json
 * @property {string} [build] a command that makes what is served
 * @property {string} [site] the folder of what is built, where that is served as it is
 * @property {string} [start] a command that serves on PORT until it is ended
 * @property {string} [run] a command that reports once and ends
 * @property {true} [page] opened in each engine, where it reports once; unless something is
 * started, from a server of files that is of another origin than the collector
 * @property {readonly string[]} [asks] paths on which the server itself reports once
 * @property {string} [slim] the source file that the package is imported in, to be changed as its
 * README says for modules that are served as files
 * @property {string} [policy] the page's Content-Security-Policy
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
