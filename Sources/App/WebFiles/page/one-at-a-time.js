/**
 * Runs one request at a time: a double press does it once, also while the gateway is slow.
 * @param {() => Promise<unknown>} run
 * @returns {() => Promise<void>}
 */
export function oneAtATime(run) {
  let isRunning = false;
  return async () => {
    if (isRunning) return;
    isRunning = true;
    try {
      await run();
    } finally {
      isRunning = false;
    }
  };
}
