/**
 * Entry for classic scripts. It defines the global `hushbin`, and contains the module.
 *
 * A page may use `hushbin` before this script has arrived. Until then, `hushbin` is an array of
 * functions. When the script arrives, it calls them in order with `hushbin` as the argument.
 * Functions that are pushed later are called at once.
 *
 * @packageDocumentation
 */

import { setCoreSources } from "./core-sources.js";
import * as exported from "./exports.js";
import { INLINED_SOURCES } from "./inlined.js";

/**
 * Exports of files that are loaded later, by file. Each file puts its exports into `hushbin.files`.
 */
type LoadedFiles = Readonly<Record<string, unknown>>;

type QueuedFunction = (hushbin: HushbinGlobal) => unknown;
type HushbinGlobal = typeof exported & {
  files: LoadedFiles;
  load: typeof loadFile;
  push(...runs: readonly QueuedFunction[]): void;
};

/** Part of the Trusted Types API that this script uses. */
interface TrustedTypesPolicy {
  createScriptURL(url: string): string;
}

const scope = globalThis as unknown as {
  hushbin?: HushbinGlobal | readonly QueuedFunction[];
  trustedTypes?: { createPolicy(name: string, rules: TrustedTypesPolicy): TrustedTypesPolicy };
};

// Element of this script, which is known only while the script runs. A worker has none.
const scriptElement = globalThis.document?.currentScript as HTMLScriptElement | null | undefined;
// A script whose text is in the page has no URL. Its attribute `data-folder` says where the other
// files are.
const scriptFolder =
  scriptElement?.dataset.folder ?? String(scriptElement?.src).replace(/[^/]*$/, "");

/** Policy that accepts all URLs. Their hashes are checked. */
const UNCHECKED_URL_POLICY: TrustedTypesPolicy = { createScriptURL: String };
/**
 * Policy with which this script sets URLs. Pages that enforce Trusted Types have to allow its name.
 */
let scriptUrlPolicy: TrustedTypesPolicy | undefined;

const loadPromises: Record<string, Promise<unknown> | undefined> = {};

/**
 * Loads a file from the folder of this script, and runs it. The file must have the given hash. Does
 * nothing for a file that the page or worker has loaded itself.
 */
function loadFile(name: string, hash: string): Promise<unknown> {
  if (name in hushbin.files) {
    return Promise.resolve(hushbin.files[name]);
  }
  // Load each file once: every further request would reveal its time to the host.
  loadPromises[name] ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    const url = `${scriptFolder}hushbin.script.${name}.js`;
    scriptUrlPolicy ??=
      scope.trustedTypes?.createPolicy("hushbin", UNCHECKED_URL_POLICY) ?? UNCHECKED_URL_POLICY;
    script.src = scriptUrlPolicy.createScriptURL(url);
    // Each file of this machine is another origin, so browsers cannot check its hash.
    if (location.protocol !== "file:") {
      script.integrity = hash;
      // The same as "anonymous".
      script.crossOrigin = "";
    }
    script.onload = () => resolve(hushbin.files[name]);
    script.onerror = () => {
      loadPromises[name] = undefined;
      reject(new Error(`${url} could not be loaded`));
    };
    document.head.append(script);
  });
  return loadPromises[name];
}

const hushbin: HushbinGlobal = {
  ...exported,
  files: {},
  load: loadFile,
  push(...runs) {
    for (const run of runs) {
      try {
        run(hushbin);
      } catch (error) {
        // Thrown in a microtask: the page sees the error, and the remaining functions still run.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  },
};

// If the script is included twice, the first one stays, because other code may refer to its
// objects.
const queuedFunctions = scope.hushbin ?? [];
if (Array.isArray(queuedFunctions)) {
  setCoreSources(INLINED_SOURCES);
  scope.hushbin = hushbin;
  hushbin.push(...queuedFunctions);
}
