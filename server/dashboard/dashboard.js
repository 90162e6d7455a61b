// www/demo/shared/dom.ts
function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`The page lacks #${id}.`);
  return found;
}
function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  setAll(made, attributes);
  made.append(...children);
  return made;
}
function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  setAll(made, attributes);
  made.append(...children);
  return made;
}
function setAll(element, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === void 0 || value === false) element.removeAttribute(name);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

// www/dashboard/api.ts
var ESTIMANDS = ["mean", "sum", "plus", "minus", "nonmissing", "share"];
var isSums = (answer) => "privacy" in answer;
var Refused = class extends Error {
  name = "Refused";
  /** Last part of the problem's type, for example `nothing-released`. */
  problem;
  status;
  have;
  need;
  constructor(status, body) {
    const members = typeof body === "object" && body !== null ? body : {};
    const { type, title, detail, have, need } = members;
    const words = [title, detail].filter((word) => typeof word === "string");
    super(words.length > 0 ? `${words.join(": ")}.` : wordless(status));
    this.problem = String(type ?? "").replace(/^.*:/, "");
    this.status = status;
    this.have = typeof have === "number" ? have : void 0;
    this.need = typeof need === "number" ? need : void 0;
  }
};
function wordless(status) {
  if (status === 0) return "The collector does not answer.";
  return `The collector answered with status ${status}.`;
}
var Collector = class {
  /** Address of the interface, one level above the page. A proxy may nest both under a path. */
  #base = new URL("../", location.href);
  /** Token of the analyst. `null` if requests are made without a token. */
  token = null;
  /** Requests a path under `tasks`, such as "survey/batches?…". An empty path lists all tasks. */
  async ask(path) {
    const response = await this.#get(path === "" ? "tasks" : `tasks/${path}`);
    const body = await response.json().catch(() => null);
    if (!response.ok || body === null) throw new Refused(response.status, body);
    return body;
  }
  /** Requests a path under `tasks`. Returns `null` if the collector has no such path. */
  async askIfThere(path) {
    try {
      return await this.ask(path);
    } catch (thrown) {
      if (thrown instanceof Refused && thrown.status === 404) return null;
      throw thrown;
    }
  }
  /** Returns the collector's metrics, as text for Prometheus. */
  async metrics() {
    const response = await this.#get("metrics");
    if (!response.ok) throw new Refused(response.status, null);
    return response.text();
  }
  async #get(path) {
    const headers = { accept: "application/json" };
    if (this.token !== null) headers.authorization = `Bearer ${this.token}`;
    try {
      return await fetch(new URL(path, this.#base), { headers, credentials: "omit" });
    } catch {
      throw new Refused(0, null);
    }
  }
};

// www/demo/shared/format.ts
var whole = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 0 });
function count(value) {
  return whole.format(value);
}
function counted(value, noun, plural = `${noun}s`) {
  return `${count(value)} ${value === 1 ? noun : plural}`;
}
function percent(share2, digits2 = 0) {
  const text = (Math.abs(share2) * 100).toFixed(digits2);
  return `${share2 < 0 && Number(text) !== 0 ? "−" : ""}${text}%`;
}
function short(value) {
  return Number(value.toPrecision(3)).toString();
}
function powers(exponential) {
  const [mantissa = "", exponent = ""] = exponential.split("e");
  const raised = exponent.replace("+", "").replace(/./g, (sign) => RAISED[sign] ?? sign);
  return Number(mantissa) === 1 ? `10${raised}` : `${Number(mantissa)} × 10${raised}`;
}
var RAISED = {
  "-": "⁻",
  ...Object.fromEntries([..."⁰¹²³⁴⁵⁶⁷⁸⁹"].map((raised, digit) => [String(digit), raised]))
};

// www/dashboard/counting.ts
var REPORTS = {
  one: "report",
  more: "reports",
  of: (reports) => reports,
  least: 0
};
function countingOf({ messages, people = 0 }) {
  if (messages === void 0) return REPORTS;
  const each = messages.levels * messages.drawn + messages.noise;
  return { one: "person", more: "people", of: (own) => own / each, least: people };
}
function limitsOf({ of, least }, closes) {
  const own = Math.max(Math.ceil(of(closes.least)), least);
  return [own, Math.max(Math.ceil(of(closes.most)), own)];
}
var capital = (word) => word.charAt(0).toUpperCase() + word.slice(1);
var about = (value) => Number.isInteger(value) ? "" : "about ";
function said({ one, more, of }, collected) {
  const value = of(collected);
  return `${about(value)}${counted(Math.round(value), one, more)}`;
}
function amount({ of }, collected) {
  return count(of(collected));
}

// www/dashboard/labels.ts
function digits(value) {
  const rounded = Math.abs(value) >= 1e3 ? Math.round(value) : Number(value.toPrecision(3));
  return new Intl.NumberFormat("en-GB", { maximumSignificantDigits: 21 }).format(rounded).replace("-", "−");
}
function resolved(value, estimate) {
  const [from, to] = estimate?.simultaneous_interval ?? [0, 0];
  const half = (to - from) / 2;
  if (!(half > 0 && Number.isFinite(half))) return digits(value);
  const places = Math.min(Math.max(1 - Math.floor(Math.log10(half)), 0), 12);
  const format = { minimumFractionDigits: places, maximumFractionDigits: places };
  const text = new Intl.NumberFormat("en-GB", format).format(value);
  return /[1-9]/.test(text) ? text.replace("-", "−") : text.replace("-", "");
}
var tick = (value) => Number(value.toPrecision(6)).toLocaleString("en-GB").replace("-", "−");
var shareTick = (value) => `${tick(value * 100)}%`;
var share = (value) => percent(value, 1);
var rating = (value) => value.toFixed(3).replace("-", Number(value.toFixed(3)) === 0 ? "" : "−");
function nameOf(label) {
  if (typeof label === "string") return label;
  if (typeof label === "number") return String(label);
  const { from, to } = label;
  if (typeof from === "number" && typeof to === "number") return `${digits(from)} to ${digits(to)}`;
  return Object.entries(label).map(([part2, own]) => `${part2}: ${nameOf(own)}`).join(", ");
}
function queryOf(label) {
  if (typeof label !== "object") return String(label);
  const named = Object.values(label).every((part2) => typeof part2 === "string");
  return named ? nameOf(label) : null;
}
function questionsOf(task) {
  const { numbers, vector } = task;
  if (numbers !== void 0) return [{ kind: "numbers", of: numbers }];
  if (vector !== void 0) return [{ kind: "vector", items: vector.items }];
  return task.questions ?? [{ ...task, kind: "ratings" }];
}
function itemsOf(question) {
  const items = question.items ?? question.options;
  if (items === "open" || question.kind === "text") return null;
  if (typeof items === "number") return items;
  if (items !== void 0) return items.length;
  if (question.edges !== void 0) return question.edges.length - 1;
  return question.of?.length ?? 1;
}
var WORDS = {
  mean: { long: "mean rating (no rating counts as 0)", short: "Mean" },
  sum: { long: "sum over all people", short: "Sum over all people" },
  plus: { long: "share of people who rate it above 0", short: "Rated above 0" },
  minus: { long: "share of people who rate it below 0", short: "Rated below 0" },
  nonmissing: { long: "share of people who have it", short: "Have it" },
  share: { long: "share of people", short: "Share of people" }
};
var FRACTIONAL = {
  plus: { long: "mean of ratings above 0 (others count as 0)", short: "Mean above 0" },
  minus: {
    long: "mean of ratings below 0, without sign (others count as 0)",
    short: "Mean below 0"
  },
  nonmissing: { long: "mean size of ratings (no rating counts as 0)", short: "Mean size" }
};
var isFractional = ({ kind = "", value }) => kind === "ratings" && value === "real";
var wordsOf = (estimand, question) => (isFractional(question) ? FRACTIONAL[estimand] : void 0) ?? WORDS[estimand];
var isShare = (estimand, question) => !["mean", "sum"].includes(estimand) && !isFractional(question);
var KINDS = {
  ratings: "ratings",
  set: "any of several options",
  choice: "one of several options",
  flag: "yes or no",
  number: "a number",
  numbers: "several numbers",
  cross: "two things at once",
  together: "several options together",
  text: "a text",
  vector: "a vector"
};
var REAL = /* @__PURE__ */ new Set(["numbers", "vector"]);
var isReal = ({ kind = "" }) => REAL.has(kind);
function moment(seconds) {
  const format = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
  return format.format(seconds * 1e3);
}
function ranges(numbers) {
  const parts = [];
  for (const number of [...numbers].sort((a, b) => a - b)) {
    const last = parts[parts.length - 1];
    if (last !== void 0 && number === last[1] + 1) last[1] = number;
    else parts.push([number, number]);
  }
  return parts.map(([from, to]) => from === to ? count(from) : `${from}–${to}`).join(", ");
}

