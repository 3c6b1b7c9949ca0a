import { locale, t } from "./text.js";

/** @type {Record<string, string>} */
const stateWords = {
  starting: t("liveWords.starting"), connecting: t("liveWords.connecting"), live: t("liveWords.connected"), reconnecting: t("liveWords.reconnecting"),
};

/**
 * The state of a live view in a word or two.
 * @param {{ state: string, hasShown: boolean, hasPicture: boolean, verdict: import("./liveness.js").Verdict }} live
 */
export function liveWord({ state, hasShown, hasPicture, verdict }) {
  if (verdict.isLive) return t("liveWords.live");
  if (verdict.isStalled) return hasPicture ? t("liveWords.noPicture") : t("liveWords.noSound");
  if (state === "reconnecting" && !hasShown) return t("liveWords.waiting");
  return stateWords[state] ?? "";
}

/** @type {Record<string, string>} */
const pathWords = {
  direct: t("liveWords.direct"), reflexive: t("liveWords.throughARouter"), relayed: t("liveWords.throughATURNServer"), tcp: t("liveWords.overTCP"),
  websocket: t("liveWords.overAWebSocket"), pictures: t("liveWords.singlePictures"),
};

/**
 * What is not as large as it could be, in a few words: the picture is a small one, or the connection does not carry all of it. ""
 * while there is nothing to say.
 * @param {import("./types").Session["stream"]} stream
 * @param {import("./types").Session["statistics"]} [statistics] what is known of the path; a bitrate of 0 is unknown
 */
export function streamWord(stream, statistics) {
  const { estimatedBitrate: bitrate = 0, isLimited = false } = statistics ?? {};
  const rate = (bitrate / 1e6).toLocaleString(locale, { maximumFractionDigits: 1 });
  const isSmaller = stream?.name === "sub" && stream.reason !== "only";
  if (isSmaller && stream.reason !== "path") return t("liveWords.smallerStream");
  if (isSmaller) return bitrate > 0 ? t("liveWords.smallerStreamRate", { rate }) : t("liveWords.smallerStreamSlow");
  // The camera has no smaller stream, or it is not known yet.
  if (!stream || !isLimited) return "";
  return bitrate > 0 ? t("liveWords.limitedRate", { rate }) : t("liveWords.limited");
}

/**
 * How the picture comes from the gateway, in a few words; "" while that is not known.
 * @param {string | null} path
 */
export function pathWord(path) { return path === null ? "" : pathWords[path] ?? ""; }

/**
 * How the picture comes if that is not WebRTC, in a few words; "" if it is.
 * @param {string | null} path
 */
export function fallbackWord(path) { return path === "websocket" || path === "pictures" ? pathWord(path) : ""; }
