// The accessible content of a chart: its title, a description in sentences, and a table of the same
// numbers.

import { byId, el, svg } from "../shared/dom.js";

export interface ChartText {
  readonly title: string;
  readonly sentences: readonly string[];
  /** Table cells, row by row. The first cell of a row is its heading. */
  readonly cells: readonly (readonly string[])[];
}

/**
 * Creates an empty chart with this id, and a table of its numbers. `rows` names the rows in the
 * table's title. `heads` are the headings of the columns.
 */
export function createChartAndTable(
  id: string,
  rows: string,
  heads: readonly string[],
): readonly Element[] {
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

/** Sets the title, the description and the table of the chart with this id. */
export function setChartText(id: string, { title, sentences, cells }: ChartText): void {
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
