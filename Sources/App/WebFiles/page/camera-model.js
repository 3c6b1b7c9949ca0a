import { hostOf, isAskedByONVIF, sourceWith } from "./camera-source.js";

/**
 * The settings of a camera as the fields of a form have them. A password that is stored is shown as nothing.
 * @typedef {object} Fields
 * @property {string} address without a user and a password
 * @property {string} user
 * @property {string} password
 * @property {string} type
 * @property {string} substream where its smaller stream comes from: "none", "onvif" (the camera names it) or "address"
 * @property {string} substreamAddress without a user and a password
 * @property {string} substreamUser empty for that of the camera's address
 * @property {string} substreamPassword
 * @property {string} transport
 * @property {string} keepAlive
 * @property {string} framesPerSecond
 * @property {string} pull
 * @property {boolean} battery
 * @property {boolean} pullWhileOff
 * @property {string} talkback
 * @property {string} transcodeVideo
 * @property {string} eventURL
 * @property {string} eventUser
 * @property {string} eventPassword
 * @property {boolean} webhook
 * @property {Record<string, string>} information
 */

/** What stands for a stored password in what the gateway says. */
export const mask = "***";

/** What its owner may know about a camera, in the words of BasicInformation. */
export const informationKeys = /** @type {const} */ ([
  "vendorName", "productName", "serialNumber", "hardwareVersionString", "softwareVersionString", "uniqueID", "vendorID",
  "productID",
]);

/**
 * The parts of a camera's address.
 * @param {string} source
 * @returns {{ address: string, user: string, password: string }}
 */
