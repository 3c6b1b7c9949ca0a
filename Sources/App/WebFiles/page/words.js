import { APIError, PageError } from "./api.js";
import { fieldName } from "./camera-probe.js";
import { known, t } from "./text.js";

/**
 * What was being done.
 * @typedef {"watch" | "talk" | "add" | "search" | "remove" | "ring" | "connect" | "recordings" | "control" | "setting" | "change" | "history"
 *   | "automate" | "examine"} Action
 */

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
    return { message: t("words.speakerInUse"), details: null };
  }
  if (action === "watch" && status === "FAILED_PRECONDITION") {
    if (told.endsWith(" is switched off")) return { message: t("words.theCameraIsSwitchedOff"), details: null };
    if (/ privacy /.test(told)) return { message: t("words.isPrivate"), details: told };
  }
  if (action === "add" && status === "INVALID_ARGUMENT") {
    const { key, reason } = reasonOf(told);
    if (isAboutSecret(reason)) return { details: told, message: t("words.typePasswordAgain") };
    if (key === "source" && reason.startsWith("expected ")) {
      return { details: told, message: t("words.unusableAddress") };
    }
    if (fieldName(key) !== key) return { details: null, message: t("fault.because", { field: fieldName(key), reason }) };
  }
  const message = known(`fault.${action}.${status}`) ?? known(`fault.${status}`)
    ?? t("words.gatewayFault");
  return { message, details: told };
}

/**
 * The setting whose stored password does not hold for its new address; null if the error is about something else.
 * @param {unknown} error
 */
export function fieldOfSecret(error) {
  if (!(error instanceof APIError) || error.status !== "INVALID_ARGUMENT") return null;
  const { key, reason } = reasonOf(error.message);
  return isAboutSecret(reason) ? key : null;
}

/**
 * The setting that an error names, empty if it names none, and what is wrong with it.
 * @param {string} told
 */
function reasonOf(told) {
  const [, key = "", reason = ""] = /^(?:[^:]*\. )?([\w.]+): (.*)$/s.exec(told) ?? [];
  return { key, reason };
}

/** @param {string} reason */
function isAboutSecret(reason) { return reason.startsWith("*** refers to a stored secret"); }
