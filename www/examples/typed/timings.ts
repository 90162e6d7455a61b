// Written by `hushbin task types`; the fingerprint is bbbbaee8012aeb02da86b889e3406f17.
import type { SumTask } from "hushbin";

export const task = {
  id: "timings",
  trust: "shuffler",
  epsilon: 1,
  delta: 0.000001,
  people: 10000,
  honest_fraction: 0.9,
  numbers: [
    {
      name: "load-time",
      min: 0,
      max: 10000,
      unit: "ms",
    },
    {
      name: "zoom",
      min: 0.25,
      max: 4,
    },
  ],
  messages: {
    levels: 8,
    drawn: 2,
    trials: 3,
    threshold: "3982537607018851328",
    noise: 12,
  },
} as const satisfies SumTask;
