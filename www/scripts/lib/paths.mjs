// Absolute paths of the project, so that every script works in any directory.

import { homedir } from "node:os";
import { join, resolve } from "node:path";

export const ROOT = resolve(import.meta.dirname, "../../..");
export const DIST = join(ROOT, "dist");
export const DEMO_DIST = join(ROOT, "demo-dist");
export const CLIENT = join(ROOT, "www/client");
export const DEMO = join(ROOT, "www/demo");
/** Folder of the package's command `init`, and folder of its planner's glue, made by the build. */
export const INIT = join(ROOT, "www/init");
export const INIT_GLUE_DIR = join(INIT, "glue");
/** Folder of the dashboard's sources, and folder of its build, which cargo includes. */
export const DASHBOARD = join(ROOT, "www/dashboard");
export const DASHBOARD_DIST = join(ROOT, "server/dashboard");
/** Folder of the glue (generated JavaScript) of the client's modules, made by the build. */
export const CLIENT_GLUE_DIR = join(CLIENT, "wasm");
/**
 * Folder of the glue (generated JavaScript) of the analysis module, made by the build of the demo.
 */
export const ANALYSIS_GLUE_DIR = join(DEMO, "shared/wasm");
export const TARGET = resolve(ROOT, process.env.CARGO_TARGET_DIR ?? "target");
/** Path of the reference of the npm package's exports, in Markdown, made by the build. */
export const API_REFERENCE_FILE = join(TARGET, "API.md");
/** Folder of the publishable npm package, made by the build. */
export const NPM_PACKAGE_DIR = join(TARGET, "package");
/** Folder of the files of a release, and folder in which they are made. */
export const RELEASE_FILES_DIR = join(TARGET, "release-artefacts");
export const RELEASE_BUILD_DIR = join(TARGET, "release-build");
export const NPM_BIN_DIR = join(ROOT, "node_modules/.bin");
/** Folder of installed tools, with one directory for each version. */
export const TOOLS = process.env.HUSHBIN_TOOLS ?? join(homedir(), ".cache/hushbin");
