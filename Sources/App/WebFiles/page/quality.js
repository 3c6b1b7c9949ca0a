import { command } from "./api.js";

/** @typedef {"unspecified" | "sd" | "hd"} Hint */

/** Which stream of its camera a live view shows: the main one, or the smaller one ("sd"). */
export class Quality {
  /** @param {import("./live-session.js").LiveSession} live */
  constructor(live) {
    this.live = live;
    /** @type {Hint} */
    this.wanted = "unspecified";
  }

  /** What the start of a view says about it. */
  get parameters() { return this.wanted === "unspecified" ? {} : { qualityHint: this.wanted }; }

  /**
   * Changes a running view without another negotiation. A view that is not running starts with it.
   * @param {Hint} wanted
   */
  async change(wanted) {
    this.wanted = wanted;
    const { session, device } = this.live;
    // A stream that is no WebRTC session begins again.
    if (this.live.fallback.isOpen) this.live.restart();
    if (!session) return;
    await command(device.id, "WebRtcLiveView", "changeLiveViewQuality", { mediaSessionId: session, qualityHint: wanted });
  }
}
