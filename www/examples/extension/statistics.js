/** What the service worker and the page of options share: a client, and what is remembered. */

// Service workers cannot load code later, so that the module is a file of the extension.
import url from "hushbin/hushbin.wasm";
import { createClient, initialize } from "hushbin/slim";
import task from "./settings.json";

export const client = createClient({ endpoint: "http://127.0.0.1:8080", task });

/** Which options are on, and whether the person agrees that they are counted. */
export const remembered = () => chrome.storage.local.get({ on: [], agrees: false });

/** Grants or revokes consent, as it is remembered. */
export async function follow(agrees) {
  if (agrees) {
    await initialize(new URL(url, chrome.runtime.getURL("/")));
    client.grant();
  } else {
    // Also forgets what waits to be sent.
    await client.revoke();
  }
}
