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

const isPage = () => typeof document !== "undefined";

/** Whether the page is not seen, so that it may go without a further event. */
export const isHidden = () => isPage() && document.visibilityState === "hidden";

/** Whether anything tells that it ends: nothing tells a worker. */
export const hasEnd = () => isPage() || typeof processOf()?.once === "function";

/** Not what stands in for one, as in edge routes: functions that throw, and no versions. */
function processOf(): Process | undefined {
  const { process } = globalThis as { process?: Process };
  return process?.versions === undefined ? undefined : process;
}

/**
 * Calls `left` as the page is left and kept for its return, and `back` as it returns.
 *
 * @returns stops the calls
 */
export function onKept(left: () => void, back: () => void): () => void {
  if (!isPage()) {
    return () => {};
  }
  const listen = (event: "pagehide" | "pageshow", run: () => void) => {
    const kept = ({ persisted }: Partial<PageTransitionEvent>) => void (persisted && run());
    const listener = kept as EventListener;
    globalThis.addEventListener(event, listener);
    return () => globalThis.removeEventListener(event, listener);
  };
  const stops = [listen("pagehide", left), listen("pageshow", back)];
  return () => stops.forEach((stop) => void stop());
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
  const listen = (target: EventTarget, event: string, run: () => void) => {
    target.addEventListener(event, run);
    stops.push(() => target.removeEventListener(event, run));
  };
  // Also of workers, which are told of the network.
  const own = globalThis as Partial<EventTarget>;
  if (typeof own.addEventListener === "function") {
    listen(own as EventTarget, "online", wake);
  }
  if (isPage()) {
    listen(document, "visibilitychange", () => void (isHidden() ? hide() : wake()));
    listen(globalThis as unknown as EventTarget, "pagehide", hide);
    listen(globalThis as unknown as EventTarget, "pageshow", wake);
  } else {
    const host = processOf();
    host?.once?.("beforeExit", wake);
    stops.push(() => host?.off?.("beforeExit", wake));
  }
  return () => stops.forEach((stop) => void stop());
}
