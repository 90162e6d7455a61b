/** Code shared by the service worker and the options page: a client and the stored choices. */

// Service workers cannot load code later, so the module is a file of the extension.
import url from "hushbin/hushbin.wasm";
import { createClient, initialize } from "hushbin/slim";
import task from "./settings.json";

export const client = createClient({ endpoint: "http://127.0.0.1:8080", task });

/** Returns the options that are on, and whether the person agrees to statistics. */
export const remembered = () => chrome.storage.local.get({ on: [], agrees: false });

/** Grants or revokes consent. */
export async function follow(agrees) {
  if (agrees) {
    await initialize(new URL(url, chrome.runtime.getURL("/")));
    client.grant();
  } else {
    // Also withdraws reports that wait to be sent.
    await client.revoke();
  }
}
