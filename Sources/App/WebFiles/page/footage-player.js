import { PageError, statusOf } from "./api.js";
import { hasOnlyUnplayablePictures, nextPiece, piecesOf, skipTarget } from "./footage.js";
import { isWorthRetrying } from "./liveness.js";
import { getBytes, getFootage } from "./recordings-api.js";
import { t } from "./text.js";
import { headerOf, webmHeader, webmMedia, webmType } from "./webm.js";

/** @typedef {import("./footage.js").Piece} Piece */

// Milliseconds: how much footage is asked for at once, and how much is fetched before it is shown.
const windowLength = 300000;
const ahead = 30000;
// Seconds that stay behind the position.
const behind = 60;
// Milliseconds before what the gateway did not answer is asked for again, and the longest after several times.
const firstPause = 3000;
const longestPause = 30000;

/** Whether this browser puts together what it plays. Safari on phones does not, and gets a playlist. */
export function buildsMedia() { return typeof MediaSource !== "undefined"; }

/**
 * The type that this browser plays a type as; undefined if it does not.
 * @param {string} type
 */
function playedType(type) {
  return [type, webmType(type)].find((one) => one !== undefined && MediaSource.isTypeSupported(one));
}

/**
 * Plays recorded segments in a video element by Media Source Extensions. The element's time is the time since `base`.
 */
export class FootagePlayer {
  /**
   * @param {string} device
   * @param {HTMLVideoElement} video
   * @param {number} base milliseconds since 1970
   * @param {(time: number) => number | undefined} nextRecorded where footage goes on after a time
   * @param {(error: unknown) => void} failed called with null when it goes on
   */
  constructor(device, video, base, nextRecorded, failed) {
    this.device = device;
    this.video = video;
    this.base = base;
    this.nextRecorded = nextRecorded;
    this.failed = failed;
    this.source = new MediaSource();
    this.url = URL.createObjectURL(this.source);
    /** @type {Map<string, { buffer: SourceBuffer, initialization: string, type: string }>} */
    this.buffers = new Map();
    /** @type {Piece[]} */
    this.pieces = [];
    /** @type {Set<string>} */
    this.there = new Set();
    /** @type {Map<string, ArrayBuffer>} */
    this.headers = new Map();
    /** @type {number | undefined} */
    this.wanted = undefined;
    // Up to where the pieces are known.
    this.known = 0;
    this.isClosed = false;
    this.hasFailed = false;
    // After the next failure.
    this.retryPause = firstPause;
    this.wake = () => {};
    // A seek makes what is being fetched useless.
    this.abort = new AbortController();
    video.src = this.url;
    video.addEventListener("timeupdate", this.look = () => this.wake());
    video.addEventListener("waiting", this.look);
    this.opened = new Promise((resolve) => {
      this.source.addEventListener("sourceopen", () => resolve(null), { once: true });
    });
  }

  /** The time that is shown, in milliseconds since 1970. */
  get time() { return this.base + this.video.currentTime * 1000; }

  /**
   * Shows another time.
   * @param {number} time
   */
  seek(time) {
    const seconds = (time - this.base) / 1000;
    this.wanted = time;
    const isThere = this.ranges.some(({ start, end }) => seconds >= start && seconds < end - 0.2);
    if (!isThere) {
      this.abort.abort();
      this.abort = new AbortController();
      this.pieces = [];
      this.known = time;
    }
    this.video.currentTime = seconds;
    this.wake();
  }

  get ranges() {
    const { buffered } = this.video;
    return Array.from({ length: buffered.length }, (_, index) => (
      { start: buffered.start(index), end: buffered.end(index) }));
  }

  /**
   * Fetches and appends until the player is closed.
   * @param {number} from the time to begin with
   */
  async run(from) {
    await this.opened;
    if (this.isClosed) return;
    // Somebody may have gone to another time meanwhile.
    const start = this.wanted ?? from;
    this.source.duration = 200000;
    this.known = start;
    this.video.currentTime = (start - this.base) / 1000;
    while (!this.isClosed) {
      const { signal } = this.abort;
      try {
        // Each turn fetches something, or waits for a change of the position.
        const hasFetched = await this.step(signal);
        this.succeeded();
        if (!hasFetched) await this.pause();
      } catch (error) {
        if (this.isClosed) return;
        if (signal.aborted) continue;
        this.hasFailed = true;
        this.failed(error);
        await this.rest(signal, isWorthRetrying(statusOf(error), false));
      }
    }
  }

  succeeded() {
    this.retryPause = firstPause;
    if (this.hasFailed) this.failed(null);
    this.hasFailed = false;
  }

