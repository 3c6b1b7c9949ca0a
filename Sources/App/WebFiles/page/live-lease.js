import { command, statusOf } from "./api.js";
import { extendAfter } from "./reception.js";

// Milliseconds after which a failed extension is tried again.
const pause = 5000;

/** The lease of a live view. It is extended before it ends; a failure is tried again until it has ended. */
export class LiveLease {
  /** @param {import("./live-session.js").LiveSession} live */
  constructor(live) {
    this.live = live;
    this.end = 0;
  }

  /**
   * The gateway has granted a view, or extended it.
   * @param {number} seconds
   */
  begin(seconds) {
    this.end = performance.now() + seconds * 1000;
    this.live.after(extendAfter(seconds) * 1000, "lease", () => this.extend());
  }

  async extend() {
    const { live } = this;
    const { generation } = live;
    try {
      const granted = await command(live.device.id, "WebRtcLiveView", "extendLiveView", { mediaSessionId: live.session });
      if (generation === live.generation) this.begin(granted.liveSessionDurationSeconds);
    } catch (error) {
      if (generation !== live.generation) return;
      if (statusOf(error) === "NOT_FOUND" || performance.now() > this.end) live.ended();
      else live.after(pause, "lease", () => this.extend());
    }
  }
}
