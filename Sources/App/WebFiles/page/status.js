import { sourceOf } from "./api.js";
import { cameraTrouble, isResting } from "./liveness.js";
import { locale, t } from "./text.js";

/**
 * @typedef {import("./types").Camera} Camera
 * @typedef {import("./types").Device} Device
 */

/** @type {Record<string, string>} */
const sourceWords = {
  idle: t("status.notStarted"), resolving: t("status.lookingUpTheCamera"), connecting: t("status.connectingToTheCamera"),
  authenticating: t("status.signingInToTheCamera"), describing: t("status.askingWhatItSends"), settingUp: t("status.settingUp"),
  flowing: t("status.online"), stalled: t("status.noPictures"), backingOff: t("status.offline"), givenUp: t("status.givenUpForNow"),
  stopped: t("status.offline"), unknown: "",
};

/** @type {Record<string, string>} */
const eventWords = {
  DoorbellPressed: t("status.rang"), Motion: t("status.motion"), Person: t("status.person"), Face: t("status.face"), Vehicle: t("status.vehicle"),
  Animal: t("status.animal"), Package: t("status.package"), Sound: t("status.sound"),
  InitialPress: t("status.pressed"), LongPress: t("status.held"), MultiPressComplete: t("status.pressedSeveralTimes"), SwitchLatched: t("status.switched"),
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
    return [t("status.online"), source.tracks.map((track) => track.codec).join(" · ")].filter(Boolean).join(" · ");
  }
  if (isResting(source)) return t("status.onDemand");
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
    return t("status.now", { names: names.map((name) => eventWords[name] ?? name).join(" · ") });
  }
  if (!last) return "";
  const isToday = last.time.toDateString() === now.toDateString();
  const time = last.time.toLocaleString(locale, isToday ? { hour: "2-digit", minute: "2-digit" }
    : { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
  const name = eventWords[last.name] ?? last.name;
  return t("status.lastNameTime", { name, time });
}

/**
 * How old a picture is.
 * @param {number} seconds
 */
export function ageText(seconds) {
  if (seconds < 60) return t("status.secondsSAgo", { seconds });
  if (seconds < 3600) {
    const minutes = Math.floor(seconds / 60);
    return t("status.minutesMinAgo", { minutes });
  }
  const hours = Math.floor(seconds / 3600);
  return t("status.hoursHAgo", { hours });
}

/**
 * What the settings of a camera are, in a few words. "" if there is nothing unusual.
 * @param {Camera} camera
 */
export function settingsLine(camera) {
  return [
    camera.battery ? t("status.runsOnABattery") : null,
    camera.pull === "on-demand" ? t("status.pulledWhileSomebodyWatches") : null,
    camera.transport === "auto" ? null : t("status.over", { transport: camera.transport }),
    camera.origin === "file" ? t("status.setInTheConfigFile") : null,
    camera.origin === "overridden" ? t("status.notAsInTheConfigFile") : null,
  ].filter(Boolean).join(" · ");
}
