import { resolve } from "node:path";

// Packages are installed in the folders above.
export default { turbopack: { root: resolve(import.meta.dirname, "../..") } };
