import { sourceOf } from "./api.js";
import { cameraTrouble, isResting } from "./liveness.js";

/**
 * @typedef {import("./types").Camera} Camera
 * @typedef {import("./types").Device} Device
 */

/** @type {Record<string, string>} */
const sourceWords = {
  idle: "Not started", resolving: "Looking up the camera", connecting: "Connecting to the camera",
  authenticating: "Signing in to the camera", describing: "Asking what it sends", settingUp: "Setting up",
  flowing: "Online", stalled: "No pictures", backingOff: "Offline", givenUp: "Given up for now",
  stopped: "Offline", unknown: "",
};

/** @type {Record<string, string>} */
const eventWords = {
  DoorbellPressed: "Rang", Motion: "Motion", Person: "Person", Face: "Face", Vehicle: "Vehicle",
  Animal: "Animal", Package: "Package", Sound: "Sound",
  InitialPress: "Pressed", LongPress: "Held", MultiPressComplete: "Pressed several times", SwitchLatched: "Switched",
};

/**
 * Whether the stream's event of this name is something that happened at a camera.
 * @param {string} event
 */
export function happens(event) { return Object.hasOwn(eventWords, event); }

/**
 * What happened, in words. "" for events that are not in the list.
 * @param {string} event
 */
export function happenedWords(event) { return Object.hasOwn(eventWords, event) ? eventWords[event] : ""; }

/**
 * The line under the name of a camera.
 * @param {Device} device
 */
export function statusLine(device) {
  const source = sourceOf(device);
  if (source.state === "flowing") {
    return ["Online", source.tracks.map((track) => track.codec).join(" · ")].filter(Boolean).join(" · ");
  }
  if (isResting(source)) return "On demand: starts when somebody watches";
  const trouble = ["backingOff", "givenUp", "stalled"].includes(source.state) ? cameraTrouble(source) : null;
  return [sourceWords[source.state] ?? source.state, trouble].filter(Boolean).join(": ");
}

/**
 * The class of the dot before the name of a camera.
 * @param {string} connectivityState
 */
export function dotClass(connectivityState) {
  if (connectivityState === "partiallyOnline") return "partial";
  return ["online", "offline"].includes(connectivityState) ? connectivityState : "waiting";
}

/**
 * What happens at a camera now, or what happened last. "" if there is nothing to say.
 * @param {string[]} active the kinds of things that the camera notices now, such as "person"
 * @param {{ name: string, time: Date } | null} last
 * @param {Date} now
 */
export function happeningLine(active, last, now) {
  if (active.length > 0) {
    const names = active.map((kind) => kind.slice(0, 1).toUpperCase() + kind.slice(1));
    return "Now: " + names.map((name) => eventWords[name] ?? name).join(" · ");
  }
  if (!last) return "";
  const isToday = last.time.toDateString() === now.toDateString();
  const time = last.time.toLocaleString([], isToday ? { hour: "2-digit", minute: "2-digit" }
    : { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
  return `Last: ${eventWords[last.name] ?? last.name}, ${time}`;
}

/**
 * How old a picture is.
 * @param {number} seconds
 */
export function ageText(seconds) {
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  return `${Math.floor(seconds / 3600)} h ago`;
}

/**
 * What the settings of a camera are, in a few words. "" if there is nothing unusual.
 * @param {Camera} camera
 */
export function settingsLine(camera) {
  return [
    camera.battery ? "runs on a battery" : null,
    camera.pull === "on-demand" ? "pulled while somebody watches" : null,
    camera.transport === "auto" ? null : "over " + camera.transport,
    camera.origin === "api" ? null : "changed in the config file",
  ].filter(Boolean).join(" · ");
}
