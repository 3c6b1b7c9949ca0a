import { APIError, PageError, send } from "./api.js";
import { MediaSink } from "./media-sink.js";
import { t } from "./text.js";
import { socketProtocols } from "./token.js";

/**
 * The view that a feed works for.
 * @typedef {object} Fed
 * @property {(hasPicture: boolean) => void} began the description of the stream has come, at first or once more
 * @property {(error: unknown) => void} ended called once, if nobody has closed the feed; null: the gateway has ended the stream
 */

// Milliseconds that the first message may take. A camera gets 15 seconds of the gateway.
const patience = 20000;
// RFC 6455, section 7.4.1: the gateway says why it shows no more.
const policyViolation = 1008;

/**
 * The address of a WebSocket.
 * @param {string} path
 * @param {string} page the address of this page
 */
export function socketAddress(path, page) {
  const address = new URL(path, page);
  address.protocol = address.protocol === "https:" ? "wss:" : "ws:";
  return address.href;
}

/**
 * A media type without its sound; null if it has no sound or nothing else.
 * @param {string} type
 */
export function withoutSound(type) {
  const [, container, codecs = ""] = /^(.*); codecs="(.*)"$/.exec(type) ?? [];
  const all = codecs.split(/, ?/);
  const pictures = all.filter((codec) => !/^(?:opus|mp4a\.|ac-3|ec-3|flac)/i.test(codec));
  return pictures.length === 0 || pictures.length === all.length ? null : `${container}; codecs="${pictures.join(", ")}"`;
}

/** A camera's fragmented MP4 over a WebSocket, played in a video element. */
export class MediaFeed {
  /**
   * @param {string} path of the camera's `live.mp4`, with the stream in its query
   * @param {HTMLVideoElement} video
   * @param {(type: string) => boolean} plays
   * @param {Fed} view
   */
  constructor(path, video, plays, view) {
    this.path = path;
    this.video = video;
    this.plays = plays;
    this.view = view;
    this.isClosed = false;
    this.packets = 0;
    this.heardAt = performance.now();
    /** @type {MediaSink | null} */
    this.sink = null;
    this.hasBegun = false;
    /** @type {number | undefined} */
    this.limit = undefined;
    this.socket = this.connect();
  }

  /** The pictures that were decoded. */
  get frames() { return this.video.getVideoPlaybackQuality().totalVideoFrames; }

  connect() {
    const socket = new WebSocket(socketAddress(this.path, location.href), socketProtocols());
    clearTimeout(this.limit);
    this.limit = setTimeout(() => socket.close(), patience);
    socket.binaryType = "arraybuffer";
    socket.addEventListener("message", ({ data }) => { if (socket === this.socket) this.take(data); });
    socket.addEventListener("close", ({ code, reason }) => { if (socket === this.socket) this.lost(code, reason); });
    return socket;
  }

  /** @param {string | ArrayBuffer} data */
  take(data) {
    if (this.isClosed) return;
    this.heardAt = performance.now();
    if (typeof data !== "string") {
      this.packets += 1;
      const { sink } = this;
      if (!sink) return;
      const isHeader = !sink.hasHeader;
      const hasPicture = sink.take(data);
      if (isHeader && !this.isClosed) this.view.began(hasPicture);
      return;
    }
    try {
      const { type, mediaType } = JSON.parse(data);
      if (type === "began") this.begin(String(mediaType));
    } catch (error) {
      this.end(error);
    }
  }

  /**
   * A header follows. The camera may send something else than before.
   * @param {string} type
   */
  begin(type) {
    clearTimeout(this.limit);
    this.hasBegun = true;
    this.packets = 0;
    this.sink?.close();
    this.sink = null;
    if (this.plays(type)) {
      this.sink = new MediaSink(this.video, type, (error) => this.end(error));
      return;
    }
    const silent = withoutSound(type);
    if (!silent || !this.plays(silent)) {
      throw new PageError("UNSUPPORTED", t("mediaFeed.unsupported"), type);
    }
    // The pictures can be played, and the sound cannot.
    this.path += "&sound=false";
    const { socket } = this;
    this.socket = this.connect();
    socket.close();
  }

  /**
   * The connection is closed, or could not be opened.
   * @param {number} code
   * @param {string} reason
   */
  async lost(code, reason) {
    if (this.isClosed) return;
    if (code === policyViolation && reason) this.end(new APIError("FAILED_PRECONDITION", reason));
    else if (this.hasBegun) this.end(null);
    else this.end(await this.explain());
  }

  /** A browser does not say why a WebSocket was refused, so the same is asked for as a file. */
  async explain() {
    const abort = new AbortController();
    try {
      await send("GET", this.path, undefined, { signal: abort.signal, read: () => abort.abort() });
      return new PageError("NO_SOCKET", t("mediaFeed.noWebSocket"));
    } catch (error) {
      return error;
    }
  }

  /** @param {unknown} error */
  end(error) {
    if (this.isClosed) return;
    this.close();
    this.view.ended(error);
  }

  close() {
    this.isClosed = true;
    clearTimeout(this.limit);
    this.sink?.close();
    this.sink = null;
    this.socket.close();
  }
}
