/** Numbers as the dashboard and CSV have them: read, and compared with the truth of a crowd. */

import type { Page } from "playwright-core";

/** A line of CSV: what is estimated of what, with its intervals. */
export interface Line {
  readonly item: string;
  readonly estimand: string;
  readonly estimate: number | null;
  readonly error: number | null;
  readonly interval: readonly [number, number] | null;
  readonly together: readonly [number, number] | null;
}

/** Cells of a line, which may be quoted. */
function cells(line: string): readonly string[] {
  const found = line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g);
  return [...found].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? "");
}

const numberOf = (cell = ""): number | null => (cell === "" ? null : Number(cell));

function ends(from?: string, to?: string): readonly [number, number] | null {
  const [low, high] = [numberOf(from), numberOf(to)];
  return low === null || high === null ? null : [low, high];
}

/** The lines of estimates as CSV. */
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

/** A row of a table of the page: the table's caption, the row's name, and what stands behind it. */
export interface Shown {
  readonly caption: string;
  readonly name: string;
  readonly estimate: string;
  readonly interval: string;
}

/** Every row with an estimate and an interval in a section of the page. */
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

/** A number as it is shown, and the unit behind it. */
export interface Amount {
  readonly value: number;
  readonly unit: string;
  /** One in the last digit that is shown. */
  readonly grain: number;
}

/** Reads a number with its unit; a share is a part of 1, in the unit "%". */
export function amountOf(shown: string): Amount {
  const [, digits = "", unit = ""] = /^(−?[\d,]+(?:\.\d+)?)(?: ?(\D.*))?$/.exec(shown) ?? [];
  const plain = digits.replaceAll(",", "").replace("−", "-");
  const places = plain.split(".")[1]?.length ?? 0;
  const scale = unit === "%" ? 0.01 : 1;
  return { value: Number(plain || Number.NaN) * scale, unit, grain: scale * 10 ** -places };
}

/** Reads both ends of an interval; the unit stands behind the second, a per cent sign behind both. */
export function endsOf(shown: string): readonly [Amount, Amount] {
  const [from = "", to = ""] = shown.split(" to ");
  return [amountOf(from), amountOf(to)];
}

/** Whether what is shown is this number, in three digits or in those of its last place. */
export function isRounded({ value, grain }: Amount, exact: number): boolean {
  const three = 0.0051 * Math.abs(exact);
  return Math.abs(value - exact) <= Math.max(0.501 * grain, three);
}
