/**
 * Memos: randomised answers that stay in the browser for an epoch. All reports of an epoch are made
 * from its memo, each with a new seed.
 */

import { DAY_MS, type LedgerMemo, type TaskLedger, withoutEndedMemo } from "./budget.js";
import type { PackedEntries } from "./input.js";
import type { CollisionMechanism } from "./mechanism/collision.js";
import type { ChoiceQuestion } from "./question.js";
import type { Store } from "./store/store.js";
import type { MemoParameters, QuestionsTask, Task } from "./task.js";

/** Maker of reports whose task has a memo. */
interface MemoMaker {
  readonly task: Task;
  /** Draws the memo of answers. Returns its slot. */
  drawMemoSlot(entries: PackedEntries): number;
  /** Makes a report from the slot of a memo. */
  makeFromMemo(slot: number): Uint8Array;
}

/** Report that may be made from a memo. */
interface MemoReport {
  /** ε that the report adds to the total: that of the memo if it is drawn, or else 0. */
  readonly epsilonAddedToTotal: number;
  /** Makes the report. Returns it with the memo that the ledger has to store. */
  make(): readonly [report: Uint8Array, memo: LedgerMemo];
}

/**
 * Function that prepares a report at the time `now`, of a task in this state. Returns undefined if
 * no report may be made until the epoch ends.
 */
export type MemoFunction = (
  ledger: TaskLedger,
  entries: PackedEntries,
  now: number,
) => MemoReport | undefined;

/** Slot and report that were made for one call of a client's `report`. */
interface PreparedMemoReport {
  /** Slot that the ledger had. Undefined if the slot was drawn for this call. */
  readonly storedSlot: number | undefined;
  readonly slot: number;
  readonly report: Uint8Array;
}

/** Question to which answers can have a memo. A flag has no list of options. */
type MemoQuestion = Omit<ChoiceQuestion, "options"> & Partial<Pick<ChoiceQuestion, "options">>;

/**
 * Returns a text that identifies what a memo belongs to: the question, its options in order, the
 * number of slots, and the ε of the memo.
 */
function memoQuestionId(task: Task, { epsilon }: MemoParameters): string {
  // A task with a memo has one question, with the mechanism Collision.
  const [question] = (task as QuestionsTask).questions;
  const { name, mechanism, options = 2 } = question as MemoQuestion;
  const { buckets } = mechanism as CollisionMechanism;
  const count = typeof options === "number" ? options : options.length;
  // All buckets have equally many slots, so there can be more slots than options.
  const slots = buckets * Math.ceil(count / buckets);
  return JSON.stringify([name, options, slots, epsilon]);
}

/**
 * Deletes a memo whose epoch has ended, and returns the function that prepares the reports of a
 * task.
 *
 * @param memo memo of the task's budget
 * @param stored latest ledger that was read from the store
 */
export async function createMemoFunction(
  engine: MemoMaker,
  memo: MemoParameters,
  store: Store,
  stored: TaskLedger,
): Promise<MemoFunction> {
  const now = Date.now();
  if (withoutEndedMemo(stored, now) !== stored) {
    await store.changeLedgers(({ taskLedger: ledger, collectorCharges: charges }) => {
      return {
        taskLedger: withoutEndedMemo(ledger, now),
        collectorCharges: charges,
        result: undefined,
      };
    });
  }
  const question = memoQuestionId(engine.task, memo);
  // A report that is sealed is prepared twice. It has to be the same, unless another tab has stored
  // a memo in the meantime.
  const drafts = new WeakMap<PackedEntries, PreparedMemoReport>();
  return (ledger, entries, now) => {
    // The end was fixed when the memo was drawn. A clock that is set back therefore starts no epoch.
    const current = ledger.memo && now < ledger.memo.until ? ledger.memo : undefined;
    // A second memo in the same epoch would reveal as much again.
    if (current && (current.slot === null || current.question !== question)) {
      return undefined;
    }
    return {
      epsilonAddedToTotal: current ? 0 : memo.epsilon,
      make: () => {
        const stored = current?.slot ?? undefined;
        let draft = drafts.get(entries);
        if (draft === undefined || draft.storedSlot !== stored) {
          const slot = stored ?? engine.drawMemoSlot(entries);
          draft = { storedSlot: stored, slot, report: engine.makeFromMemo(slot) };
          drafts.set(entries, draft);
        }
        const until = current?.until ?? now + memo.days * DAY_MS;
        return [draft.report, { until, question, slot: draft.slot }];
      },
    };
  };
}
