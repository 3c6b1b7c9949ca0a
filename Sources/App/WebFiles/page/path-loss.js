import { getSession, sourceOf, statusOf } from "./api.js";
import { isBroken, patience as longestGap } from "./liveness.js";
import { countArrivals } from "./reception.js";

// Milliseconds in which nothing at all comes, after the picture has stopped: then the path is taken for lost. A browser takes five
// seconds or more to say so, in which the gateway would end a talk.
const silence = 2000;
// Milliseconds from a loss that the browser reports to the restart of ICE. Many losses are over a moment later: those need nothing.
const grace = 1000;
// Milliseconds to another session: from a loss that the browser reports, and from one that it does not know of yet.
const patience = { reported: 5000, suspected: 8000 };
// Milliseconds from one restart of ICE to the next: a path that comes and goes asks the gateway for no more than that.
const pause = 5000;

/**
 * What a live view does when its path is lost, for example because this device is in another network now: it restarts ICE in
 * the same session, so that its talk goes on. If that fails or does not help in time, it gets another session.
 */
export class PathLoss {
  /** @param {import("./live-session.js").LiveSession} live */
  constructor(live) {
    this.live = live;
    // Over all connections.
    this.triedAt = -Infinity;
    // Of one connection, from a loss until the path is back.
    this.isLost = false;
    this.hasTried = false;
    this.lostAt = 0;
    this.endsAt = Infinity;
    // Of one stall of the picture: what had come when something came last, and when that was.
    /** @type {{ count: number, at: number } | null} */
    this.heard = null;
    this.hasSuspected = false;
    // The connection whose statistics are awaited, by its number. A browser may never return those of a closed connection.
    this.looked = -1;
  }

  /** A connection is made. */
  prepare() {
    this.isLost = this.hasTried = false;
    this.endsAt = Infinity;
  }

  /** Called some times a second while the view is active. */
  async tick() {
    const { live } = this;
    const { generation, pc } = live;
    if (!live.verdict.isStalled) {
      this.heard = null;
      this.hasSuspected = false;
    }
    const isSending = ["flowing", "unknown"].includes(sourceOf(live.device).state);
    if (!live.verdict.isStalled || live.state !== "live" || !pc || !live.session || this.looked === generation) return;
    this.looked = generation;
    const count = countArrivals(await live.statistics());
    if (generation !== live.generation) return;
    this.looked = -1;
    const now = performance.now();
    // A count that falls does not mean that something came: after a restart of ICE, browsers leave out the old paths.
    if (!this.heard || count > this.heard.count) this.heard = { count, at: now };
    else this.heard.count = count;
    if (!isSending || this.isLost || this.hasSuspected || now - this.heard.at < silence) return;
    // Once in a stall: the path may be well, and the camera silent.
    this.hasSuspected = true;
    this.lose(pc, 0, patience.suspected);
  }

  /**
   * @param {RTCPeerConnection} pc
   * @param {number} generation of the live session
   */
  connectionChanged(pc, generation) {
    const { live } = this;
    if (generation !== live.generation) return;
    const state = pc.connectionState;
    if (state === "connected") {
      live.step("encryption agreed");
      this.found();
    } else if (state === "disconnected") {
      this.lose(pc, grace);
    } else if (state === "failed") {
      if (live.hasStep("path found")) this.lose(pc, 0);
      else live.silence.giveUp(generation, false);
    }
    live.weigh();
  }

  /** The page has reached the gateway again, which may be another one than before. */
  async check() {
    const { live } = this;
    if (!live.isWanted) return;
    // A WebSocket or a series of pictures does not report that its gateway has lost power. Where pictures are far apart, none
    // may have been due.
    const { heardAt } = live.fallback;
    const isSilent = heardAt !== null && performance.now() - heardAt > longestGap(live.watch.pulse.usualGap);
    if (isSilent && heardAt < live.silence.lostAt) return live.restart();
    if (!live.session) return live.nudge();
    const { generation, pc } = live;
    try {
      const session = await getSession(live.session);
      if (generation !== live.generation) return;
      // This device may have another address now, so the path of the pictures is not waited for.
      if (pc && isBroken(pc.iceConnectionState)) this.lose(pc, 0);
      else live.iceRestart.take(session.wantsICERestart === true);
    } catch (error) {
      if (generation === live.generation && statusOf(error) === "NOT_FOUND") live.ended();
    }
  }

  found() {
    clearTimeout(this.live.timers.lost);
    clearTimeout(this.live.timers.repair);
    this.prepare();
  }

  /**
   * @param {RTCPeerConnection} pc
   * @param {number} wait milliseconds before ICE is restarted
   * @param {number} limit milliseconds before another session
   */
  lose(pc, wait, limit = patience.reported) {
    const { live } = this;
    const now = performance.now();
    if (!this.isLost) this.lostAt = now;
    this.isLost = true;
    if (now + limit < this.endsAt) {
      this.endsAt = now + limit;
      live.after(limit, "lost", () => this.end(pc));
    }
    if (this.hasTried || live.iceRestart.isUnderWay) return;
    const rest = this.triedAt + pause - now;
    if (wait === 0 && rest <= 0) this.repair();
    // The path has failed for good, and this view has just had its restart.
    else if (pc.connectionState === "failed") live.restart();
    else live.after(Math.max(wait, rest), "repair", () => this.repair());
  }

  /** @param {RTCPeerConnection} pc */
  end(pc) {
    const isSilent = this.heard !== null && this.heard.at < this.lostAt;
    if (pc.connectionState === "connected" && !isSilent) this.found();
    else this.live.restart();
  }

  repair() {
    const { live } = this;
    clearTimeout(live.timers.repair);
    if (!this.isLost || this.hasTried || live.iceRestart.isUnderWay) return;
    // Without a network the request would fail, and cost the session. With one, the page reaches the gateway and checks.
    if (navigator.onLine === false) return;
    this.hasTried = true;
    this.triedAt = performance.now();
    live.iceRestart.begin(null);
  }
}
