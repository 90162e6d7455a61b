/**
 * Sums in the shuffle model, in a separate file that only sum tasks load. If people trust a
 * shuffler, sums have a hundredth of the error of reports with a local ε.
 *
 * There is no local ε. A person's messages contain the answer, and each message is sealed
 * separately to the analyser. The answer is hidden because the shuffler removes the senders and
 * mixes the messages of many people.
 */

import { createInjector } from "./injected.js";
import { privacyOf } from "./sums/privacy.js";
import { createSumMaker } from "./sums/randomizer.js";

export const inject = createInjector({ createMaker: createSumMaker, privacyOf });
