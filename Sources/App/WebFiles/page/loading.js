// Loads the page once more when one of its files did not arrive, for example because a phone left the Wi-Fi meanwhile. The
// browser runs no module of which a part is missing, so nothing else here could. This file is a plain script, and imports
// nothing.
(() => {
  const key = "gatehouse.loading";
  const longest = 30_000;
  let isTrying = false;
  // A file that is only fetched ahead is fetched again when a module needs it.
  let isNeeded = false;

  /**
   * Uses the store of this tab. A browser that stores nothing tries again after the shortest delay each time.
   * @template T
   * @param {(store: Storage) => T} use
   */
  function stored(use) {
    try {
      return use(sessionStorage);
    } catch {
      return null;
    }
  }

  /** @param {number} delay in milliseconds */
  async function tryAgain(delay) {
    for (;;) {
      await new Promise((resolve) => { setTimeout(resolve, delay); });
      delay = Math.min(delay * 2, longest);
      try {
        // Reloading while the gateway cannot be reached would leave the browser's own error page, which stays.
        await fetch("/healthz", { cache: "no-store" });
        break;
      } catch {
        // It cannot be reached yet.
      }
    }
    // Somebody may be using it already.
    if (!isNeeded && "runs" in document.documentElement.dataset) {
      isTrying = false;
      return;
    }
    stored((store) => store.setItem(key, String(delay)));
    location.reload();
  }

  // The error of an element does not bubble.
  addEventListener("error", ({ target }) => {
    const isFile = target instanceof HTMLScriptElement || target instanceof HTMLLinkElement;
    if (isFile && target.getAttribute("rel") !== "modulepreload") isNeeded = true;
    if (!isFile || isTrying) return;
    isTrying = true;
    tryAgain(Number(stored((store) => store.getItem(key))) || 500);
  }, true);
  addEventListener("load", () => { if (!isTrying) stored((store) => store.removeItem(key)); });
})();
