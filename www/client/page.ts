/** The page's life, where there is a page. */

/**
 * Calls `hidden` whenever the page may be about to go: as it is hidden, the
 * last event that phones fire reliably, and as it is left. Not on `unload`,
 * which would keep the page out of the back/forward cache.
 *
 * @returns stops the calls
 */
export function onPageHidden(hidden: () => void): () => void {
  if (typeof document === "undefined" || typeof addEventListener === "undefined") {
    return () => {};
  }
  const visibility = () => {
    if (document.visibilityState === "hidden") {
      hidden();
    }
  };
  document.addEventListener("visibilitychange", visibility);
  addEventListener("pagehide", hidden);
  return () => {
    document.removeEventListener("visibilitychange", visibility);
    removeEventListener("pagehide", hidden);
  };
}
