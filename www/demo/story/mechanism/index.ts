// The mechanisms that the page explains, in the order in which its controls list them.

import { coco } from "./coco.js";
import { collision } from "./collision.js";
import { hashBinEvent, hashBinUser } from "./hash-bin.js";
import type { MechanismInfo } from "./mechanism.js";

export const MECHANISM_INFOS: readonly MechanismInfo[] = [
  collision,
  coco,
  hashBinUser,
  hashBinEvent,
];
