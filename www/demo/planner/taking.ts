// What is taken from a planner: text that is copied, a file that is downloaded.

import { byId } from "../shared/dom.js";

export async function copy(text: string, done: string): Promise<void> {
  byId("copied").textContent = await navigator.clipboard.writeText(text).then(
    () => done,
    () => "The browser does not let this page copy: select the text instead.",
  );
}

export function download(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The download has its bytes by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
