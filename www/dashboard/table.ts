// Tables. On narrow screens, CSS displays rows as blocks. Browsers then drop the implicit ARIA
// roles, so each role is set explicitly.

import { el } from "../demo/shared/dom.js";

/** Cell of a table, with its content and its CSS class. */
export interface TableCell {
  readonly content: Node | string;
  readonly style?: string;
}

const cellOf = (cell: TableCell | string): TableCell =>
  typeof cell === "string" ? { content: cell } : cell;

/** Draws a table. The first cell of each row is the heading of the row. */
export function createTable(
  caption: string,
  heads: readonly (TableCell | string)[],
  rows: readonly (readonly (TableCell | string)[])[],
  style = "",
): HTMLTableElement {
  const head = heads.map(cellOf).map(({ content, style: own }) => {
    return el("th", { scope: "col", role: "columnheader", class: own }, content);
  });
  const body = rows.map((row) =>
    el(
      "tr",
      { role: "row" },
      ...row
        .map(cellOf)
        .map(({ content, style: own }, column) =>
          column === 0
            ? el("th", { scope: "row", role: "rowheader", class: own }, content)
            : el("td", { role: "cell", class: own }, content),
        ),
    ),
  );
  return el(
    "table",
    { role: "table", class: style === "" ? undefined : style },
    el("caption", {}, caption),
    el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, ...head)),
    el("tbody", { role: "rowgroup" }, ...body),
  );
}

/** Draws a table that is hidden until the person opens it. It stands below a plot. */
export function collapsedTable(
  summary: string,
  heads: readonly string[],
  rows: readonly (readonly string[])[],
): HTMLElement {
  const [first = "", ...others] = heads;
  const numbers = others.map((content) => ({ content, style: "amount" }));
  const cells = rows.map(([name = "", ...own]) => [
    name,
    ...own.map((content) => ({ content, style: "amount" })),
  ]);
  return el(
    "details",
    {},
    el("summary", {}, summary),
    el(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": summary },
      createTable(summary, [first, ...numbers], cells),
    ),
  );
}
