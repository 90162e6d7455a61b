// Written by `hushbin task types`; the fingerprints are:
//   control 368cf38dfb73402a68ef53102cea3795
//   wide 38e8ee9247ce70f7d4ecea4bebe07c61
import type { Task } from "hushbin";

export const task = {
  labels: ["control", "wide"],
  id: "layouts",
  epsilon: 1,
  questions: [
    {
      name: "found-help",
      kind: "flag",
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
