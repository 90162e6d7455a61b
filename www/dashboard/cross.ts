// The view of a cross-tabulation: the shares of each row and each column, and the estimates within
// rows.

import { displayedName } from "../client/displayed-name.js";
import { el } from "../demo/shared/dom.js";
import type { ConditionalEstimate, CrossEstimates, CrossMargin, EstimatesResponse } from "./api.js";
import { dotTable } from "./dots.js";
import { formatNumber, itemName, shareText } from "./labels.js";
import { type EstimandRows, type EstimateRow, unitSuffix } from "./rows.js";
import { createTable } from "./table.js";

/**
 * Returns a table row with the estimated mean of each row of a cross-tabulation. Rows without an
 * estimate are left out.
 */
export function conditionalMeanRows({ cross }: EstimatesResponse): readonly EstimateRow[] {
  const { conditional_means: means = [], columns } = cross ?? {};
  return means.flatMap(({ row, estimate, interval, simultaneous_interval }) => {
    if (estimate === null) return [];
    const unit = columns?.unit;
    const unitField = unit === undefined ? {} : { unit };
    return {
      label: itemName(row),
      queryName: null,
      estimate: { estimate, interval, simultaneous_interval },
      ...unitField,
    };
  });
}

/** Draws tables of the shares of rows and columns, and tables of the estimates within rows. */
export function crossView({ cross, confidence }: EstimatesResponse): readonly Element[] {
  if (cross === undefined) return [];
  const margins = [cross.rows, cross.columns].flatMap(marginTable);
  const family =
    `With ${confidence * 100}% confidence, all intervals in one table contain the true values.` +
    (margins.length > 1 ? " The two tables “Share of people by …” count as one table." : "");
  return [...margins, ...conditionalTables(cross), el("p", { class: "help" }, family)];
}

function marginTable({ name, shares = [] }: CrossMargin): readonly Element[] {
  if (shares.length === 0) return [];
  const rows: EstimateRow[] = shares.map(({ item, share: estimate }) => ({
    label: itemName(item),
    queryName: null,
    estimate,
  }));
  const all: EstimandRows = { estimand: "share", areShares: true, rows, format: shareText };
  return [dotTable(`Share of people by ${displayedName(name)}`, all, rows)];
}

function conditionalTables({
  rows,
  columns,
  conditional_means,
  conditional_shares,
}: CrossEstimates): Element[] {
  const mean = (value: number) => formatNumber(value) + unitSuffix(columns.unit);
  const [row, column] = [rows.name, columns.name].map(displayedName);
  const tables: Element[] = [];
  if (conditional_means?.length) {
    tables.push(conditionalEstimateTable(`Mean of ${column} by ${row}`, conditional_means, mean));
  }
  if (conditional_shares?.length) {
    tables.push(
      conditionalEstimateTable(
        `Shares of ${column} within each ${row}`,
        conditional_shares,
        shareText,
      ),
    );
  }
  return tables;
}

function conditionalEstimateTable(
  caption: string,
  all: readonly ConditionalEstimate[],
  words: (value: number) => string,
): Element {
  const text = (value: number | null) => (value === null ? "unknown" : words(value));
  const cells = all.map(({ row, column, estimate, simultaneous_interval: [from, to] }) => [
    column === undefined ? itemName(row) : `${itemName(row)}: ${itemName(column)}`,
    { content: text(estimate), style: "amount estimated" },
    { content: `${text(from)} to ${text(to)}`, style: "amount interval" },
  ]);
  const heads = [
    "Group",
    { content: "Estimate", style: "amount" },
    { content: "Simultaneous interval", style: "amount" },
  ];
  return el(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    createTable(caption, heads, cells),
  );
}