// www/dashboard/table.ts
var cellOf = (cell2) => typeof cell2 === "string" ? { shown: cell2 } : cell2;
function table(caption, heads, rows, style = "") {
  const head = heads.map(cellOf).map(({ shown, style: own }) => {
    return el("th", { scope: "col", role: "columnheader", class: own }, shown);
  });
  const body = rows.map(
    (row) => el(
      "tr",
      { role: "row" },
      ...row.map(cellOf).map(
        ({ shown, style: own }, column2) => column2 === 0 ? el("th", { scope: "row", role: "rowheader", class: own }, shown) : el("td", { role: "cell", class: own }, shown)
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
function tabulated(summary, heads, rows) {
  const [first = "", ...others] = heads;
  const numbers = others.map((shown) => ({ shown, style: "amount" }));
  const cells = rows.map(([name = "", ...own]) => [
    name,
    ...own.map((shown) => ({ shown, style: "amount" }))
  ]);
  return el(
    "details",
    {},
    el("summary", {}, summary),
    el(
      "div",
      { class: "scroll", tabindex: 0, role: "region", "aria-label": summary },
      table(summary, [first, ...numbers], cells)
    )
  );
}

// www/dashboard/filling.ts
var LISTED = 50;
var releasedOf = ({ batches }) => batches.filter(({ state: state2 }) => state2 === "released");
var openOf = ({ batches }) => batches.find(({ state: state2 }) => state2 === "open");
var reportsOf = (batches) => batches.reduce((sum, { reports }) => sum + reports, 0);
function rule({ closes }, counting) {
  const [least, most] = limitsOf(counting, closes);
  const { hours } = closes;
  const aged = `, or ${counted(hours, "hour")} after it opened if it has at least ${count(least)}`;
  return `It closes at ${counted(most, counting.one, counting.more)}${hours === 0 ? "" : aged}, and is released soon afterwards.`;
}
function bar(name, value, max, words) {
  return el(
    "div",
    { class: "filling" },
    el("span", {}, name),
    el("span", { class: "amount" }, words),
    el("progress", { value: Math.min(value, max), max, "aria-label": `${name}: ${words}` })
  );
}
function filling(all, counting, now) {
  const open2 = openOf(all);
  if (open2 === void 0) return [];
  const [least, most] = limitsOf(counting, all.closes);
  const { hours } = all.closes;
  const have = counting.of(open2.reports);
  const age = Math.max(now - open2.opened, 0) / 3600;
  const to = (limit, which) => bar(`${capital(counting.more)}, ${which}`, have, limit, `${count(have)} of ${count(limit)}`);
  const bars2 = [to(most, "maximum")];
  if (have < least) bars2.unshift(to(least, "minimum"));
  if (hours > 0) {
    bars2.push(
      bar(
        "Age",
        Math.min(age, hours),
        hours,
        `${count(Math.floor(age))} of ${counted(hours, "hour")}`
      )
    );
  }
  return bars2;
}
function brief(all, counting) {
  const have = counting.of(openOf(all)?.reports ?? 0);
  const [least, most] = limitsOf(counting, all.closes);
  const max = have < least ? least : most;
  const of = have < least ? "at least" : "at most";
  return bar("Open batch", have, max, `${count(have)} of ${of} ${count(max)}`);
}
function listed(all, counting) {
  const closed = all.batches.filter(({ state: state2 }) => state2 !== "open").reverse();
  if (closed.length === 0) return null;
  const rows = closed.slice(0, LISTED).map(({ number, reports, closed: at2, state: state2 }) => [
    String(number),
    { shown: amount(counting, reports), style: "amount" },
    {
      shown: state2 === "closed" || at2 === void 0 ? "being counted" : moment(at2),
      style: "amount"
    }
  ]);
  const more = closed.length - rows.length;
  const caption = more > 0 ? `The latest ${LISTED} of ${count(closed.length)}` : "Closed batches";
  const heads = [
    "Batch",
    { shown: capital(counting.more), style: "amount" },
    { shown: "Closed", style: "amount" }
  ];
  return table(caption, heads, rows);
}

// www/dashboard/rows.ts
var behind = (unit) => unit === void 0 ? "" : ` ${unit}`;
function spread({ estimate, unit }, words) {
  const [from, to] = estimate.simultaneous_interval.map((end) => words(end, estimate));
  return `${from} to ${to}${behind(unit)}`;
}
function estimandsOf({ estimates }) {
  const [first] = estimates;
  return first === void 0 ? [] : ESTIMANDS.filter((estimand) => first[estimand] !== void 0);
}
function rowsOf(answer, question, wanted) {
  const there = estimandsOf(answer);
  const estimand = wanted !== void 0 && there.includes(wanted) ? wanted : there[0];
  if (estimand === void 0) return null;
  const ranges2 = new Map(question.of?.map(({ name, min, max }) => [name, [min, max]]));
  const numbers = question.kind === "numbers";
  const by = estimand === "sum" ? answer.people ?? 1 : 1;
  const rows = answer.estimates.flatMap((item) => {
    const estimate = item[estimand];
    if (estimate === void 0) return [];
    const label = nameOf(item.item);
    const range = numbers ? ranges2.get(label) : void 0;
    return {
      label,
      query: queryOf(item.item),
      estimate,
      ...range === void 0 ? {} : { range: [range[0] * by, range[1] * by] },
      ...item.unit === void 0 ? {} : { unit: item.unit }
    };
  });
  const words = digitsOf(answer, question, estimand);
  return { estimand, shares: isShare(estimand, question), rows, words };
}
function digitsOf({ people }, question, estimand) {
  if (people !== void 0) return resolved;
  if (isShare(estimand, question)) return share;
  return isReal(question) ? digits : rating;
}
var ORDERS = ["largest", "smallest", "clearest", "name", "task"];
var ORDER_WORDS = {
  largest: "Largest first",
  smallest: "Smallest first",
  clearest: "Most significant first",
  name: "By name",
  task: "In task order"
};
function clearness({ estimate }) {
  const [from, to] = estimate.simultaneous_interval;
  const half = estimate.estimate >= 0 ? estimate.estimate - from : to - estimate.estimate;
  return Math.abs(estimate.estimate) / Math.max(half, Number.MIN_VALUE);
}
var COMPARE = {
  largest: (a, b) => b.estimate.estimate - a.estimate.estimate,
  smallest: (a, b) => a.estimate.estimate - b.estimate.estimate,
  clearest: (a, b) => clearness(b) - clearness(a),
  name: (a, b) => a.label.localeCompare(b.label, "en", { numeric: true }),
  task: () => 0
};
function sorted(rows, order) {
  return [...rows].sort(COMPARE[order]);
}
function matches(label, sought) {
  const name = label.toLowerCase();
  return sought.toLowerCase().split(/\s+/).every((word) => name.includes(word));
}

// www/dashboard/state.ts
var NOTHING = {
  task: null,
  question: null,
  batches: null,
  estimand: null,
  order: "largest",
  find: ""
};
function read(hash) {
  const said2 = new URLSearchParams(hash.replace(/^#/, ""));
  const one = (name, of) => of.find((word) => word === said2.get(name));
  const batches = said2.get("batches");
  return {
    task: said2.get("task"),
    question: said2.get("question"),
    batches: batches !== null && /^\d+(-\d+)?(,\d+(-\d+)?)*$/.test(batches) ? batches : null,
    estimand: one("estimand", ESTIMANDS) ?? null,
    order: one("order", ORDERS) ?? NOTHING.order,
    find: said2.get("find") ?? ""
  };
}
function write(state2) {
  const said2 = new URLSearchParams();
  for (const [name, value] of Object.entries(state2)) {
    if (value !== null && value !== NOTHING[name]) said2.set(name, value);
  }
  return said2.size === 0 ? "" : `#${said2}`;
}

// www/client/rounding.ts
function roundedUp(number) {
  const power = Math.floor(Math.log10(number)) - 2;
  const units = Math.ceil(number / 10 ** power * (1 - 1e-12));
  return Number(`${units}e${power}`);
}

// www/dashboard/panels.ts
var loss = (epsilon2) => String(roundedUp(epsilon2));
function epsilon(name, number, statements) {
  return el(
    "div",
    {},
    el("h3", {}, name),
    el("p", { class: "figure" }, el("strong", {}, number)),
    ...statements.map((words) => el("p", { class: "help" }, words))
  );
}
function privacyView(task, privacy) {
  const local = `local ε = ${loss(task.effective_epsilon)}`;
  const alone = "One report";
  if (typeof privacy === "string") {
    const protects = `It protects ${task.protects} against anyone who sees a report.`;
    return [epsilon(alone, local, [protects]), el("p", {}, privacy)];
  }
  const { shuffled, shuffled_by, shuffled_statement } = privacy;
  const by = shuffled_by.length === 0 ? "by this collector alone" : "by another party";
  const number = shuffled === void 0 ? "no shuffled ε" : `shuffled ε = ${loss(shuffled.central_epsilon)}, δ = ${shuffled.delta}`;
  return [
    epsilon(alone, local, [privacy.local.statement, privacy.local.budget.statement]),
    epsilon(`A batch, shuffled ${by}`, number, [shuffled_statement])
  ];
}
var MOVED = {
  mean: "mean",
  plus: "share of people at plus",
  minus: "share of people at minus",
  nonmissing: "share of people who have it",
  share: "share of people",
  below: "share of people below a number",
  margin: "share of people in a row or column"
};
function moved({ estimate, unit }, shares, by) {
  if (unit === "of its range") return `${share(by)} ${unit}`;
  if (estimate === "mean" && unit !== void 0) return `${digits(by)} ${unit}`;
  return shares ? `${share(by).replace("%", "")} points` : rating(by);
}
function movedRow(own, questions) {
  const question = questions.find(({ name }) => name === own.question) ?? {};
  const { estimate } = own;
  const item = estimate !== "below" && estimate !== "margin";
  const shares = !item || isShare(estimate, question);
  const words = item && !shares && estimate !== "mean" ? wordsOf(estimate, question).short.toLowerCase() : MOVED[estimate];
  return [
    own.question === void 0 ? words : `${own.question}: ${words}`,
    { shown: moved(own, shares, own.up), style: "amount" },
    { shown: moved(own, shares, own.down), style: "amount" }
  ];
}
function influenceView(found, questions) {
  const rows = found.influence.map((own) => movedRow(own, questions));
  const heads = [
    "Estimate",
    { shown: "Raised by up to", style: "amount" },
    { shown: "Lowered by up to", style: "amount" }
  ];
  const tests = found.crowd.map(
    ({ question, statement, p, flagged }) => el(
      "li",
      { class: flagged ? "flagged" : void 0 },
      ...flagged ? [el("strong", {}, "Unusual for honest reports. ")] : [],
      question === void 0 ? "" : `${question}: `,
      `${statement} (p = ${short(p)})`
    )
  );
  return [
    table(`Largest effect of ${percent(found.made_up)} made-up reports`, heads, rows),
    el("p", { class: "help" }, found.statement),
    ...tests.length > 0 ? [el("ul", { class: "tests" }, ...tests)] : []
  ];
}
function uploadsView({ accepted, duplicates, rejected }) {
  const rows = rejected.map(([reason, requests]) => [
    reason,
    { shown: count(requests), style: "amount" }
  ]);
  return [
    el(
      "p",
      {},
      `All tasks, since the collector started: ${counted(accepted, "upload")} accepted, ${count(duplicates)} sent again, ${count(rejected.reduce((sum, [, own]) => sum + own, 0))} rejected.`
    ),
    ...rows.length > 0 ? [table("Rejected, by reason", ["Reason", { shown: "Requests", style: "amount" }], rows)] : []
  ];
}
function notesOf(...notes) {
  return notes.flatMap((note) => note === void 0 ? [] : [el("p", { class: "note" }, note)]);
}
function textsView({ texts, confidence, repeats, reports }) {
  const rows = texts.map(({ text, goes_on, estimate, simultaneous_interval: [from, to] }) => [
    goes_on ? `${text}…` : text,
    { shown: share(estimate), style: "amount estimated" },
    { shown: `${share(from)} to ${share(to)}`, style: "amount interval" }
  ]);
  const found = rows.length === 0 ? "No text is common enough to be found." : "";
  return [
    el(
      "p",
      {},
      found || `Found in ${counted(reports, "report")} of all released batches. The chance that this list contains a text that no one has is at most ${percent((1 - confidence) / 2, 1)}.`
    ),
    ...notesOf(repeats),
    ...rows.length === 0 ? [] : [
      table(
        `Texts, with ${confidence * 100}% confidence for all intervals at once`,
        [
          "Text",
          { shown: "Share", style: "amount" },
          { shown: "Interval for all rows", style: "amount" }
        ],
        rows
      )
    ]
  ];
}

// www/dashboard/outstanding.ts
function clearOfZero({ simultaneous_interval: [from, to] }) {
  return from > 0 || to < 0;
}
function apart([a, b], [c, d]) {
  return b < c || d < a;
}
var ofEither = (confidence) => (1 + confidence) / 2;
function standing(rows) {
  const reach = ({ estimate: { simultaneous_interval: ends } }) => Math.min(...ends.map(Math.abs));
  return rows.filter(({ estimate }) => clearOfZero(estimate)).sort((a, b) => reach(b) - reach(a));
}
function changed(before, after) {
  const earlier = new Map(before.map(({ label, estimate }) => [label, estimate]));
  const moved4 = ({ before: before2, after: after2 }) => Math.abs(after2.estimate - before2.estimate);
  return after.flatMap(({ label, unit, estimate }) => {
    const own = earlier.get(label);
    return own === void 0 ? [] : { label, unit, before: own, after: estimate };
  }).filter(({ before: before2, after: after2 }) => apart(before2.simultaneous_interval, after2.simultaneous_interval)).sort((a, b) => moved4(b) - moved4(a));
}

// www/dashboard/scale.ts
function step(span, most) {
  const power = 10 ** Math.floor(Math.log10(span / most));
  return ([1, 2, 5, 10].find((digit) => span / (digit * power) <= most) ?? 10) * power;
}
function axisOf(values, { zero = true, most = 4 } = {}) {
  const finite = values.filter(Number.isFinite);
  const low = finite.reduce((least, value) => Math.min(least, value), zero ? 0 : Infinity);
  const high = finite.reduce((greatest, value) => Math.max(greatest, value), zero ? 0 : -Infinity);
  if (!(low < high)) return { from: (low || 0) - 1, to: (low || 0) + 1, ticks: [low || 0] };
  const margin2 = (high - low) * 0.03;
  const [from, to] = [low - margin2, high + margin2];
  const by = step(high - low, most);
  const first = Math.ceil(from / by);
  const length = Math.floor(to / by) - first + 1;
  const ticks = Array.from(
    { length },
    (_, index) => Number(((first + index) * by).toPrecision(12))
  );
  return { from, to, ticks: ticks.map((tick2) => tick2 + 0) };
}
function place({ from, to }, value) {
  const held2 = Math.min(Math.max(value, from), to);
  return (held2 - from) / (to - from) * 100;
}
var at = (per) => `${Number(per.toFixed(3))}%`;

// www/dashboard/dots.ts
var HEIGHT = 28;
function strip(style, height2, ...marks) {
  return svg("svg", { class: style, height: height2, width: "100%", "aria-hidden": "true" }, ...marks);
}
var upright = (style, x, y1, y2) => svg("line", { class: style, x1: at(x), x2: at(x), y1, y2 });
function grid(axis) {
  return axis.ticks.map(
    (value) => upright(value === 0 ? "zero" : "tick", place(axis, value), 0, "100%")
  );
}
function scaleOf(axis, words) {
  const texts = axis.ticks.map((value) => {
    const x = place(axis, value);
    const anchor = x < 6 ? "start" : x > 94 ? "end" : "middle";
    return svg("text", { x: at(x), y: 13, "text-anchor": anchor }, words(value));
  });
  return strip("scale", 18, ...texts);
}
function bars(axis, estimate) {
  const y = HEIGHT / 2;
  const line = (style, [from, to]) => svg("line", { class: style, x1: at(place(axis, from)), x2: at(place(axis, to)), y1: y, y2: y });
  const dot2 = svg("circle", {
    class: "dot",
    cx: at(place(axis, estimate.estimate)),
    cy: y,
    r: 4.5
  });
  return [line("together", estimate.simultaneous_interval), line("alone", estimate.interval), dot2];
}
var styleOf = (estimate) => clearOfZero(estimate) ? "strip" : "strip noise";
function axisFor(rows) {
  const ends = rows.flatMap(({ estimate }) => [
    estimate.estimate,
    ...estimate.simultaneous_interval
  ]);
  return axisOf(ends);
}
function dots(caption, rows, shown) {
  const own = shown.some(({ range }) => range !== void 0);
  const axis = axisFor(shown);
  const scale = own ? "each on the scale of its own range" : scaleOf(axis, rows.shares ? shareTick : tick);
  const heads = [
    "Item",
    {
      shown: el("span", {}, el("span", { class: "unseen" }, "Chart"), scale),
      style: "picture"
    },
    { shown: "Estimate", style: "amount" },
    { shown: "Interval for all rows", style: "amount" }
  ];
  const cells = shown.map((row) => cellsOf(row, rows.words, axis));
  return table(caption, heads, cells, "dots");
}
function cellsOf(row, words, common) {
  const { label, estimate, range, unit } = row;
  const axis = range === void 0 ? common : { from: range[0], to: range[1], ticks: [...range] };
  const style = range === void 0 ? styleOf(estimate) : "strip";
  const marks = strip(style, HEIGHT, ...grid(axis), ...bars(axis, estimate));
  return [
    { shown: label, style: "name" },
    { shown: marks, style: "picture" },
    { shown: words(estimate.estimate, estimate) + behind(unit), style: "amount estimated" },
    { shown: spread(row, words), style: "amount interval" }
  ];
}

// www/dashboard/cross.ts
function meansOf({ cross }) {
  const { conditional_means: means = [], columns } = cross ?? {};
  return means.flatMap(({ row, estimate, interval, simultaneous_interval }) => {
    if (estimate === null) return [];
    const unit = columns?.unit;
    const told2 = unit === void 0 ? {} : { unit };
    return {
      label: nameOf(row),
      query: null,
      estimate: { estimate, interval, simultaneous_interval },
      ...told2
    };
  });
}
function crossView({ cross }) {
  if (cross === void 0) return [];
  const margins = [cross.rows, cross.columns].flatMap(margin);
  const family = "Each table has 95% confidence for all its intervals at once." + (margins.length > 1 ? " Both margins count as one table." : "");
  return [...margins, ...within(cross), el("p", { class: "help" }, family)];
}
function margin({ name, shares = [] }) {
  if (shares.length === 0) return [];
  const rows = shares.map(({ item, share: estimate }) => ({
    label: nameOf(item),
    query: null,
    estimate
  }));
  const all = { estimand: "share", shares: true, rows, words: share };
  return [dots(`Share of people by ${name}`, all, rows)];
}
function within({
  rows,
  columns,
  conditional_means,
  conditional_shares
}) {
  const unit = columns.unit === void 0 ? "" : ` ${columns.unit}`;
  const mean = (value) => digits(value) + unit;
  const tables = [];
  if (conditional_means?.length) {
    tables.push(told(`Mean of ${columns.name} by ${rows.name}`, conditional_means, mean));
  }
  if (conditional_shares?.length) {
    tables.push(
      told(`Share of each ${columns.name} within ${rows.name}`, conditional_shares, share)
    );
  }
  return tables;
}
function told(caption, all, words) {
  const said2 = (value) => value === null ? "unknown" : words(value);
  const cells = all.map(({ row, column: column2, estimate, simultaneous_interval: [from, to] }) => [
    column2 === void 0 ? nameOf(row) : `${nameOf(row)}: ${nameOf(column2)}`,
    { shown: said2(estimate), style: "amount estimated" },
    { shown: `${said2(from)} to ${said2(to)}`, style: "amount interval" }
  ]);
  const heads = [
    "Group",
    { shown: "Estimate", style: "amount" },
    { shown: "Interval for all rows", style: "amount" }
  ];
  return el(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    table(caption, heads, cells)
  );
}

// www/dashboard/timeline.ts
var RELEASES = 24;
var LINES = 6;
function ofEach(batches, confidence) {
  return 1 - (1 - confidence) / Math.max(batches, 1);
}
function linesOf(labels, estimand, answers) {
  const byLabel = answers.map(
    ([batch, { estimates }]) => [batch, new Map(estimates.map((own) => [nameOf(own.item), own[estimand] ?? null]))]
  );
  return labels.map((label) => ({
    label,
    points: byLabel.map(([batch, own]) => ({ batch, estimate: own.get(label) ?? null }))
  }));
}
function numberLines(question, answers) {
  const points = (of) => answers.map(([batch, answer]) => ({ batch, estimate: of(answer) ?? null }));
  const latest = answers[answers.length - 1]?.[1];
  const means = latest === void 0 ? [] : meansOf(latest);
  if (means.length > 0)
    return means.slice(0, LINES).map(({ label, unit: unit2 }) => ({
      label: unit2 === void 0 ? label : `${label} (${unit2})`,
      points: points((a) => meansOf(a).find((own) => own.label === label)?.estimate)
    }));
  const last = latest?.number;
  const unit = last?.unit === void 0 ? "" : ` (${last.unit})`;
  const name = question.name ?? "";
  if (last?.mean)
    return [{ label: `mean of ${name}${unit}`, points: points((a) => a.number?.mean) }];
  return (last?.quantiles ?? []).map(({ quantile }) => ({
    label: `${quantileName(quantile)}${unit}`,
    points: points((a) => a.number?.quantiles?.find((own) => own.quantile === quantile))
  }));
}
function quantileName(quantile) {
  return quantile === 0.5 ? "median" : `${Number((quantile * 100).toFixed(3))}% are below`;
}

// www/dashboard/sums.ts
var NO_LOCAL = "there is no local ε";
var deltaOf = (delta) => powers(delta.toExponential());
function trustOf(privacy) {
  const { central_epsilon, delta, people, honest_fraction } = privacy;
  return `You trust the shuffler: ${NO_LOCAL}. Central ε = ${loss(central_epsilon)}, δ = ${deltaOf(delta)}, for batches of at least ${counted(people, "person", "people")}, ${percent(honest_fraction)} of them honest.`;
}
function part(name, figure, ...more) {
  return el(
    "div",
    {},
    el("h3", {}, name),
    el("p", { class: "figure" }, el("strong", {}, figure)),
    ...more
  );
}
var help = (words) => el("p", { class: "help" }, words);
function sumsPrivacyView({ privacy }, released) {
  const { central_epsilon, delta, people, honest_fraction, statement } = privacy;
  const facts = [
    ["must be trusted", "the shuffler"],
    ["minimum number of people in a batch", count(people)],
    ["of them assumed honest", percent(honest_fraction)]
  ];
  const central = part(
    "A batch, shuffled by another party",
    `central ε = ${loss(central_epsilon)}, δ = ${deltaOf(delta)}`,
    el(
      "dl",
      { class: "facts-list" },
      ...facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))
    ),
    released === null ? el("p", {}, "No batch is released yet.") : held(released)
  );
  return [part("The messages of one person", NO_LOCAL, help(statement)), central];
}
function held({ holds, batch_statement, shuffled_by }) {
  const by = shuffled_by.length === 0 ? [] : [` Shuffled by ${shuffled_by.join(" and ")}.`];
  return el(
    "p",
    { class: holds ? "holds" : "refused" },
    el("strong", {}, holds ? "It holds. " : "It does not hold. "),
    batch_statement,
    ...by
  );
}
var AT_ONCE = 3;
async function influenceOfEach(collector2, task, released) {
  const latest = released.slice(-RELEASES);
  const found = [];
  for (let first = 0; first < latest.length; first += AT_ONCE) {
    const some = latest.slice(first, first + AT_ONCE).map(async ({ number }) => {
      const path = `${encodeURIComponent(task)}/influence?batches=${number}`;
      return [number, await collector2.ask(path)];
    });
    found.push(...await Promise.all(some));
  }
  return found;
}
var amount2 = (shown) => ({ shown, style: "amount" });
var times = (errors) => Number.isFinite(errors) ? `× ${digits(errors)}` : "–";
var LISTED2 = 50;
function sumsInfluenceView({ people, influence, statement }, each) {
  const [first] = influence;
  const rows = influence.slice(0, LISTED2).map(({ item, unit, honest, dishonest, all }) => {
    const words = (value) => `${digits(value)}${unit === void 0 ? "" : ` ${unit}`}`;
    return [
      item === void 0 ? "length of the vector’s sum" : nameOf(item),
      ...[honest, dishonest, all].map((value) => amount2(words(value)))
    ];
  });
  const assumed = first?.people ?? 0;
  const heads = [
    "Sum of",
    amount2("An honest person"),
    amount2("A dishonest person"),
    amount2(`All ${count(assumed)} dishonest people`)
  ];
  const more = influence.length > LISTED2 ? `, the first ${LISTED2} items` : "";
  const about2 = assumed === 0 ? "The task assumes that everyone is honest." : `The task assumes that ${count(assumed)} of ${counted(Math.round(people), "person", "people")} are dishonest. One of them can move a sum by up to ${digits((first?.standard_errors ?? Number.NaN) / assumed)} standard errors, all of them together by ${digits(first?.standard_errors ?? Number.NaN)}.`;
  return [
    el("p", {}, about2),
    wide(table(`Largest effect on a sum${more}`, heads, rows)),
    ...each.length === 0 ? [] : [wide(releases(each))],
    help(statement)
  ];
}
function wide(own) {
  const label = own.caption?.textContent ?? "";
  return el("div", { class: "across", tabindex: 0, role: "region", "aria-label": label }, own);
}
function releases(each) {
  const rows = each.map(([batch, { people, influence }]) => {
    const [first] = influence;
    const assumed = first?.people ?? 0;
    const errors = first?.standard_errors ?? Number.NaN;
    return [
      String(batch),
      amount2(count(people)),
      amount2(count(assumed)),
      amount2(times(errors / assumed)),
      amount2(times(errors))
    ];
  });
  const heads = [
    "Release",
    amount2("People"),
    amount2("Assumed dishonest"),
    amount2("One person, in standard errors"),
    amount2("All of them, in standard errors")
  ];
  return table("Effect on each release", heads, [...rows].reverse());
}

// www/dashboard/overview.ts
var MOST = 50;
var Overview = class {
  element;
  #collector;
  #tasks;
  /** Task files by id. They never change. */
  #known = /* @__PURE__ */ new Map();
  #body = el("div", { class: "panel wide" });
  constructor(collector2, tasks2) {
    this.#collector = collector2;
    this.#tasks = tasks2;
    this.element = el(
      "div",
      { class: "overview" },
      el("h1", { tabindex: -1 }, "Tasks"),
      this.#body
    );
    if (tasks2.length === 0) {
      this.#body.append(
        el("p", {}, "No task yet. An admin adds one with a task file or with POST /tasks.")
      );
    }
  }
  #taskOf(id) {
    const known2 = this.#known.get(id);
    if (known2 !== void 0) return known2;
    const answer = this.#collector.askIfThere(encodeURIComponent(id));
    this.#known.set(id, answer);
    answer.catch(() => this.#known.delete(id));
    return answer;
  }
  async update() {
    const asked = this.#tasks.slice(0, MOST).map(async (id) => {
      const path = encodeURIComponent(id);
      const [batches, task] = await Promise.all([
        this.#collector.askIfThere(`${path}/batches`),
        this.#taskOf(id)
      ]);
      return [id, batches && { batches, task }];
    });
    const found = new Map(await Promise.all(asked));
    const rows = this.#tasks.map((id) => {
      const link = el("a", { href: write({ ...NOTHING, task: id }) }, id);
      const own = found.get(id);
      if (!own) return [{ shown: link, style: "name" }, "", "", "", ""];
      const { batches, task } = own;
      const counting = task === null ? REPORTS : countingOf(task.task);
      const sums = task !== null && isSums(task);
      const note = sums ? [el("span", { class: "kind" }, `sums through a shuffler, ${NO_LOCAL}`)] : [];
      const name = { shown: el("span", {}, link, ...note), style: "name" };
      const released = releasedOf(batches);
      const last = released[released.length - 1]?.closed;
      return [
        name,
        {
          shown: sums ? said(counting, reportsOf(released)) : count(reportsOf(released)),
          style: "amount"
        },
        { shown: count(released.length), style: "amount" },
        last === void 0 ? "none yet" : moment(last),
        { shown: brief(batches, counting), style: "brief" }
      ];
    });
    if (rows.length === 0) return;
    const amount3 = (shown) => ({ shown, style: "amount" });
    const heads = ["Task", amount3("Released reports"), amount3("Releases"), "Latest", "Open batch"];
    const focused = this.#tasks.indexOf(document.activeElement?.textContent ?? "");
    this.#body.replaceChildren(table("Tasks", heads, rows, "tasks"));
    if (focused >= 0) this.#body.querySelectorAll("a")[focused]?.focus();
  }
};

