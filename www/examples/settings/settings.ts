// Written by `hushbin task types`; the fingerprint is ef83994634af1e311f59160df93ab9fc.
import type { Task } from "hushbin";

export const task = {
  id: "settings",
  items: ["dark-mode", "autoplay"],
  sparsity: 2,
  epsilon: 1,
  value: "sign",
  mechanism: {
    name: "collision",
    rule: "heaviest",
    favoured: 2,
    hashing: "balanced",
    buckets: 6,
  },
} as const satisfies Task;
