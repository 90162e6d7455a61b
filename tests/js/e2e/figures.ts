/** Numbers of the dashboard and of CSV, for comparison with the true values of a crowd. */

import type { Page } from "playwright-core";

/** A line of CSV: an estimate with its intervals. */
export interface Line {
  readonly item: string;
  readonly estimand: string;
  readonly estimate: number | null;
  readonly error: number | null;
  readonly interval: readonly [number, number] | null;
  readonly together: readonly [number, number] | null;
}

/** Splits a line into cells, which may be quoted. */
function cells(line: string): readonly string[] {
  const found = line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g);
  return [...found].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? "");
}

const numberOf = (cell = ""): number | null => (cell === "" ? null : Number(cell));

function ends(from?: string, to?: string): readonly [number, number] | null {
  const [low, high] = [numberOf(from), numberOf(to)];
  return low === null || high === null ? null : [low, high];
}

/** Parses estimates as CSV. */
export function linesOf(csv: string): readonly Line[] {
  const [, ...rows] = csv.trim().split("\n");
  return rows.map((row) => {
    const [item = "", estimand = "", estimate, error, low, high, least, most] = cells(row);
    return {
      item,
      estimand,
      estimate: numberOf(estimate),
      error: numberOf(error),
      interval: ends(low, high),
      together: ends(least, most),
    };
  });
}

/** A row of a table on the page: the table's caption, the row's name, and the values after it. */
export interface Shown {
  readonly caption: string;
  readonly name: string;
  readonly estimate: string;
  readonly interval: string;
}

/** Returns every row with an estimate and an interval in a section of the page. */
export function shownIn(page: Page, section: string): Promise<readonly Shown[]> {
  return page.locator(`${section} table`).evaluateAll((tables) =>
    tables.flatMap((table) =>
      [...table.querySelectorAll("tbody tr")].map((row) => {
        const amounts = [...row.querySelectorAll(".amount")].map((own) => own.textContent ?? "");
        return {
          caption: table.querySelector("caption")?.textContent ?? "",
          name: row.querySelector("th")?.textContent ?? "",
          estimate: amounts[0] ?? "",
          interval: amounts[1] ?? "",
        };
      }),
    ),
  );
}

/** A displayed number and its unit. */
export interface Amount {
  readonly value: number;
  readonly unit: string;
  /** Value of one in the last displayed digit. */
  readonly grain: number;
}

/** Parses a number with its unit. A share is a fraction of 1, with the unit "%". */
export function amountOf(shown: string): Amount {
  const [, digits = "", unit = ""] = /^(−?[\d,]+(?:\.\d+)?)(?: ?(\D.*))?$/.exec(shown) ?? [];
  const plain = digits.replaceAll(",", "").replace("−", "-");
  const places = plain.split(".")[1]?.length ?? 0;
  const scale = unit === "%" ? 0.01 : 1;
  return { value: Number(plain || Number.NaN) * scale, unit, grain: scale * 10 ** -places };
}

/** Parses both ends of an interval. The unit is after the second, a per cent sign after both. */
export function endsOf(shown: string): readonly [Amount, Amount] {
  const [from = "", to = ""] = shown.split(" to ");
  return [amountOf(from), amountOf(to)];
}

/**
 * Returns whether the displayed number is this one, rounded to three digits or to its last place.
 */
export function isRounded({ value, grain }: Amount, exact: number): boolean {
  const three = 0.0051 * Math.abs(exact);
  return Math.abs(value - exact) <= Math.max(0.501 * grain, three);
}
