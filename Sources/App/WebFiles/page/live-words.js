/** @type {Record<string, string>} */
const stateWords = {
  starting: "Starting", connecting: "Connecting", live: "Connected", reconnecting: "Reconnecting",
};

/**
 * The state of a live view in a word or two.
 * @param {{ state: string, hasShown: boolean, hasPicture: boolean, verdict: import("./liveness.js").Verdict }} live
 */
export function liveWord({ state, hasShown, hasPicture, verdict }) {
  if (verdict.isLive) return "Live";
  if (verdict.isStalled) return hasPicture ? "No picture" : "No sound";
  if (state === "reconnecting" && !hasShown) return "Waiting";
  return stateWords[state] ?? "";
}

/** @type {Record<string, string>} */
const pathWords = {
  direct: "direct", reflexive: "through a router", relayed: "through a TURN server", tcp: "over TCP",
};

/**
 * Why the picture is a small one, in a few words; "" while it is not.
 * @param {import("./types").Session["stream"]} stream
 * @param {number} bitrate what the line carries, in bits a second; 0 while unknown
 */
export function streamWord(stream, bitrate) {
  if (stream?.name !== "sub" || stream.reason === "only") return "";
  if (stream.reason !== "path") return "smaller stream";
  return bitrate > 0
    ? `smaller stream: the line carries ${(bitrate / 1e6).toFixed(1)} Mbit/s` : "smaller stream: the line is slow";
}

/**
 * How the picture comes from the gateway, in a few words; "" while that is not known.
 * @param {string | null} path
 */
export function pathWord(path) { return path === null ? "" : pathWords[path] ?? ""; }