// www/dashboard/sign-in.ts
var KEY = "hushbin-token";
var remembered = () => sessionStorage.getItem(KEY);
function remember(token) {
  if (token === null) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, token);
}
function signIn(enter, why) {
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
      "The operator of the collector creates one with ",
      el("code", {}, "hushbin token create --role analyst"),
      ". It stays in this tab until you sign out or close the tab."
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
    else if (!/^[\x21-\x7e]+$/.test(token)) say("A token has only letters, digits and “_”.");
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

// www/dashboard/asking.ts
var WHOLE = 5e3;
var DRAWN = 200;
var NAMED = 8e3;
function itemsToAsk(question, find) {
  const items = question.items ?? question.options;
  if (items === "open") {
    return fitting(
      find.split(",").map((name) => name.trim()).filter((name) => name !== "")
    );
  }
  if ((itemsOf(question) ?? 0) <= WHOLE || items === void 0) return null;
  const sought = find.trim();
  const found = [];
  const size = typeof items === "number" ? items : items.length;
  for (let index = 0; index < size && found.length < DRAWN; index += 1) {
    const name = typeof items === "number" ? String(index) : items[index] ?? "";
    if (matches(name, sought)) found.push(name);
  }
  return fitting(found);
}
function fitting(names) {
  let bytes = 0;
  const over = names.findIndex((name) => {
    bytes += encodeURIComponent(name).length + 1;
    return bytes > NAMED;
  });
  return names.slice(0, over === -1 ? DRAWN : Math.min(over, DRAWN));
}
function pathOf(task, question, asked) {
  const query = [`confidence=${Number(asked.confidence.toPrecision(12))}`];
  if (question.name !== void 0) query.push(`question=${encodeURIComponent(question.name)}`);
  if (asked.batches !== null) query.push(`batches=${asked.batches}`);
  if (asked.items !== null) query.push(`items=${asked.items.map(encodeURIComponent).join(",")}`);
  return `${encodeURIComponent(task)}/estimates?${query.join("&")}`;
}
var Answers = class {
  #collector;
  #kept = /* @__PURE__ */ new Map();
  constructor(collector2) {
    this.#collector = collector2;
  }
  /** Removes all estimates from the cache. */
  forget() {
    this.#kept.clear();
  }
  /**
   * Requests the estimates of a question, or returns them from the cache.
   *
   * @param released numbers of the released batches; part of the cache key if all batches are
   * requested
   */
  estimates(task, question, asked, released) {
    const path = pathOf(task, question, asked);
    const key = `${path} ${asked.batches === null ? released : ""}`;
    const kept = this.#kept.get(key);
    if (kept !== void 0) return kept;
    const answer = this.#collector.ask(path);
    this.#kept.set(key, answer);
    answer.catch(() => this.#kept.delete(key));
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > 60 && oldest !== void 0) this.#kept.delete(oldest);
    return answer;
  }
};

// www/dashboard/controls.ts
var PICKED = 50;
var REST_MS = 250;
var Choice = class {
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
  /** Shows the options. Hides the control if there are fewer than two. */
  show(options, value) {
    this.element.hidden = options.length < 2;
    const made = options.map(([own, words]) => el("option", { value: own }, words));
    this.#select.replaceChildren(...made);
    this.#select.value = value;
  }
};
var Controls = class {
  element;
  #question;
  #batches;
  #estimand;
  #order;
  #find;
  #names;
  constructor(change2) {
    this.#question = new Choice(
      "question",
      "Question",
      (question) => change2({ question, estimand: null, find: "" })
    );
    this.#batches = new Choice(
      "batches",
      "Batches",
      (own) => change2({ batches: own === "" ? null : own })
    );
    this.#estimand = new Choice(
      "estimand",
      "Estimate",
      (own) => change2({ estimand: own })
    );
    this.#order = new Choice(
      "order",
      "Order",
      (own) => change2({ order: ORDERS.find((order) => order === own) ?? NOTHING.order })
    );
    this.#find = el("input", {
      id: "find",
      type: "search",
      autocomplete: "off",
      spellcheck: "false"
    });
    let due = 0;
    this.#find.addEventListener("input", () => {
      clearTimeout(due);
      due = window.setTimeout(() => change2({ find: this.#find.value }), REST_MS);
    });
    this.#names = el(
      "div",
      { class: "pick grow" },
      el("label", { for: "find" }, "Find by name"),
      this.#find
    );
    this.element = el(
      "search",
      { class: "controls", "aria-label": "Filter" },
      ...[this.#question, this.#batches, this.#estimand, this.#order].map(({ element }) => element),
      this.#names
    );
  }
  /** Shows the questions and batches, and selects the current ones. */
  show(state2, questions, current, released, counting) {
    this.#question.show(
      questions.map(({ name = "", kind = "" }) => [name, `${name}: ${KINDS[kind] ?? kind}`]),
      current.name ?? ""
    );
    const picked = [...released].reverse().slice(0, PICKED);
    const own = state2.batches;
    const others = own === null || picked.some(({ number }) => String(number) === own) ? [] : [[own, `Batches ${own}`]];
    this.#batches.show(
      [
        [
          "",
          released.length > 1 ? `All ${count(released.length)} released batches` : "All released batches"
        ],
        ...others,
        ...picked.map(
          ({ number, reports }) => [
            String(number),
            `Batch ${number}: ${said(counting, reports)}`
          ]
        )
      ],
      own ?? ""
    );
    const lists = !["number", "text"].includes(current.kind ?? "");
    this.#order.show(lists ? ORDERS.map((order) => [order, ORDER_WORDS[order]]) : [], state2.order);
    this.#names.hidden = !lists;
    if (document.activeElement !== this.#find) this.#find.value = state2.find;
  }
  /** Shows the estimands of the question, and selects the current one. */
  estimands(there, current, question) {
    this.#estimand.show(
      there.map((own) => [
        own,
        own === "mean" && isReal(question) ? "mean" : wordsOf(own, question).long
      ]),
      current
    );
  }
};

