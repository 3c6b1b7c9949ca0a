import { mayHaveSound, PageError, sourceOf } from "./api.js";
import { browserAbilities } from "./browser-media.js";
import { element } from "./dom.js";
import { LivePaths, statusOfPath, transcodedCodec } from "./live-paths.js";
import { MediaFeed } from "./media-feed.js";
import { PictureFeed, seriesOf, snapshotsOf } from "./picture-feed.js";
import { widthFor } from "./snapshots.js";
import { t } from "./text.js";

// Milliseconds that a view goes on while its page is hidden. Another negotiation takes longer than another stream.
const grace = 4000;
const graceOfWebRTC = 60000;
// Milliseconds that its first picture may take.
const patience = 8000;
// Milliseconds that a stream was shown before an error of its decoder says something about a moment, not about the browser.
const settled = 10000;
const seriesRate = 5;

/** How a live view goes on where WebRTC does not work, or only by transcoding what the browser plays as a file. */
export class LiveFallback {
  /**
   * @param {import("./live-session.js").LiveSession} live
   * @param {import("./live-paths.js").Abilities} abilities
   */
  constructor(live, abilities = browserAbilities) {
    this.live = live;
    this.paths = new LivePaths(abilities);
    this.abilities = abilities;
    /** @type {import("./live-paths.js").LivePath} */
    this.path = "webrtc";
    /** @type {MediaFeed | PictureFeed | null} */
    this.feed = null;
    this.image = element("img", "still");
    this.image.alt = "";
    this.image.hidden = true;
    // The codec that the gateway has said it transcodes for WebRTC.
    this.transcoded = "";
    // WebSockets in a row that could not be opened although the gateway answers.
    this.misses = 0;
    this.seenAt = -Infinity;
    this.isResting = false;
  }

  get isOpen() { return this.feed !== null; }

  /** When something came by it last; null while it is not open. */
  get heardAt() { return this.feed?.heardAt ?? null; }

  /** Whether the pictures are in the image, and not in the video. */
  get isImage() { return this.path === "pictures"; }

  get isSmall() { return this.live.quality.wanted === "sd"; }

  /** The codec of the camera's picture; "" while nobody has said it. */
  get codec() {
    const codecs = sourceOf(this.live.device).tracks.filter(({ kind }) => kind === "video").map(({ codec }) => codec);
    return (this.isSmall ? codecs.at(-1) : codecs[0]) ?? this.transcoded;
  }

  best() {
    const { codec } = this;
    return this.paths.choose(
      { codec, isTranscoded: codec !== "" && codec === this.transcoded, canTalk: this.live.device.canTalk }, performance.now());
  }

  /** Decides how the next connection is made. */
  choose() {
    this.isResting = false;
    this.path = this.best();
    this.image.hidden = !this.isImage;
    return this.path;
  }

  /**
   * Takes what the gateway says about an answer to an offer.
   * @param {string[]} notes
   * @returns {boolean} whether the camera is better shown by another path
   */
  hear(notes) {
    this.transcoded = transcodedCodec(notes) ?? "";
    return this.best() !== this.path;
  }

  /**
   * Takes the end of a connection.
   * @param {unknown} error
   * @returns {boolean} whether to connect at once, by the best path that is left
   */
  takes(error) {
    const { live } = this;
    const status = statusOfPath(error);
    // It has played for some time, so a new stream may play, too.
    if (status === "UNREADABLE" && live.liveSince !== null && performance.now() - live.liveSince > settled) return false;
    // The gateway may have started again in this moment.
    if (status === "NO_SOCKET" && ++this.misses < 2) return true;
    return this.paths.refuse(this.path, status, this.codec, performance.now());
  }

