// www/demo/shared/dom.ts
function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page lacks #${id}.`);
  return found;
}
function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  setAttributes(made, attributes);
  made.append(...children);
  return made;
}
function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  setAttributes(made, attributes);
  made.append(...children);
  return made;
}
function setAttributes(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === void 0 || value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

// www/client/displayed-name.ts
var HIDDEN_CONTROL = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
var DIRECTION_FREE = /^[A-Za-z](?:[ -~]*[A-Za-z0-9])?$/;
var visibleText = (text) => text.replace(
  HIDDEN_CONTROL,
  (own) => `U+${own.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`
);
function displayedName(name) {
  const visible = visibleText(name);
  return DIRECTION_FREE.test(visible) ? visible : `⁨${visible}⁩`;
}

// www/dashboard/api.ts
var ESTIMANDS = ["mean", "share", "sum", "plus", "minus", "nonmissing"];
var isSumTaskResponse = (answer) => "privacy" in answer;
var CollectorError = class extends Error {
  name = "CollectorError";
  /** Last part of the problem document's type, for example `nothing-released`. */
  problem;
  status;
  constructor(status, body) {
    const members = typeof body === "object" && body !== null ? body : {};
    const { type, title, detail } = members;
    const words = [title, detail].filter((word) => typeof word === "string");
    super(words.length > 0 ? `${visibleText(words.join(": "))}.` : messageForStatus(status));
    this.problem = String(type ?? "").replace(/^.*:/, "");
    this.status = status;
  }
};
function messageForStatus(status) {
  if (status === 0) return "The collector does not answer.";
  return `The collector answered with status ${status}.`;
}
var CollectorClient = class {
  /**
   * Base address of the HTTP interface, one level above the page. A proxy may put both below a
   * path.
   */
  #base = new URL("../", location.href);
  /** Token of the analyst. `null` if requests need no token. */
  token = null;
  /**
   * Requests a path below `tasks`, such as "survey/batches?…". An empty path requests the list of
   * all tasks.
   */
  async getFromTasks(path) {
    const response = await this.#get(path === "" ? "tasks" : `tasks/${path}`);
    const body = await response.json().catch(() => null);
    if (!response.ok || body === null) throw new CollectorError(response.status, body);
    return body;
  }
  /** Requests a path below `tasks`. Returns `null` if the collector does not know the path. */
  async getFromTasksOrNull(path) {
    try {
      return await this.getFromTasks(path);
    } catch (thrown) {
      if (thrown instanceof CollectorError && thrown.status === 404) return null;
      throw thrown;
    }
  }
  /** Requests the collector's metrics, in the text format of Prometheus. */
  async metrics() {
    const response = await this.#get("metrics");
    if (!response.ok) throw new CollectorError(response.status, null);
    return response.text();
  }
  async #get(path) {
    const headers = { accept: "application/json" };
    if (this.token !== null) headers.authorization = `Bearer ${this.token}`;
    try {
      return await fetch(new URL(path, this.#base), { headers, credentials: "omit" });
    } catch {
      throw new CollectorError(0, null);
    }
  }
};

// www/demo/shared/format.ts
var whole = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });
function formatCount(value) {
  return whole.format(value);
}
function formatCountWithNoun(value, noun, plural = `${noun}s`) {
  return `${formatCount(value)} ${value === 1 ? noun : plural}`;
}
function formatPercent(share, digits = 0) {
  const text = (Math.abs(share) * 100).toFixed(digits);
  return `${share < 0 && Number(text) !== 0 ? "−" : ""}${text}%`;
}
function formatThreeDigits(value) {
  return Number(value.toPrecision(3)).toString();
}
function formatScientific(exponential) {
  const [mantissa = "", exponent = ""] = exponential.split("e");
  const raised = exponent.replace("+", "").replace(/./g, (sign) => RAISED[sign] ?? sign);
  return Number(mantissa) === 1 ? `10${raised}` : `${Number(mantissa)} × 10${raised}`;
}
var RAISED = {
  "-": "⁻",
  ...Object.fromEntries([..."⁰¹²³⁴⁵⁶⁷⁸⁹"].map((raised, digit) => [String(digit), raised]))
};

// www/client/errors.ts
var BaseError = class extends Error {
  /** @internal */
  constructor(name, message, options) {
    super(message, options);
    this.name = name;
  }
};
var TaskError = class extends BaseError {
  /** @internal */
  constructor(code, message, options) {
    super("TaskError", message, options);
    this.code = code;
  }
};

// www/client/fields.ts
function invalidTaskError(what) {
  return new TaskError("invalid-task", `task is invalid: ${what}`);
}
function readString(from, key) {
  const value = from[key];
  if (typeof value !== "string") {
    throw invalidTaskError(`${key} is not a string`);
  }
  return value;
}
function readNumber(from, key) {
  const value = from[key];
  if (typeof value !== "number" || !Number.isFinite(value)) {
    throw invalidTaskError(`${key} is not a number`);
  }
  return value;
}
function readInteger(from, key) {
  const value = readNumber(from, key);
  if (value !== value >>> 0) {
    throw invalidTaskError(`${key} is ${value}, expected a whole number`);
  }
  return value;
}
function listReader(reader) {
  return (from, key) => {
    const value = from[key];
    if (!Array.isArray(value)) {
      throw invalidTaskError(`${key} is not a list`);
    }
    return [...value].map((each, index) => {
      const place = `${key}[${index}]`;
      return reader({ [place]: each }, place);
    });
  };
}

// www/client/question.ts
var readItems = (from, key) => {
  const value = from[key];
  if (value === "open") {
    return value;
  }
  return (typeof value === "number" ? readInteger : listReader(readString))(from, key);
};

// www/client/sums/task.ts
var LEAST_BINS_WITH_TWO_LEVELS = 32;
function cellsAndOwnMessages(question) {
  if (question.kind === "flag") {
    return [2, 1];
  }
  if (question.kind === "number") {
    const { bins } = question;
    return bins < LEAST_BINS_WITH_TWO_LEVELS ? [bins, 1] : [bins + Math.ceil(bins / Math.ceil(Math.sqrt(bins))), 2];
  }
  const { options } = question;
  const count = typeof options === "number" ? options : options.length;
  return question.kind === "set" ? [count + question.sparsity, question.sparsity] : [count, 1];
}
var totalCellsAndOwnMessages = ({ questions }) => questions.map(cellsAndOwnMessages).reduce(([cells, own], [more, moreOwn]) => [cells + more, own + moreOwn], [0, 0]);
function messagesPerPerson(task) {
  if ("questions" in task) {
    const [, own] = totalCellsAndOwnMessages(task);
    const { draws, equal } = task.messages;
    return [equal ? own + draws : own, own + draws];
  }
  const { levels, drawn, noise } = task.messages;
  const count = levels * drawn + noise;
  return [count, count];
}
var FIELD_READERS_BY_KIND = {
  choice: { options: readItems },
  set: { options: readItems, sparsity: readInteger },
  flag: {},
  number: { min: readNumber, max: readNumber, bins: readInteger }
};
var QUESTION_KINDS = Object.keys(FIELD_READERS_BY_KIND);

// www/dashboard/batch-unit.ts
var REPORT_UNIT = {
  singularNoun: "report",
  pluralNoun: "reports",
  messagesPerUnit: 1,
  minBatchSize: 0
};
function batchUnitOf(task) {
  const { messages, people = 0 } = task;
  if (messages === void 0) return REPORT_UNIT;
  const [, messagesPerUnit] = messagesPerPerson(task);
  return {
    singularNoun: "person",
    pluralNoun: "people",
    messagesPerUnit,
    minBatchSize: people
  };
}
function minAndMaxBatchSize({ messagesPerUnit: each, minBatchSize: min }, { least, most }) {
  const own = Math.max(Math.ceil(least / each), min);
  return [own, Math.max(Math.ceil(most / each), own)];
}
var capitalize = (word) => word.charAt(0).toUpperCase() + word.slice(1);
var formatWithUnit = ({ singularNoun: one, pluralNoun: more }, count) => formatCountWithNoun(count, one, more);

// www/dashboard/labels.ts
function formatNumber(value) {
  const rounded = Math.abs(value) >= 1e3 ? Math.round(value) : Number(value.toPrecision(3));
  return new Intl.NumberFormat("en-GB", { maximumSignificantDigits: 21 }).format(rounded).replace("-", "−");
}
function formatToErrorPrecision(value, estimate) {
  const [from, to] = estimate?.simultaneous_interval ?? [0, 0];
  const half = (to - from) / 2;
  if (!(half > 0 && Number.isFinite(half))) return formatNumber(value);
  const places = Math.min(Math.max(1 - Math.floor(Math.log10(half)), 0), 12);
  const format = { minimumFractionDigits: places, maximumFractionDigits: places };
  const text = new Intl.NumberFormat("en-GB", format).format(value);
  return /[1-9]/.test(text) ? text.replace("-", "−") : text.replace("-", "");
}
function shareToErrorPrecision(value, estimate) {
  const [from, to] = estimate.simultaneous_interval;
  const percent = [100 * from, 100 * to];
  return `${formatToErrorPrecision(100 * value, { ...estimate, simultaneous_interval: percent })}%`;
}
var tickText = (value) => Number(value.toPrecision(6)).toLocaleString("en-GB").replace("-", "−");
var shareTickText = (value) => `${tickText(value * 100)}%`;
var shareText = (value) => formatPercent(value, 1);
var ratingText = (value) => value.toFixed(3).replace("-", Number(value.toFixed(3)) === 0 ? "" : "−");
function itemName(label) {
  return labelText(label, displayedName);
}
function labelText(label, nameText) {
  if (typeof label === "string") return nameText(label);
  if (typeof label === "number") return String(label);
  const { from, to } = label;
  if (typeof from === "number" && typeof to === "number")
    return `${formatNumber(from)} to ${formatNumber(to)}`;
  return Object.entries(label).map(([part, own]) => `${nameText(part)}: ${labelText(own, nameText)}`).join(", ");
}
function itemQueryName(label) {
  if (typeof label !== "object") return String(label);
  const named = Object.values(label).every((part) => typeof part === "string");
  return named ? labelText(label, (name) => name) : null;
}
function questionsOf(task) {
  const { numbers, vector, messages, questions = [] } = task;
  if (numbers !== void 0) return [{ kind: "numbers", of: numbers }];
  if (vector !== void 0) return [{ kind: "vector", items: vector.items }];
  if (messages !== void 0) return countedQuestions(questions);
  return task.questions ?? [{ ...task, kind: "ratings" }];
}
function countedQuestions(questions) {
  const [first] = questions;
  if (first?.kind !== "flag") return questions.map((own) => ({ ...own, counted: true }));
  const names = questions.map(({ name = "" }) => name);
  return [{ kind: "flags", items: names, counted: true }];
}
function itemCount(question) {
  const items = question.items ?? question.options;
  if (items === "open" || question.kind === "text") return null;
  if (typeof items === "number") return items;
  if (items !== void 0) return items.length;
  if (question.edges !== void 0) return question.edges.length - (question.optional ? 0 : 1);
  return question.of?.length ?? 1;
}
var ESTIMAND_TEXTS = {
  mean: { long: "mean rating (no rating counts as 0)", short: "Mean rating" },
  sum: { long: "sum over all people", short: "Sum over all people" },
  plus: {
    long: "share of people who rate the item above 0",
    short: "Share of people who rate above 0"
  },
  minus: {
    long: "share of people who rate the item below 0",
    short: "Share of people who rate below 0"
  },
  nonmissing: { long: "share of people who rate the item", short: "Share of people with a rating" },
  share: { long: "share of people", short: "Share of people" }
};
var REAL_RATING_ESTIMAND_TEXTS = {
  plus: {
    long: "mean of ratings above 0 (other ratings count as 0)",
    short: "Mean rating above 0"
  },
  minus: {
    long: "mean of ratings below 0, without sign (other ratings count as 0)",
    short: "Mean rating below 0"
  },
  nonmissing: {
    long: "mean absolute rating (no rating counts as 0)",
    short: "Mean absolute rating"
  }
};
var hasRealValuedRatings = ({ kind = "", value }) => kind === "ratings" && value === "real";
var COUNTED_ESTIMAND_TEXTS = {
  sum: { long: "number of people", short: "Number of people" }
};
var estimandTexts = (estimand, question) => (question.counted ? COUNTED_ESTIMAND_TEXTS[estimand] : void 0) ?? (hasRealValuedRatings(question) ? REAL_RATING_ESTIMAND_TEXTS[estimand] : void 0) ?? ESTIMAND_TEXTS[estimand];
var isShare = (estimand, question) => !["mean", "sum"].includes(estimand) && !hasRealValuedRatings(question);
var KIND_DESCRIPTIONS = {
  ratings: "ratings",
  set: "any of several options",
  choice: "one of several options",
  flag: "yes or no",
  number: "a number",
  numbers: "several numbers",
  cross: "two answers combined",
  together: "several choices combined",
  text: "a text",
  vector: "a vector"
};
var REAL_VALUED_KINDS = /* @__PURE__ */ new Set(["numbers", "vector"]);
var hasRealValuedItems = ({ kind = "" }) => REAL_VALUED_KINDS.has(kind);
function formatTime(seconds) {
  const format = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
  return format.format(seconds * 1e3);
}
function formatAsRanges(numbers) {
  const parts = [];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const last = parts[parts.length - 1];
    if (last !== void 0 && number === last[1] + 1) last[1] = number;
    else parts.push([number, number]);
  }
  return parts.map(([from, to]) => from === to ? formatCount(from) : `${from}–${to}`).join(", ");
}

