import { mask, partsOf } from "./camera-model.js";
import { isGroup, variableOf, withVariables } from "./config-lines.js";

/**
 * @typedef {import("./types").SettingValue} Value
 * @typedef {{ [key: string]: Value }} Group
 */

/**
 * What the gateway is asked to check: the camera with its changes. Only the keys that others depend on are there without a change.
 * @param {import("./types").Camera} camera
 * @param {Group} patch as `patchOf` makes it
 * @returns {{ cameras: Value[] }}
 */
export function draftOf(camera, patch) {
  const { id, type, source, substream, framesPerSecond, onvif } = camera;
  /** @type {Group} */
  const entry = { id, type, source };
  if (substream !== undefined) entry.substream = substream;
  if (framesPerSecond !== undefined) entry.framesPerSecond = framesPerSecond;
  if (onvif !== undefined) entry.onvif = { ...onvif };
  for (const [key, value] of Object.entries(patch)) {
    const before = entry[key];
    if (value === null) delete entry[key];
    else entry[key] = isGroup(value) && isGroup(before) ? { ...before, ...value } : value;
  }
  return { cameras: [entry] };
}

/**
 * The changes of a camera as its entry in the config file has them, with a variable of the environment for each password.
 * @param {string} id
 * @param {Group} patch as `patchOf` makes it
 */
export function entryOf(id, patch) {
  /** @type {Group} */
  const changes = {};
  for (const [key, value] of Object.entries(patch)) changes[key] = hidden(key, value);
  return withVariables({ cameras: [{ id, ...changes }] }, variableOf(id));
}

/**
 * The value with a mask for a password, also for one that was just typed: it does not belong on a screen.
 * @param {string} key
 * @param {Value} value
 * @returns {Value}
 */
function hidden(key, value) {
  if (key === "source" && typeof value === "string") {
    // An address that was made of fields has no other colon and no other @ in this part.
    return partsOf(value).password === "" ? value : value.replace(/^([a-z][a-z0-9+.-]*:\/\/[^/?#:@]*):[^@]*@/i, `$1:${mask}@`);
  }
  // This one was typed as a whole.
  if (key === "substream" && typeof value === "string") {
    return value.replace(/^([a-z][a-z0-9+.-]*:\/\/[^/?#:@]*):[^/?#]*@/i, `$1:${mask}@`);
  }
  if (key === "onvif" && isGroup(value) && typeof value.password === "string") return { ...value, password: mask };
  return value;
}
