import { APIError, PageError } from "./api.js";
import { fieldName } from "./camera-probe.js";

/**
 * What was being done.
 * @typedef {"watch" | "talk" | "add" | "search" | "remove" | "ring" | "connect" | "recordings" | "control" | "change" | "history"
 *   | "automate" | "examine"} Action
 */

/**
 * What went wrong, by what was being done and by the status of the answer.
 * @type {Record<Action, Record<string, string>>}
 */
const byAction = {
  watch: {
    UNAVAILABLE: "The camera sends nothing at the moment.",
    DEADLINE_EXCEEDED: "The camera did not answer in time.",
    FAILED_PRECONDITION: "This browser cannot play what the camera sends.",
    RESOURCE_EXHAUSTED: "Too many people are watching at the moment. Try again later.",
    INVALID_ARGUMENT: "The gateway cannot work with this browser.",
    NOT_FOUND: "This camera no longer exists.",
  },
  talk: {
    UNAVAILABLE: "The camera’s speaker cannot be reached.",
    DEADLINE_EXCEEDED: "The camera’s speaker did not answer in time.",
    FAILED_PRECONDITION: "The camera does not accept sound from this page.",
    NOT_FOUND: "The live view has ended. Press Watch, and then Talk again.",
  },
  add: {
    INVALID_ARGUMENT: "The camera cannot be added like this.",
    FAILED_PRECONDITION: "The camera cannot be added.",
    RESOURCE_EXHAUSTED: "The gateway has as many cameras as it can hold. Remove one first.",
  },
  search: {
    UNAVAILABLE: "The network cannot be searched from the gateway’s machine.",
    DEADLINE_EXCEEDED: "The gateway did not answer in time.",
  },
  remove: {
    FAILED_PRECONDITION: "The camera cannot be removed here.",
    NOT_FOUND: "This camera no longer exists.",
  },
  ring: { UNIMPLEMENTED: "This camera has no button that can be pressed from here." },
  connect: { FAILED_PRECONDITION: "The camera cannot be connected now." },
  recordings: {
    UNIMPLEMENTED: "This gateway keeps no recordings.",
    NOT_FOUND: "This recording no longer exists.",
    FAILED_PRECONDITION: "This cannot be done now.",
    PERMISSION_DENIED: "Only the owner of the gateway may delete recordings.",
    DATA_LOSS: "The recording is damaged.",
    RESOURCE_EXHAUSTED: "The gateway is busy. Try again in a moment.",
  },
  control: {
    UNAVAILABLE: "The device cannot be reached at the moment.",
    DEADLINE_EXCEEDED: "The device did not answer in time.",
    FAILED_PRECONDITION: "The device does not do this now.",
    INVALID_ARGUMENT: "The device cannot be set to this.",
    OUT_OF_RANGE: "The device cannot be set to this.",
    UNIMPLEMENTED: "The device cannot do this.",
    NOT_FOUND: "This device no longer exists.",
    PERMISSION_DENIED: "Your token does not let you switch this device.",
  },
  change: {
    INVALID_ARGUMENT: "This cannot be changed like this.",
    FAILED_PRECONDITION: "This cannot be changed now.",
    ALREADY_EXISTS: "This name is already used.",
    PERMISSION_DENIED: "Your token does not let you change this.",
    RESOURCE_EXHAUSTED: "The home has as many of these as it can hold.",
    ABORTED: "Somebody else has changed this. Look at it again.",
  },
  automate: {
    UNIMPLEMENTED: "This gateway runs no automations.",
    NOT_FOUND: "This automation no longer exists.",
    PERMISSION_DENIED: "Your token does not let you do this with automations.",
    FAILED_PRECONDITION: "This cannot be done now.",
    INVALID_ARGUMENT: "The automation cannot be kept like this.",
    RESOURCE_EXHAUSTED: "The gateway has as many automations as it can hold. Delete one first.",
    ABORTED: "Somebody else has changed this automation. Close it and look at it again.",
    UNAVAILABLE: "The gateway cannot do this at the moment.",
    DEADLINE_EXCEEDED: "The gateway did not answer in time.",
  },
  examine: {
    PERMISSION_DENIED: "Only the owner of the gateway may examine it.",
    DEADLINE_EXCEEDED: "The gateway did not answer in time.",
    UNAVAILABLE: "The gateway cannot examine itself at the moment.",
  },
  history: {
    UNIMPLEMENTED: "This gateway keeps no history.",
    NOT_FOUND: "This gateway keeps no history.",
    PERMISSION_DENIED: "Your token does not let you see what happened.",
  },
};
/** @type {Record<string, string>} */
const always = {
  UNAUTHENTICATED: "You are signed out.",
  PERMISSION_DENIED: "The gateway does not allow this from the address under which this page was opened.",
  NOT_FOUND: "This no longer exists.",
  UNAVAILABLE: "The camera cannot be reached at the moment.",
  DEADLINE_EXCEEDED: "The camera did not answer in time.",
  RESOURCE_EXHAUSTED: "The gateway is busy. Try again in a moment.",
};
/**
 * What went wrong, as a sentence for a person, with what somebody who looks for the cause needs.
 * @param {unknown} error
 * @param {Action} action
 * @returns {{ message: string, details: string | null }}
 */
export function inWords(error, action) {
  // The page's own errors are sentences already.
  if (error instanceof PageError) return { message: error.message, details: error.details };
  const told = error instanceof Error ? error.message : String(error);
  const status = error instanceof APIError ? error.status : "";
  if (action === "talk" && /is talking to|clip is being played/.test(told)) {
    return { message: "Somebody else is using the camera’s speaker. Try again in a moment.", details: null };
  }
  if (action === "watch" && status === "FAILED_PRECONDITION") {
    if (told.endsWith(" is switched off")) return { message: "The camera is switched off.", details: null };
    if (/ privacy /.test(told)) return { message: "The camera’s privacy mode is on.", details: told };
  }
  if (action === "add" && status === "INVALID_ARGUMENT") {
    const key = told.match(/^(?:[^:]*\. ?)?(\w+): /)?.[1];
    if (key === "source") {
      return { details: told, message: "This address cannot be used. It starts with rtsp://, rtsps://, onvif:// or "
        + "http://, for example rtsp://user:password@192.0.2.20/stream1." };
    }
    if (key && fieldName(key) !== key) {
      return { details: told, message: `Please change the field “${fieldName(key)}”.` };
    }
  }
  const message = byAction[action][status] ?? always[status]
    ?? "That did not work: the gateway reports a fault.";
  return { message, details: told };
}
