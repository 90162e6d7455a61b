/**
 * The entry of classic scripts: the global `hushbin`, with the module in it.
 *
 * A page may use it before it is there: `hushbin` is an array of functions then, which are
 * called with it, in their order, as it arrives. What is pushed later is called at once.
 *
 * @packageDocumentation
 */

import * as exported from "./exports.js";
import { INLINED } from "./inlined.js";
import { supply } from "./module.js";

/** What files beside this one leave in `hushbin.files`. */
type Files = Readonly<Record<string, unknown>>;

type Run = (hushbin: Global) => unknown;
type Global = typeof exported & {
  files: Files;
  load: typeof load;
  push(...runs: readonly Run[]): void;
};

const scope = globalThis as unknown as { hushbin?: Global | readonly Run[] };

// Only known while the script itself runs. In a worker there is none.
const src = (globalThis.document?.currentScript as HTMLScriptElement | null | undefined)?.src;

const loading: Record<string, Promise<unknown> | undefined> = {};

/** Runs a file from beside this one, which has to be that of a hash. */
function load(name: string, hash: string): Promise<unknown> {
  // Load each file once: every further request would reveal its time to the host.
  loading[name] ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = String(src).replace(/[^/]*$/, `hushbin.script.${name}.js`);
    script.integrity = hash;
    script.crossOrigin = "anonymous";
    script.onload = () => resolve(hushbin.files[name]);
    script.onerror = () => {
      loading[name] = undefined;
      reject(new Error(`${script.src} could not be loaded`));
    };
    document.head.append(script);
  });
  return loading[name];
}

const hushbin: Global = {
  ...exported,
  files: {},
  load,
  push(...runs) {
    for (const run of runs) {
      try {
        run(hushbin);
      } catch (error) {
        // Told as any error of the page is, and the others run.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  },
};

// Of a script that is there twice the first stays: others may hold what is in it.
const early = scope.hushbin ?? [];
if (Array.isArray(early)) {
  supply(INLINED);
  scope.hushbin = hushbin;
  hushbin.push(...early);
}
