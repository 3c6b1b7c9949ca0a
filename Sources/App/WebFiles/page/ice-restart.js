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
 * Restarts the ICE of a live view when the gateway asks for it: a TURN server now relays for the gateway at a new
 * address, and a router in front of this browser may let in only datagrams from addresses that the browser has sent to.
 * The session, its picture and its talk go on.
 */
export class IceRestart {
  /** @param {import("./live-session.js").LiveSession} live */
  constructor(live) {
    this.live = live;
    // The connection whose ICE is being restarted, by its number.
    this.generation = -1;
  }

  /**
   * Handles whether the gateway asks for a restart. The gateway repeats it with each other change of the session.
   * @param {boolean} isWanted
   */
  async take(isWanted) {
    const { live } = this;
    const { pc, session, generation } = live;
    if (!isWanted || !pc || !session || this.generation === generation || pc.signalingState !== "stable") return;
    this.generation = generation;
    try {
      await this.restart(pc, session, generation);
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
   */
  async restart(pc, session, generation) {
    const { live } = this;
    live.trickle?.close();
    const trickle = live.makeTrickle();
    live.trickle = trickle;
    pc.restartIce();
    await pc.setLocalDescription();
    if (generation !== live.generation) return;
    const offer = pc.localDescription?.sdp ?? "";
    const fragment = await restartICE(live.device.id, session, fragmentOf(offer, [], false), trickle.end.signal);
    if (generation !== live.generation) return;
    const answer = answerAfterRestart(live.answer, fragment);
    // The gateway has not restarted ICE.
    if (!answer) return live.restart();
    live.answer = answer;
    await pc.setRemoteDescription({ type: "answer", sdp: answer });
    if (generation !== live.generation) return;
    trickle.open(session, offer);
    // A view that is still connecting gets its time again.
    if (!live.liveSince) live.silence.waitForPicture(generation);
    live.after(patience, "lost", () => {
      if (generation === live.generation && pc.connectionState !== "connected") live.restart();
    });
  }
}
