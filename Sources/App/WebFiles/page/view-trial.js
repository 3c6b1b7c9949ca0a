import { addCandidates, command, getSession, sourceOf, statusOf, traitsOf } from "./api.js";
import { countReceived } from "./reception.js";
import { locale, t } from "./text.js";
import { Trickle } from "./trickle.js";
import { inWords } from "./words.js";

/**
 * @typedef {import("./findings.js").Finding} Finding
 * @typedef {import("./types").Device} Device
 */

const trait = "WebRtcLiveView";
// Milliseconds that the first packet may take: longer than the checks of every pair of addresses.
const patience = 10000;
const pause = 100;

/**
 * What became of a short view.
 * @typedef {object} Outcome
 * @property {"came" | "noPath" | "nothingCame" | "refused"} result
 * @property {number} seconds that it took
 * @property {string} [path] how it came, in the gateway's word
 * @property {unknown} [error] why the gateway refused it
 */

/**
 * The camera for a trial: the one in question if it sends, and otherwise one that does.
 * @param {Device | undefined} wanted
 * @param {Device[]} others
 */
export function cameraToTry(wanted, others) {
  return [wanted, ...others].find((one) => one && traitsOf(one)[trait] && sourceOf(one).state === "flowing") ?? null;
}

/** @returns {Promise<void>} */
function wait() { return new Promise((resolve) => { setTimeout(resolve, pause); }); }

/**
 * Starts a short view in this browser, and ends it as soon as something has come.
 * @param {string} device
 * @param {RTCIceServer[]} iceServers
 * @param {AbortSignal} signal nobody waits for it any more
 * @returns {Promise<Outcome>}
 */
export async function tryView(device, iceServers, signal) {
  const begin = performance.now();
  const seconds = () => (performance.now() - begin) / 1000;
  const pc = new RTCPeerConnection({ iceServers, bundlePolicy: "max-bundle" });
  const trickle = new Trickle((session, fragment, end) => addCandidates(device, session, fragment, end), {
    isLost: (error) => statusOf(error) === "UNREACHABLE", pause: wait,
  });
  let session = "";
  try {
    for (const kind of ["audio", "video"]) pc.addTransceiver(kind, { direction: "recvonly" });
    pc.addEventListener("icecandidate", ({ candidate }) => trickle.add(candidate));
    await pc.setLocalDescription();
    const offer = pc.localDescription?.sdp ?? "";
    /** @type {import("./types").LiveView} */
    const answer = await command(device, trait, "startLiveView", { offerSdp: offer });
    session = answer.mediaSessionId;
    await pc.setRemoteDescription({ type: "answer", sdp: answer.answerSdp });
    trickle.open(session, offer);
    let isThrough = false;
    while (seconds() * 1000 < patience && !signal.aborted && pc.connectionState !== "failed") {
      isThrough ||= pc.connectionState === "connected";
      const statistics = await pc.getStats();
      if (countReceived(statistics, true).packets + countReceived(statistics, false).packets > 0) {
        const took = seconds();
        // The pictures came, whether or not the gateway says by which path.
        const path = await getSession(session).then((one) => one.path, () => undefined);
        return { result: "came", seconds: took, path };
      }
      await wait();
    }
    return { result: isThrough ? "nothingCame" : "noPath", seconds: seconds() };
  } catch (error) {
    return { result: "refused", seconds: seconds(), error };
  } finally {
    trickle.close();
    // The session ends before its connection, as for every view.
    const end = { keepalive: true, patience: 2000 };
    if (session) await command(device, trait, "stopLiveView", { mediaSessionId: session }, end).catch(() => {});
    pc.close();
  }
}

/**
 * @param {Finding["state"]} state
 * @param {string} message
 * @param {string} [advice]
 * @returns {Finding}
 */
function aboutPath(state, message, advice) { return { subject: "path", state, message, advice }; }

/**
 * What the outcome of a trial says about the path to this device, and what to do.
 * @param {Outcome} outcome
 * @param {string} name of the camera
 */
export function trialFinding({ result, seconds, path, error }, name) {
  const values = { name, seconds: seconds.toLocaleString(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 }) };
  if (result === "refused") return aboutPath("failure", t("viewTrial.refused", { reason: inWords(error, "watch").message }));
  if (result === "noPath") return aboutPath("failure", t("viewTrial.noPath", values), t("viewTrial.noPathAdvice"));
  if (result === "nothingCame") return aboutPath("warning", t("viewTrial.nothingCame", values), t("viewTrial.nothingCameAdvice"));
  switch (path) {
  case "direct": case "reflexive": return aboutPath("good", t("viewTrial.direct", values));
  case "relayed": return aboutPath("note", t("viewTrial.relayed", values), t("viewTrial.relayedAdvice"));
  case "tcp": return aboutPath("warning", t("viewTrial.tcp", values), t("viewTrial.tcpAdvice"));
  default: return aboutPath("good", t("viewTrial.works", values));
  }
}
