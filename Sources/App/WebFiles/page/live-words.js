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
 * How the picture comes from the gateway, in a few words; "" while that is not known.
 * @param {string | null} path
 */
export function pathWord(path) { return path === null ? "" : pathWords[path] ?? ""; }