// www/dashboard/table.ts
var cellOf = (cell) => typeof cell === "string" ? { content: cell } : cell;
function createTable(caption, heads, rows, style = "") {
  const head = heads.map(cellOf).map(({ content, style: own }) => {
    return el("th", { scope: "col", role: "columnheader", class: own }, content);
  });
  const body = rows.map(
    (row) => el(
      "tr",
      { role: "row" },
      ...row.map(cellOf).map(
        ({ content, style: own }, column) => column === 0 ? el("th", { scope: "row", role: "rowheader", class: own }, content) : el("td", { role: "cell", class: own }, content)
      )
    )
  );
  return el(
    "table",
    { role: "table", class: style === "" ? void 0 : style },
    el("caption", {}, caption),
    el("thead", { role: "rowgroup" }, el("tr", { role: "row" }, ...head)),
    el("tbody", { role: "rowgroup" }, ...body)
  );
}
function collapsedTable(summary, heads, rows) {
  const [first = "", ...others] = heads;
  const numbers = others.map((content) => ({ content, style: "amount" }));
  const cells = rows.map(([name = "", ...own]) => [
    name,
    ...own.map((content) => ({ content, style: "amount" }))
  ]);
  return el(
    "details",
    {},
    el("summary", {}, summary),
    el(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": summary },
      createTable(summary, [first, ...numbers], cells)
    )
  );
}

// www/dashboard/batches-view.ts
var MAX_LISTED = 50;
var releasedBatches = ({ batches }) => batches.filter(({ state: state2 }) => state2 === "released");
var openBatch = ({ batches }) => batches.find(({ state: state2 }) => state2 === "open");
var totalReports = (batches) => batches.reduce((sum, { reports }) => sum + reports, 0);
function closingRule({ batch_settings: settings }, unit) {
  const [least, most] = minAndMaxBatchSize(unit, settings);
  const { hours } = settings;
  const aged = `, or ${formatCountWithNoun(hours, "hour")} after it opened if it has at least ${formatCountWithNoun(least, unit.singularNoun, unit.pluralNoun)}`;
  return `The batch closes at ${formatCountWithNoun(most, unit.singularNoun, unit.pluralNoun)}${hours === 0 ? "" : aged}. It is released soon afterwards.`;
}
function progressBar(name, value, max, words) {
  return el(
    "div",
    { class: "filling" },
    el("span", {}, name),
    el("span", { class: "amount" }, words),
    el("progress", { value: Math.min(value, max), max, "aria-label": `${name}: ${words}` })
  );
}
function drawOpenBatchProgress(all, unit, now) {
  const open = openBatch(all);
  if (open === void 0) return [];
  const [least, most] = minAndMaxBatchSize(unit, all.batch_settings);
  const { hours } = all.batch_settings;
  const have = open.reports;
  const age = Math.max(now - open.opened, 0) / 3600;
  const to = (limit, which) => progressBar(
    `${capitalize(unit.pluralNoun)} towards the ${which}`,
    have,
    limit,
    `${formatCount(have)} of ${formatCount(limit)}`
  );
  const bars = [to(most, "maximum")];
  if (have < least) bars.unshift(to(least, "minimum"));
  if (hours > 0) {
    bars.push(
      progressBar(
        "Age of the batch",
        Math.min(age, hours),
        hours,
        `${formatCount(Math.floor(age))} of ${formatCountWithNoun(hours, "hour")}`
      )
    );
  }
  return bars;
}
function drawOpenBatchBar(all, unit) {
  const have = openBatch(all)?.reports ?? 0;
  const [least, most] = minAndMaxBatchSize(unit, all.batch_settings);
  const max = have < least ? least : most;
  const of = have < least ? "at least" : "at most";
  return progressBar("Open batch", have, max, `${formatCount(have)} of ${of} ${formatCount(max)}`);
}
function closedBatchTable(all, unit) {
  const closed = all.batches.filter(({ state: state2 }) => state2 !== "open").reverse();
  if (closed.length === 0) return null;
  const rows = closed.slice(0, MAX_LISTED).map(({ number, reports, closed: at, state: state2 }) => [
    String(number),
    { content: formatCount(reports), style: "amount" },
    {
      content: state2 === "closed" || at === void 0 ? "being counted" : formatTime(at),
      style: "amount"
    }
  ]);
  const more = closed.length - rows.length;
  const caption = more > 0 ? `The latest ${MAX_LISTED} of ${formatCount(closed.length)} closed batches` : "Closed batches";
  const heads = [
    "Batch",
    { content: capitalize(unit.pluralNoun), style: "amount" },
    { content: "Closed", style: "amount" }
  ];
  return createTable(caption, heads, rows);
}

// www/dashboard/rows.ts
var unitSuffix = (unit) => unit === void 0 ? "" : ` ${displayedName(unit)}`;
function intervalText({ estimate, unit }, format) {
  const [from, to] = estimate.simultaneous_interval.map((end) => format(end, estimate));
  return `${from} to ${to}${unitSuffix(unit)}`;
}
function estimandsInResponse({ estimates }) {
  const [first] = estimates;
  return first === void 0 ? [] : ESTIMANDS.filter((estimand) => first[estimand] !== void 0);
}
function estimandRows(answer, question, wanted) {
  const there = estimandsInResponse(answer);
  const estimand = wanted !== void 0 && there.includes(wanted) ? wanted : there[0];
  if (estimand === void 0) return null;
  const ranges = new Map(
    question.of?.map(({ name, min, max }) => [displayedName(name), [min, max]])
  );
  const numbers = question.kind === "numbers";
  const by = estimand === "sum" ? answer.people ?? 1 : 1;
  const rows = answer.estimates.flatMap((item) => {
    const estimate = item[estimand];
    if (estimate === void 0) return [];
    const label = itemName(item.item);
    const range = numbers ? ranges.get(label) : void 0;
    return {
      label,
      queryName: itemQueryName(item.item),
      estimate,
      ...range === void 0 ? {} : { valueRange: [range[0] * by, range[1] * by] },
      ...item.unit === void 0 ? {} : { unit: item.unit }
    };
  });
  const format = formatterForEstimand(answer, question, estimand);
  return { estimand, areShares: isShare(estimand, question), rows, format };
}
function formatterForEstimand({ people }, question, estimand) {
  if (people !== void 0)
    return (value, estimate) => estimand === "share" && estimate !== void 0 ? shareToErrorPrecision(value, estimate) : formatToErrorPrecision(value, estimate);
  if (isShare(estimand, question)) return shareText;
  return hasRealValuedItems(question) ? formatNumber : ratingText;
}
var ORDERS = ["largest", "smallest", "clearest", "name", "task"];
var ORDER_WORDS = {
  largest: "Largest first",
  smallest: "Smallest first",
  clearest: "Most significant first",
  name: "By name",
  task: "In task order"
};
function halfWidthsFromZero({ estimate }) {
  const [from, to] = estimate.simultaneous_interval;
  const half = estimate.estimate >= 0 ? estimate.estimate - from : to - estimate.estimate;
  return Math.abs(estimate.estimate) / Math.max(half, Number.MIN_VALUE);
}
var ROW_COMPARATORS = {
  largest: (a, b) => b.estimate.estimate - a.estimate.estimate,
  smallest: (a, b) => a.estimate.estimate - b.estimate.estimate,
  clearest: (a, b) => halfWidthsFromZero(b) - halfWidthsFromZero(a),
  name: (a, b) => a.label.localeCompare(b.label, "en", { numeric: true }),
  task: () => 0
};
function sortedRows(rows, order) {
  return [...rows].sort(ROW_COMPARATORS[order]);
}
function matchesSearch(label, sought) {
  const name = label.toLowerCase();
  return sought.toLowerCase().split(/\s+/).every((word) => name.includes(word));
}

