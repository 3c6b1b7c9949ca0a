/**
 * How a player stays at the live edge of what it has buffered: decisions without a browser. Times are seconds.
 *
 * @typedef {{ start: number, end: number }} Range
 */

// How much is buffered ahead of the position: what is aimed at, what is played faster, and what is left out.
const wanted = 0.3;
const much = 1;
const tooMuch = 1.5;
/** How fast a player catches up. Sound keeps its pitch. */
export const fasterRate = 1.1;
// What stays behind the position, and how much has to be there before something of it is removed.
const kept = 10;
const worth = 5;

/**
 * What a player does now.
 * @param {Range[]} ranges what is buffered
 * @param {number} position
 * @param {number} rate at which it plays
 * @returns {{ seek: number | undefined, rate: number }} seek: where it goes on
 */
export function chase(ranges, position, rate) {
  const last = ranges.at(-1);
  if (!last) return { seek: undefined, rate: 1 };
  const lag = last.end - position;
  // Outside of the newest range: at the begin, or after a gap. What lies before a gap is old.
  const isOutside = position < last.start - 0.05 || lag < -1;
  if (isOutside || lag > tooMuch) return { seek: Math.max(last.start, last.end - wanted), rate: 1 };
  // It catches up until little is left, and not only until it is below the limit.
  return { seek: undefined, rate: lag > much || (rate > 1 && lag > wanted) ? fasterRate : 1 };
}

/**
 * Up to where the buffer is emptied; undefined if that is not worth it. A browser removes whole groups of pictures: it
 * removes until the next key frame, so a place between two would take along what is still to be shown.
 * @param {Range[]} ranges
 * @param {number} position
 * @param {number[] | null} keys where key frames begin, in order; null for sound alone, which can be cut anywhere
 * @returns {number | undefined}
 */
export function removable(ranges, position, keys) {
  const first = ranges[0];
  if (!first) return undefined;
  const limit = position - kept;
  const until = keys === null ? limit : [...keys].reverse().find((key) => key <= limit);
  return until !== undefined && until - first.start > worth ? until : undefined;
}