  /**
   * Connects by the path that was chosen.
   * @param {number} generation of the live session
   */
  connect(generation) {
    const { live } = this;
    const view = {
      began: (/** @type {boolean} */ hasPicture) => this.began(generation, hasPicture),
      ended: (/** @type {unknown} */ error) => this.ended(generation, error),
      shown: () => { if (generation === live.generation) live.watch.beat(true); },
    };
    const camera = `/v1/devices/${encodeURIComponent(live.device.id)}`;
    if (this.path === "websocket") {
      this.feed = new MediaFeed(`${camera}/live.mp4?stream=${this.isSmall ? "sub" : "main"}`, live.video, this.abilities.plays, view);
      return;
    }
    const width = widthFor(live.video.clientWidth);
    this.feed = new PictureFeed((signal) => (this.isSmall ? snapshotsOf(`${camera}/snapshot.jpg?width=${width}`, signal)
      : seriesOf(`${camera}/live.mjpeg?rate=${seriesRate}&width=${width}`, signal)), this.image, view);
  }

  /**
   * @param {number} generation
   * @param {boolean} hasPicture
   */
  began(generation, hasPicture) {
    const { live } = this;
    if (generation !== live.generation) return;
    this.misses = 0;
    live.path = this.path;
    live.change(live.state === "starting" ? "connecting" : live.state, null);
    live.after(patience, "silence", () => this.explainSilence(generation));
    if (this.isImage) {
      // The first gap between two pictures does not count as a stall.
      if (this.isSmall) live.watch.expect(1000);
      return;
    }
    live.watch.end();
    live.watch.begin(hasPicture);
    live.play();
  }

  /**
   * @param {number} generation
   * @param {unknown} error
   */
  ended(generation, error) {
    const { live } = this;
    if (generation !== live.generation) return;
    if (error === null) live.restart();
    else live.failed(error);
  }

  /** @param {number} generation */
  explainSilence(generation) {
    const { live, feed } = this;
    if (generation !== live.generation || live.liveSince !== null || !feed) return;
    if (document.visibilityState !== "visible") {
      live.after(patience, "silence", () => this.explainSilence(generation));
    } else if (live.hasPicture && feed.packets > 1 && feed.frames === 0) {
      live.failed(new PageError("UNREADABLE", t("mediaFeed.cannotDecode")));
    } else {
      live.change(live.state, { message: t("liveSession.noPicture"), mild: true });
    }
  }

  /** What came so far, as WebRTC would report it. @returns {import("./reception.js").Statistics} */
  statistics() {
    const { feed } = this;
    if (!feed) return new Map();
    const counts = { type: "inbound-rtp", framesDecoded: feed.frames, packetsReceived: feed.packets };
    return new Map([["video", { ...counts, kind: "video" }], ["audio", { ...counts, framesDecoded: 0, kind: "audio" }]]);
  }

  /** Called some times a second while the view is active. */
  tick() {
    const { live } = this;
    if (document.visibilityState === "visible") this.see();
    if (this.isResting) {
      if (!this.mayRest) live.wake();
    } else if (this.mayRest) {
      this.rest();
    } else if (this.isImage && this.isOpen && this.best() !== this.path) {
      // What kept the better paths away may be over.
      live.restart();
    }
  }

  /** Somebody sees the view, or has just asked for it. */
  see() { this.seenAt = performance.now(); }

  /** Whether nobody has seen or heard it for some time: the page is hidden, and the video does not float above others. */
  get mayRest() {
    const patient = this.path === "webrtc" ? graceOfWebRTC : grace;
    if (document.visibilityState === "visible" || performance.now() - this.seenAt < patient) return false;
    return this.isImage || !this.isUsed;
  }

  /** Whether it is of use while the page is hidden. */
  get isUsed() { return this.isHeard || this.isBusy; }

  /** Whether it floats above other windows, or somebody talks. */
  get isBusy() {
    const { video, talk } = this.live;
    return document.pictureInPictureElement === video || talk.isTalking || talk.isOpening;
  }

  /** Whether its sound is on. A camera of which no track is known may have sound. */
  get isHeard() {
    const { video, device } = this.live;
    const source = sourceOf(device);
    return !video.muted && video.volume > 0 && (source.tracks.length === 0 || mayHaveSound(source));
  }

  /** Brings nothing until the page is seen again. */
  rest() {
    this.close();
    this.live.rest();
    this.isResting = true;
  }

  close() {
    this.isResting = false;
    this.feed?.close();
    this.feed = null;
  }
}
