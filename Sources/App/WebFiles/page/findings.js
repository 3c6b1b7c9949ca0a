import { counted, t } from "./text.js";


/**
 * What the gateway's own examination found about one of its parts.
 * @typedef {{ subject: string, state: "good" | "note" | "warning" | "failure", message: string, device?: string,
 *   advice?: string }} Finding
 */

/** @type {Record<string, string>} */
const subjects = {
  page: t("findings.thisPage"), certificate: t("findings.theCertificate"), mediaPort: t("findings.mediaPort"),
  localName: t("findings.theNameInThisNetwork"),
  outsideAddress: t("findings.theAddressFromOutside"), portMapping: t("findings.thePortAtTheRouter"), turnServer: t("findings.theTURNServer"), translation: t("findings.theRouter"),
  viewerServers: t("findings.theServersForViewers"), camera: t("findings.aCamera"), clock: t("findings.theClock"), disk: t("findings.theDisk"),
  configuration: t("findings.theConfig"), browser: t("findings.thisBrowser"), path: t("findings.theWayToThisDevice"),
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
const stateWords = { failure: t("findings.doesNotWork"), warning: t("findings.couldWorkBetter"), note: t("findings.note"), good: t("findings.inOrder") };

/** @param {string} state */
export function findingWords(state) { return stateWords[state] ?? state; }

/**
 * The sentence at the top.
 * @param {Finding[]} findings
 */
export function summaryOf(findings) {
  const count = (/** @type {string} */ state) => findings.filter((one) => one.state === state).length;
  const failures = count("failure");
  if (failures > 0) return counted("findings.failures", failures);
  if (count("warning") > 0) return t("findings.someWarnings");
  return t("findings.nothingWrong");
}

/**
 * What is known here about a view that shows nothing.
 * @typedef {object} BrowserFacts
 * @property {boolean} hasWebRTC
 * @property {boolean} isOnline what the browser says of its network
 * @property {string[]} playable the codecs that it plays by WebRTC, such as "H264"
 * @property {string[]} sent the codecs of the camera's pictures
 * @property {string | null} noPath why media found no path to this device
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
    found.push({ subject: "path", state: "failure", message: t("findings.noNetwork"),
      advice: t("findings.connectItToANetwork") });
  }
  if (!hasWebRTC) {
    found.push({ subject: "browser", state: "failure", message: t("findings.noWebRTC"),
      advice: t("findings.useAnotherBrowser") });
  }
  if (noPath !== null) {
    found.push({ subject: "path", state: "failure", message: noPath,
      advice: t("findings.tryAnotherNetwork") });
  }
  const missing = sent.filter((codec) => !playable.some((one) => one.toUpperCase() === codec.toUpperCase()));
  if (hasWebRTC && sent.length > 0 && missing.length === sent.length) {
    found.push({ subject: "browser", state: "warning",
      message: t("findings.codec", { codecs: missing.join(", ") }),
      advice: t("findings.chooseH264InThe") });
  }
  return found;
}
