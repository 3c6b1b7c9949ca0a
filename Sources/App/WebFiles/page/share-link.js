/**
 * The address of a camera's page with a token. Browsers keep what follows # to themselves, so it reaches no server's log.
 * @param {string} origin
 * @param {string} camera the key or the id
 * @param {string} token
 */
export function shareLink(origin, camera, token) {
  return `${origin}/camera/${encodeURIComponent(camera)}#token=${encodeURIComponent(token)}`;
}

/**
 * A text as the value of an attribute of HTML.
 * @param {string} text
 */
function quoted(text) { return text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;"); }

/**
 * The HTML that shows the page of a camera in another page.
 * @param {string} link
 * @param {string} name of the camera
 */
export function frameOf(link, name) {
  // A browser gives a frame neither sound nor the whole screen without being told.
  return `<iframe src="${quoted(link)}" title="${quoted(name)}" allow="autoplay; fullscreen; picture-in-picture" `
    + 'style="width: 100%; aspect-ratio: 16 / 9; border: 0"></iframe>';
}

/**
 * The token in the fragment of an address; "" without one.
 * @param {string} fragment with or without #
 */
export function tokenOfFragment(fragment) {
  return new URLSearchParams(fragment.replace(/^#/, "")).get("token")?.trim() ?? "";
}

/**
 * The camera that the path of a camera's page names.
 * @param {string} path
 */
export function cameraOfPath(path) {
  const name = path.split("/")[2] ?? "";
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}

/**
 * A moment as the value of a field for a local date and time.
 * @param {Date} moment
 */
export function fieldValue(moment) {
  const local = new Date(moment.getTime() - moment.getTimezoneOffset() * 60000);
  return local.toISOString().slice(0, 16);
}

/**
 * The seconds from now to the moment in a field, and 0 for one that is over or is not a time.
 * @param {string} value
 * @param {number} now milliseconds since 1970
 */
export function secondsUntil(value, now) {
  const seconds = Math.round((new Date(value).getTime() - now) / 1000);
  return seconds > 0 ? seconds : 0;
}

/**
 * Whether a token is a share link for a camera: it permits watching and nothing else.
 * @param {{ grants: import("./types").Grant[] }} token
 * @param {string} device
 */
export function isShareOf({ grants }, device) {
  return grants.every(({ scopes }) => scopes.length === 1 && scopes[0] === "view")
    && grants.some(({ deviceID }) => deviceID === device);
}

/**
 * What the address of a link begins with.
 * @param {string} origin of this page
 * @param {string | undefined} publicURL where clients reach the gateway, if its config says that
 */
export function baseOf(origin, publicURL) { return (publicURL ?? origin).replace(/\/+$/, ""); }

const privateIPv4 = /^(?:10|169\.254|192\.168|172\.(?:1[6-9]|2\d|3[01])|100\.(?:6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\./;
const localName = /^[^.]+$|\.(?:local|lan|home|internal|home\.arpa|fritz\.box)$/;

/**
 * From where an address can be reached at most, as far as it says.
 * @param {string} base such as "https://192.0.2.1:8443"
 * @returns {"machine" | "network" | "everywhere"} machine: only this one
 */
export function reachOf(base) {
  const host = new URL(base).hostname.toLowerCase().replace(/\.$/, "");
  if (/^(?:.+\.)?localhost$/.test(host) || host === "[::1]") return "machine";
  if (/^\d+\.\d+\.\d+\.\d+$/.test(host)) {
    return host.startsWith("127.") ? "machine" : privateIPv4.test(host) ? "network" : "everywhere";
  }
  // Unique local and link-local addresses (RFC 4193 and RFC 4291).
  if (host.startsWith("[")) return /^\[f(?:[cd]|e[89ab])/.test(host) ? "network" : "everywhere";
  return localName.test(host) ? "network" : "everywhere";
}
