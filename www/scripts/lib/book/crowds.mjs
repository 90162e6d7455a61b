// Simulated people for the pictures in the book, and the answers to each kind of question.

/** Resolution: number of pixels of a picture for each CSS pixel of the page. */
export const PICTURE_PIXEL_RATIO = 1.5;

/**
 * Returns a pseudorandom number from 0 to 1 for a person and a question. It is the same whenever
 * the script runs.
 */
function pseudorandomUniform(person, question) {
  // A hash in place of a generator. The last two multipliers are those of the core's mix32.
  let state = Math.imul(person + 1, 0x9e3779b1) ^ Math.imul(question + 1, 0x85ebca6b);
  state = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
  state = Math.imul(state ^ (state >>> 15), 0x735a2d97);
  return ((state ^ (state >>> 15)) >>> 0) / 2 ** 32;
}

/** Picks a name at random. `parts` has the probability of each name. */
function pick(person, question, parts) {
  let left = pseudorandomUniform(person, question);
  for (const [name, part] of Object.entries(parts)) {
    left -= part;
    if (left < 0) {
      return name;
    }
  }
  return Object.keys(parts)[0] ?? "";
}

/** Returns a number with an approximately normal distribution, as a sum of four uniform numbers. */
const approximateNormal = (person, question) =>
  [0, 1, 2, 3].reduce(
    (sum, part) => sum + pseudorandomUniform(person, 10 * question + part) - 0.5,
    0,
  ) * 1.7;

const personFeatures = (person) =>
  Object.entries({ search: 0.6, export: 0.25, share: 0.15, print: 0.1 })
    .filter(([, part], index) => pseudorandomUniform(person, 20 + index) < part)
    .map(([name]) => name);

const personSubscriptionPlan = (person) => pick(person, 3, { free: 0.7, pro: 0.3 });

const QUERY_PROBABILITIES = { weather: 0.34, "map of town": 0.22, "news now": 0.14 };
const personSearchQuery = (person) =>
  pseudorandomUniform(person, 5) < 0.7
    ? pick(person, 6, QUERY_PROBABILITIES)
    : `own ${person.toString(36)}`;

/**
 * @typedef {object} Crowd
 * @property {string} name name of the picture
 * @property {string} chapter chapter that contains the task, in a block labelled `file`
 * @property {string} file
 * @property {string} [question]
 * @property {(person: number) => object} answers
 */

/**
 * Returns a rating, 1 or −1, for each item that a person has. The number next to each item is the
 * share of people who like it.
 */
const personRatings = (person) =>
  Object.fromEntries(
    Object.entries({ "dark-mode": 0.8, autoplay: 0.2, captions: 0.5, "reduced-motion": 0.6 })
      .filter((_, index) => pseudorandomUniform(person, 30 + index) < 0.7)
      .map(([name, liked], index) => [
        name,
        pseudorandomUniform(person, 40 + index) < liked ? 1 : -1,
      ]),
  );

const choicesCrowdTemplate = {
  chapter: "ask/choices.md",
  file: "choices.json",
  answers: (person) => ({
    theme: pick(person, 0, { dark: 0.5, light: 0.3, system: 0.2 }),
    beta: pseudorandomUniform(person, 1) < 0.12,
    features: personFeatures(person),
  }),
};

/** @type {readonly Crowd[]} */
export const CROWDS = [
  { ...choicesCrowdTemplate, name: "choice", question: "theme" },
  { ...choicesCrowdTemplate, name: "flag", question: "beta" },
  { ...choicesCrowdTemplate, name: "set", question: "features" },
  {
    name: "ratings",
    chapter: "ask/ratings.md",
    file: "ratings.json",
    answers: personRatings,
  },
  {
    name: "number",
    chapter: "ask/number.md",
    file: "numbers.json",
    question: "loadMs",
    answers: (person) => ({
      rating: 1 + Math.floor(5 * Math.sqrt(pseudorandomUniform(person, 2))),
      loadMs: Math.exp(7 + approximateNormal(person, 7)),
    }),
  },
  {
    name: "numbers",
    chapter: "ask/numbers.md",
    file: "layout.json",
    answers: (person) => ({
      layout: {
        width: 1440 + 300 * approximateNormal(person, 8),
        height: 900 + 150 * approximateNormal(person, 9),
      },
    }),
  },
  {
    name: "cross",
    chapter: "ask/cross.md",
    file: "plans.json",
    answers: (person) => ({
      loadByPlan: {
        plan: personSubscriptionPlan(person),
        loadMs:
          (personSubscriptionPlan(person) === "pro" ? 1800 : 3400) +
          900 * approximateNormal(person, 4),
      },
    }),
  },
  {
    name: "together",
    chapter: "ask/together.md",
    file: "options.json",
    answers: (person) => ({
      settings: {
        compact: pseudorandomUniform(person, 11) < 0.3,
        sounds: pseudorandomUniform(person, 12) < 0.8,
        font: pick(person, 13, { sans: 0.6, serif: 0.3, mono: 0.1 }),
      },
    }),
  },
  {
    name: "texts",
    chapter: "ask/texts.md",
    file: "queries.json",
    answers: (person) => ({ query: personSearchQuery(person) }),
  },
];
