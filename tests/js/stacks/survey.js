/**
 * Tasks and endpoint of each app. The runner fills in the collector's URL and an id unique to the
 * app.
 */

export const endpoint = "http://collector.invalid";

export const task = {
  id: "the-app",
  items: ["dark-mode", "autoplay", "captions", "reduced-motion"],
  sparsity: 2,
  epsilon: 2,
  value: "sign",
  mechanism: { name: "collision", rule: "heaviest", favoured: 2, hashing: "balanced", buckets: 10 },
};

/** A task of sums, whose code the package loads for such tasks only. */
export const sums = {
  id: "timings",
  trust: "shuffler",
  epsilon: 1,
  delta: 1e-6,
  people: 1000,
  numbers: [{ name: "load", min: 0, max: 10 }],
  messages: { levels: 8, drawn: 1, trials: 1, threshold: "4611686018427387904", noise: 2 },
};
