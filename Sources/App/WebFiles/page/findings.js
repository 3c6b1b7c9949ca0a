/**
 * What the gateway's own examination found about one of its parts.
 * @typedef {{ subject: string, state: "good" | "note" | "warning" | "failure", message: string, device?: string,
 *   advice?: string }} Finding
 */

/** @type {Record<string, string>} */
const subjects = {
  page: "This page", certificate: "The certificate", mediaPort: "The port for pictures and sound",
  outsideAddress: "The address from outside", turnServer: "The TURN server", translation: "The router",
  viewerServers: "The servers for viewers", camera: "A camera", clock: "The clock", disk: "The disk",
  browser: "This browser", path: "The way to this device",
};
const order = ["failure", "warning", "note", "good"];

/**
 * The findings in the order in which they help: what fails comes first, and before that what is about the camera in question.
 * @param {Finding[]} findings
 * @param {string} [camera] its name; findings about other cameras are left out then
 */
export function sortedFindings(findings, camera) {
  const isAbout = (/** @type {Finding} */ { device }) => camera !== undefined && device === camera;
  const rank = (/** @type {Finding} */ one) => 2 * order.indexOf(one.state) - (isAbout(one) ? 1 : 0);
  return findings.filter(({ device }) => camera === undefined || device === undefined || device === camera)
    .sort((one, other) => rank(one) - rank(other));
}

/** @param {Finding} finding */
export function subjectWords({ subject, device }) { return device ?? subjects[subject] ?? subject; }

/** @type {Record<string, string>} */
const stateWords = { failure: "Does not work", warning: "Works less well than it could", note: "Note", good: "In order" };

/** @param {string} state */
export function findingWords(state) { return stateWords[state] ?? state; }

/**
 * The sentence at the top.
 * @param {Finding[]} findings
 */
export function summaryOf(findings) {
  const count = (/** @type {string} */ state) => findings.filter((one) => one.state === state).length;
  const failures = count("failure");
  if (failures > 0) return failures === 1 ? "One thing does not work." : `${failures} things do not work.`;
  if (count("warning") > 0) return "Everything works, and something could work better.";
  return "The gateway found nothing wrong. Look at the network between it and this device.";
}

/**
 * What is known here about a view that shows nothing.
 * @typedef {object} BrowserFacts
 * @property {boolean} hasWebRTC
 * @property {boolean} isOnline what the browser says of its network
 * @property {string[]} playable the codecs that it plays by WebRTC, such as "H264"
 * @property {string[]} sent the codecs of the camera's pictures
 * @property {string | null} noPath why media found no way to this device
 */

/**
 * What this device itself knows: the gateway does not see it.
 * @param {BrowserFacts} facts
 * @returns {Finding[]}
 */
export function browserFindings({ hasWebRTC, isOnline, playable, sent, noPath }) {
  /** @type {Finding[]} */
  const found = [];
  if (!isOnline) {
    found.push({ subject: "path", state: "failure", message: "This device has no network connection.",
      advice: "Connect it to a network." });
  }
  if (!hasWebRTC) {
    found.push({ subject: "browser", state: "failure", message: "This browser has no WebRTC, or it is switched off.",
      advice: "Switch it on, or use another browser." });
  }
  if (noPath !== null) {
    found.push({ subject: "path", state: "failure", message: noPath,
      advice: "Try another network, or switch off the VPN of this device." });
  }
  const missing = sent.filter((codec) => !playable.some((one) => one.toUpperCase() === codec.toUpperCase()));
  if (hasWebRTC && sent.length > 0 && missing.length === sent.length) {
    found.push({ subject: "browser", state: "warning",
      message: `The camera sends ${missing.join(", ")}, which this browser does not play by WebRTC.`,
      advice: "Choose H.264 in the camera’s own settings, or let the gateway transcode it." });
  }
  return found;
}
