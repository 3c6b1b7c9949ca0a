import { answers, PageError } from "./api.js";
import { isStuck } from "./liveness.js";
import { countReceived, offeredAddresses, pictureCodec } from "./reception.js";
import { t } from "./text.js";

// Milliseconds that the first picture may take.
const patience = 8000;
// Milliseconds from one question to the gateway to the next.
const pause = 5000;
// So many connections in a row may be cut off before their first picture without a verdict on the path. Without a
// limit, a network that comes and goes would keep a view from the other paths.
const mostCuts = 3;

/** What a live view does while no picture comes: it finds out why, says so, and connects again where that may help. */
export class LiveSilence {
  /** @param {import("./live-session.js").LiveSession} live */
  constructor(live) {
    this.live = live;
    /** @type {boolean | null} whether the gateway answers; null while nobody has asked */
    this.answers = null;
    this.askedAt = -Infinity;
    this.isAsking = false;
    // When the page lost the gateway last, by its event stream, by the browser, or by a question.
    this.lostAt = -Infinity;
    this.wasReached = false;
    // The connections that were cut off since something was shown.
    this.cuts = 0;
    // Of one connection: whether the browser decodes what arrives, as far as is known.
    this.canDecode = true;
  }

  /** Somebody begins to watch. */
  start() {
    this.answers = null;
    this.wasReached = this.isReached;
    this.cuts = 0;
  }

  /** A connection shows something. */
  shown() { this.cuts = 0; }

  /** A connection is made. */
  prepare() { this.canDecode = true; }

  get isReached() { return this.live.link.isUp && navigator.onLine !== false; }

  /** Called some times a second while the view is active, and when the event stream is connected or lost. */
  tick() {
    const { isReached } = this;
    if (this.wasReached && !isReached) this.lostAt = performance.now();
    this.wasReached = isReached;
    if (this.live.verdict.isStalled) this.askGateway();
    else this.answers = null;
    this.restartIfStuck();
  }

  // Whether it is the gateway that is gone: asked while nothing comes.
  async askGateway() {
    const now = performance.now();
    if (this.isAsking || now - this.askedAt < pause) return;
    this.isAsking = true;
    this.askedAt = now;
    const result = await answers();
    this.isAsking = false;
    this.answers = result;
    this.live.weigh();
  }

  restartIfStuck() {
    const { live } = this;
    const isVisible = document.visibilityState === "visible";
    // A hidden page may show no pictures, and process late what arrives. With WebRTC, the browser itself ends a connection on which
    // nothing arrives. A WebSocket whose gateway has lost power stays open, and somebody may listen to it.
    const last = isVisible ? live.watch.pulse.last : live.fallback.heardAt;
    if (!live.isConnected || live.talk.isTalking || (!isVisible && last === null)) return;
    const now = performance.now();
    const stuck = isStuck({
      silence: (live.state === "live" || !isVisible) && last !== null ? now - last : null, sinceStart: now - live.begin,
      flowingFor: live.device.flowingSince ? now - live.device.flowingSince : 0, hasLink: live.link.isUp,
      answers: this.answers, canDecode: this.canDecode,
    });
    if (stuck) live.restart();
  }

  /**
   * A connection is negotiated: if its first picture does not come in time, the view says why.
   * @param {number} generation of the live session
   */
  waitForPicture(generation) {
    this.live.after(patience, "silence", () => this.explain(generation));
  }

  /** @param {number} generation */
  async explain(generation) {
    const { live } = this;
    if (generation !== live.generation || live.liveSince) return;
    // Some browsers decode nothing for a page that is hidden.
    if (document.visibilityState !== "visible") {
      this.waitForPicture(generation);
      return;
    }
    const statistics = await live.statistics();
    const { frames, packets } = countReceived(statistics, true);
    if (generation !== live.generation || frames > 0) return;
    const isThrough = live.hasStep("encryption agreed");
    this.canDecode = !isThrough || packets === 0;
    if (!isThrough || packets > 0) return this.giveUp(generation, isThrough, pictureCodec(statistics));
    const words = { message: t("liveSession.noPicture"), details: live.notes.join("\n") || null };
    live.change(live.state, { ...words, mild: true });
    live.readGatewaySteps();
  }

  /**
   * The picture does not come through by WebRTC, or the browser does not decode it. A view waits for a gateway that does not
   * answer, unless its connection has failed. A connection that was cut off says nothing about this network or this browser, so it
   * is tried again, unless that has happened too often.
   * @param {number} generation
   * @param {boolean} isThrough
   * @param {string} [codec]
   */
  async giveUp(generation, isThrough, codec = "") {
    const { live } = this;
    const isThere = await answers();
    if (generation !== live.generation || live.liveSince) return;
    if (!isThere) this.lostAt = performance.now();
    if (!isThere && live.pc?.connectionState === "failed") {
      this.cuts += 1;
      live.failed(new PageError("UNREACHABLE", t("liveSession.theGatewayDoesNotAnswer")));
    } else if (!isThere) {
      this.waitForPicture(generation);
    } else if (this.lostAt >= live.begin && this.cuts < mostCuts) {
      this.cuts += 1;
      live.restart();
    } else {
      this.cuts = 0;
      live.failed(!isThrough ? this.noPath() : new PageError("NO_DECODER", t("liveSession.cannotDecode"),
        codec ? t("liveSession.thePictureComesAsCodec", { codec }) : live.notes.join("\n") || null));
    }
  }

  /** The error of a connection for which no pair of addresses works. */
  noPath() {
    const offered = offeredAddresses(this.live.answer);
    return new PageError("NO_PATH", t("liveSession.noPath"), offered.length === 0 ? t("liveSession.theGatewayOfferedNoAddress")
      : t("live.gatewayAddresses", { addresses: offered.slice(0, 4).join(", ") }));
  }
}
