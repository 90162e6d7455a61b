// A chart as those who cannot see it have it: its title, what it shows in
// sentences, and the same numbers as a table.

import { byId, el, svg } from "../shared/dom.js";

export interface Told {
  readonly title: string;
  readonly sentences: readonly string[];
  /** Of the table, row by row; the first of each row is its name. */
  readonly cells: readonly (readonly string[])[];
}

/** An empty chart of this id and the table of its rows, with these heads of columns. */
export function figure(id: string, rows: string, heads: readonly string[]): readonly Element[] {
  const chart = svg(
    "svg",
    { id, class: "chart", role: "img", "aria-labelledby": `${id}-title ${id}-desc` },
    svg("title", { id: `${id}-title` }),
    svg("desc", { id: `${id}-desc` }),
  );
  const columns = heads.map((head) => el("th", { scope: "col" }, head));
  const table = el("table", { id: `${id}-table` }, el("caption"));
  table.append(el("thead", {}, el("tr", {}, ...columns)), el("tbody"));
  const tabulated = el("div", { class: "tabulated" }, table);
  return [chart, el("details", {}, el("summary", {}, `${rows} as a table`), tabulated)];
}

/** Tells of the chart with this id what it shows. */
export function tell(id: string, { title, sentences, cells }: Told): void {
  byId(`${id}-title`).textContent = title;
  byId(`${id}-desc`).textContent = sentences.join(" ");
  const table = byId<HTMLTableElement>(`${id}-table`);
  if (table.caption) table.caption.textContent = title;
  table.tBodies[0]?.replaceChildren(
    ...cells.map(([name = "", ...others]) =>
      el("tr", {}, el("th", { scope: "row" }, name), ...others.map((cell) => el("td", {}, cell))),
    ),
  );
}
