/**
 * A part of a picture that is shown larger. x and y are how far the picture is moved, as parts of its width and height; 0 is
 * the middle.
 * @typedef {{ scale: number, x: number, y: number }} Zoom
 */

/** @type {Zoom} */
export const unzoomed = { scale: 1, x: 0, y: 0 };

const largest = 8;

/**
 * Keeps the edges of the picture outside the edges of its frame.
 * @param {Zoom} zoom
 * @returns {Zoom}
 */
function kept({ scale, x, y }) {
  const limit = (scale - 1) / 2;
  const inside = (/** @type {number} */ one) => Math.min(limit, Math.max(-limit, one)) || 0;
  return { scale, x: inside(x), y: inside(y) };
}

/**
 * Zooms, and keeps what is at a point where it is.
 * @param {Zoom} zoom
 * @param {number} factor
 * @param {{ x: number, y: number }} point from the middle of the frame, as parts of its width and height
 */
export function zoomedAt(zoom, factor, point = { x: 0, y: 0 }) {
  const scale = Math.min(largest, Math.max(1, zoom.scale * factor));
  const by = scale / zoom.scale;
  return kept({ scale, x: point.x - (point.x - zoom.x) * by, y: point.y - (point.y - zoom.y) * by });
}

/**
 * @param {Zoom} zoom
 * @param {number} x as parts of the frame's width
 * @param {number} y as parts of its height
 */
export function moved(zoom, x, y) { return kept({ ...zoom, x: zoom.x + x, y: zoom.y + y }); }

/** @param {Zoom} zoom */
export function transformOf({ scale, x, y }) {
  return scale === 1 ? "" : `translate(${(100 * x).toFixed(3)}%, ${(100 * y).toFixed(3)}%) scale(${scale.toFixed(4)})`;
}
