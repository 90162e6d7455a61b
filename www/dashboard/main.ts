// Entry point of the dashboard: signs in, shows the overview or one task, and polls for changes.

import { byId, el } from "../demo/shared/dom.js";
import { type BatchesResponse, CollectorClient, CollectorError, type TaskResponse } from "./api.js";
import { TaskListView } from "./overview.js";
import { signInForm, storedToken, storeToken } from "./sign-in.js";
import {
  DEFAULT_STATE,
  type ViewState,
  viewStateFromFragment,
  viewStateToFragment,
} from "./state.js";
import { TaskPage } from "./task-page.js";

/** Time in milliseconds between two polls while the page is visible. */
const POLL_MS = 10_000;

const collector = new CollectorClient();
const main = byId("main");
const troubleElement = byId("trouble");
let state: ViewState = viewStateFromFragment(location.hash);
let currentView: TaskPage | TaskListView | null = null;
/** Ids of all tasks. `null` before the first response. */
let taskIds: readonly string[] | null = null;
/** Number of views that were opened so far. A late response for an earlier view is dropped. */
let viewCount = 0;

function announceToScreenReaders(words: string): void {
  byId("news").textContent = words;
}

function showTrouble(thrown: unknown): void {
  const words = thrown instanceof Error ? thrown.message : String(thrown);
  if (!(thrown instanceof CollectorError)) console.error(thrown);
  if (troubleElement.textContent !== words) troubleElement.replaceChildren(el("p", {}, words));
  troubleElement.hidden = false;
}

const isTokenRefused = (thrown: unknown) =>
  thrown instanceof CollectorError && thrown.status === 401;

/**
 * Shows the form in which an analyst enters a token. `why` is the reason why the last token was
 * refused.
 */
function showSignIn(why: string | null): void {
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
    }, why),
  );
  byId("token").focus();
}

/**
 * Requests the list of tasks, then opens the view that the address describes. Throws if the
 * collector requires a token.
 */
async function loadTasksAndOpenView(): Promise<void> {
  taskIds = (await collector.getFromTasks<{ readonly tasks: readonly string[] }>("")).tasks;
  troubleElement.hidden = true;
  await openView();
}

async function openView(): Promise<void> {
  viewCount += 1;
  const own = viewCount;
  const [only] = taskIds ?? [];
  const task =
    state.task ?? (taskIds?.length === 1 && location.hash === "" ? (only ?? null) : null);
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
    collector.getFromTasks<TaskResponse>(id),
    collector.getFromTasks<BatchesResponse>(`${id}/batches`),
  ]);
  if (own !== viewCount) return;
  showPage(new TaskPage(collector, answer, batches, state, changeViewState, taskIds ?? []));
}

function showPage(shown: TaskPage | TaskListView): void {
  const first = currentView === null;
  currentView = shown;
  main.replaceChildren(shown.element);
  // After a link within the page, focus moves to the top of the new view.
  if (!first) main.querySelector("h1")?.focus();
}

/** Changes what the page shows of the task, and writes the change to the address. */
function changeViewState(changes: Partial<ViewState>): void {
  state = {
    ...state,
    task: currentView instanceof TaskPage ? currentView.id : state.task,
    ...changes,
  };
  // Typing in the search must not add a history entry for each letter.
  const typed = Object.keys(changes).every((name) => name === "find");
  history[typed ? "replaceState" : "pushState"](null, "", viewStateToFragment(state) || "#tasks");
  if (currentView instanceof TaskPage) currentView.showViewState(state);
}

async function onNavigation(): Promise<void> {
  if (taskIds === null) return;
  const before = state;
  state = viewStateFromFragment(location.hash);
  if (
    currentView instanceof TaskPage &&
    before.task === state.task &&
    state.task === currentView.id
  ) {
    currentView.showViewState(state);
  } else {
    await withErrorsShown(openView);
  }
}

/** Asks the collector for new batches and releases, and updates the page. */
async function pollForChanges(): Promise<void> {
  if (taskIds === null || document.hidden) return;
  const own = currentView;
  if (own instanceof TaskListView) await own.reloadBatches();
  if (own instanceof TaskPage) {
    const batches = await collector.getFromTasks<BatchesResponse>(
      `${encodeURIComponent(own.id)}/batches`,
    );
    if (own === currentView && own.updateBatches(batches))
      announceToScreenReaders("A new batch has been released. The estimates are being updated.");
  }
  troubleElement.hidden = true;
}

async function withErrorsShown(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    if (isTokenRefused(thrown))
      showSignIn(collector.token === null ? null : "The token was revoked.");
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
const pollForever = async () => {
  // The first request may have failed. Then start again.
  const waits = taskIds === null && document.getElementById("token") === null;
  await withErrorsShown(waits ? loadTasksAndOpenView : pollForChanges);
  setTimeout(() => void pollForever(), POLL_MS);
};
setTimeout(() => void pollForever(), POLL_MS);