// www/dashboard/enough.ts
var HALF = 1.96;
var USEFUL = 0.1;
function enough(reports, estimand, estimates) {
  const whole2 = estimand === "mean" ? 2 : 1;
  const half = ({ estimate, range }) => HALF * (estimate.standard_error ?? 0) / (range ? range[1] - range[0] : whole2);
  const widest = Math.max(0, ...estimates.map(half));
  if (widest <= USEFUL) return { shown: true };
  const needed = Number((reports * (widest / USEFUL) ** 2).toPrecision(2));
  const within2 = estimand === "mean" ? "a tenth of the range" : "10 points";
  const arrived = `${counted(reports, "report")} ${reports === 1 ? "has" : "have"} arrived`;
  return {
    words: `${arrived}. About ${count(needed)} are needed for estimates within ±${within2}, with 95% confidence.`,
    shown: 2 * widest < 1
  };
}
function enoughOfNumber({ reports = 0, number }) {
  const { mean, distribution = [], range } = number ?? {};
  if (mean && range) return enough(reports, "mean", [{ estimate: mean, range }]);
  return enough(
    reports,
    "share",
    distribution.map((estimate) => ({ estimate }))
  );
}

// www/dashboard/histogram.ts
var HEIGHT2 = 200;
var GUTTER = 9;
var beside = (part2) => GUTTER + part2 * (100 - GUTTER) / 100;
var WHISKERS = 80;
function binsOf(answer) {
  return answer.estimates.flatMap(({ item, share: own }) => {
    if (own === void 0) return [];
    const { from, to } = item;
    return { label: nameOf(item), from, to, share: own };
  });
}
function placeAmong(bins, value) {
  const found = bins.findIndex(({ to }) => value < to);
  const index = found === -1 ? bins.length - 1 : found;
  const bin = bins[index];
  if (bin === void 0) return 0;
  const within2 = Math.min(Math.max((value - bin.from) / (bin.to - bin.from), 0), 1);
  return (index + within2) / bins.length * 100;
}
function numberView(answer, question) {
  const { number } = answer;
  if (number === void 0) return [];
  const unit = number.unit === void 0 ? "" : ` ${number.unit}`;
  const bins = binsOf(answer);
  const together = `with ${answer.confidence * 100}% confidence`;
  const shown = [];
  if (number.mean) {
    const [from, to] = number.mean.interval;
    const said2 = `${digits(from)} to ${digits(to)}${unit} ${together}`;
    shown.push(
      el(
        "p",
        { class: "figure" },
        el("strong", {}, digits(number.mean.estimate) + unit),
        " on average, ",
        el("span", { class: "soft" }, said2)
      )
    );
  }
  if (number.quantiles?.length) shown.push(quantiles(number, unit));
  const drawn2 = question.mechanism?.name === "pattern" ? belowOf(bins, number) : columnsOf(bins);
  if (bins.length > 1) shown.push(...picture(drawn2, bins, number, question, unit));
  return shown;
}
function quantiles({ quantiles: quantiles2 = [] }, unit) {
  const rows = quantiles2.map(({ quantile, estimate, simultaneous_interval: [from, to] }) => [
    quantileName(quantile),
    { shown: digits(estimate) + unit, style: "amount estimated" },
    { shown: `${digits(from)} to ${digits(to)}${unit}`, style: "amount interval" }
  ]);
  const heads = [
    "Quantile",
    { shown: "Estimate", style: "amount" },
    { shown: "Interval for all rows", style: "amount" }
  ];
  return table("Quantiles", heads, rows);
}
function columnsOf(bins) {
  return {
    title: (name) => `Shares of ${name} by bin`,
    shares: bins.map((bin) => bin.share),
    labels: bins.map(({ label }) => label),
    marks: (axis) => bins.flatMap((bin, index) => column(bin, index, bins.length, axis))
  };
}
function belowOf(bins, { distribution = [] }) {
  return {
    title: (name) => `Share of people below each ${name}`,
    shares: distribution,
    labels: distribution.map(({ below }) => `below ${digits(below)}`),
    marks: (axis) => distribution.flatMap((own, index) => dot(own, (index + 1) / bins.length * 100, axis))
  };
}
function picture({ title, shares, labels, marks }, bins, number, question, unit) {
  const name = question.name ?? "the number";
  const axis = axisOf(shares.flatMap((own) => [own.estimate, ...own.simultaneous_interval]));
  const quantiles2 = number.quantiles ?? [];
  const said2 = quantiles2.map(
    (own) => `${quantileName(own.quantile)} ${digits(own.estimate)}${unit}`
  );
  const plot = svg(
    "svg",
    {
      class: "histogram",
      role: "img",
      height: HEIGHT2 + 24,
      width: "100%",
      "aria-label": `${[title(name), ...said2].join(", ")}. The table below has the numbers.`
    },
    svg(
      "svg",
      { class: "marks", height: HEIGHT2, width: "100%" },
      ...level(axis),
      ...marks(axis),
      ...quantiles2.flatMap((own) => marker(beside(placeAmong(bins, own.estimate))))
    ),
    ...edges(bins)
  );
  const rows = shares.map(({ estimate, simultaneous_interval: [from, to] }, index) => [
    labels[index] + unit,
    share(estimate),
    `${share(from)} to ${share(to)}`
  ]);
  const widths = new Set(bins.map(({ from, to }) => (to - from).toPrecision(6)));
  const note = [
    "Thin lines are intervals, with 95% confidence for the whole picture.",
    widths.size > 1 ? "All bins are drawn equally wide." : "",
    quantiles2.length ? "Dashed lines are the quantiles above." : ""
  ];
  return [
    el(
      "figure",
      {},
      el("figcaption", {}, title(name)),
      plot,
      el("p", { class: "help" }, note.filter((words) => words !== "").join(" "))
    ),
    tabulated(`${title(name)}, as a table`, [name, "Share", "Interval for all rows"], rows)
  ];
}
var height = (axis, value) => 100 - place(axis, value);
function level(axis) {
  return axis.ticks.flatMap((value) => {
    const y = at(height(axis, value));
    return [
      svg("line", {
        class: value === 0 ? "zero" : "tick",
        x1: at(GUTTER),
        x2: "100%",
        y1: y,
        y2: y
      }),
      svg(
        "text",
        { class: "tick-text", x: at(GUTTER - 1), y, dy: 4, "text-anchor": "end" },
        shareTick(value)
      )
    ];
  });
}
function column({ share: own }, index, bins, axis) {
  const [left, right] = [index, index + 1].map((edge) => beside(edge / bins * 100));
  const gap = (right - left) * 0.06;
  const [top, bottom] = [Math.max(own.estimate, 0), Math.min(own.estimate, 0)];
  const bar2 = svg("rect", {
    class: "bar",
    x: at(left + gap),
    width: at(right - left - 2 * gap),
    y: at(height(axis, top)),
    height: at(place(axis, top) - place(axis, bottom))
  });
  return bins > WHISKERS ? [bar2] : [bar2, whisker(own, (left + right) / 2, axis)];
}
function dot(own, place2, axis) {
  const x = beside(place2);
  const y = at(height(axis, own.estimate));
  return [whisker(own, x, axis), svg("circle", { class: "dot", cx: at(x), cy: y, r: 3 })];
}
function whisker(own, place2, axis) {
  const [from, to] = own.simultaneous_interval;
  const x = at(place2);
  return svg("line", {
    class: "whisker",
    x1: x,
    x2: x,
    y1: at(height(axis, from)),
    y2: at(height(axis, to))
  });
}
var marker = (x) => svg("line", { class: "quantile", x1: at(x), x2: at(x), y1: 0, y2: "100%" });
function edges(bins) {
  const all = [...bins.map(({ from }) => from), bins[bins.length - 1]?.to ?? 0];
  const every = Math.ceil(all.length / 7);
  return all.flatMap((edge, index) => {
    if (index % every !== 0) return [];
    const x = beside(index / bins.length * 100);
    const anchor = x < 4 ? "start" : x > 96 ? "end" : "middle";
    const style = index / every % 2 === 1 ? "tick-text between" : "tick-text";
    return svg(
      "text",
      { class: style, x: at(x), y: HEIGHT2 + 16, "text-anchor": anchor },
      digits(edge)
    );
  });
}

