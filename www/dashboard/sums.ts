// Views for sum tasks, whose messages go through a shuffler: the privacy promise, and the effect of
// dishonest people.

import { visibleText } from "../client/displayed-name.js";
import { el } from "../demo/shared/dom.js";
import {
  formatCount,
  formatCountWithNoun,
  formatPercent,
  formatScientific,
} from "../demo/shared/format.js";
import type {
  Batch,
  CollectorClient,
  Question,
  SumInfluence,
  SumPrivacyPromise,
  SumsPrivacyResponse,
  TaskResponse,
} from "./api.js";
import { capitalize } from "./batch-unit.js";
import { formatNumber, itemName } from "./labels.js";
import { epsilonText } from "./panels.js";
import { unitSuffix } from "./rows.js";
import { createTable } from "./table.js";
import { MAX_RELEASES } from "./timeline.js";

export const NO_LOCAL_EPSILON_TEXT = "there is no local ε";

/** Formats a probability δ as a power of ten: 10⁻⁶. */
export const formatDelta = (delta: number): string => formatScientific(delta.toExponential());

/** Describes the privacy promise of a sum task in one line. */
export function privacyPromiseText(privacy: SumPrivacyPromise): string {
  const { central_epsilon, delta, people, honest_fraction } = privacy;
  return `People must trust the shuffler: ${NO_LOCAL_EPSILON_TEXT}. Batches have central ε = ${epsilonText(central_epsilon)}, δ = ${formatDelta(delta)} if they have at least ${formatCountWithNoun(people, "person", "people")} and ${formatPercent(honest_fraction)} of the people are honest.`;
}

/**
 * Formats a warning that messages of a sum task are missing. Returns undefined if none are missing.
 */
export function missingMessagesText(
  missing: number | undefined,
  { counted = false }: Question,
): string | undefined {
  if (missing === undefined) return undefined;
  const effect = counted
    ? "The intervals are wider, so that they allow for that."
    : "The intervals do not allow for that.";
  return `At least ${formatCountWithNoun(missing, "message")} of these people are missing: invalid, repeated, blank or lost. ${effect}`;
}

function privacyFigure(name: string, figure: string, ...more: Node[]): HTMLElement {
  return el(
    "div",
    {},
    el("h3", {}, name),
    el("p", { class: "figure" }, el("strong", {}, figure)),
    ...more,
  );
}

const help = (words: string) => el("p", { class: "help" }, visibleText(words));

/**
 * Draws the privacy promise, and the result of checking it for the released batches. `released` is
 * null if no batch is released.
 */
export function sumsPrivacyView(
  { privacy }: Extract<TaskResponse, { privacy: SumPrivacyPromise }>,
  released: SumsPrivacyResponse | null,
): readonly Node[] {
  const { central_epsilon, delta, people, honest_fraction, statement } = privacy;
  const facts = [
    ["people must trust", "the shuffler"],
    ["minimum number of people in a batch", formatCount(people)],
    ["share of people assumed honest", formatPercent(honest_fraction)],
  ] as const;
  const central = privacyFigure(
    "A batch, shuffled by another party",
    `central ε = ${epsilonText(central_epsilon)}, δ = ${formatDelta(delta)}`,
    el(
      "dl",
      { class: "facts-list" },
      ...facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))),
    ),
    released === null ? el("p", {}, "No batch is released yet.") : promiseCheckView(released),
    ...(released === null ? [] : [help(released.flood_statement)]),
  );
  return [
    privacyFigure("The messages of one person", NO_LOCAL_EPSILON_TEXT, help(statement)),
    central,
  ];
}

/** Draws the result of checking whether the smallest released batch keeps the privacy promise. */
function promiseCheckView({
  smallest_batch_suffices: holds,
  batch_statement,
  shuffled_by,
}: SumsPrivacyResponse): HTMLElement {
  const by =
    shuffled_by.length === 0 ? [] : [` The batches were shuffled by ${shuffled_by.join(" and ")}.`];
  return el(
    "p",
    { class: holds ? "holds" : "refused" },
    el("strong", {}, holds ? "The promise holds. " : "The promise does not hold. "),
    batch_statement,
    ...by,
  );
}

/** Maximum number of parallel requests. */
const MAX_PARALLEL = 3;

