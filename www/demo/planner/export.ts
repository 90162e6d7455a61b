// Ways to take a plan along: copying a text, and downloading a file.

import { byId } from "../shared/dom.js";

export async function copyToClipboard(text: string, done: string): Promise<void> {
  byId("copied").textContent = await navigator.clipboard.writeText(text).then(
    () => done,
    () => "The browser does not allow this page to copy. Select the text instead.",
  );
}

export function downloadJson(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // The download has read its bytes by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