// www/dashboard/metrics.ts
var WORDS2 = {
  "malformed-upload": "not an upload of this task",
  "fingerprint-mismatch": "made for other task parameters",
  "upload-id-conflict": "different bytes under a used id",
  "too-large": "too large",
  "encoded-body": "compressed or encoded",
  "incomplete-body": "ended early",
  timeout: "did not arrive in time",
  overloaded: "the collector was busy",
  storage: "the journal failed"
};
function uploadsOf(text) {
  const value = (name) => Number(text.match(new RegExp(`^hushbin_${name}_total (\\S+)`, "m"))?.[1] ?? 0);
  const problems = text.matchAll(/^hushbin_problems_total\{problem="([^"]*)"\} (\S+)/gm);
  const rejected = [...problems].flatMap(([, slug = "", requests]) => {
    const words = WORDS2[slug];
    return words === void 0 ? [] : [[words, Number(requests)]];
  });
  return {
    accepted: value("uploads_accepted"),
    duplicates: value("uploads_duplicate"),
    rejected: rejected.sort((a, b) => b[1] - a[1])
  };
}

// www/dashboard/section.ts
var Section = class {
  element;
  #body;
  /** Number of requests so far. A late response to an earlier request is dropped. */
  #asked = 0;
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
  /** Shows the given content, and drops responses to earlier requests. */
  show(shown) {
    this.#asked += 1;
    this.#put(shown);
  }
  /** Loads new content. The old content stays visible until then. */
  async load(make) {
    this.#asked += 1;
    const own = this.#asked;
    this.element.setAttribute("aria-busy", "true");
    let shown;
    try {
      shown = await make();
    } catch (thrown) {
      const words = thrown instanceof Error ? thrown.message : String(thrown);
      if (!(thrown instanceof Refused)) console.error(thrown);
      shown = [el("p", { class: "refused" }, words)];
    }
    if (own === this.#asked) this.#put(shown);
  }
  #put(shown) {
    this.element.hidden = shown === null;
    this.element.setAttribute("aria-busy", "false");
    this.#body.replaceChildren(...shown ?? []);
  }
};

