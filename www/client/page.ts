/** The life of a page, a worker or a process. */

/** What a client does as the place that it lives in changes. */
export interface Life {
  /** It may be about to go: what waits must be on its way when this returns. */
  readonly hide: () => void;
  /** It, or the network, is back; or a process has nothing else to do. */
  readonly wake: () => void;
}

interface Process {
  readonly versions?: unknown;
  once?(event: "beforeExit", run: () => void): void;
  off?(event: "beforeExit", run: () => void): void;
}

/** Whether there is a page, and not a worker or a process. */
export const isPage = () => typeof document !== "undefined";

/** Whether the page is not seen, so that it may go without a further event. */
export const isHidden = () => isPage() && document.visibilityState === "hidden";

/** Whether anything tells that it ends: nothing tells a worker. */
export const hasEnd = () => isPage() || typeof processOf()?.once === "function";

/** Not what stands in for one, as in edge routes: functions that throw, and no versions. */
function processOf(): Process | undefined {
  const { process } = globalThis as { process?: Process };
  return process?.versions === undefined ? undefined : process;
}

/** Listens to an event, and returns a function that stops. */
function listen(target: unknown, event: string, run: (event: never) => void): () => void {
  const own = target as EventTarget;
  own.addEventListener(event, run as EventListener);
  return () => own.removeEventListener(event, run as EventListener);
}

const all = (stops: readonly (() => void)[]) => () => stops.forEach((stop) => void stop());

/**
 * Calls `left` as the page is left and kept for its return, and `back` as it returns.
 *
 * @returns stops the calls
 */
export function onKept(left: () => void, back: () => void): () => void {
  const listening = (event: "pagehide" | "pageshow", run: () => void) =>
    listen(globalThis, event, ({ persisted }: PageTransitionEvent) => void (persisted && run()));
  return all(isPage() ? [listening("pagehide", left), listening("pageshow", back)] : []);
}

/**
 * Calls `hide` whenever the page may be about to go: as it is hidden, the
 * last event that phones fire reliably, and as it is left. Not on `unload`,
 * which would keep the page out of the back/forward cache.
 *
 * @returns stops the calls
 */
export function onLife({ hide, wake }: Life): () => void {
  const stops: (() => void)[] = [];
  // Also of workers, which are told of the network.
  if (typeof (globalThis as Partial<EventTarget>).addEventListener === "function") {
    stops.push(listen(globalThis, "online", wake));
  }
  if (isPage()) {
    stops.push(
      listen(document, "visibilitychange", () => void (isHidden() ? hide() : wake())),
      listen(globalThis, "pagehide", hide),
      listen(globalThis, "pageshow", wake),
    );
  } else {
    const host = processOf();
    host?.once?.("beforeExit", wake);
    stops.push(() => host?.off?.("beforeExit", wake));
  }
  return all(stops);
}
