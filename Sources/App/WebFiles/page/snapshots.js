import { getPicture } from "./api.js";

/**
 * The parts of the page that show fresh pictures of a camera.
 * @typedef {object} Viewer
 * @property {string} device
 * @property {HTMLElement} node what has to be in sight for it
 * @property {boolean} wantsPicture
 * @property {number} pictureWidth of the place for the picture, in CSS pixels
 * @property {boolean} [isResting] whether each picture wakes the camera up
 * @property {(blob: Blob, age: number) => void} showPicture age in milliseconds
 * @property {(error: unknown) => void} missPicture
 */

// Milliseconds between two pictures of one camera, and after one that failed.
const interval = 5000;
const restingInterval = 60000;
const pause = 20000;
const timeout = 12000;

/** Fetches pictures for all who show them, one at a time, and for those in sight only. */
export class Snapshots {
  constructor() {
    /**
     * When the next picture of each viewer is due.
     * @type {Map<Viewer, number>}
     */
    this.due = new Map();
    this.isRunning = false;
    // The observer may report an element that has just been removed.
    /** @type {WeakSet<Element>} */
    this.seen = new WeakSet();
    this.observer = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        if (entry.isIntersecting) this.seen.add(entry.target);
        else this.seen.delete(entry.target);
      }
    }, { rootMargin: "120px" });
  }

  /** @param {Viewer} viewer */
  add(viewer) {
    this.due.set(viewer, 0);
    this.observer.observe(viewer.node);
  }

  /** @param {Viewer} viewer */
  remove(viewer) {
    this.due.delete(viewer);
    this.observer.unobserve(viewer.node);
    this.seen.delete(viewer.node);
  }

  /** Looks whether a picture is due; called once a second. */
  async tick() {
    if (this.isRunning || document.visibilityState !== "visible") return;
    const viewer = nextViewer(this.due, performance.now(), (one) => one.wantsPicture && this.seen.has(one.node));
    if (!viewer) return;
    this.isRunning = true;
    const abort = new AbortController();
    const limit = setTimeout(() => abort.abort(), timeout);
    let next = viewer.isResting ? restingInterval : interval;
    try {
      const path = `/v1/devices/${encodeURIComponent(viewer.device)}/snapshot.jpg?width=${widthFor(viewer.pictureWidth)}`;
      const { blob, age } = await getPicture(path, abort.signal);
      if (this.due.has(viewer)) viewer.showPicture(blob, age);
    } catch (error) {
      next = pause;
      viewer.missPicture(error);
    }
    if (this.due.has(viewer)) this.due.set(viewer, performance.now() + next);
    clearTimeout(limit);
    this.isRunning = false;
    // Those who have had none yet need not wait for the next second.
    if ([...this.due.values()].includes(0)) this.tick();
  }
}

/**
 * How wide a picture has to be, in its own pixels.
 * @param {number} width of its place, in CSS pixels
 */
export function widthFor(width) { return Math.min(1280, Math.max(160, Math.ceil(width * (devicePixelRatio || 1)))); }

/**
 * Whose picture is due first, of those who want one.
 * @template T
 * @param {Map<T, number>} due when the picture of each is due
 * @param {number} now
 * @param {(viewer: T) => boolean} wants
 * @returns {T | null}
 */
export function nextViewer(due, now, wants) {
  let first = null;
  let firstTime = Infinity;
  for (const [viewer, time] of due) {
    if (time > now || time >= firstTime || !wants(viewer)) continue;
    first = viewer;
    firstTime = time;
  }
  return first;
}