// www/dashboard/standing.ts
var NAMED2 = 12;
function compared({ looked, released }) {
  const after = looked[looked.length - 1];
  const place2 = released.findIndex(({ number }) => number === after?.number);
  const before = released[place2 - 1];
  return after === void 0 || before === void 0 ? null : [before, after];
}
function clear({ rows, confidence }) {
  if (rows === null) return [];
  const found = standing(rows.rows);
  const chance = percent(1 - confidence);
  const about2 = found.length === 0 ? `No interval of ${counted(rows.rows.length, "item")} excludes 0, so all of it may be noise.` : `The intervals of ${count(found.length)} of ${counted(rows.rows.length, "item")} exclude 0. The chance that this list contains a false alarm is at most ${chance}.`;
  const named = found.slice(0, NAMED2).map((row) => [
    row.label,
    {
      shown: rows.words(row.estimate.estimate, row.estimate) + behind(row.unit),
      style: "amount estimated"
    },
    { shown: spread(row, rows.words), style: "amount interval" }
  ]);
  const heads = [
    "Item",
    { shown: "Estimate", style: "amount" },
    { shown: "Interval", style: "amount" }
  ];
  const more = found.length > NAMED2 ? `Clearly not 0: the farthest ${NAMED2}` : "Clearly not 0";
  return [el("p", {}, about2), ...named.length > 0 ? [table(more, heads, named)] : []];
}
function comparable(answer, question, estimand) {
  const means = meansOf(answer);
  if (means.length > 0) return { estimand: "mean", shares: false, rows: means, words: digits };
  if (question.kind !== "number") return rowsOf(answer, question, estimand ?? void 0);
  const { mean, quantiles: quantiles2 = [], unit } = answer.number ?? {};
  const told2 = unit === void 0 ? {} : { unit };
  const rows = mean ? [{ label: "mean", query: null, estimate: mean, ...told2 }] : quantiles2.map((own) => ({
    label: quantileName(own.quantile),
    query: null,
    estimate: own,
    ...told2
  }));
  return { estimand: "mean", shares: false, rows, words: digits };
}
async function moved2(context) {
  const pair = compared(context);
  if (pair === null) return [el("p", {}, "There is no earlier batch to compare with yet.")];
  const { task, question, answers, items, estimand } = context;
  const confidence = ofEither(context.confidence);
  const [before, after] = await Promise.all(
    pair.map(async ({ number }) => {
      const asked = { batches: String(number), confidence, items };
      return comparable(await answers.estimates(task, question, asked, ""), question, estimand);
    })
  );
  if (!before || !after) return [];
  const found = changed(before.rows, after.rows);
  const [earlier, later] = pair.map(({ number }) => number);
  const chance = percent(1 - context.confidence);
  const of = counted(after.rows.length, question.kind === "number" ? "figure" : "item");
  const about2 = found.length === 0 ? `Between batches ${earlier} and ${later}, none of ${of} changed by more than the noise. There may be smaller changes.` : `Between batches ${earlier} and ${later}, ${count(found.length)} of ${of} changed by more than the noise. The chance that this list contains a false alarm is at most ${chance}.`;
  const named = found.slice(0, NAMED2).map(({ label, unit, before: was, after: is }) => [
    label,
    { shown: after.words(was.estimate, was) + behind(unit), style: "amount" },
    { shown: after.words(is.estimate, is) + behind(unit), style: "amount estimated" },
    { shown: is.estimate > was.estimate ? "▲ more" : "▼ less", style: "amount" }
  ]);
  const amount3 = (shown) => ({ shown, style: "amount" });
  const heads = ["Item", amount3(`Batch ${earlier}`), amount3(`Batch ${later}`), amount3("Change")];
  const more = found.length > NAMED2 ? `Changed: the ${NAMED2} largest changes` : "Changed";
  return [el("p", {}, about2), ...named.length > 0 ? [table(more, heads, named)] : []];
}
async function outstandingView(context) {
  if (context.looked.length === 0) return null;
  const numbers = ["number", "numbers"].includes(context.question.kind ?? "");
  const own = numbers ? [] : clear(context);
  return [
    el(
      "div",
      { class: "columns" },
      el("div", {}, ...own),
      el("div", {}, ...await moved2(context))
    )
  ];
}

