import { t } from "./text.js";


/**
 * Milliseconds that may pass without a picture while it still counts as live. A camera that shows one or two
 * pictures a second is given the time of two and a half of them.
 * @param {number} [usualGap]
 */
export function patience(usualGap = 0) {
  return Math.min(5000, Math.max(1000, 2.5 * usualGap));
}

/** When pictures came, or packets of sound: the last time, and the usual gap between two. */
export class Pulse {
  constructor() {
    /** @type {number | null} */
    this.last = null;
    /** @type {number[]} */
    this.gaps = [];
  }

  /**
   * @param {number} now
   * @param {boolean} isEvery whether every picture is reported, so that the gaps count
   */
  beat(now, isEvery = true) {
    if (isEvery && this.last !== null && now - this.last < 5000) {
      this.gaps.push(now - this.last);
      if (this.gaps.length > 9) this.gaps.shift();
    }
    this.last = now;
  }

  /** The median: one stall does not make a camera slow. */
  get usualGap() {
    return [...this.gaps].sort((one, other) => one - other)[this.gaps.length >> 1] ?? 0;
  }
}

/**
 * Whether a connection for media carries nothing at the moment.
 * @param {string | undefined} ice its state
 */
export const isBroken = (ice) => ["disconnected", "failed", "closed"].includes(ice ?? "");

/**
 * Why a camera brings nothing, for a person; the gateway's own words are under Details.
 * @param {{ state?: string, cause?: string, isOnDemand?: boolean }} source
 */
export function cameraTrouble({ state, cause, isOnDemand } = {}) {
  switch (cause) {
  case "switchedOff": return t("liveness.theCameraIsSwitchedOff");
  case "privacy": return t("liveness.isPrivate");
  case "noPublisher": return t("liveness.nobodyPublishesToThisCamera");
  // The password itself was not sent, so another one may not help.
  case "passwordWithheld": return t("liveness.keepsPasswordBack");
  case "credentials": return t("liveness.refusedCredentials");
  case "refusedElsewhere": return t("liveness.refusedByAnotherServer");
  case "wrongAddress": return t("liveness.noStream");
  case "unplayable": return t("liveness.noPlayableStream");
  case "busy": return t("liveness.isBusy");
  case "gateway": return t("liveness.theGatewayLacksSomething");
  default: break;
  }
  switch (state) {
  case "backingOff": case "givenUp": return t("liveness.theCameraIsNotReachable");
  case "resolving": case "connecting": case "authenticating": case "describing": case "settingUp":
    return t("liveness.theCameraIsBeingConnected");
  case "stalled": return t("liveness.theCameraHasStoppedSending");
  // One that rests until somebody watches is woken up by the view.
  case "idle": case "stopped": return isOnDemand ? null : t("liveness.theCameraIsSwitchedOff");
  default: return null;
  }
}

/**
 * What decides whether a camera shows anything, as one text. When it changes, a view that was refused may be possible.
 * @param {{ state?: string, reason?: string }} source
 * @param {import("./types").Traits} traits
 */
export function closingOf({ state, reason }, { CameraAvStreamManagement: streams }) {
  return JSON.stringify([state, reason, streams?.softLivestreamPrivacyModeEnabled, streams?.hardPrivacyModeOn]);
}

/**
 * Whether a camera rests because nobody watches it: a view wakes it up.
 * @param {{ state?: string, isOnDemand?: boolean }} source
 */
export function isResting({ state, isOnDemand } = {}) {
  return Boolean(isOnDemand) && (state === "idle" || state === "stopped");
}