/** Requests the largest effect that dishonest people can have on each of the latest releases. */
export async function requestDishonestInfluence(
  collector: CollectorClient,
  task: string,
  released: readonly Batch[],
): Promise<readonly (readonly [batch: number, found: SumInfluence])[]> {
  const latest = released.slice(-MAX_RELEASES);
  const found: (readonly [number, SumInfluence])[] = [];
  for (let first = 0; first < latest.length; first += MAX_PARALLEL) {
    const some = latest.slice(first, first + MAX_PARALLEL).map(async ({ number }) => {
      const path = `${encodeURIComponent(task)}/influence?batches=${number}`;
      return [number, await collector.getFromTasks<SumInfluence>(path)] as const;
    });
    found.push(...(await Promise.all(some)));
  }
  return found;
}

const amountCell = (content: string) => ({ content, style: "amount" });

/**
 * Formats an effect as a multiple of the standard error. Returns a dash for a multiple that is not
 * finite, which happens if everyone is assumed to be honest.
 */
const formatErrorMultiple = (errors: number) =>
  Number.isFinite(errors) ? `× ${formatNumber(errors)}` : "–";

/** Maximum number of items in the table of effects. */
const MAX_LISTED = 50;

/** Draws the largest effect of dishonest people on the displayed sums, and on each release. */
export function dishonestInfluenceView(
  { people, influence, statement }: SumInfluence,
  each: readonly (readonly [batch: number, found: SumInfluence])[],
  { counted = false }: Question = {},
): readonly Node[] {
  const [first] = influence;
  const [noun, whole] = counted
    ? ["count", "number of people with one answer"]
    : ["sum", "length of the vector’s sum"];
  const rows = influence
    .slice(0, MAX_LISTED)
    .map(
      ({ item, unit, honest_change: honest, dishonest_change: dishonest, total_change: all }) => {
        const words = (value: number) => formatNumber(value) + unitSuffix(unit);
        return [
          item === undefined ? whole : itemName(item),
          ...[honest, dishonest, all].map((value) => amountCell(words(value))),
        ];
      },
    );
  const assumed = first?.dishonest_people ?? 0;
  const heads = [
    capitalize(noun),
    amountCell("An honest person"),
    amountCell("A dishonest person"),
    amountCell(`All ${formatCount(assumed)} dishonest people`),
  ];
  const more = influence.length > MAX_LISTED ? ` (first ${MAX_LISTED} items)` : "";
  const about =
    assumed === 0
      ? "The task assumes that everyone is honest."
      : `The task assumes that ${formatCount(assumed)} of ${formatCountWithNoun(Math.round(people), "person", "people")} are dishonest. One dishonest person can move a ${noun} by up to ${formatNumber((first?.total_standard_errors ?? Number.NaN) / assumed)} standard errors. All dishonest people together can move a ${noun} by up to ${formatNumber(first?.total_standard_errors ?? Number.NaN)} standard errors.`;
  return [
    el("p", {}, about),
    wrapInScrollArea(createTable(`Largest effect on a ${noun}${more}`, heads, rows)),
    ...(each.length === 0 ? [] : [wrapInScrollArea(dishonestEffectsTable(each))]),
    help(statement),
  ];
}

/** Wraps a wide table in an element that scrolls on narrow screens. */
function wrapInScrollArea(own: HTMLTableElement): HTMLElement {
  const label = own.caption?.textContent ?? "";
  return el("div", { class: "across", tabindex: 0, role: "region", "aria-label": label }, own);
}

function dishonestEffectsTable(
  each: readonly (readonly [number, SumInfluence])[],
): HTMLTableElement {
  const rows = each.map(([batch, { people, influence }]) => {
    const [first] = influence;
    const assumed = first?.dishonest_people ?? 0;
    const errors = first?.total_standard_errors ?? Number.NaN;
    return [
      String(batch),
      amountCell(formatCount(people)),
      amountCell(formatCount(assumed)),
      amountCell(formatErrorMultiple(errors / assumed)),
      amountCell(formatErrorMultiple(errors)),
    ];
  });
  const heads = [
    "Batch",
    amountCell("People"),
    amountCell("Dishonest people (assumed)"),
    amountCell("Effect of one such person, in standard errors"),
    amountCell("Effect of all such people, in standard errors"),
  ];
  return createTable(
    "Largest effect of dishonest people on each batch",
    heads,
    [...rows].reverse(),
  );
}
