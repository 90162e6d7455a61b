/** Texts about a client and its reports, for tasks with a local or a central ε. */

import { maximumCertaintyPercent } from "../certainty.js";
import type { Client } from "../client-interface.js";
import { displayedName } from "../displayed-name.js";
import type { BudgetStatus, HistoryEntry, SumHistoryEntry } from "../results.js";
import { honestPeopleOf, itemNamesOrCount, messagesPerPerson, type SumTask } from "../sums/task.js";
import { budgetOf, maxReportsPerYear, type Task } from "../task.js";
import { protectionOf } from "./facts.js";
import type { Formatters, ReportEntry } from "./report.js";
import type { Words } from "./words.js";

type HistoryClientMember = "about" | "consent" | "watch" | "budget" | "history" | "revoke";

/** Members of a client that the element `<hushbin-history>` uses. */
export type HistoryClient =
  | Pick<Client, HistoryClientMember>
  | Pick<Client<SumTask>, HistoryClientMember>;

/**
 * Texts about a client, its budget and its reports.
 *
 * @internal
 */
export interface ClientTexts
  extends Pick<BudgetStatus, "until" | "heldUntil" | "reports" | "durable"> {
  /** Sentence on the items or questions that a report covers. */
  readonly covers: string;
  /** Sentences on the meaning of ε, and on whom it protects against. */
  readonly meaning: string;
  /**
   * Text with the number of reports in the current window, and the ε that they spent. Undefined
   * until the task is known.
   */
  readonly used: string | undefined;
  /** Text with the number of all reports so far, and the ε that they spent. */
  readonly total: string;
  /** Reports of the client, the oldest first. */
  readonly entries: readonly ReportEntry[];
}

/** Formats the result of {@link maximumCertaintyPercent} for the language. */
const formatCertainty = (epsilon: number, { number }: Formatters): string =>
  number(Number(maximumCertaintyPercent(epsilon)));

/**
 * Shows the names in a sentence as {@link displayedName} does. The sentence was made with the names
 * of the task, because words of a page may look up its own texts for them.
 */
const withDisplayedNames = (sentence: string, names: readonly string[]): string =>
  names
    .filter((name) => name !== "")
    .reduce((text, name) => text.split(name).join(displayedName(name)), sentence);

/** Returns sentences on what the task asks, and sentences on the meaning of its ε. */
function taskTexts(
  task: Task,
  words: Words,
  formatters: Formatters,
): [covers: string, meaning: string] {
  const { number } = formatters;
  const { epsilon } = task;
  const { about, distance, delta } = protectionOf(task);
  const sure = formatCertainty(epsilon, formatters);
  const sentences = [words.meaning(number(epsilon), sure, about, number(distance))];
  if (delta > 0) {
    sentences.push(words.failure(String(delta)));
  }
  const budget = budgetOf(task);
  const { reports, days, memo, cover } = budget;
  if (memo) {
    const { epsilon } = memo;
    sentences.push(words.memo(memo.days, number(epsilon), formatCertainty(epsilon, formatters)));
  }
  // One memo a year has no larger total than the memo.
  const memos = memo ? Math.ceil(365 / memo.days) : 0;
  if (memos !== 1) {
    const yearly = maxReportsPerYear(budget);
    const spent = memo ? memos * memo.epsilon : yearly * epsilon;
    const sure = formatCertainty(spent, formatters);
    sentences.push(words.year(reports, days, yearly, number(spent), sure));
  }
  if (!memo) {
    sentences.push(words.unlinked);
  }
  if (cover) {
    sentences.push(words.cover);
  }
  if ("questions" in task) {
    const names = task.questions.map(({ name }) => name);
    return [withDisplayedNames(words.covers(names, true), names), sentences.join(" ")];
  }
  const { items } = task;
  const covers =
    typeof items === "object"
      ? withDisplayedNames(words.covers(items, false), items)
      : words.coversCount(items === "open" ? undefined : items);
  return [covers, sentences.join(" ")];
}

async function localClientTexts(
  client: Pick<Client, HistoryClientMember>,
  words: Words,
  formatters: Formatters,
): Promise<ClientTexts> {
  const { number } = formatters;
  const [spent, sent] = await Promise.all([client.budget(), client.history()]);
  const { task } = client.about;
  const { used, allowed, until, heldUntil, reports, durable } = spent;
  const [covers, meaning] = task ? taskTexts(task, words, formatters) : ["", ""];
  const known = task !== undefined && allowed !== undefined;
  const cost = ({ epsilon }: HistoryEntry) => words.cost(number(epsilon));
  return {
    covers,
    meaning,
    used: known ? words.used(used, allowed, number(used * task.epsilon)) : undefined,
    total: words.spent(reports, number(spent.spent), formatCertainty(spent.spent, formatters)),
    entries: sent.map((each) => ({ ...each, cost: cost(each), uploadPartNames: words.parts })),
    until,
    ...(heldUntil && { heldUntil }),
    reports,
    durable,
  };
}

async function sumClientTexts(
  client: Pick<Client<SumTask>, HistoryClientMember>,
  task: SumTask,
  { sums }: Words,
  formatters: Formatters,
): Promise<ClientTexts> {
  const { number } = formatters;
  const [spent, sent] = await Promise.all([client.budget(), client.history()]);
  const { epsilon, delta, people } = task;
  const { used, allowed, until, reports, durable, centralSpent } = spent;
  const items = itemNamesOrCount(task);
  const [fewest, most] = messagesPerPerson(task);
  const covers = sums.covers(items, most, fewest < most);
  const cost = (each: SumHistoryEntry) => sums.cost(number(each.centralEpsilon), String(delta));
  return {
    covers: typeof items === "number" ? covers : withDisplayedNames(covers, items),
    meaning: sums.meaning(
      number(epsilon),
      String(delta),
      formatCertainty(epsilon, formatters),
      number(people),
      number(honestPeopleOf(task)),
    ),
    used: sums.used(used, allowed, number(used * epsilon)),
    total: sums.spent(reports, number(centralSpent)),
    entries: sent.map((each) => ({ ...each, cost: cost(each), uploadPartNames: sums.parts })),
    until,
    reports,
    durable,
  };
}

/**
 * Reads the state of a client, and returns texts about it.
 *
 * @internal
 */
export function readClientTexts(
  client: HistoryClient,
  words: Words,
  formatters: Formatters,
): Promise<ClientTexts> {
  const { task } = client.about;
  return task !== undefined && "trust" in task
    ? sumClientTexts(client as Pick<Client<SumTask>, HistoryClientMember>, task, words, formatters)
    : localClientTexts(client as Pick<Client, HistoryClientMember>, words, formatters);
}
