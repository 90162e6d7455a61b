// Entry point: signs in, shows the overview or a task, and polls for changes.

import { byId, el } from "../demo/shared/dom.js";
import { type Batches, Collector, Refused, type TaskAnswer } from "./api.js";
import { Overview } from "./overview.js";
import { remember, remembered, signIn } from "./sign-in.js";
import { NOTHING, read, type State, write } from "./state.js";
import { TaskPage } from "./task-page.js";

/** Interval between polls while the page is visible, in milliseconds. */
const POLL_MS = 10_000;

const collector = new Collector();
const main = byId("main");
const trouble = byId("trouble");
let state: State = read(location.hash);
let page: TaskPage | Overview | null = null;
/** Ids of the tasks. `null` until signed in. */
let tasks: readonly string[] | null = null;
/** Number of views opened so far. A late response for an earlier view is dropped. */
let opened = 0;

function announce(words: string): void {
  byId("news").textContent = words;
}

function showTrouble(thrown: unknown): void {
  const words = thrown instanceof Error ? thrown.message : String(thrown);
  if (!(thrown instanceof Refused)) console.error(thrown);
  if (trouble.textContent !== words) trouble.replaceChildren(el("p", {}, words));
  trouble.hidden = false;
}

const refusedToken = (thrown: unknown) => thrown instanceof Refused && thrown.status === 401;

/** Shows the form for a token. `why` is the reason for which the last token was refused. */
function askToken(why: string | null): void {
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
          return "The collector does not know this token. The token may have been revoked.";
        return thrown instanceof Error ? thrown.message : String(thrown);
      }
    }, why),
  );
  byId("token").focus();
}

/**
 * Requests the list of tasks, and opens the view that the address describes. Throws if a token is
 * needed.
 */
async function begin(): Promise<void> {
  tasks = (await collector.ask<{ readonly tasks: readonly string[] }>("")).tasks;
  trouble.hidden = true;
  await open();
}

async function open(): Promise<void> {
  opened += 1;
  const own = opened;
  const [only] = tasks ?? [];
  const task = state.task ?? (tasks?.length === 1 && location.hash === "" ? (only ?? null) : null);
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
    collector.ask<TaskAnswer>(id),
    collector.ask<Batches>(`${id}/batches`),
  ]);
  if (own !== opened) return;
  show(new TaskPage(collector, answer, batches, state, change));
}

function show(shown: TaskPage | Overview): void {
  const first = page === null;
  page = shown;
  main.replaceChildren(shown.element);
  // After a link within the page, focus moves to the top of the new view.
  if (!first) main.querySelector("h1")?.focus();
}

/** Changes the view of the task, and keeps it in the address. */
function change(changes: Partial<State>): void {
  state = { ...state, task: page instanceof TaskPage ? page.id : state.task, ...changes };
  // Typing in the search must not add a history entry for each letter.
  const typed = Object.keys(changes).every((name) => name === "find");
  history[typed ? "replaceState" : "pushState"](null, "", write(state) || "#tasks");
  if (page instanceof TaskPage) page.look(state);
}

async function moved(): Promise<void> {
  if (tasks === null) return;
  const before = state;
  state = read(location.hash);
  if (page instanceof TaskPage && before.task === state.task && state.task === page.id) {
    page.look(state);
  } else {
    await guarded(open);
  }
}

/** Requests new batches and releases. */
async function poll(): Promise<void> {
  if (tasks === null || document.hidden) return;
  const own = page;
  if (own instanceof Overview) await own.update();
  if (own instanceof TaskPage) {
    const batches = await collector.ask<Batches>(`${encodeURIComponent(own.id)}/batches`);
    if (own === page && own.update(batches))
      announce("There is a new release. The estimates are being updated.");
  }
  trouble.hidden = true;
}

async function guarded(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    if (refusedToken(thrown)) askToken(collector.token === null ? null : "The token was revoked.");
    else showTrouble(thrown);
  }
}

byId("skip").addEventListener("click", (event) => {
  // The fragment of the address holds the view, so this link must not replace it.
  event.preventDefault();
  main.focus();
});
byId("home").addEventListener("click", (event) => {
  event.preventDefault();
  state = NOTHING;
  history.pushState(null, "", "#tasks");
  void moved();
});
byId("sign-out").addEventListener("click", () => {
  askToken(null);
  announce("You are signed out.");
});
addEventListener("popstate", () => void moved());
addEventListener("visibilitychange", () => void guarded(poll));
byId("place").textContent = new URL("..", location.href).host;

collector.token = remembered();
byId("sign-out").hidden = collector.token === null;
await guarded(begin);
const again = async () => {
  // The first request may have failed. Then start again.
  const waits = tasks === null && document.getElementById("token") === null;
  await guarded(waits ? begin : poll);
  setTimeout(() => void again(), POLL_MS);
};
setTimeout(() => void again(), POLL_MS);