// www/dashboard/state.ts
var DEFAULT_STATE = {
  task: null,
  question: null,
  batches: null,
  estimand: null,
  order: "largest",
  find: ""
};
function viewStateFromFragment(hash) {
  const parameters = new URLSearchParams(hash.replace(/^#/, ""));
  const one = (name, of) => of.find((word) => word === parameters.get(name));
  const batches = parameters.get("batches");
  return {
    task: parameters.get("task"),
    question: parameters.get("question"),
    batches: batches !== null && /^\d+(-\d+)?(,\d+(-\d+)?)*$/.test(batches) ? batches : null,
    estimand: one("estimand", ESTIMANDS) ?? null,
    order: one("order", ORDERS) ?? DEFAULT_STATE.order,
    find: parameters.get("find") ?? ""
  };
}
function viewStateToFragment(state2) {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(state2)) {
    if (value !== null && value !== DEFAULT_STATE[name])
      parameters.set(name, value);
  }
  return parameters.size === 0 ? "" : `#${parameters}`;
}

// www/client/rounding.ts
function roundUpThreeDigits(number) {
  const power = Math.floor(Math.log10(number)) - 2;
  const units = Math.ceil(number / 10 ** power * (1 - 1e-12));
  return Number(`${units}e${power}`);
}

// www/dashboard/panels.ts
var epsilonText = (epsilon) => String(roundUpThreeDigits(epsilon));
function epsilonFigure(name, number, statements) {
  return el(
    "div",
    {},
    el("h3", {}, name),
    el("p", { class: "figure" }, el("strong", {}, number)),
    ...statements.map((words) => el("p", { class: "help" }, visibleText(words)))
  );
}
function privacyView(task, privacy) {
  const local = `local ε = ${epsilonText(task.effective_epsilon)}`;
  const alone = "One report";
  if (typeof privacy === "string") {
    const protects = `It protects ${task.protects} against anyone who sees a report.`;
    return [epsilonFigure(alone, local, [protects]), el("p", {}, privacy)];
  }
  const { shuffled, shuffled_by, shuffled_statement, flood_statement } = privacy;
  const by = shuffled_by.length === 0 ? "by this collector alone" : "by another party";
  const number = shuffled === void 0 ? "no shuffled ε" : `shuffled ε = ${epsilonText(shuffled.central_epsilon)}, δ = ${shuffled.delta}`;
  return [
    epsilonFigure(alone, local, [privacy.local.statement, privacy.local.budget.statement]),
    epsilonFigure(`A batch, shuffled ${by}`, number, [shuffled_statement, flood_statement])
  ];
}
var ESTIMAND_NAMES = {
  mean: "mean",
  plus: "share of people with a rating above 0",
  minus: "share of people with a rating below 0",
  nonmissing: "share of people with a rating",
  share: "share of people",
  below: "share of people below any edge of a bin",
  margin: "share of people in one row or one column"
};
function formatMadeUpReportsEffect({ estimand, unit }, shares, by) {
  if (unit === "of its range") return `${shareText(by)} ${unit}`;
  if (estimand === "mean" && unit !== void 0) return formatNumber(by) + unitSuffix(unit);
  return shares ? `${shareText(by).replace("%", "")} points` : ratingText(by);
}
function madeUpReportsEffectRow(own, questions) {
  const question = questions.find(({ name }) => name === own.question) ?? {};
  const { estimand } = own;
  const item = estimand !== "below" && estimand !== "margin";
  const shares = !item || isShare(estimand, question);
  const words = item && !shares && estimand !== "mean" ? estimandTexts(estimand, question).short.toLowerCase() : ESTIMAND_NAMES[estimand];
  return [
    own.question === void 0 ? words : `${displayedName(own.question)}: ${words}`,
    { content: formatMadeUpReportsEffect(own, shares, own.up), style: "amount" },
    { content: formatMadeUpReportsEffect(own, shares, own.down), style: "amount" }
  ];
}
function influenceView(found, questions) {
  const rows = found.influence.map((own) => madeUpReportsEffectRow(own, questions));
  const heads = [
    "Estimate",
    { content: "Largest increase", style: "amount" },
    { content: "Largest decrease", style: "amount" }
  ];
  const tests = found.crowd.map(
    ({ question, statement, p, flagged }) => el(
      "li",
      { class: flagged ? "flagged" : void 0 },
      ...flagged ? [el("strong", {}, "Unusual for honest reports. ")] : [],
      question === void 0 ? "" : `${displayedName(question)}: `,
      `${visibleText(statement)} (p = ${formatThreeDigits(p)})`
    )
  );
  return [
    createTable(
      `Largest effect if ${formatPercent(found.made_up_fraction)} of the reports are made up`,
      heads,
      rows
    ),
    el("p", { class: "help" }, visibleText(found.statement)),
    ...tests.length > 0 ? [el("ul", { class: "tests" }, ...tests)] : []
  ];
}
function uploadsView({ accepted, duplicates, rejected }, noun) {
  const rows = rejected.map(([reason, requests]) => [
    reason,
    { content: formatCount(requests), style: "amount" }
  ]);
  return [
    el(
      "p",
      {},
      `Since its start, the collector has accepted ${formatCountWithNoun(accepted, noun)}, counted over all tasks. It has received ${formatCountWithNoun(duplicates, noun)} again, and rejected ${formatCountWithNoun(
        rejected.reduce((sum, [, own]) => sum + own, 0),
        "request"
      )}.`
    ),
    ...rows.length > 0 ? [
      createTable(
        "Rejected requests by reason",
        ["Reason", { content: "Requests", style: "amount" }],
        rows
      )
    ] : []
  ];
}
function noteParagraphs(...notes) {
  return notes.flatMap(
    (note) => note === void 0 ? [] : [el("p", { class: "note" }, visibleText(note))]
  );
}
function commonTextsView({ texts, confidence, reports }) {
  const rows = texts.map(({ text, is_prefix, estimate, simultaneous_interval: [from, to] }) => [
    is_prefix ? `${displayedName(text)}…` : displayedName(text),
    { content: shareText(estimate), style: "amount estimated" },
    { content: `${shareText(from)} to ${shareText(to)}`, style: "amount interval" }
  ]);
  const found = rows.length === 0 ? "No text is common enough to be found." : "";
  return [
    el(
      "p",
      {},
      found || `The texts were found in ${formatCountWithNoun(reports, "report")} from all released batches. With a probability of at most ${formatPercent((1 - confidence) / 2, 1)}, the list contains a text that no one has.`
    ),
    ...rows.length === 0 ? [] : [
      createTable(
        `Texts that many people gave. With ${confidence * 100}% confidence, all intervals contain the true shares`,
        [
          "Text",
          { content: "Share of people", style: "amount" },
          { content: "Simultaneous interval", style: "amount" }
        ],
        rows
      )
    ]
  ];
}

// www/dashboard/scale.ts
function tickStep(span, most) {
  const power = 10 ** Math.floor(Math.log10(span / most));
  return ([1, 2, 5, 10].find((digit) => span / (digit * power) <= most) ?? 10) * power;
}
function axisContaining(values, { zero = true, most = 4 } = {}) {
  const finite = values.filter(Number.isFinite);
  const low = finite.reduce((least, value) => Math.min(least, value), zero ? 0 : Infinity);
  const high = finite.reduce((greatest, value) => Math.max(greatest, value), zero ? 0 : -Infinity);
  if (!(low < high)) return { from: (low || 0) - 1, to: (low || 0) + 1, ticks: [low || 0] };
  const margin = (high - low) * 0.03;
  const [from, to] = [low - margin, high + margin];
  const by = tickStep(high - low, most);
  const first = Math.ceil(from / by);
  const length = Math.floor(to / by) - first + 1;
  const ticks = Array.from(
    { length },
    (_, index) => Number(((first + index) * by).toPrecision(12))
  );
  return { from, to, ticks: ticks.map((tick) => tick + 0) };
}
function positionOnAxis({ from, to }, value) {
  const held = Math.min(Math.max(value, from), to);
  return (held - from) / (to - from) * 100;
}
var percentAttribute = (per) => `${Number(per.toFixed(3))}%`;

// www/dashboard/significance.ts
function excludesZero({ simultaneous_interval: [from, to] }) {
  return from > 0 || to < 0;
}
function areDisjoint([a, b], [c, d]) {
  return b < c || d < a;
}
var confidencePerBatchOfTwo = (confidence) => (1 + confidence) / 2;
function significantRows(rows) {
  const reach = ({ estimate: { simultaneous_interval: ends } }) => Math.min(...ends.map(Math.abs));
  return rows.filter(({ estimate }) => excludesZero(estimate)).sort((a, b) => reach(b) - reach(a));
}
function significantChanges(before, after) {
  const earlier = new Map(before.map(({ label, estimate }) => [label, estimate]));
  const moved = ({ before: before2, after: after2 }) => Math.abs(after2.estimate - before2.estimate);
  return after.flatMap(({ label, unit, estimate }) => {
    const own = earlier.get(label);
    return own === void 0 ? [] : { label, unit, before: own, after: estimate };
  }).filter(
    ({ before: before2, after: after2 }) => areDisjoint(before2.simultaneous_interval, after2.simultaneous_interval)
  ).sort((a, b) => moved(b) - moved(a));
}

// www/dashboard/dots.ts
var HEIGHT = 28;
function ariaHiddenPicture(style, height, ...marks) {
  return svg("svg", { class: style, height, width: "100%", "aria-hidden": "true" }, ...marks);
}
var verticalLine = (style, x, y1, y2) => svg("line", { class: style, x1: percentAttribute(x), x2: percentAttribute(x), y1, y2 });
function tickLines(axis) {
  return axis.ticks.map(
    (value) => verticalLine(value === 0 ? "zero" : "tick", positionOnAxis(axis, value), 0, "100%")
  );
}
function axisLabels(axis, words) {
  const texts = axis.ticks.map((value) => {
    const x = positionOnAxis(axis, value);
    const anchor = x < 6 ? "start" : x > 94 ? "end" : "middle";
    return svg("text", { x: percentAttribute(x), y: 13, "text-anchor": anchor }, words(value));
  });
  return ariaHiddenPicture("scale", 18, ...texts);
}
function drawEstimateMarks(axis, estimate) {
  const y = HEIGHT / 2;
  const line = (style, [from, to]) => svg("line", {
    class: style,
    x1: percentAttribute(positionOnAxis(axis, from)),
    x2: percentAttribute(positionOnAxis(axis, to)),
    y1: y,
    y2: y
  });
  const dot = svg("circle", {
    class: "dot",
    cx: percentAttribute(positionOnAxis(axis, estimate.estimate)),
    cy: y,
    r: 4.5
  });
  return [line("together", estimate.simultaneous_interval), line("alone", estimate.interval), dot];
}
var stripClassBySignificance = (estimate) => excludesZero(estimate) ? "strip" : "strip noise";
function axisForRows(rows) {
  const ends = rows.flatMap(({ estimate }) => [
    estimate.estimate,
    ...estimate.simultaneous_interval
  ]);
  return axisContaining(ends);
}
function dotTable(caption, rows, shown) {
  const own = shown.some(({ valueRange: range }) => range !== void 0);
  const axis = axisForRows(shown);
  const scale = own ? "each row has its own scale" : axisLabels(axis, rows.areShares ? shareTickText : tickText);
  const heads = [
    "Item",
    {
      content: el("span", {}, el("span", { class: "unseen" }, "Chart"), scale),
      style: "picture"
    },
    { content: "Estimate", style: "amount" },
    { content: "Simultaneous interval", style: "amount" }
  ];
  const cells = shown.map((row) => dotTableCells(row, rows.format, axis));
  return createTable(caption, heads, cells, "dots");
}
function dotTableCells(row, format, common) {
  const { label, estimate, valueRange: range, unit } = row;
  const axis = range === void 0 ? common : { from: range[0], to: range[1], ticks: [...range] };
  const style = range === void 0 ? stripClassBySignificance(estimate) : "strip";
  const marks = ariaHiddenPicture(
    style,
    HEIGHT,
    ...tickLines(axis),
    ...drawEstimateMarks(axis, estimate)
  );
  return [
    { content: label, style: "name" },
    { content: marks, style: "picture" },
    { content: format(estimate.estimate, estimate) + unitSuffix(unit), style: "amount estimated" },
    { content: intervalText(row, format), style: "amount interval" }
  ];
}

// www/dashboard/cross.ts
function conditionalMeanRows({ cross }) {
  const { conditional_means: means = [], columns } = cross ?? {};
  return means.flatMap(({ row, estimate, interval, simultaneous_interval }) => {
    if (estimate === null) return [];
    const unit = columns?.unit;
    const unitField = unit === void 0 ? {} : { unit };
    return {
      label: itemName(row),
      queryName: null,
      estimate: { estimate, interval, simultaneous_interval },
      ...unitField
    };
  });
}
function crossView({ cross, confidence }) {
  if (cross === void 0) return [];
  const margins = [cross.rows, cross.columns].flatMap(marginTable);
  const family = `With ${confidence * 100}% confidence, all intervals in one table contain the true values.` + (margins.length > 1 ? " The two tables “Share of people by …” count as one table." : "");
  return [...margins, ...conditionalTables(cross), el("p", { class: "help" }, family)];
}
function marginTable({ name, shares = [] }) {
  if (shares.length === 0) return [];
  const rows = shares.map(({ item, share: estimate }) => ({
    label: itemName(item),
    queryName: null,
    estimate
  }));
  const all = { estimand: "share", areShares: true, rows, format: shareText };
  return [dotTable(`Share of people by ${displayedName(name)}`, all, rows)];
}
function conditionalTables({
  rows,
  columns,
  conditional_means,
  conditional_shares
}) {
  const mean = (value) => formatNumber(value) + unitSuffix(columns.unit);
  const [row, column] = [rows.name, columns.name].map(displayedName);
  const tables = [];
  if (conditional_means?.length) {
    tables.push(conditionalEstimateTable(`Mean of ${column} by ${row}`, conditional_means, mean));
  }
  if (conditional_shares?.length) {
    tables.push(
      conditionalEstimateTable(
        `Shares of ${column} within each ${row}`,
        conditional_shares,
        shareText
      )
    );
  }
  return tables;
}
function conditionalEstimateTable(caption, all, words) {
  const text = (value) => value === null ? "unknown" : words(value);
  const cells = all.map(({ row, column, estimate, simultaneous_interval: [from, to] }) => [
    column === void 0 ? itemName(row) : `${itemName(row)}: ${itemName(column)}`,
    { content: text(estimate), style: "amount estimated" },
    { content: `${text(from)} to ${text(to)}`, style: "amount interval" }
  ]);
  const heads = [
    "Group",
    { content: "Estimate", style: "amount" },
    { content: "Simultaneous interval", style: "amount" }
  ];
  return el(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    createTable(caption, heads, cells)
  );
}

// www/dashboard/timeline.ts
var MAX_RELEASES = 24;
var MAX_LINES = 6;
function confidencePerBatch(batches, confidence) {
  return 1 - (1 - confidence) / Math.max(batches, 1);
}
function itemTimeLines(labels, estimand, answers) {
  const byLabel = answers.map(
    ([batch, { estimates }]) => [
      batch,
      new Map(estimates.map((own) => [itemName(own.item), own[estimand] ?? null]))
    ]
  );
  return labels.map((label) => ({
    label,
    points: byLabel.map(([batch, own]) => ({ batch, estimate: own.get(label) ?? null }))
  }));
}
function numberTimeLines(question, answers) {
  const points = (of) => answers.map(([batch, answer]) => ({ batch, estimate: of(answer) ?? null }));
  const latest = answers[answers.length - 1]?.[1];
  const means = latest === void 0 ? [] : conditionalMeanRows(latest);
  if (means.length > 0)
    return means.slice(0, MAX_LINES).map(({ label, unit }) => ({
      label: labelWithUnit(label, unit),
      points: points((a) => conditionalMeanRows(a).find((own) => own.label === label)?.estimate)
    }));
  const last = latest?.number;
  const name = displayedName(question.name ?? "");
  if (last?.mean)
    return [
      { label: labelWithUnit(`mean of ${name}`, last.unit), points: points((a) => a.number?.mean) }
    ];
  return (last?.quantiles ?? []).map(({ quantile }) => ({
    label: labelWithUnit(quantileName(quantile), last?.unit),
    points: points((a) => a.number?.quantiles?.find((own) => own.quantile === quantile))
  }));
}
var labelWithUnit = (label, unit) => unit === void 0 ? label : `${label} (${displayedName(unit)})`;
function quantileName(quantile) {
  return quantile === 0.5 ? "median" : `${Number((quantile * 100).toFixed(3))}% quantile`;
}

// www/dashboard/sums.ts
var NO_LOCAL_EPSILON_TEXT = "there is no local ε";
var formatDelta = (delta) => formatScientific(delta.toExponential());
function privacyPromiseText(privacy) {
  const { central_epsilon, delta, people, honest_fraction } = privacy;
  return `People must trust the shuffler: ${NO_LOCAL_EPSILON_TEXT}. Batches have central ε = ${epsilonText(central_epsilon)}, δ = ${formatDelta(delta)} if they have at least ${formatCountWithNoun(people, "person", "people")} and ${formatPercent(honest_fraction)} of the people are honest.`;
}
function missingMessagesText(missing, { counted = false }) {
  if (missing === void 0) return void 0;
  const effect = counted ? "The intervals are wider, so that they allow for that." : "The intervals do not allow for that.";
  return `At least ${formatCountWithNoun(missing, "message")} of these people are missing: invalid, repeated, blank or lost. ${effect}`;
}
function privacyFigure(name, figure, ...more) {
  return el(
    "div",
    {},
    el("h3", {}, name),
    el("p", { class: "figure" }, el("strong", {}, figure)),
    ...more
  );
}
var help = (words) => el("p", { class: "help" }, visibleText(words));
function sumsPrivacyView({ privacy }, released) {
  const { central_epsilon, delta, people, honest_fraction, statement } = privacy;
  const facts = [
    ["people must trust", "the shuffler"],
    ["minimum number of people in a batch", formatCount(people)],
    ["share of people assumed honest", formatPercent(honest_fraction)]
  ];
  const central = privacyFigure(
    "A batch, shuffled by another party",
    `central ε = ${epsilonText(central_epsilon)}, δ = ${formatDelta(delta)}`,
    el(
      "dl",
      { class: "facts-list" },
      ...facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))
    ),
    released === null ? el("p", {}, "No batch is released yet.") : promiseCheckView(released),
    ...released === null ? [] : [help(released.flood_statement)]
  );
  return [
    privacyFigure("The messages of one person", NO_LOCAL_EPSILON_TEXT, help(statement)),
    central
  ];
}
function promiseCheckView({
  smallest_batch_suffices: holds,
  batch_statement,
  shuffled_by
}) {
  const by = shuffled_by.length === 0 ? [] : [` The batches were shuffled by ${shuffled_by.join(" and ")}.`];
  return el(
    "p",
    { class: holds ? "holds" : "refused" },
    el("strong", {}, holds ? "The promise holds. " : "The promise does not hold. "),
    batch_statement,
    ...by
  );
}
var MAX_PARALLEL = 3;
async function requestDishonestInfluence(collector2, task, released) {
  const latest = released.slice(-MAX_RELEASES);
  const found = [];
  for (let first = 0; first < latest.length; first += MAX_PARALLEL) {
    const some = latest.slice(first, first + MAX_PARALLEL).map(async ({ number }) => {
      const path = `${encodeURIComponent(task)}/influence?batches=${number}`;
      return [number, await collector2.getFromTasks(path)];
    });
    found.push(...await Promise.all(some));
  }
  return found;
}
var amountCell = (content) => ({ content, style: "amount" });
var formatErrorMultiple = (errors) => Number.isFinite(errors) ? `× ${formatNumber(errors)}` : "–";
var MAX_LISTED2 = 50;
function dishonestInfluenceView({ people, influence, statement }, each, { counted = false } = {}) {
  const [first] = influence;
  const [noun, whole2] = counted ? ["count", "number of people with one answer"] : ["sum", "length of the vector’s sum"];
  const rows = influence.slice(0, MAX_LISTED2).map(
    ({ item, unit, honest_change: honest, dishonest_change: dishonest, total_change: all }) => {
      const words = (value) => formatNumber(value) + unitSuffix(unit);
      return [
        item === void 0 ? whole2 : itemName(item),
        ...[honest, dishonest, all].map((value) => amountCell(words(value)))
      ];
    }
  );
  const assumed = first?.dishonest_people ?? 0;
  const heads = [
    capitalize(noun),
    amountCell("An honest person"),
    amountCell("A dishonest person"),
    amountCell(`All ${formatCount(assumed)} dishonest people`)
  ];
  const more = influence.length > MAX_LISTED2 ? ` (first ${MAX_LISTED2} items)` : "";
  const about = assumed === 0 ? "The task assumes that everyone is honest." : `The task assumes that ${formatCount(assumed)} of ${formatCountWithNoun(Math.round(people), "person", "people")} are dishonest. One dishonest person can move a ${noun} by up to ${formatNumber((first?.total_standard_errors ?? Number.NaN) / assumed)} standard errors. All dishonest people together can move a ${noun} by up to ${formatNumber(first?.total_standard_errors ?? Number.NaN)} standard errors.`;
  return [
    el("p", {}, about),
    wrapInScrollArea(createTable(`Largest effect on a ${noun}${more}`, heads, rows)),
    ...each.length === 0 ? [] : [wrapInScrollArea(dishonestEffectsTable(each))],
    help(statement)
  ];
}
function wrapInScrollArea(own) {
  const label = own.caption?.textContent ?? "";
  return el("div", { class: "across", tabindex: 0, role: "region", "aria-label": label }, own);
}
function dishonestEffectsTable(each) {
  const rows = each.map(([batch, { people, influence }]) => {
    const [first] = influence;
    const assumed = first?.dishonest_people ?? 0;
    const errors = first?.total_standard_errors ?? Number.NaN;
    return [
      String(batch),
      amountCell(formatCount(people)),
      amountCell(formatCount(assumed)),
      amountCell(formatErrorMultiple(errors / assumed)),
      amountCell(formatErrorMultiple(errors))
    ];
  });
  const heads = [
    "Batch",
    amountCell("People"),
    amountCell("Dishonest people (assumed)"),
    amountCell("Effect of one such person, in standard errors"),
    amountCell("Effect of all such people, in standard errors")
  ];
  return createTable(
    "Largest effect of dishonest people on each batch",
    heads,
    [...rows].reverse()
  );
}

