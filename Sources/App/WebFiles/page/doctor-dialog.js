import { getDevices, getGateway, send, sourceOf } from "./api.js";
import { openDialog } from "./dialog.js";
import { Button, element } from "./dom.js";
import { browserFindings, findingWords, sortedFindings, subjectWords, summaryOf } from "./findings.js";
import { t } from "./text.js";
import { cameraToTry, trialFinding, tryView } from "./view-trial.js";
import { inWords } from "./words.js";

/**
 * The camera that cannot be seen.
 * @typedef {object} Unseen
 * @property {string} name
 * @property {import("./types").Device} [device] missing while the page does not know it yet
 * @property {boolean} isAdmin whether the whole gateway may be examined, and not only what is about this camera
 * @property {string | null} [noPath] why media found no path to this device
 */

/**
 * Lets the gateway examine what is between a camera and a viewer, and says what to do.
 * @param {Unseen} unseen
 */
export async function openDoctor({ name, device, isAdmin, noPath = null }) {
  const closing = new AbortController();
  const { node, body } = openDialog(t("doctorDialog.whyCantISeeName", { name }), "doctor", () => closing.abort());
  const summary = element("p", "nobody", t("doctorDialog.looking"));
  summary.setAttribute("role", "status");
  body.append(summary);
  const own = browserFindings({
    hasWebRTC: "RTCPeerConnection" in window, isOnline: navigator.onLine !== false, noPath,
    playable: playableCodecs(),
    sent: device ? sourceOf(device).tracks.filter(({ kind }) => kind === "video").map(({ codec }) => codec) : [],
  });
  const path = isAdmin || !device ? "/v1/doctor" : `/v1/devices/${encodeURIComponent(device.id)}/doctor`;
  try {
    // It asks servers on other networks, which may not answer.
    const { findings } = await send("GET", path, undefined, { patience: 60000 });
    if (!node.isConnected) return;
    const sorted = sortedFindings([...own, ...findings], name);
    summary.textContent = summaryOf(sorted);
    const good = sorted.filter(({ state }) => state === "good");
    body.append(list(sorted.filter(({ state }) => state !== "good")));
    if (good.length > 0) body.append(element("details", "", element("summary", "", t("doctorDialog.whatIsInOrder")), list(good)));
  } catch (error) {
    summary.textContent = inWords(error, "examine").message;
    if (!node.isConnected) return;
    body.append(list(own));
  }
  if ("RTCPeerConnection" in window) body.append(...trial(device, closing.signal));
}

/**
 * What lets a person try a view on this device. The gateway does not see where this device is, and whether it is reached there.
 * @param {import("./types").Device | undefined} device
 * @param {AbortSignal} signal nobody waits for it any more
 */
function trial(device, signal) {
  const found = element("div");
  const state = element("p", "nobody", t("viewTrial.why"));
  state.setAttribute("role", "status");
  const button = new Button("play", t("viewTrial.try"), async () => {
    button.node.disabled = true;
    found.replaceChildren();
    const { finding, words } = await runTrial(device, signal, (text) => { state.textContent = text; });
    state.textContent = words;
    if (finding) {
      found.replaceChildren(list([finding]));
      found.scrollIntoView({ block: "nearest" });
    }
    button.node.disabled = false;
  });
  return [element("div", "trial", button.node), state, found];
}

/**
 * @param {import("./types").Device | undefined} device
 * @param {AbortSignal} signal
 * @param {(text: string) => void} say
 * @returns {Promise<{ finding: import("./findings.js").Finding | null, words: string }>}
 */
async function runTrial(device, signal, say) {
  try {
    // A token for this camera alone may read no other one.
    const camera = cameraToTry(device, []) ?? cameraToTry(undefined, await getDevices().catch(() => []));
    if (!camera) return { finding: null, words: t("viewTrial.noCamera") };
    say(t("viewTrial.trying", { name: camera.name }));
    const { iceServers } = await getGateway();
    return { finding: trialFinding(await tryView(camera.id, iceServers ?? [], signal), camera.name), words: t("viewTrial.done") };
  } catch (error) {
    return { finding: null, words: inWords(error, "examine").message };
  }
}

/** The codecs of pictures that this browser plays by WebRTC. */
function playableCodecs() {
  if (!("RTCRtpReceiver" in window)) return [];
  const codecs = RTCRtpReceiver.getCapabilities("video")?.codecs ?? [];
  return codecs.map(({ mimeType }) => mimeType.replace(/^video\//i, ""));
}

/** @param {import("./findings.js").Finding[]} findings */
function list(findings) {
  return element("ul", "findings", ...findings.map((finding) => {
    const row = element("li", `finding ${finding.state}`,
      element("strong", "", subjectWords(finding)), element("span", "finding-state", findingWords(finding.state)),
      element("p", "", finding.message));
    if (finding.advice) row.append(element("p", "advice", finding.advice));
    return row;
  }));
}
