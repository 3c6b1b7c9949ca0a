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
 * Why the picture is a small one, in a few words; "" while it is not.
 * @param {import("./types").Session["stream"]} stream
 * @param {number} bitrate what the path carries, in bits a second; 0 while unknown
 */
export function streamWord(stream, bitrate) {
  if (stream?.name !== "sub" || stream.reason === "only") return "";
  if (stream.reason !== "path") return t("liveWords.smallerStream");
  return bitrate > 0
    ? t("liveWords.smallerStreamRate", { rate: (bitrate / 1e6).toLocaleString(locale, { maximumFractionDigits: 1 }) }) : t("liveWords.smallerStreamSlow");
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
