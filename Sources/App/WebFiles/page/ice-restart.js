import { restartICE } from "./api.js";
import { fragmentOf } from "./trickle.js";

// Milliseconds that the new path may take.
const patience = 8000;

/**
 * @param {string} text
 * @param {string} name of an attribute
 */
function attribute(text, name) { return text.match(new RegExp(`^a=${name}:(\\S+)`, "m"))?.[1] ?? ""; }

/**
 * The gateway's answer with the credentials and the addresses of the fragment by which it has restarted ICE, or "" if the fragment
 * has none. All sections share one transport, whose candidates are in the first.
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
 * Restarts ICE of a live view when the gateway asks for it: a TURN server relays for the gateway at another address than
 * before, and a router in front of this browser may let in only what comes from where the browser has sent to. The session, its
 * picture and its talk go on.
 */
export class IceRestart {
  /** @param {import("./live-session.js").LiveSession} live */
  constructor(live) {
    this.live = live;
    // The connection whose ICE is being restarted, by its number.
    this.generation = -1;
  }

  /**
   * Takes whether the gateway asks for a restart. It says so again with each other change of the session.
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
      // The gateway does not answer, or has ended the session. A connection made from scratch finds out.
      if (generation === live.generation) live.restart();
    } finally {
      if (this.generation === generation) this.generation = -1;
    }
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
    if (!answer) throw new Error("the gateway has not restarted ICE");
    live.answer = answer;
    await pc.setRemoteDescription({ type: "answer", sdp: answer });
    if (generation !== live.generation) return;
    trickle.open(session, offer);
    live.after(patience, "lost", () => {
      if (generation === live.generation && pc.connectionState !== "connected") live.restart();
    });
  }
}
