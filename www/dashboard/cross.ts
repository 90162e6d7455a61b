// View of a cross-tabulation: its margins, and the estimates within rows.

import { el } from "../demo/shared/dom.js";
import type { CrossEstimates, Estimates, Margin, Within } from "./api.js";
import { dots } from "./dots.js";
import { digits, nameOf, share } from "./labels.js";
import type { Row, Rows } from "./rows.js";
import { table } from "./table.js";

/**
 * Returns the mean within each row of the cross-tabulation, as rows of a table. Rows without an
 * estimate are left out.
 */
export function meansOf({ cross }: Estimates): readonly Row[] {
  const { conditional_means: means = [], columns } = cross ?? {};
  return means.flatMap(({ row, estimate, interval, simultaneous_interval }) => {
    if (estimate === null) return [];
    const unit = columns?.unit;
    const told = unit === undefined ? {} : { unit };
    return {
      label: nameOf(row),
      query: null,
      estimate: { estimate, interval, simultaneous_interval },
      ...told,
    };
  });
}

/** Draws the margins of a cross-tabulation and the estimates within its rows. */
export function crossView({ cross }: Estimates): readonly Element[] {
  if (cross === undefined) return [];
  const margins = [cross.rows, cross.columns].flatMap(margin);
  const family =
    "All intervals in one table hold at once with 95% confidence." +
    (margins.length > 1 ? " The two tables “Share of people by …” count as one table." : "");
  return [...margins, ...within(cross), el("p", { class: "help" }, family)];
}

function margin({ name, shares = [] }: Margin): readonly Element[] {
  if (shares.length === 0) return [];
  const rows: Row[] = shares.map(({ item, share: estimate }) => ({
    label: nameOf(item),
    query: null,
    estimate,
  }));
  const all: Rows = { estimand: "share", shares: true, rows, words: share };
  return [dots(`Share of people by ${name}`, all, rows)];
}

function within({
  rows,
  columns,
  conditional_means,
  conditional_shares,
}: CrossEstimates): Element[] {
  const unit = columns.unit === undefined ? "" : ` ${columns.unit}`;
  const mean = (value: number) => digits(value) + unit;
  const tables: Element[] = [];
  if (conditional_means?.length) {
    tables.push(told(`Mean of ${columns.name} by ${rows.name}`, conditional_means, mean));
  }
  if (conditional_shares?.length) {
    tables.push(
      told(`Shares of ${columns.name} within each ${rows.name}`, conditional_shares, share),
    );
  }
  return tables;
}

function told(caption: string, all: readonly Within[], words: (value: number) => string): Element {
  const said = (value: number | null) => (value === null ? "unknown" : words(value));
  const cells = all.map(({ row, column, estimate, simultaneous_interval: [from, to] }) => [
    column === undefined ? nameOf(row) : `${nameOf(row)}: ${nameOf(column)}`,
    { shown: said(estimate), style: "amount estimated" },
    { shown: `${said(from)} to ${said(to)}`, style: "amount interval" },
  ]);
  const heads = [
    "Group",
    { shown: "Estimate", style: "amount" },
    { shown: "Simultaneous interval", style: "amount" },
  ];
  return el(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    table(caption, heads, cells),
  );
}
