import { Pulse } from "./liveness.js";
import { countReceived } from "./reception.js";

/**
 * The view that a picture watch works for.
 * @typedef {object} Watched
 * @property {() => Promise<import("./reception.js").Statistics>} statistics of the connection
 * @property {() => void} beat a picture was shown, or sound arrived in a view without a picture
 * @property {() => void} looked the statistics have been counted
 */

/** Watches whether the picture of a view moves, or its sound if it has no picture. */
export class PictureWatch {
  /**
   * @param {HTMLVideoElement} video
   * @param {Watched} view
   */
  constructor(video, view) {
    this.video = video;
    this.view = view;
    // Over all connections of a view.
    this.pulse = new Pulse();
    this.wasOutOfView = false;
    // Of one connection. Counts them, so that what comes late for an older one does nothing.
    this.connection = 0;
    this.hasPicture = true;
    this.hasBeaten = false;
    /** @type {{ frames: number, packets: number } | null} */
    this.counts = null;
    // The connection whose statistics are awaited. A browser may never return those of a closed connection.
    this.looked = -1;
    this.isCatchingUp = false;
    /** @type {number | undefined} */
    this.callback = undefined;
  }

  /** Somebody begins to watch. */
  start() { this.pulse = new Pulse(); }

  /**
   * Pictures come this far apart, before two of them have shown it.
   * @param {number} gap milliseconds
   */
  expect(gap) { this.pulse.gaps = [gap]; }

  /** A connection is made; whether it brings a picture is known with the answer. */
  prepare() {
    this.hasPicture = true;
    this.hasBeaten = false;
    this.counts = null;
  }

  /**
   * The connection is negotiated. Each picture that is shown calls back if the browser can do that and the picture is
   * in view. look() counts everything else.
   * @param {boolean} hasPicture
   */
  begin(hasPicture) {
    this.hasPicture = hasPicture;
    if (!this.canCallBack) return;
    const { connection } = this;
    const seen = () => {
      if (connection !== this.connection) return;
      this.callback = this.video.requestVideoFrameCallback(seen);
      this.beat(true);
    };
    this.callback = this.video.requestVideoFrameCallback(seen);
  }

  /** The connection is over. */
  end() {
    this.connection++;
    this.isCatchingUp = false;
    if (this.callback !== undefined) this.video.cancelVideoFrameCallback?.(this.callback);
    this.callback = undefined;
  }

  /** @param {boolean} isEvery whether each picture is counted by itself */
  beat(isEvery) {
    this.pulse.beat(performance.now(), isEvery);
    this.hasBeaten = true;
    this.view.beat();
  }

  /** Whether each picture that is shown calls back; not every browser can do that. */
  get canCallBack() { return this.hasPicture && "requestVideoFrameCallback" in this.video; }

  /** A picture out of view is not shown, so it does not call back. */
  get isInView() {
    if (document.visibilityState !== "visible") return false;
    const { top, bottom, left, right } = this.video.getBoundingClientRect();
    return bottom > 0 && right > 0 && top < innerHeight && left < innerWidth;
  }

  /** Whether it is unknown if anything arrived: the page is hidden, or what arrived out of view is not counted yet. */
  get isUnknown() { return document.visibilityState !== "visible" || this.isCatchingUp; }

  /**
   * Called some times a second while the view is active.
   * @param {boolean} isConnected whether a connection is negotiated
   */
  tick(isConnected) {
    const { isInView } = this;
    // What came while nobody could see it is counted before anything is said about it.
    if (isInView && this.wasOutOfView) this.isCatchingUp = true;
    this.wasOutOfView = !isInView;
    if (!isConnected) this.isCatchingUp = false;
    else if (!isInView || !this.canCallBack || this.isCatchingUp) this.look(isInView);
    else this.counts = null;
  }

  /**
   * Counts by the connection's statistics.
   * @param {boolean} isInView
   */
  async look(isInView) {
    const { connection } = this;
    if (this.looked === connection) return;
    this.looked = connection;
    const now = countReceived(await this.view.statistics(), this.hasPicture);
    if (connection !== this.connection) return;
    this.looked = -1;
    const before = this.counts;
    this.counts = now;
    this.isCatchingUp = false;
    if (hasCome(before, now, { isFirst: !this.hasBeaten, hasPicture: this.hasPicture, isInView })) this.beat(false);
    this.view.looked();
  }
}

/**
 * Whether pictures arrived between two counts, or sound in a view without a picture.
 * @param {{ frames: number, packets: number } | null} before null if there is no count to compare with
 * @param {{ frames: number, packets: number }} now
 * @param {{ isFirst: boolean, hasPicture: boolean, isInView: boolean }} view isFirst: nothing has come before
 */
export function hasCome(before, now, { isFirst, hasPicture, isInView }) {
  if (isFirst) return hasPicture ? now.frames > 0 : now.packets > 0;
  if (!before) return false;
  // Some browsers decode nothing for a page that is hidden: there, packets count.
  return hasPicture && isInView ? now.frames > before.frames : now.packets > before.packets;
}

// Milliseconds within which a picture that plays is drawn; in a hidden page it is not.
const longestDrawing = 100;

/**
 * @param {HTMLVideoElement} video
 * @returns {Promise<void>} fulfilled when a picture of it has been drawn, or will not be soon
 */
export function drawn(video) {
  return new Promise((resolve) => {
    if (!("requestVideoFrameCallback" in video)) return resolve();
    const timer = setTimeout(resolve, longestDrawing);
    video.requestVideoFrameCallback(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