export function partsOf(source) {
  const [, scheme, rest] = /^([a-z][a-z0-9+.-]*:\/\/)(.*)$/i.exec(source) ?? [];
  if (!scheme) return { address: source, user: "", password: "" };
  const end = rest.search(/[/?#]/);
  const authority = end < 0 ? rest : rest.slice(0, end);
  const at = authority.lastIndexOf("@");
  if (at < 0) return { address: source, user: "", password: "" };
  const [user, ...password] = authority.slice(0, at).split(":");
  return {
    address: scheme + authority.slice(at + 1) + (end < 0 ? "" : rest.slice(end)), user: decoded(user),
    password: decoded(password.join(":")),
  };
}

/**
 * The fields of a camera.
 * @param {import("./types").Camera} camera
 * @returns {Fields}
 */
export function fieldsOf(camera) {
  const { address, user } = partsOf(camera.source);
  const { onvif, information = {} } = camera;
  return {
    address, user, password: "", type: camera.type, ...substreamFields(camera), transport: camera.transport,
    keepAlive: camera.keepAlive, framesPerSecond: camera.framesPerSecond === undefined ? "" : String(camera.framesPerSecond),
    pull: camera.pull, battery: camera.battery, pullWhileOff: camera.pullWhileOff, talkback: camera.talkback,
    transcodeVideo: camera.transcodeVideo, eventURL: onvif?.url ?? "", eventUser: onvif?.username ?? "", eventPassword: "",
    webhook: camera.webhook,
    information: Object.fromEntries(informationKeys.map((key) => [key, String(information[key] ?? "")])),
  };
}

/**
 * The source that the fields describe. A password that is not typed is the stored one, if there is one.
 * @param {Pick<Fields, "address" | "user" | "password">} fields
 * @param {string} [before] the source as the gateway says it
 */
export function sourceOf({ address, user, password }, before = "") {
  const stored = partsOf(before);
  const isStored = password === "" && stored.password === mask && user === stored.user;
  const source = sourceWith(address, user, isStored ? mask : password);
  // The mask is not a password with special characters.
  return isStored ? source.replace(":%2A%2A%2A@", `:${mask}@`) : source;
}

/**
 * The fields of a camera's smaller stream.
 * @param {import("./types").Camera} camera
 * @returns {Pick<Fields, "substream" | "substreamAddress" | "substreamUser" | "substreamPassword">}
 */
function substreamFields({ source, substream }) {
  const empty = { substreamAddress: "", substreamUser: "", substreamPassword: "" };
  if (substream === undefined) return { substream: isAskedByONVIF(source) ? "onvif" : "none", ...empty };
  if (substream === "onvif" || substream === "none") return { substream, ...empty };
  const { address, user } = partsOf(substream);
  const isShared = user === partsOf(source).user && hostOf(substream) === hostOf(source);
  return { ...empty, substream: "address", substreamAddress: address, substreamUser: isShared ? "" : user };
}

/**
 * What the settings have as the smaller stream that the fields describe; null for the default of the source. At the camera's own
 * host it has the user and the password of the camera's address, unless others are typed.
 * @param {Pick<Fields, "address" | "user" | "password" | "substream" | "substreamAddress" | "substreamUser" | "substreamPassword">} now
 * @param {import("./types").Camera} camera as the gateway says it
 */
export function substreamOf(now, camera) {
  const { substreamUser: user, substreamPassword: password } = now;
  const address = now.substreamAddress.trim();
  if (now.substream !== "address" || address === "") {
    if (!isAskedByONVIF(now.address)) return null;
    // What is the default is left out, unless the settings have it already.
    if (now.substream === "onvif") return camera.substream === "onvif" ? "onvif" : null;
    return "none";
  }
  const isShared = user === "" && password === "" && partsOf(address).user === "" && hostOf(address) === hostOf(now.address);
  if (isShared) return sourceOf({ ...now, address }, camera.source);
  // A password alone is another one of the camera's user.
  const isCamera = partsOf(address).user === "" && hostOf(address) === hostOf(now.address);
  return sourceOf({ address, user: user === "" && isCamera ? now.user : user, password }, camera.substream);
}

/**
 * The keys that have changed, as a merge patch (RFC 7396): null takes a key back to its default.
 * @param {import("./types").Camera} camera as the gateway says it
 * @param {Fields} now
 * @returns {Record<string, any>} empty if nothing has changed
 */
export function patchOf(camera, now) {
  const before = fieldsOf(camera);
  /** @type {Record<string, any>} */
  const patch = {};
  const source = sourceOf(now, camera.source);
  if (source !== camera.source) patch.source = source;
  for (const key of /** @type {const} */ (["type", "transport", "keepAlive", "pull", "battery", "pullWhileOff", "talkback",
    "transcodeVideo", "webhook"])) {
    if (now[key] !== before[key]) patch[key] = now[key];
  }
  // The gateway would take a camera on demand for one with a battery.
  if (patch.pull === "on-demand") patch.battery = now.battery;
  const substream = substreamOf(now, camera);
  if (substream !== substreamOf(before, camera)) patch.substream = substream;
  if (now.framesPerSecond.trim() !== before.framesPerSecond) {
    patch.framesPerSecond = now.framesPerSecond.trim() === "" ? null : Number(now.framesPerSecond);
  }
  const events = eventsPatch(before, now);
  if (events !== undefined) patch.onvif = events;
  const information = Object.fromEntries(informationKeys.filter((key) => now.information[key].trim() !== before.information[key])
    .map((key) => [key, now.information[key].trim() || null]));
  if (Object.keys(information).length > 0) patch.information = information;
  return patch;
}

/**
 * @param {Fields} before
 * @param {Fields} now
 */
function eventsPatch(before, now) {
  const url = now.eventURL.trim();
  if (url === "") return before.eventURL === "" ? undefined : null;
  const change = {
    ...(url === before.eventURL ? {} : { url }),
    ...(now.eventUser === before.eventUser ? {} : { username: now.eventUser || null }),
    ...(now.eventPassword === "" ? {} : { password: now.eventPassword }),
  };
  return Object.keys(change).length > 0 ? change : undefined;
}

/** @param {string} text */
function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
