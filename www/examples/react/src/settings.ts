// Written by `hushbin task types`; the fingerprint is 30585a1ed5603cc5bc191542878506f7.
import type { Task } from "hushbin";

export const task = {
  id: "settings",
  epsilon: 1,
  questions: [
    {
      name: "theme",
      kind: "choice",
      options: ["system", "light", "dark"],
      weight: 100,
      mechanism: {
        name: "collision",
        rule: "heaviest",
        favoured: 1,
        hashing: "balanced",
        buckets: 3,
      },
    },
    {
      name: "captions",
      kind: "flag",
      weight: 80,
      mechanism: {
        name: "collision",
        rule: "heaviest",
        favoured: 1,
        hashing: "balanced",
        buckets: 2,
      },
    },
    {
      name: "autoplay",
      kind: "flag",
      weight: 80,
      mechanism: {
        name: "collision",
        rule: "heaviest",
        favoured: 1,
        hashing: "balanced",
        buckets: 2,
      },
    },
  ],
} as const satisfies Task;
