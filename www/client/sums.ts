/**
 * Sums in the shuffle model, in a file of its own that is loaded for them: where people
 * trust a shuffler, sums have a hundredth of the error. There is no local ε. A person's messages,
 * each sealed by itself to the analyser, say the answer; what hides it is that a shuffler forgets
 * whose they are, and that the messages of many others are among them.
 */

import { handing } from "./handed.js";
import { privacyOf } from "./sums/privacy.js";
import { createMaker } from "./sums/randomizer.js";

export const hand = handing({ createMaker, privacyOf });