// www/dashboard/lines.ts
var HEIGHT3 = 84;
var known = ({ points }) => points.flatMap(
  ({ batch, estimate }, index) => estimate === null ? [] : { batch, estimate, index }
);
function axisFor2(lines, zero) {
  const ends = lines.flatMap(known).flatMap(({ estimate }) => [estimate.estimate, ...estimate.simultaneous_interval]);
  return axisOf(ends, { zero, most: 4 });
}
function timeLine(lines, words, scale, { zero, apart: apart2 }) {
  const common = axisFor2(lines, zero);
  const figures = lines.map((line) => {
    const axis = apart2 ? axisFor2([line], zero) : common;
    return el(
      "figure",
      { class: "line" },
      el("figcaption", {}, line.label),
      drawn(line, axis, words, scale)
    );
  });
  const batches = lines[0]?.points.map(({ batch }) => batch) ?? [];
  const rows = batches.map((batch, index) => [
    String(batch),
    ...lines.map(({ points }) => cell(points[index], words))
  ]);
  const heads = ["Batch", ...lines.map(({ label }) => label)];
  return [
    el("div", { class: "lines" }, ...figures),
    tabulated("Time line, as a table", heads, rows)
  ];
}
function cell(point, words) {
  if (point === void 0 || point.estimate === null) return "–";
  const own = point.estimate;
  const { estimate, simultaneous_interval } = own;
  const [from, to] = simultaneous_interval;
  const said2 = [estimate, from, to].map((value) => words(value, own));
  return `${said2[0]} (${said2[1]} to ${said2[2]})`;
}
function drawn(line, axis, words, scale) {
  const { label, points } = line;
  const across = (index) => 14 + (index + 0.5) / points.length * 84;
  const y = (value) => at(100 - place(axis, value));
  const own = known(line);
  const last = own[own.length - 1];
  const said2 = last === void 0 ? "no estimate" : `${words(last.estimate.estimate, last.estimate)} in batch ${last.batch}`;
  const ticks = axis.ticks.flatMap((tick2) => [
    svg("line", {
      class: tick2 === 0 ? "zero" : "tick",
      x1: "14%",
      x2: "100%",
      y1: y(tick2),
      y2: y(tick2)
    }),
    svg(
      "text",
      { class: "tick-text", x: "12.5%", y: y(tick2), dy: 4, "text-anchor": "end" },
      scale(tick2)
    )
  ]);
  const segments = own.slice(1).map((point, index) => {
    const before = own[index] ?? point;
    return svg("line", {
      class: "segment",
      x1: at(across(before.index)),
      y1: y(before.estimate.estimate),
      x2: at(across(point.index)),
      y2: y(point.estimate.estimate)
    });
  });
  const marks = own.flatMap(({ index, estimate }) => {
    const x = at(across(index));
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
      { class: "tick-text", x: at(across(index)), y: HEIGHT3 + 18, "text-anchor": "middle" },
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
      "aria-label": `${label} over batches: ${said2}. The table below has the numbers.`
    },
    svg("svg", { class: "marks", width: "100%", height: HEIGHT3 }, ...ticks, ...segments, ...marks),
    ...numbers
  );
}

// www/dashboard/timeline-view.ts
var AT_ONCE2 = 3;
async function eachBatch(context, items) {
  const { task, question, answers, released } = context;
  const batches = released.slice(-RELEASES);
  const confidence = ofEach(batches.length, context.confidence);
  const found = [];
  for (let first = 0; first < batches.length; first += AT_ONCE2) {
    const some = batches.slice(first, first + AT_ONCE2).map(async ({ number }) => {
      const asked = { batches: String(number), confidence, items };
      return [number, await answers.estimates(task, question, asked, "")];
    });
    found.push(...await Promise.all(some));
  }
  return found;
}
async function timelineView(context, shown) {
  const { question, released, rows, confidence } = context;
  if (released.length === 0) return null;
  if (released.length === 1) {
    return [el("p", {}, "There is one release so far. The time line starts with the second.")];
  }
  const number = question.kind === "number" || rows === null;
  const picked = shown.slice(0, LINES);
  if (!number && picked.length === 0) return null;
  const names = picked.map(({ query }) => query);
  const items = number || names.includes(null) ? context.items : names.filter((name) => name !== null);
  const answers = await eachBatch(context, items);
  const units = new Map(picked.map(({ label, unit }) => [label, unit]));
  const labels = picked.map(({ label }) => label);
  const lines = number ? numberLines(question, answers) : linesOf(labels, rows.estimand, answers).map(({ label, points }) => {
    const unit = units.get(label);
    return { label: unit === void 0 ? label : `${label} (${unit})`, points };
  });
  if (lines.length === 0) return null;
  const first = number ? "" : ` of the first ${counted(lines.length, "item")} above`;
  const latest = released.length > RELEASES ? ` the latest ${RELEASES} of` : "";
  return [
    el(
      "p",
      {},
      `Estimates${first} in${latest} ${counted(released.length, "release")}. Bars are intervals, with ${confidence * 100}% confidence for the whole picture.`
    ),
    ...timeLine(lines, number ? digits : rows.words, rows?.shares === true ? shareTick : tick, {
      zero: !number && question.kind !== "numbers",
      apart: question.kind === "numbers" || number
    })
  ];
}

