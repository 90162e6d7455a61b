// A progress bar on a terminal. Elsewhere, an occasional line of text.

/**
 * Returns a display of progress.
 *
 * @param {string} what
 * @param {number} total
 */
export function createProgressBar(what, total) {
  const terminal = process.stderr.isTTY;
  const begun = performance.now();
  let shown = Number.NEGATIVE_INFINITY;
  return {
    /** @param {number} done */
    at(done) {
      const now = performance.now();
      if (now - shown < (terminal ? 100 : 5000) && done < total) {
        return;
      }
      shown = now;
      const share = total === 0 ? 1 : done / total;
      const rate = Math.round((done / (now - begun)) * 1000);
      const width = 30;
      const bar = "█".repeat(Math.round(share * width)).padEnd(width, "░");
      const text = `${what} ${bar} ${done.toLocaleString("en")} of ${total.toLocaleString("en")}, ${rate.toLocaleString("en")} a second`;
      process.stderr.write(terminal ? `\r\x1b[2K${text}` : `${text}\n`);
    },
    end() {
      if (terminal) {
        process.stderr.write("\n");
      }
    },
  };
}
