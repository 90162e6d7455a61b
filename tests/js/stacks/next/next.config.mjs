import { resolve } from "node:path";

// Packages are installed in a parent folder.
export default { turbopack: { root: resolve(import.meta.dirname, "../..") } };