// www/dashboard/task-page.ts
var CONFIDENCE = 0.95;
var TaskPage = class {
  element;
  id;
  #collector;
  #answers;
  #task;
  #controls;
  #facts = el("p", { class: "facts" });
  #estimates = new Section("estimates", "Estimates", "wide");
  #standing = new Section("standing", "What stands out", "wide");
  #timeline = new Section("timeline", "Over time", "wide");
  #batches = new Section("filling", "Batches");
  #privacy = new Section("privacy", "Privacy");
  #influence = new Section("influence", "Made-up reports");
  #uploads = new Section("uploads", "Rejected uploads");
  #counting;
  #state;
  #known;
  constructor(collector2, task, known2, state2, change2) {
    this.#collector = collector2;
    this.#answers = new Answers(collector2);
    this.#task = task;
    this.#counting = countingOf(task.task);
    this.id = task.task.id;
    this.#state = state2;
    this.#known = known2;
    this.#controls = new Controls(change2);
    this.#influence.show(null);
    const again2 = el("button", { type: "button", class: "quiet" }, "Refresh");
    again2.addEventListener("click", () => {
      this.#answers.forget();
      void this.#ask();
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
          el("h1", { tabindex: -1 }, task.task.id),
          this.#facts
        ),
        again2
      ),
      this.#controls.element,
      ...this.#sections.map(({ element }) => element)
    );
    this.#showBatches();
    void this.#ask();
  }
  get #sections() {
    return [
      this.#estimates,
      this.#standing,
      this.#timeline,
      this.#batches,
      this.#privacy,
      this.#influence,
      this.#uploads
    ];
  }
  get #question() {
    const questions = questionsOf(this.#task.task);
    const named = questions.find(({ name }) => name === this.#state.question);
    return named ?? questions[0] ?? {};
  }
  /** Shows the view that `state` describes. */
  look(state2) {
    const before = this.#state;
    this.#state = state2;
    this.#showControls();
    const asked = before.question !== state2.question || before.batches !== state2.batches;
    void this.#look(asked);
    if (before.batches !== state2.batches) void this.#lookAtInfluence();
  }
  /** Updates the batches. Returns true if there is a new release. */
  update(known2) {
    const before = this.#releases;
    this.#known = known2;
    this.#showBatches();
    if (before === this.#releases) return false;
    void this.#ask();
    return true;
  }
  /** Numbers of the released batches, as ranges. */
  get #releases() {
    return ranges(releasedOf(this.#known).map(({ number }) => number));
  }
  /** Released batches in view: all batches, or those that the address selects. */
  get #looked() {
    const { batches } = this.#state;
    const released = releasedOf(this.#known);
    if (batches === null) return released;
    const spans = batches.split(",").map((part2) => part2.split("-").map(Number));
    return released.filter(
      ({ number }) => spans.some(([from = 0, to = from]) => from <= number && number <= to)
    );
  }
  #showBatches() {
    const { task } = this.#task;
    const released = releasedOf(this.#known);
    const questions = questionsOf(task).length;
    const asks = questions > 1 ? `, ${count(questions)} questions` : "";
    const promise = isSums(this.#task) ? trustOf(this.#task.privacy) : `Each report protects ${this.#task.protects}.`;
    const collected = said(this.#counting, reportsOf(released));
    this.#facts.textContent = `${collected} in ${counted(released.length, "release")}${asks}. ${promise}`;
    this.#showControls();
    this.#batches.show([
      el("h3", {}, `Batch ${openOf(this.#known)?.number ?? ""} is open`),
      ...filling(this.#known, this.#counting, Date.now() / 1e3),
      el("p", { class: "help" }, rule(this.#known, this.#counting)),
      ...[listed(this.#known, this.#counting)].filter((list) => list !== null)
    ]);
  }
  #showControls() {
    const questions = questionsOf(this.#task.task);
    const released = releasedOf(this.#known);
    this.#controls.show(this.#state, questions, this.#question, released, this.#counting);
  }
  /** Loads all sections. */
  async #ask() {
    await this.#look(true);
    await this.#privacy.load(async () => {
      const path = `${encodeURIComponent(this.id)}/privacy`;
      const task = this.#task;
      if (isSums(task)) {
        const asked2 = this.#collector.ask(path);
        const found = await askedWhenReleased(asked2);
        return sumsPrivacyView(task, typeof found === "string" ? null : found);
      }
      const asked = this.#collector.ask(path);
      return privacyView(task, await askedWhenReleased(asked));
    });
    await this.#lookAtInfluence();
    await this.#uploads.load(async () => uploadsView(uploadsOf(await this.#collector.metrics())));
  }
  /** Loads the estimates, the significant results and the time line. */
  async #look(asked) {
    if (this.#question.kind === "text") return this.#lookAtTexts(asked);
    let rows = null;
    await this.#estimates.load(async () => {
      const items = itemsToAsk(this.#question, this.#state.find);
      if (items?.length === 0) return [el("p", {}, this.#nothingSought())];
      const answer = await askedWhenReleased(
        this.#answers.estimates(this.id, this.#question, this.#asked(items), this.#releases)
      );
      if (typeof answer === "string") {
        const words = isSums(this.#task) ? "No batch of this task is released yet." : answer;
        return [el("p", {}, words), brief(this.#known, this.#counting)];
      }
      rows = rowsOf(answer, this.#question, this.#state.estimand ?? void 0);
      if (rows !== null)
        this.#controls.estimands(
          this.#question.kind === "number" ? [] : estimandsOf(answer),
          rows.estimand,
          this.#question
        );
      return this.#estimatesView(answer, rows);
    });
    const context = { ...this.#context, rows };
    await this.#standing.load(() => outstandingView(context));
    await this.#timeline.load(() => timelineView(context, this.#shownOf(context.rows)));
  }
  async #lookAtTexts(asked) {
    this.#standing.show(null);
    this.#timeline.show(null);
    this.#controls.estimands([], "share", this.#question);
    if (!asked) return;
    const { name = "" } = this.#question;
    const path = `${encodeURIComponent(this.id)}/heavy-hitters?question=${encodeURIComponent(name)}`;
    await this.#estimates.load(
      async () => textsView(await this.#collector.ask(path))
    );
  }
  async #lookAtInfluence() {
    const { batches } = this.#state;
    const query = batches === null ? "" : `?batches=${batches}`;
    await this.#influence.load(async () => {
      const path = `${encodeURIComponent(this.id)}/influence${query}`;
      if (isSums(this.#task)) {
        const all = await askedWhenReleased(this.#collector.ask(path));
        if (typeof all === "string") return null;
        const released = releasedOf(this.#known);
        return sumsInfluenceView(all, await influenceOfEach(this.#collector, this.id, released));
      }
      const found = await askedWhenReleased(this.#collector.ask(path));
      return typeof found === "string" ? null : influenceView(found, questionsOf(this.#task.task));
    });
  }
  get #context() {
    return {
      task: this.id,
      question: this.#question,
      answers: this.#answers,
      released: releasedOf(this.#known),
      looked: this.#looked,
      items: itemsToAsk(this.#question, this.#state.find),
      estimand: this.#state.estimand,
      confidence: CONFIDENCE
    };
  }
  #asked(items) {
    return { batches: this.#state.batches, confidence: CONFIDENCE, items };
  }
  #nothingSought() {
    if (this.#state.find.trim() !== "") return "No item matches this name.";
    return "This question has no list of items. Enter the names to look up, separated by commas.";
  }
  /** Returns the rows that match the search, in the selected order. */
  #shownOf(rows) {
    if (rows === null) return [];
    const open2 = (this.#question.items ?? this.#question.options) === "open";
    const sought = open2 ? "" : this.#state.find.trim();
    return sorted(
      rows.rows.filter(({ label }) => matches(label, sought)),
      this.#state.order
    );
  }
  #estimatesView(answer, rows) {
    const { reports = 0, people, messages = 0, confidence, bias, repeats } = answer;
    if ((people ?? reports) === 0) {
      return [el("p", {}, "No report answers this question yet.")];
    }
    const of = people === void 0 ? counted(reports, "report") : `${said(this.#counting, messages)}, by ${counted(messages, "message")},`;
    const batches = ranges(this.#looked.map(({ number }) => number));
    const about2 = el(
      "p",
      {},
      `${of}${batches === "" ? "" : ` of ${batches.match(/[–,]/) ? "batches" : "batch"} ${batches}`}. A thick bar is the interval of one row, with ${confidence * 100}% confidence. A thin bar has ${confidence * 100}% confidence for all rows at once. A hollow dot may be noise.`
    );
    const notes = notesOf(bias, repeats);
    if (this.#question.kind === "number") {
      const { words: words2, shown: shown2 } = enoughOfNumber(answer);
      return [
        el(
          "p",
          {},
          `${counted(reports, "report")}. Each table or picture has ${confidence * 100}% confidence for all its intervals at once.`
        ),
        ...notesOf(words2),
        ...notes,
        ...shown2 ? numberView(answer, this.#question) : []
      ];
    }
    if (rows === null) return [about2, ...notes, ...crossView(answer)];
    const found = this.#shownOf(rows);
    if (found.length === 0) return [about2, el("p", {}, "No item matches this name.")];
    const drawn2 = found.slice(0, DRAWN);
    const all = itemsOf(this.#question) ?? rows.rows.length;
    const caption = captionOf(rows, this.#question, drawn2.length, found.length, all);
    const { words, shown } = people === void 0 ? enough(reports, rows.estimand, rows.rows) : { shown: true };
    if (!shown) return [...notesOf(words), ...notes];
    return [about2, ...notesOf(words), ...notes, dots(caption, rows, drawn2), ...crossView(answer)];
  }
};
function captionOf({ rows, estimand }, question, drawn2, found, all) {
  const what = wordsOf(estimand, question).short;
  if (rows.length < all)
    return `${what}: ${count(drawn2)} of ${counted(all, "item")} shown; search by name for others`;
  if (drawn2 < found)
    return `${what}: the first ${count(drawn2)} of ${counted(found, "item")}; search by name for others`;
  if (found < all) return `${what}: ${count(found)} of ${counted(all, "item")}`;
  return `${what}: ${counted(found, "item")}`;
}
async function askedWhenReleased(answer) {
  try {
    return await answer;
  } catch (thrown) {
    if (thrown instanceof Refused && thrown.problem === "nothing-released") return thrown.message;
    throw thrown;
  }
}

// www/dashboard/main.ts
var POLL_MS = 1e4;
var collector = new Collector();
var main = byId("main");
var trouble = byId("trouble");
var state = read(location.hash);
var page = null;
var tasks = null;
var opened = 0;
function announce(words) {
  byId("news").textContent = words;
}
function showTrouble(thrown) {
  const words = thrown instanceof Error ? thrown.message : String(thrown);
  if (!(thrown instanceof Refused)) console.error(thrown);
  if (trouble.textContent !== words) trouble.replaceChildren(el("p", {}, words));
  trouble.hidden = false;
}
var refusedToken = (thrown) => thrown instanceof Refused && thrown.status === 401;
function askToken(why) {
  collector.token = null;
  remember(null);
  [tasks, page] = [null, null];
  opened += 1;
  byId("sign-out").hidden = true;
  document.title = "Sign in – hushbin";
  main.replaceChildren(
    ...signIn(async (token) => {
      collector.token = token;
      try {
        await begin();
        remember(token);
        byId("sign-out").hidden = false;
        return null;
      } catch (thrown) {
        collector.token = null;
        if (refusedToken(thrown))
          return "The collector does not know this token. It may have been revoked.";
        return thrown instanceof Error ? thrown.message : String(thrown);
      }
    }, why)
  );
  byId("token").focus();
}
async function begin() {
  tasks = (await collector.ask("")).tasks;
  trouble.hidden = true;
  await open();
}
async function open() {
  opened += 1;
  const own = opened;
  const [only] = tasks ?? [];
  const task = state.task ?? (tasks?.length === 1 && location.hash === "" ? only ?? null : null);
  document.title = `${task ?? "Tasks"} – hushbin`;
  if (task === null) {
    const overview = new Overview(collector, tasks ?? []);
    await overview.update();
    if (own !== opened) return;
    show(overview);
    return;
  }
  const id = encodeURIComponent(task);
  const [answer, batches] = await Promise.all([
    collector.ask(id),
    collector.ask(`${id}/batches`)
  ]);
  if (own !== opened) return;
  show(new TaskPage(collector, answer, batches, state, change));
}
function show(shown) {
  const first = page === null;
  page = shown;
  main.replaceChildren(shown.element);
  if (!first) main.querySelector("h1")?.focus();
}
function change(changes) {
  state = { ...state, task: page instanceof TaskPage ? page.id : state.task, ...changes };
  const typed = Object.keys(changes).every((name) => name === "find");
  history[typed ? "replaceState" : "pushState"](null, "", write(state) || "#tasks");
  if (page instanceof TaskPage) page.look(state);
}
async function moved3() {
  if (tasks === null) return;
  const before = state;
  state = read(location.hash);
  if (page instanceof TaskPage && before.task === state.task && state.task === page.id) {
    page.look(state);
  } else {
    await guarded(open);
  }
}
async function poll() {
  if (tasks === null || document.hidden) return;
  const own = page;
  if (own instanceof Overview) await own.update();
  if (own instanceof TaskPage) {
    const batches = await collector.ask(`${encodeURIComponent(own.id)}/batches`);
    if (own === page && own.update(batches))
      announce("There is a new release. The estimates are being updated.");
  }
  trouble.hidden = true;
}
async function guarded(work) {
  try {
    await work();
  } catch (thrown) {
    if (refusedToken(thrown)) askToken(collector.token === null ? null : "The token was revoked.");
    else showTrouble(thrown);
  }
}
byId("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
byId("home").addEventListener("click", (event) => {
  event.preventDefault();
  state = NOTHING;
  history.pushState(null, "", "#tasks");
  void moved3();
});
byId("sign-out").addEventListener("click", () => {
  askToken(null);
  announce("You are signed out.");
});
addEventListener("popstate", () => void moved3());
addEventListener("visibilitychange", () => void guarded(poll));
byId("place").textContent = new URL("..", location.href).host;
collector.token = remembered();
byId("sign-out").hidden = collector.token === null;
await guarded(begin);
var again = async () => {
  const waits = tasks === null && document.getElementById("token") === null;
  await guarded(waits ? begin : poll);
  setTimeout(() => void again(), POLL_MS);
};
setTimeout(() => void again(), POLL_MS);
