// Written by `hushbin task types`; the fingerprint is 7dd48a6f6589e541781c2d5b8dd4fe5c.
import type { Task } from "hushbin";

export const task = {
  id: "features",
  items: ["search", "export", "sharing"],
  sparsity: 3,
  epsilon: 1,
  value: "sign",
  mechanism: {
    name: "collision",
    rule: "heaviest",
    favoured: 3,
    hashing: "balanced",
    buckets: 9,
  },
} as const satisfies Task;
