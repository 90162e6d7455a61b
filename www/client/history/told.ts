/** Text about a client, in terms of local or central ε. */

import { certaintyOf } from "../certainty.js";
import type { Client } from "../client.js";
import type { Sent, Spent, SumSent } from "../kind.js";
import { honestPeopleOf, messagesOf, type SumTask } from "../sums/task.js";
import { budgetOf, reportsAYear, type Task } from "../task.js";
import { protectionOf, spentInWindow } from "./facts.js";
import type { Entry, Written } from "./report.js";
import type { Words } from "./words.js";

type Shown = "about" | "consent" | "watch" | "budget" | "history" | "revoke";

/** Members of a client that the element uses. */
export type Watched = Pick<Client, Shown> | Pick<Client<SumTask>, Shown>;

/**
 * Texts about a client and its budget.
 *
 * @internal
 */
export interface Told extends Pick<Spent, "until" | "reports" | "durable"> {
  readonly asked: string;
  /** Meaning of ε, and the party that it protects against. */
  readonly means: string;
  /**
   * Number of reports in the current window, and the ε that they spent. Undefined while the task is
   * not known.
   */
  readonly used: string | undefined;
  /** Number of all reports so far, and the ε that they spent. */
  readonly ever: string;
  /** Reports, oldest first. */
  readonly entries: readonly Entry[];
}

/** Returns how sure someone can become who was 50 % sure, in per cent, in the reader's language. */
const certainty = (epsilon: number, { number }: Written): string =>
  number(Number(certaintyOf(epsilon)));

/** Returns sentences on what the task asks, and on the meaning of its ε. */
function explained(task: Task, words: Words, written: Written): [asked: string, means: string] {
  const { number } = written;
  const { epsilon } = task;
  const { about, distance, delta } = protectionOf(task);
  const sure = certainty(epsilon, written);
  const means = [words.meaning(number(epsilon), sure, about, number(distance))];
  if (delta > 0) {
    means.push(words.failing(String(delta)));
  }
  const budget = budgetOf(task);
  const yearly = reportsAYear(budget);
  const spent = yearly * epsilon;
  const { reports, days } = budget;
  means.push(words.year(reports, days, yearly, number(spent), certainty(spent, written)));
  means.push(budget.answers === "permanent" ? words.permanent : words.unlinked);
  if ("questions" in task) {
    const names = task.questions.map(({ name }) => name);
    return [words.asked(names, true), means.join(" ")];
  }
  const { items } = task;
  const asked =
    typeof items === "object"
      ? words.asked(items, false)
      : words.askedOf(items === "open" ? undefined : items);
  return [asked, means.join(" ")];
}

async function local(client: Pick<Client, Shown>, words: Words, written: Written): Promise<Told> {
  const { number } = written;
  const [spent, sent] = await Promise.all([client.budget(), client.history()]);
  const { task } = client.about;
  const { used, allowed, until, reports, durable } = spent;
  const [asked, means] = task ? explained(task, words, written) : ["", ""];
  const known = task !== undefined && allowed !== undefined;
  const cost = ({ epsilon }: Sent) => (epsilon > 0 ? words.cost(number(epsilon)) : words.again);
  return {
    asked,
    means,
    used: known ? words.used(used, allowed, number(spentInWindow(task, spent, sent))) : undefined,
    ever: words.spent(reports, number(spent.spent), certainty(spent.spent, written)),
    entries: sent.map((each) => ({ ...each, cost: cost(each), parts: words.parts })),
    until,
    reports,
    durable,
  };
}

async function central(
  client: Pick<Client<SumTask>, Shown>,
  task: SumTask,
  { sums }: Words,
  written: Written,
): Promise<Told> {
  const { number } = written;
  const [spent, sent] = await Promise.all([client.budget(), client.history()]);
  const { epsilon, delta, people } = task;
  const { used, allowed, until, reports, durable, centralSpent } = spent;
  const items = "numbers" in task ? task.numbers.map(({ name }) => name) : task.vector.items;
  const cost = (each: SumSent) => sums.cost(number(each.centralEpsilon), String(delta));
  return {
    asked: sums.asked(items, messagesOf(task)),
    means: sums.meaning(
      number(epsilon),
      String(delta),
      certainty(epsilon, written),
      number(people),
      number(honestPeopleOf(task)),
    ),
    used: sums.used(used, allowed, number(used * epsilon)),
    ever: sums.spent(reports, number(centralSpent)),
    entries: sent.map((each) => ({ ...each, cost: cost(each), parts: sums.parts })),
    until,
    reports,
    durable,
  };
}

/**
 * Reads a client's state and returns it as text.
 *
 * @internal
 */
export function told(client: Watched, words: Words, written: Written): Promise<Told> {
  const { task } = client.about;
  return task !== undefined && "trust" in task
    ? central(client as Pick<Client<SumTask>, Shown>, task, words, written)
    : local(client as Pick<Client, Shown>, words, written);
}