// www/dashboard/overview.ts
var MAX_TASKS_WITH_BATCHES = 50;
var TaskListView = class {
  element;
  #collector;
  #taskIds;
  /** Task files by id, each requested once because it never changes. */
  #answers = /* @__PURE__ */ new Map();
  #body = el("div", { class: "panel wide" });
  constructor(collector2, tasks) {
    this.#collector = collector2;
    this.#taskIds = tasks;
    this.element = el(
      "div",
      { class: "overview" },
      el("h1", { tabindex: -1 }, "Tasks"),
      this.#body
    );
    if (tasks.length === 0) {
      this.#body.append(
        el("p", {}, "No task yet. An admin adds one with a task file or with POST /tasks.")
      );
    }
  }
  #getTask(id) {
    const known = this.#answers.get(id);
    if (known !== void 0) return known;
    const answer = this.#collector.getFromTasksOrNull(encodeURIComponent(id));
    this.#answers.set(id, answer);
    answer.catch(() => this.#answers.delete(id));
    return answer;
  }
  async reloadBatches() {
    const asked = this.#taskIds.slice(0, MAX_TASKS_WITH_BATCHES).map(async (id) => {
      const path = encodeURIComponent(id);
      const [batches, task] = await Promise.all([
        this.#collector.getFromTasksOrNull(`${path}/batches`),
        this.#getTask(id)
      ]);
      return [id, batches && { batches, task }];
    });
    const found = new Map(await Promise.all(asked));
    const rows = this.#taskIds.map((id) => {
      const link = el(
        "a",
        { href: viewStateToFragment({ ...DEFAULT_STATE, task: id }) },
        displayedName(id)
      );
      const own = found.get(id);
      if (!own) return [{ content: link, style: "name" }, "", "", "", ""];
      const { batches, task } = own;
      const unit = task === null ? REPORT_UNIT : batchUnitOf(task.task);
      const sums = task !== null && isSumTaskResponse(task);
      const kind = task?.task.questions === void 0 ? "sums" : "answers counted";
      const note = sums ? [el("span", { class: "kind" }, `${kind} through a shuffler; ${NO_LOCAL_EPSILON_TEXT}`)] : [];
      const name = { content: el("span", {}, link, ...note), style: "name" };
      const released = releasedBatches(batches);
      const last = released[released.length - 1]?.closed;
      return [
        name,
        {
          content: sums ? formatWithUnit(unit, totalReports(released)) : formatCount(totalReports(released)),
          style: "amount"
        },
        { content: formatCount(released.length), style: "amount" },
        last === void 0 ? "none yet" : formatTime(last),
        { content: drawOpenBatchBar(batches, unit), style: "brief" }
      ];
    });
    if (rows.length === 0) return;
    const amount = (content) => ({ content, style: "amount" });
    const heads = [
      "Task",
      amount("Released reports"),
      amount("Releases"),
      "Latest release",
      "Open batch"
    ];
    const text = document.activeElement?.textContent ?? "";
    const focused = this.#taskIds.findIndex((id) => displayedName(id) === text);
    this.#body.replaceChildren(createTable("Tasks", heads, rows, "tasks"));
    if (focused >= 0) this.#body.querySelectorAll("a")[focused]?.focus();
  }
};

// www/dashboard/sign-in.ts
var TOKEN_STORAGE_KEY = "hushbin-token";
var storedToken = () => sessionStorage.getItem(TOKEN_STORAGE_KEY);
function storeToken(token) {
  if (token === null) sessionStorage.removeItem(TOKEN_STORAGE_KEY);
  else sessionStorage.setItem(TOKEN_STORAGE_KEY, token);
}
function signInForm(enter, why) {
  const field = el("input", {
    id: "token",
    type: "password",
    autocomplete: "off",
    spellcheck: "false",
    required: true,
    "aria-describedby": "token-help token-error"
  });
  const error = el("p", { id: "token-error", class: "field-error", role: "alert" }, why ?? "");
  const button = el("button", { type: "submit" }, "Sign in");
  const form = el(
    "form",
    { class: "panel sign-in", novalidate: true },
    el("h1", {}, "Sign in"),
    el("p", {}, "You need an analyst’s token to see the estimates of this collector."),
    el("label", { for: "token" }, "Analyst’s token"),
    field,
    el(
      "p",
      { class: "help", id: "token-help" },
      "The operator of the collector creates a token with ",
      el("code", {}, "hushbin token create --role analyst"),
      ". The token stays in this tab until you sign out or close the tab."
    ),
    error,
    button
  );
  const say = (words) => {
    error.textContent = words;
    if (words === "") field.removeAttribute("aria-invalid");
    else field.setAttribute("aria-invalid", "true");
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void submit();
  });
  async function submit() {
    const token = field.value.trim();
    if (token === "") say("Enter a token.");
    else if (!/^[\x21-\x7e]+$/.test(token))
      say("A token has no spaces and no letters beyond ASCII.");
    else {
      say("");
      button.disabled = true;
      const wrong = await enter(token);
      button.disabled = false;
      if (wrong === null) return;
      say(wrong);
    }
    field.select();
    field.focus();
  }
  return [form];
}

