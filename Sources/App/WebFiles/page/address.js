/**
 * What the page shows: the list of devices, the wall of cameras, or one camera.
 * @typedef {{ kind: "home" } | { kind: "wall", only: string[] } | { kind: "camera", id: string }} Shown
 */

/**
 * What the fragment of the page's address asks for. An unknown one shows the list of devices.
 * @param {string} fragment with or without "#"
 * @returns {Shown}
 */
export function shownAt(fragment) {
  const [name, rest = ""] = split(fragment);
  if (name === "wall") return { kind: "wall", only: rest.split(",").map(decoded).filter(Boolean) };
  if (name === "camera" && rest !== "") return { kind: "camera", id: decoded(rest) };
  return { kind: "home" };
}

/**
 * The fragment for what is shown, with "#". "" for the list of devices.
 * @param {Shown} shown
 */
export function fragmentOf(shown) {
  if (shown.kind === "home") return "";
  if (shown.kind === "camera") return "#camera/" + encodeURIComponent(shown.id);
  return ["#wall", shown.only.map(encodeURIComponent).join(",")].filter(Boolean).join("/");
}

/**
 * The fragment without the token, which leaves the address as soon as the page has it.
 * @param {string} fragment with or without "#"
 */
export function withoutToken(fragment) {
  const rest = fragment.replace(/^#/, "").split("&").filter((part) => part !== "" && !part.startsWith("token=")).join("&");
  return rest === "" ? "" : "#" + rest;
}

/** @param {string} fragment */
function split(fragment) {
  const [first] = withoutToken(fragment).slice(1).split("&");
  const slash = first.indexOf("/");
  return slash < 0 ? [first] : [first.slice(0, slash), first.slice(slash + 1)];
}

/**
 * A part of an address that somebody typed need not be encoded well.
 * @param {string} text
 */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
