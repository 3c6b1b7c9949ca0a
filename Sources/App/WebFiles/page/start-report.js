import { element } from "./dom.js";
import { PathReport } from "./path-report.js";
import { locale, t } from "./text.js";

/** @typedef {import("./types").Step} Step */

/** @type {Record<string, string>} */
const gatewayStepWords = {
  offer: t("startReport.offerRead"), answer: t("startReport.answerReady"), firstCheck: t("startReport.firstConnectivityCheck"), pair: t("startReport.pathChosen"),
  dtls: t("startReport.encryptionAgreed"), firstPacket: t("startReport.firstPacketSent"), firstKeyFrame: t("startReport.firstKeyFrameSent"),
};

/** @type {Record<string, string>} */
const browserStepWords = {
  "offer made": t("steps.offerMade"), "answer received": t("steps.answerReceived"), "path found": t("steps.pathFound"),
  "encryption agreed": t("steps.encryptionAgreed"), "first picture": t("steps.firstPicture"), "first sound": t("steps.firstSound"),
};

/** How the picture of a view comes, how its start went, step by step, and what the gateway says about its camera. */
export class StartReport {
  constructor() {
    this.steps = element("ol", "steps");
    this.trouble = element("div", "trouble");
    this.path = new PathReport();
    this.node = element("details", "", element("summary", "", t("startReport.details")), this.trouble, this.path.node, this.steps);
    this.key = "";
  }

  /**
   * @param {import("./live-session.js").LiveSession} live
   * @param {string | null} reason why the camera brings nothing, in the gateway's words
   */
  render(live, reason) {
    const { steps, gatewaySteps, notes } = live;
    this.path.node.hidden = !live.isActive;
    this.path.render(live);
    this.node.hidden = steps.length === 0 && !reason;
    this.trouble.hidden = !reason;
    this.trouble.textContent = reason ? t("startReport.aboutCamera", { reason }) : "";
    const key = JSON.stringify([steps, gatewaySteps, notes]);
    if (this.node.hidden || this.key === key) return;
    this.key = key;
    const longest = Math.max(1, ...steps.map((step) => step.milliseconds));
    const said = notes.map((note) => element("li", "", note));
    if (said.length > 0) said.unshift(element("li", "heading", t("startReport.aboutView")));
    this.steps.replaceChildren(
      ...rows(t("startReport.inThisBrowser"), steps, longest, browserStepWords),
      ...rows(t("startReport.inTheGateway"), gatewaySteps, longest, gatewayStepWords), ...said);
  }

  /**
   * Called once a second while the view is active.
   * @param {import("./live-session.js").LiveSession} live
   */
  tick(live) { this.path.tick(live); }
}

/** @param {number} milliseconds */
function timeText(milliseconds) {
  const digits = milliseconds < 10 ? 1 : 0;
  return `${milliseconds.toLocaleString(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits })} ms`;
}

/**
 * @param {string} heading
 * @param {Step[]} steps
 * @param {number} longest milliseconds for which a line is as long as it gets
 * @param {Record<string, string>} words
 */
function rows(heading, steps, longest, words = {}) {
  if (steps.length === 0) return [];
  return [element("li", "heading", heading), ...steps.map(({ name, milliseconds }) => {
    const line = element("i");
    line.style.width = Math.min(100, 100 * milliseconds / longest) + "%";
    return element("li", "", element("span", "", words[name] ?? name),
      element("span", "", timeText(milliseconds)), element("span", "bar-line", line));
  })];
}
