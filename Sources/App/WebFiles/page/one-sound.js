/**
 * What can be heard, and silenced.
 * @typedef {{ silence: () => void, isHeard: boolean }} Sounding
 */

/** Lets one camera of the page be heard at a time. */
export class OneSound {
  constructor() {
    /** @type {Sounding | null} */
    this.heard = null;
  }

  /**
   * Somebody wants to hear this one: the one before falls silent.
   * @param {Sounding} one
   */
  take(one) {
    const before = this.heard;
    this.heard = one;
    if (before !== null && before !== one) before.silence();
  }

  /** Whether nothing is heard now. */
  get isFree() { return !this.heard?.isHeard; }

  /**
   * It is silent now, or gone.
   * @param {Sounding} one
   */
  leave(one) { if (this.heard === one) this.heard = null; }
}
