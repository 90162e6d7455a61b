// The display of a mechanism's picture of a report, with its title and legend.

import { byId, el } from "../shared/dom.js";
import type { ReportPicture } from "./mechanism/mechanism.js";

export function showReportPicture({ title, text, body, legendEntries: key }: ReportPicture): void {
  byId("picture-title").textContent = title;
  byId("picture-text").textContent = text;
  byId("picture").replaceChildren(body);
  byId("picture-key").replaceChildren(
    ...key.map(([swatch, words]) => el("li", {}, swatch, ` ${words}`)),
  );
}