// www/dashboard/controls.ts
var MAX_BATCHES = 50;
var SEARCH_AFTER_MS = 250;
var DropDown = class {
  element;
  #select;
  constructor(id, label, pick) {
    this.#select = el("select", { id });
    this.#select.addEventListener("change", () => pick(this.#select.value));
    this.element = el(
      "div",
      { class: "pick", hidden: true },
      el("label", { for: id }, label),
      this.#select
    );
  }
  /**
   * Shows the options and selects `value`. Hides the control if there are fewer than two options.
   */
  show(options, value) {
    this.element.hidden = options.length < 2;
    const made = options.map(([own, words]) => el("option", { value: own }, words));
    this.#select.replaceChildren(...made);
    this.#select.value = value;
  }
};
var EstimatesControls = class {
  element;
  #question;
  #batches;
  #estimand;
  #order;
  #searchField;
  #searchControl;
  constructor(change) {
    this.#question = new DropDown(
      "question",
      "Question",
      (question) => change({ question, estimand: null, find: "" })
    );
    this.#batches = new DropDown(
      "batches",
      "Batches",
      (own) => change({ batches: own === "" ? null : own })
    );
    this.#estimand = new DropDown(
      "estimand",
      "Estimate",
      (own) => change({ estimand: own })
    );
    this.#order = new DropDown(
      "order",
      "Order of rows",
      (own) => change({ order: ORDERS.find((order) => order === own) ?? DEFAULT_STATE.order })
    );
    this.#searchField = el("input", {
      id: "find",
      type: "search",
      autocomplete: "off",
      spellcheck: "false"
    });
    let due = 0;
    this.#searchField.addEventListener("input", () => {
      clearTimeout(due);
      due = window.setTimeout(() => change({ find: this.#searchField.value }), SEARCH_AFTER_MS);
    });
    this.#searchControl = el(
      "div",
      { class: "pick grow" },
      el("label", { for: "find" }, "Find items by name"),
      this.#searchField
    );
    this.element = el(
      "search",
      { class: "controls", "aria-label": "Filter the estimates" },
      ...[this.#question, this.#batches, this.#estimand, this.#order].map(({ element }) => element),
      this.#searchControl
    );
  }
  /** Shows the questions and batches to choose from, and selects the current ones. */
  show(state2, questions, current, released, unit) {
    this.#question.show(
      questions.map(({ name = "", kind = "" }) => [
        name,
        `${displayedName(name)}: ${KIND_DESCRIPTIONS[kind] ?? kind}`
      ]),
      current.name ?? ""
    );
    const picked = [...released].reverse().slice(0, MAX_BATCHES);
    const own = state2.batches;
    const others = own === null || picked.some(({ number }) => String(number) === own) ? [] : [[own, `Batches ${own}`]];
    this.#batches.show(
      [
        [
          "",
          released.length > 1 ? `All ${formatCount(released.length)} released batches` : "All released batches"
        ],
        ...others,
        ...picked.map(
          ({ number, reports }) => [
            String(number),
            `Batch ${number}: ${formatWithUnit(unit, reports)}`
          ]
        )
      ],
      own ?? ""
    );
    const lists = !["number", "text"].includes(current.kind ?? "");
    this.#order.show(lists ? ORDERS.map((order) => [order, ORDER_WORDS[order]]) : [], state2.order);
    this.#searchControl.hidden = !lists;
    if (document.activeElement !== this.#searchField) this.#searchField.value = state2.find;
  }
  /** Shows the estimands to choose from, and selects the current one. */
  showEstimands(there, current, question) {
    this.#estimand.show(
      there.map((own) => [
        own,
        own === "mean" && hasRealValuedItems(question) ? "mean" : estimandTexts(own, question).long
      ]),
      current
    );
  }
};

