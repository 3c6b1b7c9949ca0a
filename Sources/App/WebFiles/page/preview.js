import { element } from "./dom.js";
import { sizeOf } from "./picture-file.js";

// HTMLMediaElement.HAVE_CURRENT_DATA
const hasCurrentData = 2;

/** The pictures of a camera that nobody watches: the last snapshot, and the last picture of the last view. */
export class Preview {
  /** @param {() => void} onChange */
  constructor(onChange) {
    this.onChange = onChange;
    this.snapshot = element("img", "picture");
    this.snapshot.hidden = true;
    this.snapshot.alt = "";
    this.poster = element("canvas");
    this.poster.hidden = true;
    /** @type {string | null} */
    this.url = null;
    /**
     * The last snapshot.
     * @type {Blob | null}
     */
    this.blob = null;
    this.time = 0;
    /**
     * Pictures that wait for the newest one to be shown.
     * @type {string[]}
     */
    this.replaced = [];
    this.snapshot.addEventListener("load", () => this.release());
    this.snapshot.addEventListener("error", () => this.forget());
  }

  release() { for (const url of this.replaced.splice(0)) URL.revokeObjectURL(url); }

  get hasSnapshot() { return this.url !== null; }

  get hasPoster() { return !this.poster.hidden; }

  /** Seconds since the snapshot was taken. */
  get age() { return Math.max(0, Math.round((performance.now() - this.time) / 1000)); }

  /**
   * @param {Blob} blob
   * @param {number} age milliseconds
   */
  show(blob, age) {
    const before = this.url;
    this.blob = blob;
    this.url = URL.createObjectURL(blob);
    this.time = performance.now() - age;
    // The picture before is given back once this one is shown.
    if (before) this.replaced.push(before);
    this.snapshot.src = this.url;
    this.onChange();
  }

  forget() {
    this.release();
    if (!this.url) return;
    URL.revokeObjectURL(this.url);
    this.url = null;
    this.blob = null;
    // Outside the document it is given up with its view. Chromium would keep it there once it has lost its address, and all that
    // is around it.
    if (this.snapshot.isConnected) this.snapshot.removeAttribute("src");
    this.onChange();
  }

  /**
   * Keeps what is shown, so that the tile is not black between two looks.
   * @param {HTMLVideoElement | HTMLImageElement} picture
   * @returns {boolean} whether it shows something
   */
  keep(picture) {
    // A video that jumps has no picture for a canvas in Firefox, although it still shows the last one.
    if ("readyState" in picture && picture.readyState < hasCurrentData) return false;
    return this.draw(picture, sizeOf(picture));
  }

  /**
   * Takes over what another preview has.
   * @param {Preview} other
   */
  copy(other) {
    const { poster, snapshot } = other;
    if (other.hasPoster) this.draw(poster, poster);
    else if (other.hasSnapshot) this.draw(snapshot, sizeOf(snapshot));
  }

  /**
   * @param {CanvasImageSource} picture
   * @param {{width: number, height: number}} size its own
   */
  draw(picture, { width, height }) {
    if (width === 0 || height === 0) return false;
    this.poster.width = 480;
    this.poster.height = Math.round(480 * height / width);
    try {
      this.poster.getContext("2d")?.drawImage(picture, 0, 0, this.poster.width, this.poster.height);
      this.poster.hidden = false;
    } catch {
      this.poster.hidden = true;
    }
    return this.hasPoster;
  }
}
