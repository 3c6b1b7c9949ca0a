/**
 * Requests for the same thing, of which several may be on their way: the newest that has an answer is shown. An answer that comes
 * after that of a later request is old.
 */
export class Newest {
  constructor() {
    this.begun = 0;
    this.shown = 0;
  }

  /** A request begins. Returns what is asked when its answer is there. */
  begin() {
    this.begun += 1;
    const number = this.begun;
    return {
      /** Whether the answer is shown: no later request has one. */
      takes: () => {
        if (number <= this.shown) return false;
        this.shown = number;
        return true;
      },
      /** Whether no request has begun since. The failure of an earlier one is nobody's news. */
      isLast: () => number === this.begun && number > this.shown,
    };
  }

  /** What is on its way is about something that is not shown any more. */
  forget() { this.shown = this.begun; }
}
