import { isResting } from "./liveness.js";

/**
 * How the cells of a wall are arranged. All sizes are CSS pixels.
 * @typedef {object} Grid
 * @property {number} columns
 * @property {number | null} rowHeight null: the rows share the height. A number: they do not fit, and the wall scrolls
 */

// No picture is narrower than this: on a phone, two are beside each other.
const narrowest = 160;

/**
 * The grid in which the pictures are as large as possible.
 * @param {number} count of cameras
 * @param {{ width: number, height: number, caption: number, gap: number, aspect: number }} room aspect: width of a picture
 *   by its height; caption: height of the line below each picture
 * @returns {Grid}
 */
export function gridFor(count, { width, height, caption, gap, aspect }) {
  let best = { columns: 1, picture: 0 };
  for (let columns = 1; columns <= Math.max(1, count); columns += 1) {
    const rows = Math.ceil(count / columns);
    const across = (width - gap * (columns - 1)) / columns;
    const picture = Math.min(across, ((height - gap * (rows - 1)) / rows - caption) * aspect);
    if (picture > best.picture) best = { columns, picture };
  }
  if (best.picture >= Math.min(narrowest, width)) return { columns: best.columns, rowHeight: null };
  const columns = Math.max(1, Math.min(count, Math.floor((width + gap) / (narrowest + gap))));
  return { columns, rowHeight: Math.round((width - gap * (columns - 1)) / columns / aspect + caption) };
}

/**
 * What a wall knows about one of its cameras.
 * @typedef {object} CellFacts
 * @property {boolean} isPlaying
 * @property {boolean} isSeen whether its cell is in the visible part of the wall
 * @property {boolean} isPageVisible
 * @property {boolean} isHeard whether its sound is on
 * @property {import("./types").Source} source of the camera
 */

/**
 * Whether a camera has pictures for somebody who did not ask for them: those of a wall, and of tiles. What rests to save
 * work is woken up. What runs on a battery is not, and does not stay awake for it either.
 * @param {import("./types").Source} source
 */
export function hasPicturesForAll(source) {
  if (source.isOnBattery) return false;
  // What a token may not read is learned by asking.
  return source.state === "flowing" || source.state === "unknown" || isResting(source);
}

/**
 * Whether a cell should play. What is out of sight is paused, unless it is heard.
 * @param {CellFacts} facts
 */
export function shouldPlay({ isPlaying, isSeen, isPageVisible, isHeard, source }) {
  if (source.isOnBattery || !(isPlaying || hasPicturesForAll(source))) return false;
  return (isPageVisible && isSeen) || (isHeard && isPlaying);
}