// www/dashboard/estimates-cache.ts
var MAX_ALL_ITEMS = 5e3;
var MAX_ROWS = 200;
var MAX_NAME_BYTES = 8e3;
function itemsToRequest(question, find) {
  const items = question.items ?? question.options;
  if (items === "open") {
    return namesFittingAddress(
      find.split(",").map((name) => name.trim()).filter((name) => name !== "")
    );
  }
  if ((itemCount(question) ?? 0) <= MAX_ALL_ITEMS || items === void 0) return null;
  const sought = find.trim();
  const found = [];
  const size = typeof items === "number" ? items : items.length;
  for (let index = 0; index < size && found.length < MAX_ROWS; index += 1) {
    const name = typeof items === "number" ? String(index) : items[index] ?? "";
    if (matchesSearch(name, sought)) found.push(name);
  }
  return namesFittingAddress(found);
}
function namesFittingAddress(names) {
  let bytes = 0;
  const over = names.findIndex((name) => {
    bytes += encodeURIComponent(name).length + 1;
    return bytes > MAX_NAME_BYTES;
  });
  return names.slice(0, over === -1 ? MAX_ROWS : Math.min(over, MAX_ROWS));
}
function estimatesPath(task, question, query) {
  const parameters = [`confidence=${Number(query.confidence.toPrecision(12))}`];
  if (question.name !== void 0 && !question.counted)
    parameters.push(`question=${encodeURIComponent(question.name)}`);
  if (query.batches !== null) parameters.push(`batches=${query.batches}`);
  if (query.items !== null)
    parameters.push(`items=${query.items.map(encodeURIComponent).join(",")}`);
  return `${encodeURIComponent(task)}/estimates?${parameters.join("&")}`;
}
function withShares(answer) {
  const { range = [0, 0], distribution = [] } = answer.number ?? {};
  const edges = [range[0], ...distribution.map(({ below }) => below), range[1]];
  const bin = (index) => ({ from: edges[index] ?? 0, to: edges[index + 1] ?? 0 });
  const estimates = answer.estimates.map(({ item, mean, ...rest }) => ({
    ...rest,
    item: answer.number !== void 0 && typeof item === "number" ? bin(item) : item,
    ...mean && { share: mean }
  }));
  return { ...answer, estimates };
}
var EstimatesCache = class {
  #collector;
  #responses = /* @__PURE__ */ new Map();
  constructor(collector2) {
    this.#collector = collector2;
  }
  /** Removes all estimates from the cache. */
  clear() {
    this.#responses.clear();
  }
  /**
   * Returns the estimates of a question, from the cache or else from the collector.
   *
   * @param released numbers of the released batches; part of the cache key if all batches are
   * requested
   */
  getEstimates(task, question, query, released) {
    const path = estimatesPath(task, question, query);
    const key = `${path} ${query.batches === null ? released : ""}`;
    const kept = this.#responses.get(key);
    if (kept !== void 0) return kept;
    const answer = this.#collector.getFromTasks(path).then((own) => question.counted ? withShares(own) : own);
    this.#responses.set(key, answer);
    answer.catch(() => this.#responses.delete(key));
    const [oldest] = this.#responses.keys();
    if (this.#responses.size > 60 && oldest !== void 0) this.#responses.delete(oldest);
    return answer;
  }
};

// www/client/web-vitals-thresholds.ts
var WEB_VITALS_THRESHOLDS = {
  LCP: [2500, 4e3],
  INP: [200, 500],
  CLS: [0.1, 0.25],
  TTFB: [800, 1800]
};

// www/dashboard/web-vitals.ts
var RATED_QUANTILE = 0.75;
function webVitalRating([from, to], [good, poor]) {
  if (to <= good) return "Good";
  if (from >= poor) return "Poor";
  if (from >= good) return to <= poor ? "Needs improvement" : "Needs improvement, or poor";
  return to <= poor ? "Good, or needs improvement" : "Undecided";
}
function webVitalView({ distribution = [], quantiles = [] }, question, unit) {
  const thresholds = WEB_VITALS_THRESHOLDS;
  const own = Object.hasOwn(thresholds, question.name ?? "") ? thresholds[question.name ?? ""] : void 0;
  const rated = quantiles.find(({ quantile }) => quantile === RATED_QUANTILE);
  if (own === void 0 || rated === void 0) return [];
  const [good, poor] = own.map(
    (threshold) => distribution.find(
      ({ below }) => below >= threshold && below - threshold <= (question.step ?? 0) / 2
    )
  );
  if (good === void 0 || poor === void 0) return [];
  const [first, second] = own.map((threshold) => formatNumber(threshold) + unit);
  const rows = [
    [`Good: up to ${first}`, good],
    [`Not poor: up to ${second}`, poor]
  ].map(([label, share]) => [
    label,
    { content: shareText(share.estimate), style: "amount estimated" },
    { content: share.simultaneous_interval.map(shareText).join(" to "), style: "amount interval" }
  ]);
  return [
    el(
      "p",
      { class: "figure" },
      el("strong", {}, webVitalRating(rated.simultaneous_interval, own)),
      " at the 75th percentile",
      el("span", { class: "soft" }, ` by Google's thresholds of ${first} and ${second}`)
    ),
    createTable(
      "Shares by Google's thresholds, of people with and without a value",
      [
        "Rating",
        { content: "Share of all people", style: "amount" },
        { content: "Simultaneous interval", style: "amount" }
      ],
      rows
    )
  ];
}

// www/dashboard/histogram.ts
var HEIGHT2 = 200;
var LEFT_GUTTER_PERCENT = 9;
var plotToFullPosition = (part) => LEFT_GUTTER_PERCENT + part * (100 - LEFT_GUTTER_PERCENT) / 100;
var MAX_BINS_WITH_WHISKERS = 80;
function histogramBins(answer) {
  return answer.estimates.flatMap(({ item, share: own }) => {
    if (own === void 0 || typeof item !== "object") return [];
    const { from, to } = item;
    return { label: itemName(item), from, to, share: own };
  });
}
function horizontalPositionInBins(bins, value) {
  const found = bins.findIndex(({ to }) => value < to);
  const index = found === -1 ? bins.length - 1 : found;
  const bin = bins[index];
  if (bin === void 0) return 0;
  const within = Math.min(Math.max((value - bin.from) / (bin.to - bin.from), 0), 1);
  return (index + within) / bins.length * 100;
}
function numberView(answer, question) {
  const { number } = answer;
  if (number === void 0) return [];
  const unit = unitSuffix(number.unit);
  const bins = histogramBins(answer);
  const together = `with ${answer.confidence * 100}% confidence`;
  const shown = [];
  if (number.mean) {
    const [from, to] = number.mean.interval;
    const text = `${formatNumber(from)} to ${formatNumber(to)}${unit} ${together}`;
    shown.push(
      el(
        "p",
        { class: "figure" },
        el("strong", {}, formatNumber(number.mean.estimate) + unit),
        " on average, ",
        el("span", { class: "soft" }, text)
      )
    );
  }
  shown.push(...webVitalView(number, question, unit));
  if (number.quantiles?.length) shown.push(quantileTable(number, unit));
  const without = answer.estimates.find(({ item }) => typeof item === "string")?.share;
  if (without !== void 0) {
    const ends = without.interval.map(shareText).join(" to ");
    shown.push(
      el(
        "p",
        { class: "figure" },
        el("strong", {}, shareText(without.estimate)),
        " of people have no number, and count for no quantile, ",
        el("span", { class: "soft" }, `${ends} ${together}`)
      )
    );
  }
  const drawn = question.mechanism?.name === "pattern" ? cumulativeSharePlot(bins, number) : binSharePlot(bins);
  if (bins.length > 1)
    shown.push(...sharePlotAndTable(drawn, bins, number, question, unit, together));
  return shown;
}
function quantileTable({ quantiles = [], range }, unit) {
  const rows = quantiles.map(({ quantile, estimate, simultaneous_interval: [from, to] }) => [
    quantileName(quantile),
    {
      content: from === range[0] && to === range[1] ? "unknown" : formatNumber(estimate) + unit,
      style: "amount estimated"
    },
    { content: `${formatNumber(from)} to ${formatNumber(to)}${unit}`, style: "amount interval" }
  ]);
  const heads = [
    "Quantile",
    { content: "Estimate", style: "amount" },
    { content: "Simultaneous interval", style: "amount" }
  ];
  return createTable("Quantiles", heads, rows);
}
function binSharePlot(bins) {
  return {
    plotTitleForQuestion: (name) => `Share of people by bin of ${name}`,
    shares: bins.map((bin) => bin.share),
    labels: bins.map(({ label }) => label),
    drawMarks: (axis) => bins.flatMap((bin, index) => drawBin(bin, index, bins.length, axis))
  };
}
function cumulativeSharePlot(bins, { distribution = [] }) {
  return {
    plotTitleForQuestion: (name) => `Share of people below each ${name}`,
    shares: distribution,
    labels: distribution.map(({ below }) => `below ${formatNumber(below)}`),
    drawMarks: (axis) => distribution.flatMap(
      (own, index) => drawShareDot(own, (index + 1) / bins.length * 100, axis)
    )
  };
}
function sharePlotAndTable({ plotTitleForQuestion: title, shares, labels, drawMarks: marks }, bins, number, question, unit, together) {
  const name = question.name === void 0 ? "the number" : displayedName(question.name);
  const axis = axisContaining(
    shares.flatMap((own) => [own.estimate, ...own.simultaneous_interval])
  );
  const quantiles = number.quantiles ?? [];
  const text = quantiles.map(
    (own) => `${quantileName(own.quantile)} ${formatNumber(own.estimate)}${unit}`
  );
  const plot = svg(
    "svg",
    {
      class: "histogram",
      role: "img",
      height: HEIGHT2 + 24,
      width: "100%",
      "aria-label": `${[title(name), ...text].join(", ")}. The table below has the numbers.`
    },
    svg(
      "svg",
      { class: "marks", height: HEIGHT2, width: "100%" },
      ...gridLines(axis),
      ...marks(axis),
      ...quantiles.flatMap(
        (own) => drawQuantileLine(plotToFullPosition(horizontalPositionInBins(bins, own.estimate)))
      )
    ),
    ...edgeLabels(bins)
  );
  const rows = shares.map((own, index) => {
    const { estimate, simultaneous_interval: ends } = own;
    const format = question.counted ? (value) => shareToErrorPrecision(value, own) : shareText;
    return [labels[index] + unit, format(estimate), ends.map(format).join(" to ")];
  });
  const widths = new Set(bins.map(({ from, to }) => (to - from).toPrecision(6)));
  const note = [
    `Thin lines are intervals. All of them contain the true shares ${together}.`,
    widths.size > 1 ? "The picture draws all bins equally wide." : "",
    quantiles.length ? "Dashed lines mark the quantiles from the table above." : ""
  ];
  return [
    el(
      "figure",
      {},
      el("figcaption", {}, title(name)),
      plot,
      el("p", { class: "help" }, note.filter((words) => words !== "").join(" "))
    ),
    collapsedTable(
      `${title(name)}, as a table`,
      [name, "Share of people", "Simultaneous interval"],
      rows
    )
  ];
}
var verticalPosition = (axis, value) => 100 - positionOnAxis(axis, value);
function gridLines(axis) {
  return axis.ticks.flatMap((value) => {
    const y = percentAttribute(verticalPosition(axis, value));
    return [
      svg("line", {
        class: value === 0 ? "zero" : "tick",
        x1: percentAttribute(LEFT_GUTTER_PERCENT),
        x2: "100%",
        y1: y,
        y2: y
      }),
      svg(
        "text",
        {
          class: "tick-text",
          x: percentAttribute(LEFT_GUTTER_PERCENT - 1),
          y,
          dy: 4,
          "text-anchor": "end"
        },
        shareTickText(value)
      )
    ];
  });
}
function drawBin({ share: own }, index, bins, axis) {
  const [left, right] = [index, index + 1].map(
    (edge) => plotToFullPosition(edge / bins * 100)
  );
  const gap = (right - left) * 0.06;
  const [top, bottom] = [Math.max(own.estimate, 0), Math.min(own.estimate, 0)];
  const bar = svg("rect", {
    class: "bar",
    x: percentAttribute(left + gap),
    width: percentAttribute(right - left - 2 * gap),
    y: percentAttribute(verticalPosition(axis, top)),
    height: percentAttribute(positionOnAxis(axis, top) - positionOnAxis(axis, bottom))
  });
  return bins > MAX_BINS_WITH_WHISKERS ? [bar] : [bar, drawWhisker(own, (left + right) / 2, axis)];
}
function drawShareDot(own, place, axis) {
  const x = plotToFullPosition(place);
  const y = percentAttribute(verticalPosition(axis, own.estimate));
  return [
    drawWhisker(own, x, axis),
    svg("circle", { class: "dot", cx: percentAttribute(x), cy: y, r: 3 })
  ];
}
function drawWhisker(own, place, axis) {
  const [from, to] = own.simultaneous_interval;
  const x = percentAttribute(place);
  return svg("line", {
    class: "whisker",
    x1: x,
    x2: x,
    y1: percentAttribute(verticalPosition(axis, from)),
    y2: percentAttribute(verticalPosition(axis, to))
  });
}
var drawQuantileLine = (x) => svg("line", {
  class: "quantile",
  x1: percentAttribute(x),
  x2: percentAttribute(x),
  y1: 0,
  y2: "100%"
});
function edgeLabels(bins) {
  const all = [...bins.map(({ from }) => from), bins[bins.length - 1]?.to ?? 0];
  const every = Math.ceil(all.length / 7);
  return all.flatMap((edge, index) => {
    if (index % every !== 0) return [];
    const x = plotToFullPosition(index / bins.length * 100);
    const anchor = x < 4 ? "start" : x > 96 ? "end" : "middle";
    const style = index / every % 2 === 1 ? "tick-text between" : "tick-text";
    return svg(
      "text",
      { class: style, x: percentAttribute(x), y: HEIGHT2 + 16, "text-anchor": anchor },
      formatNumber(edge)
    );
  });
}

// www/dashboard/label-links.ts
function labelLinks(id, taskIds2, question) {
  const [name, label] = id.split(":");
  if (label === void 0) return void 0;
  const siblings = taskIds2.filter((own) => own.startsWith(`${name}:`));
  const items = siblings.map((own) => {
    const text = displayedName(own.slice(own.indexOf(":") + 1));
    const href = viewStateToFragment({ ...DEFAULT_STATE, task: own, question });
    const current = own === id ? { "aria-current": "page" } : {};
    return el("li", {}, el("a", { href, ...current }, text));
  });
  const about = el("p", {}, "Each label has its own reports and estimates:");
  return el("nav", { class: "labels", "aria-label": "Labels" }, about, el("ul", {}, ...items));
}

// www/dashboard/metrics.ts
var REASON_TEXTS = {
  "malformed-upload": "not an upload of this task",
  "fingerprint-mismatch": "report made for other task parameters",
  "upload-id-conflict": "different bytes with an id that was used before",
  "too-large": "upload too large",
  "encoded-body": "upload compressed or encoded",
  "incomplete-body": "upload ended early",
  timeout: "upload did not arrive in time",
  overloaded: "the collector was busy",
  storage: "the collector could not write its journal"
};
function parseUploadCounts(text) {
  const value = (name) => Number(text.match(new RegExp(`^hushbin_${name}_total (\\S+)`, "m"))?.[1] ?? 0);
  const problems = text.matchAll(/^hushbin_problems_total\{problem="([^"]*)"\} (\S+)/gm);
  const rejected = [...problems].flatMap(([, slug = "", requests]) => {
    const words = REASON_TEXTS[slug];
    return words === void 0 ? [] : [[words, Number(requests)]];
  });
  return {
    accepted: value("uploads_accepted"),
    duplicates: value("uploads_duplicate"),
    rejected: rejected.sort((a, b) => b[1] - a[1])
  };
}

// www/dashboard/sample-size.ts
var HALF_WIDTH_STANDARD_ERRORS = 1.96;
var MAX_USEFUL_HALF_WIDTH = 0.1;
function checkSampleSize(reports, estimand, estimates) {
  const whole2 = estimand === "mean" ? 2 : 1;
  const half = ({ estimate, valueRange: range }) => HALF_WIDTH_STANDARD_ERRORS * (estimate.standard_error ?? 0) / (range ? range[1] - range[0] : whole2);
  const widest = Math.max(0, ...estimates.map(half));
  if (widest <= MAX_USEFUL_HALF_WIDTH) return { isUseful: true };
  const needed = Number((reports * (widest / MAX_USEFUL_HALF_WIDTH) ** 2).toPrecision(2));
  const within = estimand === "mean" ? "a tenth of the range" : "10 percentage points";
  const arrived = `${formatCountWithNoun(reports, "report")} ${reports === 1 ? "has" : "have"} arrived`;
  return {
    warning: `${arrived}. Estimates with an error of at most ${within} need about ${formatCount(needed)} reports, with 95% confidence.`,
    isUseful: 2 * widest < 1
  };
}
function checkNumberSampleSize({ reports = 0, number }) {
  const { mean, distribution = [], range } = number ?? {};
  if (mean && range)
    return checkSampleSize(reports, "mean", [{ estimate: mean, valueRange: range }]);
  return checkSampleSize(
    reports,
    "share",
    distribution.map((estimate) => ({ estimate }))
  );
}

// www/dashboard/section.ts
var PageSection = class {
  element;
  #body;
  /** Number of requests so far. A late response to an earlier request is dropped. */
  #requestCount = 0;
  constructor(id, title, style = "") {
    const heading = el("h2", { id: `${id}-title` }, title);
    this.#body = el("div", { class: "body" });
    this.element = el(
      "section",
      { id, class: `panel ${style}`, "aria-labelledby": `${id}-title` },
      heading,
      this.#body
    );
  }
  /** Shows this content, and drops responses to requests that are still running. */
  showContent(shown) {
    this.#requestCount += 1;
    this.#replace(shown);
  }
  /** Loads new content with `make` and shows it. The old content stays visible until then. */
  async load(make) {
    this.#requestCount += 1;
    const own = this.#requestCount;
    this.element.setAttribute("aria-busy", "true");
    let shown;
    try {
      shown = await make();
    } catch (thrown) {
      const words = thrown instanceof Error ? thrown.message : String(thrown);
      if (!(thrown instanceof CollectorError)) console.error(thrown);
      shown = [el("p", { class: "refused" }, words)];
    }
    if (own === this.#requestCount) this.#replace(shown);
  }
  #replace(shown) {
    this.element.hidden = shown === null;
    this.element.setAttribute("aria-busy", "false");
    this.#body.replaceChildren(...shown ?? []);
  }
};

// www/dashboard/significance-view.ts
var MAX_LISTED3 = 12;
function previousAndLatestBatch({
  selectedBatches: selected,
  releasedBatches: released
}) {
  const after = selected[selected.length - 1];
  const place = released.findIndex(({ number }) => number === after?.number);
  const before = released[place - 1];
  return after === void 0 || before === void 0 ? null : [before, after];
}
function nonZeroItemsView({ rows, confidence }) {
  if (rows === null) return [];
  const found = significantRows(rows.rows);
  const chance = formatPercent(1 - confidence);
  const about = found.length === 0 ? `No interval of ${formatCountWithNoun(rows.rows.length, "item")} excludes 0, so all estimates may be noise.` : `For ${formatCount(found.length)} of ${formatCountWithNoun(rows.rows.length, "item")}, the interval excludes 0. The chance that this list contains a false alarm is at most ${chance}.`;
  const named = found.slice(0, MAX_LISTED3).map((row) => [
    row.label,
    {
      content: rows.format(row.estimate.estimate, row.estimate) + unitSuffix(row.unit),
      style: "amount estimated"
    },
    { content: intervalText(row, rows.format), style: "amount interval" }
  ]);
  const heads = [
    "Item",
    { content: "Estimate", style: "amount" },
    { content: "Interval", style: "amount" }
  ];
  const more = found.length > MAX_LISTED3 ? `The ${MAX_LISTED3} estimates that differ most clearly from 0` : "Estimates that clearly differ from 0";
  return [el("p", {}, about), ...named.length > 0 ? [createTable(more, heads, named)] : []];
}
function comparableRows(answer, question, estimand) {
  const means = conditionalMeanRows(answer);
  if (means.length > 0)
    return { estimand: "mean", areShares: false, rows: means, format: formatNumber };
  if (question.kind !== "number") return estimandRows(answer, question, estimand ?? void 0);
  const { mean, quantiles = [], unit } = answer.number ?? {};
  const unitField = unit === void 0 ? {} : { unit };
  const rows = mean ? [{ label: "mean", queryName: null, estimate: mean, ...unitField }] : quantiles.map((own) => ({
    label: quantileName(own.quantile),
    queryName: null,
    estimate: own,
    ...unitField
  }));
  return { estimand: "mean", areShares: false, rows, format: formatNumber };
}
async function changedItemsView(context) {
  const pair = previousAndLatestBatch(context);
  if (pair === null) return [el("p", {}, "There is no earlier batch for a comparison yet.")];
  const {
    taskId: task,
    question,
    estimatesCache: answers,
    requestedItemNames: items,
    estimand
  } = context;
  const confidence = confidencePerBatchOfTwo(context.confidence);
  const [before, after] = await Promise.all(
    pair.map(async ({ number }) => {
      const query = { batches: String(number), confidence, items };
      return comparableRows(
        await answers.getEstimates(task, question, query, ""),
        question,
        estimand
      );
    })
  );
  if (!before || !after) return [];
  const found = significantChanges(before.rows, after.rows);
  const [earlier, later] = pair.map(({ number }) => number);
  const chance = formatPercent(1 - context.confidence);
  const of = formatCountWithNoun(
    after.rows.length,
    question.kind === "number" ? "estimate" : "item"
  );
  const about = found.length === 0 ? `Between batches ${earlier} and ${later}, none of ${of} changed by more than the noise. There may be smaller changes.` : `Between batches ${earlier} and ${later}, ${formatCount(found.length)} of ${of} changed by more than the noise. The chance that this list contains a false alarm is at most ${chance}.`;
  const named = found.slice(0, MAX_LISTED3).map(({ label, unit, before: was, after: is }) => [
    label,
    { content: after.format(was.estimate, was) + unitSuffix(unit), style: "amount" },
    { content: after.format(is.estimate, is) + unitSuffix(unit), style: "amount estimated" },
    { content: is.estimate > was.estimate ? "▲ more" : "▼ less", style: "amount" }
  ]);
  const amount = (content) => ({ content, style: "amount" });
  const heads = ["Item", amount(`Batch ${earlier}`), amount(`Batch ${later}`), amount("Change")];
  const more = found.length > MAX_LISTED3 ? `Changed items: the ${MAX_LISTED3} largest changes` : "Changed items";
  return [el("p", {}, about), ...named.length > 0 ? [createTable(more, heads, named)] : []];
}
async function significanceView(context) {
  if (context.selectedBatches.length === 0) return null;
  const numbers = ["number", "numbers"].includes(context.question.kind ?? "");
  const own = numbers ? [] : nonZeroItemsView(context);
  return [
    el(
      "div",
      { class: "columns" },
      el("div", {}, ...own),
      el("div", {}, ...await changedItemsView(context))
    )
  ];
}

// www/dashboard/lines.ts
var HEIGHT3 = 84;
var pointsWithEstimate = ({ points }) => points.flatMap(
  ({ batch, estimate }, index) => estimate === null ? [] : { batch, estimate, index }
);
function axisForLines(lines, zero) {
  const ends = lines.flatMap(pointsWithEstimate).flatMap(({ estimate }) => [estimate.estimate, ...estimate.simultaneous_interval]);
  return axisContaining(ends, { zero, most: 4 });
}
function timeLinePlots(lines, format, scale, { zero, apart }) {
  const common = axisForLines(lines, zero);
  const figures = lines.map((line) => {
    const axis = apart ? axisForLines([line], zero) : common;
    return el(
      "figure",
      { class: "line" },
      el("figcaption", {}, line.label),
      drawTimeLine(line, axis, format, scale)
    );
  });
  const batches = lines[0]?.points.map(({ batch }) => batch) ?? [];
  const rows = batches.map((batch, index) => [
    String(batch),
    ...lines.map(({ points }) => formatTimeLinePoint(points[index], format))
  ]);
  const heads = ["Batch", ...lines.map(({ label }) => label)];
  return [
    el("div", { class: "lines" }, ...figures),
    collapsedTable("Time line, as a table", heads, rows)
  ];
}
function formatTimeLinePoint(point, format) {
  if (point === void 0 || point.estimate === null) return "–";
  const own = point.estimate;
  const { estimate, simultaneous_interval } = own;
  const [from, to] = simultaneous_interval;
  const said = [estimate, from, to].map((value) => format(value, own));
  return `${said[0]} (${said[1]} to ${said[2]})`;
}
function drawTimeLine(line, axis, format, scale) {
  const { label, points } = line;
  const across = (index) => 14 + (index + 0.5) / points.length * 84;
  const y = (value) => percentAttribute(100 - positionOnAxis(axis, value));
  const own = pointsWithEstimate(line);
  const last = own[own.length - 1];
  const said = last === void 0 ? "no estimate" : `${format(last.estimate.estimate, last.estimate)} in batch ${last.batch}`;
  const ticks = axis.ticks.flatMap((tick) => [
    svg("line", {
      class: tick === 0 ? "zero" : "tick",
      x1: "14%",
      x2: "100%",
      y1: y(tick),
      y2: y(tick)
    }),
    svg(
      "text",
      { class: "tick-text", x: "12.5%", y: y(tick), dy: 4, "text-anchor": "end" },
      scale(tick)
    )
  ]);
  const segments = own.slice(1).map((point, index) => {
    const before = own[index] ?? point;
    return svg("line", {
      class: "segment",
      x1: percentAttribute(across(before.index)),
      y1: y(before.estimate.estimate),
      x2: percentAttribute(across(point.index)),
      y2: y(point.estimate.estimate)
    });
  });
  const marks = own.flatMap(({ index, estimate }) => {
    const x = percentAttribute(across(index));
    const [from, to] = estimate.simultaneous_interval;
    return [
      svg("line", { class: "together", x1: x, x2: x, y1: y(from), y2: y(to) }),
      svg("circle", { class: "dot", cx: x, cy: y(estimate.estimate), r: 3.5 })
    ];
  });
  const every = Math.ceil(points.length / 8);
  const numbers = points.flatMap(
    ({ batch }, index) => index % every === 0 ? svg(
      "text",
      {
        class: "tick-text",
        x: percentAttribute(across(index)),
        y: HEIGHT3 + 18,
        "text-anchor": "middle"
      },
      String(batch)
    ) : []
  );
  return svg(
    "svg",
    {
      class: "strip",
      role: "img",
      width: "100%",
      height: HEIGHT3 + 22,
      "aria-label": `${label} over batches: ${said}. The table below has the numbers.`
    },
    svg("svg", { class: "marks", width: "100%", height: HEIGHT3 }, ...ticks, ...segments, ...marks),
    ...numbers
  );
}

// www/dashboard/timeline-view.ts
var MAX_PARALLEL2 = 3;
async function requestEstimatesPerBatch(context, items) {
  const { taskId: task, question, estimatesCache: answers, releasedBatches: released } = context;
  const batches = released.slice(-MAX_RELEASES);
  const confidence = confidencePerBatch(batches.length, context.confidence);
  const found = [];
  for (let first = 0; first < batches.length; first += MAX_PARALLEL2) {
    const some = batches.slice(first, first + MAX_PARALLEL2).map(async ({ number }) => {
      const query = { batches: String(number), confidence, items };
      return [number, await answers.getEstimates(task, question, query, "")];
    });
    found.push(...await Promise.all(some));
  }
  return found;
}
async function timelineView(context, shown) {
  const { question, releasedBatches: released, rows, confidence } = context;
  if (released.length === 0) return null;
  if (released.length === 1) {
    return [
      el(
        "p",
        {},
        "One batch has been released so far. The time line starts with the second batch."
      )
    ];
  }
  const number = question.kind === "number" || rows === null;
  const picked = shown.slice(0, MAX_LINES);
  if (!number && picked.length === 0) return null;
  const names = picked.map(({ queryName: query }) => query);
  const items = number || names.includes(null) ? context.requestedItemNames : names.filter((name) => name !== null);
  const answers = await requestEstimatesPerBatch(context, items);
  const units = new Map(picked.map(({ label, unit }) => [label, unit]));
  const labels = picked.map(({ label }) => label);
  const lines = number ? numberTimeLines(question, answers) : itemTimeLines(labels, rows.estimand, answers).map(({ label, points }) => ({
    label: labelWithUnit(label, units.get(label)),
    points
  }));
  if (lines.length === 0) return null;
  const first = number ? "" : ` for the first ${formatCountWithNoun(lines.length, "item")} above,`;
  const latest = released.length > MAX_RELEASES ? ` the latest ${MAX_RELEASES} of` : "";
  return [
    el(
      "p",
      {},
      `Estimates${first} from${latest} ${formatCountWithNoun(released.length, "released batch", "released batches")}. Bars are intervals. With ${confidence * 100}% confidence, all of them contain the true values.`
    ),
    ...timeLinePlots(
      lines,
      number ? formatNumber : rows.format,
      rows?.areShares === true ? shareTickText : tickText,
      {
        zero: !number && question.kind !== "numbers",
        apart: question.kind === "numbers" || number
      }
    )
  ];
}

// www/dashboard/task-page.ts
var CONFIDENCE = 0.95;
var TaskPage = class {
  element;
  id;
  #collector;
  #cache;
  #task;
  #controls;
  #facts = el("p", { class: "facts" });
  #estimatesSection = new PageSection("estimates", "Estimates", "wide");
  #significance = new PageSection("standing", "Significant results", "wide");
  #timeline = new PageSection("timeline", "Estimates over time", "wide");
  #batches = new PageSection("filling", "Batches");
  #privacy = new PageSection("privacy", "Privacy");
  #madeUpReportsSection = new PageSection("influence", "Made-up reports");
  #rejectedUploadsSection = new PageSection("uploads", "Rejected uploads");
  #batchUnit;
  #state;
  #batchesResponse;
  constructor(collector2, task, known, state2, change, taskIds2) {
    this.#collector = collector2;
    this.#cache = new EstimatesCache(collector2);
    this.#task = task;
    this.#batchUnit = batchUnitOf(task.task);
    this.id = task.task.id;
    this.#state = state2;
    this.#batchesResponse = known;
    this.#controls = new EstimatesControls(change);
    this.#madeUpReportsSection.showContent(null);
    const again = el("button", { type: "button", class: "quiet" }, "Refresh");
    again.addEventListener("click", () => {
      this.#cache.clear();
      void this.#loadAll();
    });
    this.element = el(
      "div",
      { class: "task" },
      el(
        "div",
        { class: "head" },
        el(
          "div",
          {},
          el("p", { class: "crumb" }, el("a", { href: "#tasks" }, "All tasks")),
          el("h1", { tabindex: -1 }, displayedName(task.task.id)),
          labelLinks(task.task.id, taskIds2, state2.question) ?? "",
          this.#facts
        ),
        again
      ),
      this.#controls.element,
      ...this.#sections.map(({ element }) => element)
    );
    this.#showCurrentBatches();
    void this.#loadAll();
  }
  get #sections() {
    return [
      this.#estimatesSection,
      this.#significance,
      this.#timeline,
      this.#batches,
      this.#privacy,
      this.#madeUpReportsSection,
      this.#rejectedUploadsSection
    ];
  }
  get #selectedQuestion() {
    const questions = questionsOf(this.#task.task);
    const named = questions.find(({ name }) => name === this.#state.question);
    return named ?? questions[0] ?? {};
  }
  /** Shows the question, batches and order that `state` describes. */
  showViewState(state2) {
    const before = this.#state;
    this.#state = state2;
    this.#showControls();
    const changed = before.question !== state2.question || before.batches !== state2.batches;
    void this.#loadEstimates(changed);
    if (before.batches !== state2.batches) void this.#loadMadeUpInfluence();
  }
  /**
   * Shows the current batches. Returns true, and loads everything again, if there is a new release.
   */
  updateBatches(known) {
    const before = this.#releasedRanges;
    this.#batchesResponse = known;
    this.#showCurrentBatches();
    if (before === this.#releasedRanges) return false;
    void this.#loadAll();
    return true;
  }
  /** Text with the numbers of the released batches, as ranges. */
  get #releasedRanges() {
    return formatAsRanges(releasedBatches(this.#batchesResponse).map(({ number }) => number));
  }
  /** Released batches whose estimates are shown: all of them, or those that the address selects. */
  get #selectedBatches() {
    const { batches } = this.#state;
    const released = releasedBatches(this.#batchesResponse);
    if (batches === null) return released;
    const spans = batches.split(",").map((part) => part.split("-").map(Number));
    return released.filter(
      ({ number }) => spans.some(([from = 0, to = from]) => from <= number && number <= to)
    );
  }
  #showCurrentBatches() {
    const { task } = this.#task;
    const released = releasedBatches(this.#batchesResponse);
    const questions = questionsOf(task).length;
    const asks = questions > 1 ? `, for ${formatCount(questions)} questions` : "";
    const promise = isSumTaskResponse(this.#task) ? privacyPromiseText(this.#task.privacy) : `Each report protects ${this.#task.protects}.`;
    const collected = formatWithUnit(this.#batchUnit, totalReports(released));
    this.#facts.textContent = `${collected} in ${formatCountWithNoun(released.length, "release")}${asks}. ${promise}`;
    this.#showControls();
    this.#batches.showContent([
      el("h3", {}, `Batch ${openBatch(this.#batchesResponse)?.number ?? ""} is open`),
      ...drawOpenBatchProgress(this.#batchesResponse, this.#batchUnit, Date.now() / 1e3),
      el("p", { class: "help" }, closingRule(this.#batchesResponse, this.#batchUnit)),
      ...[closedBatchTable(this.#batchesResponse, this.#batchUnit)].filter((list) => list !== null)
    ]);
  }
  #showControls() {
    const questions = questionsOf(this.#task.task);
    const released = releasedBatches(this.#batchesResponse);
    this.#controls.show(this.#state, questions, this.#selectedQuestion, released, this.#batchUnit);
  }
  /** Loads all sections. */
  async #loadAll() {
    await this.#loadEstimates(true);
    await this.#privacy.load(async () => {
      const path = `${encodeURIComponent(this.id)}/privacy`;
      const task = this.#task;
      if (isSumTaskResponse(task)) {
        const response2 = this.#collector.getFromTasks(path);
        const found = await responseOrUnreleasedReason(response2);
        return sumsPrivacyView(task, typeof found === "string" ? null : found);
      }
      const response = this.#collector.getFromTasks(path);
      return privacyView(task, await responseOrUnreleasedReason(response));
    });
    await this.#loadMadeUpInfluence();
    await this.#rejectedUploadsSection.load(
      async () => uploadsView(
        parseUploadCounts(await this.#collector.metrics()),
        isSumTaskResponse(this.#task) ? "message" : "upload"
      )
    );
  }
  /** Loads the estimates, the significant results and the time line. */
  async #loadEstimates(request) {
    if (this.#selectedQuestion.kind === "text") return this.#loadCommonTexts(request);
    let rows = null;
    await this.#estimatesSection.load(async () => {
      const items = itemsToRequest(this.#selectedQuestion, this.#state.find);
      if (items?.length === 0) return [el("p", {}, this.#noItemsText())];
      const answer = await responseOrUnreleasedReason(
        this.#cache.getEstimates(
          this.id,
          this.#selectedQuestion,
          this.#estimatesQuery(items),
          this.#releasedRanges
        )
      );
      if (typeof answer === "string") {
        const words = isSumTaskResponse(this.#task) ? "No batch of this task is released yet." : answer;
        return [el("p", {}, words), drawOpenBatchBar(this.#batchesResponse, this.#batchUnit)];
      }
      rows = estimandRows(answer, this.#selectedQuestion, this.#state.estimand ?? void 0);
      if (rows !== null)
        this.#controls.showEstimands(
          this.#selectedQuestion.kind === "number" ? [] : estimandsInResponse(answer),
          rows.estimand,
          this.#selectedQuestion
        );
      return this.#estimatesView(answer, rows);
    });
    const context = { ...this.#context, rows };
    await this.#significance.load(() => significanceView(context));
    await this.#timeline.load(() => timelineView(context, this.#matchingRows(context.rows)));
  }
  async #loadCommonTexts(request) {
    this.#significance.showContent(null);
    this.#timeline.showContent(null);
    this.#controls.showEstimands([], "share", this.#selectedQuestion);
    if (!request) return;
    const { name = "" } = this.#selectedQuestion;
    const path = `${encodeURIComponent(this.id)}/heavy-hitters?question=${encodeURIComponent(name)}`;
    await this.#estimatesSection.load(
      async () => commonTextsView(await this.#collector.getFromTasks(path))
    );
  }
  async #loadMadeUpInfluence() {
    const { batches } = this.#state;
    const query = batches === null ? "" : `?batches=${batches}`;
    await this.#madeUpReportsSection.load(async () => {
      const path = `${encodeURIComponent(this.id)}/influence${query}`;
      if (isSumTaskResponse(this.#task)) {
        const all = await responseOrUnreleasedReason(
          this.#collector.getFromTasks(path)
        );
        if (typeof all === "string") return null;
        const released = releasedBatches(this.#batchesResponse);
        return dishonestInfluenceView(
          all,
          await requestDishonestInfluence(this.#collector, this.id, released),
          this.#selectedQuestion
        );
      }
      const found = await responseOrUnreleasedReason(
        this.#collector.getFromTasks(path)
      );
      return typeof found === "string" ? null : influenceView(found, questionsOf(this.#task.task));
    });
  }
  get #context() {
    return {
      taskId: this.id,
      question: this.#selectedQuestion,
      estimatesCache: this.#cache,
      releasedBatches: releasedBatches(this.#batchesResponse),
      selectedBatches: this.#selectedBatches,
      requestedItemNames: itemsToRequest(this.#selectedQuestion, this.#state.find),
      estimand: this.#state.estimand,
      confidence: CONFIDENCE
    };
  }
  #estimatesQuery(items) {
    return { batches: this.#state.batches, confidence: CONFIDENCE, items };
  }
  #noItemsText() {
    if (this.#state.find.trim() !== "") return "No item matches this name.";
    return "This question has no list of items. Enter the names to look up, separated by commas.";
  }
  /** Returns the rows whose names match the search, in the selected order. */
  #matchingRows(rows) {
    if (rows === null) return [];
    const open = (this.#selectedQuestion.items ?? this.#selectedQuestion.options) === "open";
    const sought = open ? "" : this.#state.find.trim();
    return sortedRows(
      rows.rows.filter(({ label }) => matchesSearch(label, sought)),
      this.#state.order
    );
  }
  #estimatesView(answer, rows) {
    const { reports = 0, people, messages = 0, confidence, bias_statement, memo_warning } = answer;
    if ((people ?? reports) === 0) {
      return [el("p", {}, "No report answers this question yet.")];
    }
    const of = people === void 0 ? formatCountWithNoun(reports, "report") : `${formatWithUnit(this.#batchUnit, people)}, counted by ${formatCountWithNoun(messages, "message")}`;
    const batches = formatAsRanges(this.#selectedBatches.map(({ number }) => number));
    const about = el(
      "p",
      {},
      `${of}${batches === "" ? "" : `${people === void 0 ? "" : ","} from ${batches.match(/[–,]/) ? "batches" : "batch"} ${batches}`}. A thick bar is the interval of one row, with ${confidence * 100}% confidence. A thin bar is the simultaneous interval, with ${confidence * 100}% confidence for all rows at once. A hollow dot marks an estimate that may be noise.`
    );
    const missing = missingMessagesText(answer.missing_messages, this.#selectedQuestion);
    const notes = noteParagraphs(missing, bias_statement, memo_warning);
    if (this.#selectedQuestion.kind === "number") {
      const { warning: warning2, isUseful: useful } = people === void 0 ? checkNumberSampleSize(answer) : { isUseful: true };
      return [
        el(
          "p",
          {},
          `${of}. With ${confidence * 100}% confidence, all intervals in one table or picture contain the true values.`
        ),
        ...noteParagraphs(warning2),
        ...notes,
        ...useful ? numberView(answer, this.#selectedQuestion) : []
      ];
    }
    if (rows === null) return [about, ...notes, ...crossView(answer)];
    const found = this.#matchingRows(rows);
    if (found.length === 0) return [about, el("p", {}, "No item matches this name.")];
    const drawn = found.slice(0, MAX_ROWS);
    const all = itemCount(this.#selectedQuestion) ?? rows.rows.length;
    const caption = tableCaption(rows, this.#selectedQuestion, drawn.length, found.length, all);
    const { warning, isUseful } = people === void 0 ? checkSampleSize(reports, rows.estimand, rows.rows) : { isUseful: true };
    if (!isUseful) return [...noteParagraphs(warning), ...notes];
    return [
      about,
      ...noteParagraphs(warning),
      ...notes,
      dotTable(caption, rows, drawn),
      ...crossView(answer)
    ];
  }
};
function tableCaption({ rows, estimand }, question, drawn, found, all) {
  const what = estimandTexts(estimand, question).short;
  if (rows.length < all)
    return `${what}: ${formatCount(drawn)} of ${formatCountWithNoun(all, "item")} shown; search by name for other items`;
  if (drawn < found)
    return `${what}: the first ${formatCount(drawn)} of ${formatCountWithNoun(found, "item")}; search by name for other items`;
  if (found < all) return `${what}: ${formatCount(found)} of ${formatCountWithNoun(all, "item")}`;
  return `${what}: ${formatCountWithNoun(found, "item")}`;
}
async function responseOrUnreleasedReason(answer) {
  try {
    return await answer;
  } catch (thrown) {
    if (thrown instanceof CollectorError && thrown.problem === "nothing-released")
      return thrown.message;
    throw thrown;
  }
}

// www/dashboard/main.ts
var POLL_MS = 1e4;
var collector = new CollectorClient();
var main = byId("main");
var troubleElement = byId("trouble");
var state = viewStateFromFragment(location.hash);
var currentView = null;
var taskIds = null;
var viewCount = 0;
function announceToScreenReaders(words) {
  byId("news").textContent = words;
}
function showTrouble(thrown) {
  const words = thrown instanceof Error ? thrown.message : String(thrown);
  if (!(thrown instanceof CollectorError)) console.error(thrown);
  if (troubleElement.textContent !== words) troubleElement.replaceChildren(el("p", {}, words));
  troubleElement.hidden = false;
}
var isTokenRefused = (thrown) => thrown instanceof CollectorError && thrown.status === 401;
function showSignIn(why) {
  collector.token = null;
  storeToken(null);
  [taskIds, currentView] = [null, null];
  viewCount += 1;
  byId("sign-out").hidden = true;
  document.title = "Sign in – hushbin";
  main.replaceChildren(
    ...signInForm(async (token) => {
      collector.token = token;
      try {
        await loadTasksAndOpenView();
        storeToken(token);
        byId("sign-out").hidden = false;
        return null;
      } catch (thrown) {
        collector.token = null;
        if (isTokenRefused(thrown))
          return "The collector does not know this token. The token may have been revoked.";
        return thrown instanceof Error ? thrown.message : String(thrown);
      }
    }, why)
  );
  byId("token").focus();
}
async function loadTasksAndOpenView() {
  taskIds = (await collector.getFromTasks("")).tasks;
  troubleElement.hidden = true;
  await openView();
}
async function openView() {
  viewCount += 1;
  const own = viewCount;
  const [only] = taskIds ?? [];
  const task = state.task ?? (taskIds?.length === 1 && location.hash === "" ? only ?? null : null);
  document.title = `${task ?? "Tasks"} – hushbin`;
  if (task === null) {
    const overview = new TaskListView(collector, taskIds ?? []);
    await overview.reloadBatches();
    if (own !== viewCount) return;
    showPage(overview);
    return;
  }
  const id = encodeURIComponent(task);
  const [answer, batches] = await Promise.all([
    collector.getFromTasks(id),
    collector.getFromTasks(`${id}/batches`)
  ]);
  if (own !== viewCount) return;
  showPage(new TaskPage(collector, answer, batches, state, changeViewState, taskIds ?? []));
}
function showPage(shown) {
  const first = currentView === null;
  currentView = shown;
  main.replaceChildren(shown.element);
  if (!first) main.querySelector("h1")?.focus();
}
function changeViewState(changes) {
  state = {
    ...state,
    task: currentView instanceof TaskPage ? currentView.id : state.task,
    ...changes
  };
  const typed = Object.keys(changes).every((name) => name === "find");
  history[typed ? "replaceState" : "pushState"](null, "", viewStateToFragment(state) || "#tasks");
  if (currentView instanceof TaskPage) currentView.showViewState(state);
}
async function onNavigation() {
  if (taskIds === null) return;
  const before = state;
  state = viewStateFromFragment(location.hash);
  if (currentView instanceof TaskPage && before.task === state.task && state.task === currentView.id) {
    currentView.showViewState(state);
  } else {
    await withErrorsShown(openView);
  }
}
async function pollForChanges() {
  if (taskIds === null || document.hidden) return;
  const own = currentView;
  if (own instanceof TaskListView) await own.reloadBatches();
  if (own instanceof TaskPage) {
    const batches = await collector.getFromTasks(
      `${encodeURIComponent(own.id)}/batches`
    );
    if (own === currentView && own.updateBatches(batches))
      announceToScreenReaders("A new batch has been released. The estimates are being updated.");
  }
  troubleElement.hidden = true;
}
async function withErrorsShown(work) {
  try {
    await work();
  } catch (thrown) {
    if (isTokenRefused(thrown))
      showSignIn(collector.token === null ? null : "The token was revoked.");
    else showTrouble(thrown);
  }
}
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
byId("home").addEventListener("click", (event) => {
  event.preventDefault();
  state = DEFAULT_STATE;
  history.pushState(null, "", "#tasks");
  void onNavigation();
});
byId("sign-out").addEventListener("click", () => {
  showSignIn(null);
  announceToScreenReaders("You are signed out.");
});
addEventListener("popstate", () => void onNavigation());
addEventListener("visibilitychange", () => void withErrorsShown(pollForChanges));
byId("place").textContent = new URL("..", location.href).host;
collector.token = storedToken();
byId("sign-out").hidden = collector.token === null;
await withErrorsShown(loadTasksAndOpenView);
var pollForever = async () => {
  const waits = taskIds === null && document.getElementById("token") === null;
  await withErrorsShown(waits ? loadTasksAndOpenView : pollForChanges);
  setTimeout(() => void pollForever(), POLL_MS);
};
setTimeout(() => void pollForever(), POLL_MS);
