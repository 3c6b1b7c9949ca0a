// Milliseconds until the first view ends, and between two.
const pause = { first: 250, next: 30 };

/**
 * The pictures of a view that was left. The end of a connection holds up the page for some milliseconds, and the view that takes
 * its place wants to begin. So they end a moment later, one after the other.
 */
export class Leaving {
  constructor() {
    /** @type {{ close: () => void }[]} */
    this.parts = [];
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.timer = undefined;
  }

  /** @param {{ close: () => void }[]} parts */
  take(parts) {
    this.parts.push(...parts);
    if (this.timer === undefined && this.parts.length > 0) this.wait(pause.first);
  }

  /** Ends all of them now. */
  finish() {
    clearTimeout(this.timer);
    this.timer = undefined;
    for (const part of this.parts.splice(0)) part.close();
  }

  /** @param {number} milliseconds */
  wait(milliseconds) {
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.parts.shift()?.close();
      if (this.parts.length > 0) this.wait(pause.next);
    }, milliseconds);
  }
}
