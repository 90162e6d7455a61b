/** Sessions whose reports are many messages, each sealed by itself. */

import { joined } from "../bytes.js";
import { TaskError } from "../errors.js";
import type { Settings } from "../options.js";
import { SealedSession, type SealedSettings, sealing } from "../sealed/session.js";
import { type Make, type Open, Session, storeOf } from "../session.js";
import { budgetOf } from "../task.js";
import { createMaker, type SumMaker } from "./randomizer.js";
import type { SumTask } from "./task.js";

/** Settings of a client of sums. */
export interface SumSettings extends SealedSettings {
  readonly task: SumTask;
  /** Most central ε of a window. */
  readonly maxCentralEpsilon: number;
}

/** Checks that a task spends no more than the page allows. */
function checkSpending(task: SumTask, maxCentralEpsilon: number): void {
  const { days, reports } = budgetOf(task);
  const spends = task.epsilon * reports;
  if (spends > maxCentralEpsilon) {
    throw new TaskError(
      "over-max-epsilon",
      `task ${task.id} may spend central ε = ${spends} in ${days} days, maxCentralEpsilon is ${maxCentralEpsilon}`,
    );
  }
}

/** Begins a session of a task of sums, which a page has with it. */
async function openSums<S extends Session>(
  settings: Settings,
  changed: () => void,
  Made: Make<S>,
): Promise<S> {
  const { task, maxCentralEpsilon, fingerprint } = settings as SumSettings;
  checkSpending(task, maxCentralEpsilon);
  const storing = storeOf(settings);
  // It may fail before it is awaited.
  storing.catch(() => {});
  let maker: SumMaker | undefined;
  try {
    maker = await createMaker(task);
    if ((fingerprint ?? maker.fingerprint) !== maker.fingerprint) {
      throw new TaskError(
        "fingerprint-mismatch",
        `task ${task.id} has the fingerprint ${maker.fingerprint}, expected ${fingerprint}`,
      );
    }
    return new Made(settings, maker, await storing, changed);
  } catch (error) {
    maker?.free();
    storing.then((store) => store.close()).catch(() => {});
    throw error;
  }
}

const sealed = /* @__PURE__ */ sealing(
  (settings, _, changed, Made) => openSums(settings, changed, Made),
  SealedSession,
);

/** Begins a session that seals each message by itself, so that nothing shows whose it is. */
export const openSealedSums: Open = async (settings, source, changed) => {
  const session = await sealed(settings, source, changed);
  const { seal } = session;
  const { messages } = session.engine as SumMaker;
  session.seal = async (report) => {
    const length = report.length / messages;
    const each = Array.from({ length: messages }, (_, at) =>
      seal(report.subarray(at * length, (at + 1) * length)),
    );
    return joined(await Promise.all(each));
  };
  return session;
};

/** The same for dry runs: seals nothing, and asks nobody for keys. */
export const openDrySums: Open = (settings, _, changed) => openSums(settings, changed, Session);
