import { PageError } from "./api.js";
import { mediaSourceClass } from "./browser-media.js";
import { chase, removable } from "./live-edge.js";
import { keyFrameTime, pictureTrack } from "./live-fragments.js";
import { t } from "./text.js";

// Bytes that may wait for the browser. A device that is this far behind begins again at the live edge.
const mostWaiting = 16 << 20;

/**
 * Plays fragmented MP4 in a video element by Media Source Extensions as it comes, at the live edge. What was shown is removed,
 * so a view of weeks needs no more memory than one of a minute.
 */
export class MediaSink {
  /**
   * @param {HTMLVideoElement} video
   * @param {string} type that the browser plays
   * @param {(error: unknown) => void} failed called once, if at all; the sink plays no more then
   */
  constructor(video, type, failed) {
    const Source = mediaSourceClass();
    if (!Source) throw new PageError("UNSUPPORTED", t("mediaFeed.unsupported"));
    this.video = video;
    this.failed = failed;
    this.isClosed = false;
    /** @type {ArrayBuffer[]} */
    this.waiting = [];
    /** @type {SourceBuffer | null} */
    this.buffer = null;
    /** @type {import("./live-fragments.js").PictureTrack | null} */
    this.track = null;
    this.hasHeader = false;
    /** @type {number[]} */
    this.keys = [];
    this.broken = () => this.fail(new PageError("UNREADABLE", t("mediaFeed.cannotDecode"), video.error?.message ?? null));
    video.addEventListener("error", this.broken);
    this.source = new Source();
    this.source.addEventListener("sourceopen", () => this.open(type), { once: true });
    this.url = URL.createObjectURL(this.source);
    // Safari permits the managed kind only where nothing is sent to another screen.
    if (!("MediaSource" in globalThis)) video.disableRemotePlayback = true;
    video.srcObject = null;
    video.src = this.url;
  }

  /** @param {string} type */
  open(type) {
    if (this.isClosed) return;
    try {
      this.source.duration = Infinity;
      this.buffer = this.source.addSourceBuffer(type);
    } catch (error) {
      this.fail(error);
      return;
    }
    this.buffer.addEventListener("updateend", () => this.feed());
    this.buffer.addEventListener("error", this.broken);
    this.feed();
  }

  /**
   * Takes the header, and then each fragment.
   * @param {ArrayBuffer} bytes
   * @returns {boolean} whether the stream has pictures
   */
  take(bytes) {
    try {
      if (!this.hasHeader) {
        this.hasHeader = true;
        this.track = pictureTrack(bytes);
      } else if (this.track) {
        const key = keyFrameTime(bytes, this.track);
        if (key !== undefined) this.keys.push(key);
      }
    } catch {
      this.broken();
      return false;
    }
    this.waiting.push(bytes);
    if (this.waiting.reduce((sum, one) => sum + one.byteLength, 0) > mostWaiting) {
      this.fail(new PageError("UNAVAILABLE", t("mediaFeed.tooSlow")));
    } else {
      this.feed();
    }
    return this.track !== null;
  }

  get ranges() {
    const buffered = this.buffer?.buffered;
    return Array.from({ length: buffered?.length ?? 0 }, (_, index) => (
      { start: buffered?.start(index) ?? 0, end: buffered?.end(index) ?? 0 }));
  }

  /** Does what comes next with the buffer, if it is not busy. */
  feed() {
    const { buffer, video } = this;
    if (this.isClosed || !buffer || buffer.updating) return;
    try {
      const { ranges } = this;
      const { seek, rate } = chase(ranges, video.currentTime, video.playbackRate);
      if (seek !== undefined && !video.seeking) video.currentTime = seek;
      if (video.playbackRate !== rate) video.playbackRate = rate;
      const until = removable(ranges, video.currentTime, this.track ? this.keys : null);
      if (until !== undefined) {
        this.keys = this.keys.filter((key) => key >= until);
        buffer.remove(0, until);
      } else if (this.waiting.length > 0) {
        this.append(buffer);
      }
    } catch (error) {
      // A camera without key frames fills the buffer of the browser: the view begins again at the newest one.
      const isFull = error instanceof DOMException && error.name === "QuotaExceededError";
      if (isFull) this.fail(new PageError("UNAVAILABLE", t("mediaFeed.tooSlow")));
      else this.broken();
    }
  }

  /**
   * Appends all that waits at once: a browser that was busy catches up.
   * @param {SourceBuffer} buffer
   */
  append(buffer) {
    const all = new Uint8Array(this.waiting.reduce((sum, one) => sum + one.byteLength, 0));
    let place = 0;
    for (const one of this.waiting) {
      all.set(new Uint8Array(one), place);
      place += one.byteLength;
    }
    buffer.appendBuffer(all);
    this.waiting = [];
  }

  /** @param {unknown} error */
  fail(error) {
    if (this.isClosed) return;
    this.close();
    this.failed(error);
  }

  close() {
    if (this.isClosed) return;
    this.isClosed = true;
    this.waiting = [];
    const { video } = this;
    video.removeEventListener("error", this.broken);
    video.playbackRate = 1;
    video.removeAttribute("src");
    video.load();
    URL.revokeObjectURL(this.url);
  }
}
