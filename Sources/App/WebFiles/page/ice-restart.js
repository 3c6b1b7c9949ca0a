import { restartICE } from "./api.js";
import { fragmentOf } from "./trickle.js";

// How long the new path may take, in milliseconds.
const patience = 8000;

/**
 * @param {string} text
 * @param {string} name of an attribute
 */
function attribute(text, name) { return text.match(new RegExp(`^a=${name}:(\\S+)`, "m"))?.[1] ?? ""; }

/**
 * The gateway's answer with the credentials and the addresses of the fragment with which it has restarted ICE, or "" if
 * the fragment has none. All sections share one transport, whose candidates are in the first.
 * @param {string} answer
 * @param {string} fragment
 */
export function answerAfterRestart(answer, fragment) {
  const [user, password] = [attribute(fragment, "ice-ufrag"), attribute(fragment, "ice-pwd")];
  if (!user || !password) return "";
  const candidates = (fragment.match(/^a=candidate:.*$/gm) ?? []).map((line) => `${line.trim()}\r\n`).join("");
  let isFirst = true;
  return answer.replaceAll(/^a=candidate:.*\r\n/gm, "")
    .replaceAll(/^a=ice-ufrag:.*\r\n/gm, () => {
      const line = `a=ice-ufrag:${user}\r\n${isFirst ? candidates : ""}`;
      isFirst = false;
      return line;
    })
    .replaceAll(/^a=ice-pwd:.*\r\n/gm, () => `a=ice-pwd:${password}\r\n`);
}

/**
 * Restarts the ICE of a live view. The gateway asks for it when a TURN server relays for it at a new address, because a router
 * in front of this browser may let in only datagrams from addresses that the browser has sent to. The view itself asks for it
 * when its path is lost. The session, its picture and its talk go on.
 */
export class IceRestart {
  /** @param {import("./live-session.js").LiveSession} live */
  constructor(live) {
    this.live = live;
    // The connection whose ICE is being restarted, by its number.
    this.generation = -1;
  }

  /** Whether the gateway has still to answer. */
  get isUnderWay() { return this.generation === this.live.generation; }

  /**
   * Handles whether the gateway asks for a restart. The gateway repeats it with each other change of the session.
   * @param {boolean} isWanted
   */
  async take(isWanted) {
    // The path may not have been lost, so nothing else limits the time.
    if (isWanted) await this.begin(patience);
  }

  /**
   * Restarts ICE, unless it is being restarted. A gateway that does not answer, or does not restart it, leads to another session.
   * @param {number | null} limit milliseconds that the new path may take; null if the caller watches that
   */
  async begin(limit) {
    const { live } = this;
    const { pc, session, generation } = live;
    if (!pc || !session || this.isUnderWay || pc.signalingState !== "stable") return;
    this.generation = generation;
    try {
      await this.restart(pc, session, generation, limit);
    } catch {
      // The gateway does not answer, or has ended the session. A new connection finds out.
      if (generation === live.generation) live.restart();
    } finally {
      if (this.generation === generation) this.generation = -1;
    }
    // A wish that came during the restart was not taken.
    if (generation === live.generation) await live.readGatewaySteps();
  }

  /**
   * @param {RTCPeerConnection} pc
   * @param {string} session
   * @param {number} generation
   * @param {number | null} limit
   */
  async restart(pc, session, generation, limit) {
    const { live } = this;
    live.trickle?.close();
    const trickle = live.makeTrickle();
    live.trickle = trickle;
    pc.restartIce();
    const offer = (await pc.createOffer()).sdp ?? "";
    if (generation !== live.generation) return;
    const fragment = await restartICE(live.device.id, session, fragmentOf(offer, [], false), trickle.end.signal);
    if (generation !== live.generation) return;
    const answer = answerAfterRestart(live.answer, fragment);
    // The gateway has not restarted ICE.
    if (!answer) return live.restart();
    live.answer = answer;
    // Both at once, and not before the gateway has answered: from the local description on, the browser checks its new addresses,
    // with the gateway's old credentials until it knows the new ones. Chromium would keep a pair that it finds in this way.
    await Promise.all([
      pc.setLocalDescription({ type: "offer", sdp: offer }), pc.setRemoteDescription({ type: "answer", sdp: answer }),
    ]);
    if (generation !== live.generation) return;
    trickle.open(session, offer);
    // A view that is still connecting gets its time again.
    if (!live.liveSince) live.silence.waitForPicture(generation);
    if (limit === null) return;
    live.after(limit, "lost", () => {
      if (generation === live.generation && pc.connectionState !== "connected") live.restart();
    });
  }
}