/** @param {number} milliseconds */
export function duration(milliseconds) {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ${Math.floor(seconds / 60) % 60} min`;
  return `${Math.floor(seconds / 86400)} d ${Math.floor(seconds / 3600) % 24} h`;
}

/**
 * What is known about a view.
 * @typedef {object} Facts
 * @property {string} state of the session; "live" once its first picture was seen
 * @property {number | null} silence milliseconds since the last picture, or packet of sound; null before the first
 * @property {number} usualGap milliseconds between two pictures
 * @property {boolean} hasPicture whether there is a picture to see, or sound alone
 * @property {boolean} isOnline what the browser says of its network
 * @property {boolean} hasLink whether the event stream is connected
 * @property {boolean | null} answers whether the gateway answered when it was asked last; null: it was not asked
 * @property {string} [ice] the state of the connection for media
 * @property {{ state: string, cause?: string, isOnDemand?: boolean }} [source] of the camera
 */

/**
 * What there is to say about a view.
 * @typedef {{ isLive: boolean, isStalled: boolean, text: string | null, cause: string | null }} Verdict
 */

/**
 * @param {Facts} facts
 * @returns {Verdict}
 */
export function judge(facts) {
  const { state, silence, usualGap, hasPicture, isOnline, hasLink, answers, ice, source } = facts;
  const isGone = !isOnline || !hasLink || answers === false || isBroken(ice);
  // With the gateway gone there is nothing to be patient for, except what is on its way.
  const limit = isGone ? Math.min(patience(usualGap), Math.max(300, 2 * usualGap)) : patience(usualGap);
  const isLive = state === "live" && silence !== null && silence <= limit && !isBroken(ice);
  if (isLive || silence === null || !["live", "reconnecting"].includes(state)) {
    return { isLive, isStalled: false, text: null, cause: null };
  }
  const cause = !isOnline ? t("liveness.noNetwork")
    : answers === false || (!hasLink && answers !== true) ? t("liveness.theGatewayDoesNotAnswer")
    : isBroken(ice) && state === "live" ? t("liveness.isInterrupted")
    : (source?.state === "flowing" ? null : cameraTrouble(source)) ?? (state === "reconnecting" ? t("liveness.isRestarting")
      : silence > 4000 && answers && !isResting(source) ? t("liveness.theCameraSendsNothing") : null);
  return {
    isLive, isStalled: true, cause,
    text: stallText(hasPicture, silence) + (cause ? `: ${cause}` : ""),
  };
}

/**
 * @param {boolean} hasPicture
 * @param {number} silence milliseconds
 */
function stallText(hasPicture, silence) {
  if (silence < 1000) return hasPicture ? t("liveness.noPicture") : t("liveness.noSound");
  const time = duration(silence);
  return hasPicture ? t("liveness.noPictureForTime", { time }) : t("liveness.noSoundForTime", { time });
}

/**
 * Whether a view that shows nothing should be started again although nothing says that it is broken: a decoder
 * that is stuck, or a session that lost its way.
 * @param {object} facts times are milliseconds
 * @param {number | null} facts.silence since the last picture; null before the first
 * @param {number} facts.sinceStart since the view was started
 * @param {number} facts.flowingFor since the camera began to send
 * @param {boolean} facts.hasLink
 * @param {boolean | null} facts.answers
 * @param {boolean} facts.canDecode
 */
export function isStuck({ silence, sinceStart, flowingFor, hasLink, answers, canDecode }) {
  return canDecode && hasLink && answers !== false && flowingFor > 15000 && (silence ?? sinceStart) > 15000;
}

/**
 * The number of the next attempt, after a view that showed something for so many milliseconds.
 * @param {number} attempt
 * @param {number} shownFor
 */
export function attemptAfter(attempt, shownFor) {
  return shownFor >= 1000 ? 0 : attempt;
}

/**
 * Milliseconds before an attempt: the first at once, the later ones up to half a minute apart. The jitter keeps
 * the viewers of a gateway that restarts from coming back in one moment.
 * @param {number} attempt from 0 on
 * @param {number} random from 0 to 1
 */
export function pauseBefore(attempt, random) {
  if (attempt === 0) return 250 * random;
  return Math.min(30000, 500 * 2 ** Math.min(attempt, 10)) * (0.75 + random / 2);
}

/**
 * Whether a failed start is worth another attempt. A view that has shown something is tried again whatever the
 * gateway says: the camera may have been set up differently for a moment.
 * @param {string} status of the error
 * @param {boolean} hasShown
 */
export function isWorthRetrying(status, hasShown) {
  if (!mayChange(status)) return false;
  return hasShown || ["UNAVAILABLE", "UNREACHABLE", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED"].includes(status);
}

/**
 * Whether what the gateway refuses now may be possible later without anybody doing something here: a camera's privacy
 * ends, a network changes, a camera is set up differently.
 * @param {string} status of the error
 */
export function mayChange(status) { return !["UNAUTHENTICATED", "NO_WEBRTC"].includes(status); }

/**
 * Milliseconds before a view that was refused is tried again. The jitter keeps a wall from asking all at once.
 * @param {number} random from 0 to 1
 */
export function pauseAfterRefusal(random) { return 60000 * (0.75 + random / 2); }
