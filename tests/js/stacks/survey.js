/** What each app asks and where it sends reports. The runner fills in both: the collector's address, and an id that no other app has. */

export const endpoint = "http://collector.invalid";

export const task = {
  id: "the-app",
  items: ["dark-mode", "autoplay", "captions", "reduced-motion"],
  sparsity: 2,
  epsilon: 2,
  value: "sign",
  mechanism: { name: "collision", rule: "heaviest", favoured: 2, hashing: "balanced", buckets: 10 },
};
