/** Events in the life cycle of a page, a worker or a process. */

/** Functions with which a client reacts to events of its page or process. */
export interface LifeCycleHandlers {
  /**
   * Called when the page may be about to close. The requests for waiting reports must have started
   * when this function returns.
   */
  readonly onHide: () => void;
  /**
   * Called when the page or the network is available again, or when a process has nothing else to
   * do.
   */
  readonly onWake: () => void;
}

interface NodeProcess {
  readonly versions?: unknown;
  once?(event: "beforeExit", run: () => void): void;
  off?(event: "beforeExit", run: () => void): void;
}

/** Returns whether this is a page, and not a worker or a process. */
export const isPage = () => typeof document !== "undefined";

/** Returns whether the page is hidden. A hidden page may end without a further event. */
export const isHidden = () => isPage() && document.visibilityState === "hidden";

/** Waits until a page that the browser prerenders is shown. */
export async function waitUntilPageShown(): Promise<void> {
  const page = globalThis.document as { prerendering?: unknown } | undefined;
  if (page?.prerendering) {
    await new Promise((resolve) => void document.addEventListener("prerenderingchange", resolve));
  }
}

/**
 * Returns whether an event announces the end of this page or process. Workers get no such event.
 */
export const hasEndEvent = () => isPage() || typeof nodeProcess()?.once === "function";

/**
 * Returns Node's `process`, or `undefined`. Edge runtimes provide a stub without
 * `process.versions`, whose functions throw; it counts as absent.
 */
function nodeProcess(): NodeProcess | undefined {
  const { process } = globalThis as { process?: NodeProcess };
  return process?.versions === undefined ? undefined : process;
}

/**
 * Returns whether this code runs in a process such as Node, and neither in a page nor in a worker
 * of a page.
 */
export const isNodeLikeProcess = () => !isPage() && nodeProcess() !== undefined;

/** Adds an event listener and returns a function that removes it. */
function listen(target: unknown, event: string, run: (event: never) => void): () => void {
  const own = target as EventTarget;
  own.addEventListener(event, run as EventListener);
  return () => own.removeEventListener(event, run as EventListener);
}

const combineStopFunctions = (stops: readonly (() => void)[]) => () =>
  stops.forEach((stop) => void stop());

/**
 * Calls `left` when the page is left and the browser keeps it in the back/forward cache. Calls
 * `back`, if it is given, when the page returns from this cache.
 *
 * @returns a function that stops the calls
 */
export function onPageCacheChange(left: () => void, back = () => {}): () => void {
  const listening = (event: "pagehide" | "pageshow", run: () => void) =>
    listen(globalThis, event, ({ persisted }: PageTransitionEvent) => void (persisted && run()));
  return combineStopFunctions(
    isPage() ? [listening("pagehide", left), listening("pageshow", back)] : [],
  );
}

const endCallbacks = new Set<() => void>();

function callEndCallbacks(): void {
  const callbacks = [...endCallbacks];
  endCallbacks.clear();
  callbacks.forEach((run) => void run());
}

/**
 * Calls `run` when a process has nothing else to do and is about to end.
 *
 * @returns a function that stops the call
 */
export function onProcessEnd(run: () => void): () => void {
  const host = nodeProcess();
  // All clients share one listener, because Node warns if there are more than ten.
  if (endCallbacks.size === 0) {
    host?.once?.("beforeExit", callEndCallbacks);
  }
  endCallbacks.add(run);
  return () => {
    endCallbacks.delete(run);
    if (endCallbacks.size === 0) {
      host?.off?.("beforeExit", callEndCallbacks);
    }
  };
}

/**
 * Calls `hide` whenever the page may be about to end: when it is hidden, frozen or left. Calls
 * `wake` when the page or the network is available again. On phones, being hidden is the last event
 * that reliably occurs. An `unload` listener would keep the page out of the back/forward cache.
 *
 * @returns a function that stops the calls
 */
export function onLifeCycle({ onHide: hide, onWake: wake }: LifeCycleHandlers): () => void {
  const stops: (() => void)[] = [];
  // Workers also get events of the network.
  if (typeof (globalThis as Partial<EventTarget>).addEventListener === "function") {
    stops.push(listen(globalThis, "online", wake));
  }
  if (isPage()) {
    stops.push(
      listen(document, "visibilitychange", () => void (isHidden() ? hide() : wake())),
      listen(globalThis, "pagehide", hide),
      listen(document, "freeze", hide),
      listen(globalThis, "pageshow", wake),
    );
  } else {
    stops.push(onProcessEnd(wake));
  }
  return combineStopFunctions(stops);
}