  /**
   * Waits for another time, which may be in another recording that can be played.
   * @param {AbortSignal} signal
   * @param {boolean} mayPass whether the same time may succeed later
   */
  async rest(signal, mayPass) {
    await new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        // The same signal serves every turn until another time is chosen.
        signal.removeEventListener("abort", end);
        resolve(null);
      };
      const timer = mayPass ? setTimeout(end, this.retryPause) : undefined;
      signal.addEventListener("abort", end);
    });
    this.retryPause = Math.min(this.retryPause * 2, longestPause);
  }

  /**
   * @param {AbortSignal} signal
   * @returns {Promise<boolean>} whether something was done
   */
  async step(signal) {
    const time = this.time;
    const piece = nextPiece(this.pieces, this.there, time, ahead);
    if (piece) {
      await this.append(piece, signal);
      this.skip();
      return true;
    }
    this.skip();
    if (this.known > time + ahead) return false;
    const start = this.nextRecorded(Math.max(this.known, time));
    if (start === undefined) return false;
    const until = start + windowLength;
    const parts = await getFootage(this.device, start, until, signal);
    signal.throwIfAborted();
    const found = piecesOf(parts, playedType);
    if (hasOnlyUnplayablePictures(parts, playedType)) {
      throw new PageError("UNSUPPORTED", t("footagePlayer.unsupportedFormat"));
    }
    const fresh = new Set(found.map(({ key }) => key));
    this.pieces = [...this.pieces.filter(({ key, until: end }) => !fresh.has(key) && end > time), ...found];
    this.known = parts.some(({ isRunning }) => isRunning) ? Math.max(start + 1, ...found.map((one) => one.until))
      : until;
    return found.some(({ key }) => !this.there.has(key));
  }

  // Goes over a time without footage.
  skip() {
    if (this.video.seeking && this.video.readyState > 1) return;
    const target = skipTarget(this.ranges, this.video.currentTime);
    if (target === undefined) return;
    // Only if it is known that nothing more will come before it.
    if (this.known < this.base + target * 1000) return;
    const isComing = nextPiece(this.pieces, this.there, this.time, target * 1000 + this.base - this.time);
    if (!isComing) this.video.currentTime = target;
  }

  async pause() {
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, 1000, null);
      this.wake = () => { clearTimeout(timer); resolve(null); };
    });
    this.wake = () => {};
  }

  /**
   * @param {Piece} piece
   * @param {AbortSignal} signal
   */
  async append(piece, signal) {
    const header = this.headers.get(piece.initialization) ?? await getBytes(this.device, piece.initialization, signal);
    this.headers.set(piece.initialization, header);
    const media = await getBytes(this.device, piece.media, signal);
    signal.throwIfAborted();
    this.makeBuffers();
    const isWebM = piece.type.startsWith("video/webm");
    const entry = this.buffers.get(piece.kind);
    if (!entry) {
      // A kind that comes later cannot be added: a camera that got sound within the day is heard when the day is
      // opened there.
      this.there.add(piece.key);
      return;
    }
    if (entry.initialization !== piece.initialization) {
      if (entry.type !== piece.type) entry.buffer.changeType(piece.type);
      entry.type = piece.type;
      entry.buffer.timestampOffset = (piece.origin - this.base) / 1000;
      await this.done(entry.buffer, () => entry.buffer.appendBuffer(isWebM ? webmHeader(headerOf(header)) : header));
      entry.initialization = piece.initialization;
    }
    await this.done(entry.buffer, () => entry.buffer.appendBuffer(isWebM ? webmMedia(media, headerOf(header)) : media));
    this.there.add(piece.key);
    await this.forget(entry.buffer);
  }

  // A browser takes further buffers only as long as it has read no header.
  makeBuffers() {
    if (this.buffers.size > 0) return;
    for (const { kind, type } of this.pieces) {
      if (this.buffers.has(kind)) continue;
      this.buffers.set(kind, { buffer: this.source.addSourceBuffer(type), initialization: "", type });
    }
  }

  /**
   * Gives the memory of what was shown back.
   * @param {SourceBuffer} buffer
   */
  async forget(buffer) {
    const { currentTime } = this.video;
    for (const { start, end } of this.rangesOf(buffer)) {
      const isFar = start > currentTime + 120;
      const until = isFar ? end : Math.min(end, currentTime - behind);
      if (until - start < 10) continue;
      await this.done(buffer, () => buffer.remove(start, until));
      const [from, to] = [this.base + start * 1000, this.base + until * 1000];
      for (const one of this.pieces) if (one.until > from && one.from < to) this.there.delete(one.key);
      const kept = new Set(this.pieces.map(({ key }) => key));
      for (const key of this.there) if (!kept.has(key)) this.there.delete(key);
    }
  }

  /** @param {SourceBuffer} buffer */
  rangesOf({ buffered }) {
    return Array.from({ length: buffered.length }, (_, index) => (
      { start: buffered.start(index), end: buffered.end(index) }));
  }

  /**
   * @param {SourceBuffer} buffer
   * @param {() => void} action
   */
  async done(buffer, action) {
    if (this.isClosed) throw new DOMException("closed", "AbortError");
    // The buffer is used for hours, so no listener may stay.
    const end = new AbortController();
    const { signal } = end;
    try {
      await new Promise((resolve, reject) => {
        buffer.addEventListener("updateend", () => resolve(null), { signal });
        buffer.addEventListener("error", () => reject(new PageError("UNREADABLE", t("footagePlayer.unreadable"))), { signal });
        action();
      });
    } finally {
      end.abort();
    }
  }

  close() {
    this.isClosed = true;
    this.abort.abort();
    this.video.removeEventListener("timeupdate", this.look);
    this.video.removeEventListener("waiting", this.look);
    this.video.removeAttribute("src");
    this.video.load();
    URL.revokeObjectURL(this.url);
    this.wake();
  }
}
