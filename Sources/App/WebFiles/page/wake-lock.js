/**
 * Keeps the screen on. Browsers permit that only on pages that came encrypted, and only while the page is seen; elsewhere the
 * device does what it is set to.
 */
export class WakeLock {
  constructor() {
    /** @type {{ released: boolean, release(): Promise<void> } | null} */
    this.lock = null;
    this.isWanted = false;
    this.isAsking = false;
  }

  /**
   * Called when it may be another answer than before, when the page was hidden or is seen again, and from time to time: the
   * browser may refuse a lock or end it, such as while the battery is low.
   * @param {boolean} isWanted whether something is watched
   */
  async keep(isWanted) {
    this.isWanted = isWanted && document.visibilityState === "visible";
    if (!this.isWanted) {
      this.release();
      return;
    }
    // The browser itself ends a lock when the page is hidden.
    if (this.isAsking || (this.lock && !this.lock.released)) return;
    this.isAsking = true;
    this.lock = await /** @type {any} */ (navigator).wakeLock?.request("screen").catch(() => null) ?? null;
    this.isAsking = false;
    // Nobody wants it any more.
    if (!this.isWanted) this.release();
  }

  release() {
    this.lock?.release().catch(() => {});
    this.lock = null;
  }
}
