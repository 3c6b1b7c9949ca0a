import { element } from "./dom.js";
import { pathWord } from "./live-words.js";
import { locale, t } from "./text.js";

/**
 * @typedef {import("./types").Session} Session
 * @typedef {{ path: string | null, told: Session | null }} Described told: the gateway's last description of the view
 */

// Milliseconds from one look at the gateway's description to the next while somebody reads the report.
const pause = 2000;

/**
 * What the connection carries, in words.
 * @param {Session["statistics"]} statistics
 */
function rateWords(statistics) {
  if (!statistics?.estimatedBitrate) return t("pathReport.unknown");
  const rate = (statistics.estimatedBitrate / 1e6).toLocaleString(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
  // Without a limit, what has arrived is all that is known.
  return statistics.isLimited ? t("pathReport.rate", { rate }) : t("pathReport.rateAtLeast", { rate });
}

/** @type {Record<string, string>} */
const streams = { main: t("pathReport.mainStream"), sub: t("pathReport.smallerStream") };

/** @type {Record<string, string>} */
const reasons = {
  only: t("pathReport.isTheOnlyOne"), largest: t("pathReport.isTheLargest"), hint: t("pathReport.isAskedFor"),
  path: t("pathReport.isWhatFits"),
};

/**
 * The rows of the report: always the same ones, with words for what is not known.
 * @param {Described} view
 * @returns {[name: string, value: string][]}
 */
export function pathRows({ path, told }) {
  const { stream, statistics } = told ?? {};
  const reason = reasons[stream?.reason ?? ""] ?? t("pathReport.unknown");
  return [
    [t("pathReport.path"), pathWord(path) || t("pathReport.unknown")],
    [t("pathReport.theConnectionCarries"), rateWords(statistics)],
    [t("pathReport.stream"), streams[stream?.name ?? ""] ?? t("pathReport.unknown")],
    [t("pathReport.why"), statistics?.isLimited && stream ? `${reason} ${t("pathReport.isLimited")}` : reason],
  ];
}

/**
 * How the picture comes, what the connection carries, and which stream that is: in the details of a view, and up to date while
 * they are open. The rows stay, so nothing below them moves.
 */
export class PathReport {
  /** @param {number} [idlePause] milliseconds from one look to the next while the details are closed; without it, there is none */
  constructor(idlePause = Infinity) {
    this.idlePause = idlePause;
    this.values = pathRows({ path: null, told: null }).map(([name, value]) => ({ name, node: element("dd", "", value) }));
    this.node = element("dl", "path-report", ...this.values.flatMap(({ name, node }) => [element("dt", "", name), node]));
    this.askedAt = -Infinity;
  }

  /** @param {Described} view */
  render(view) {
    pathRows(view).forEach(([, value], index) => {
      const { node } = this.values[index];
      if (node.textContent !== value) node.textContent = value;
    });
  }

  /**
   * Called once a second. The gateway does not report each change of its estimate, so it is asked.
   * @param {import("./live-session.js").LiveSession} live
   */
  tick(live) {
    const now = performance.now();
    if (!live.session || live.liveSince === null || document.visibilityState !== "visible") return;
    const isOpen = this.node.closest("details")?.open === true;
    if (now - this.askedAt < (isOpen ? pause : this.idlePause)) return;
    this.askedAt = now;
    live.readGatewaySteps();
  }
}
