import { cameraTrouble } from "./liveness.js";
import { counted, known, locale, t } from "./text.js";

/**
 * What came of trying a camera that is not added yet.
 * @typedef {{ isGood: boolean, message: string, lines: string[], details: string | null }} Outcome
 */

/**
 * @param {import("./types").ProbedCamera} probed
 * @returns {Outcome}
 */
export function outcomeOf({ reached, failure, cause, tracks, speaker, viewers, notes, hasSubstream }) {
  const details = [...(failure ? [failure] : []), ...(reached ? viewers : []), ...notes].join("\n") || null;
  if (!reached) {
    return { isGood: false, message: t("camera.try.failed", { trouble: troubleOf(cause) }), lines: [], details };
  }
  const hasSound = tracks.some(({ kind }) => kind === "audio");
  const lines = [
    ...tracks.map(trackLine), ...(hasSubstream ? [t("camera.try.second")] : []),
    ...(hasSound ? [] : [t("camera.try.noSound")]),
    speaker.length > 0 ? t("camera.try.speaker") : t("camera.try.noSpeaker"),
    ...(tracks.some(({ hasBFrames }) => hasBFrames) ? [t("camera.try.bFrames")] : []),
    // The smaller stream of such a camera is most likely in H.264, and there for those browsers.
    ...(tracks.some(isH265) && !hasSubstream ? [t("camera.try.h265")] : []),
  ];
  return { isGood: true, message: t("camera.try.works"), lines, details };
}

/**
 * What came of trying both streams of a camera, of which the large one works.
 * @param {import("./types").ProbedCamera} large
 * @param {import("./types").ProbedCamera} small
 * @returns {Outcome}
 */
export function outcomeOfBoth(large, small) {
  const pictures = small.tracks.filter(({ kind }) => kind === "video");
  const whole = outcomeOf({ ...large, hasSubstream: false });
  const details = [whole.details, outcomeOf(small).details].filter(Boolean).join("\n") || null;
  if (!small.reached) {
    return { ...whole, isGood: false, message: t("camera.try.substream.failed", { trouble: troubleOf(small.cause) }), details };
  }
  const isForAll = pictures.some((track) => !isH265(track));
  const lines = whole.lines.filter((line) => !isForAll || line !== t("camera.try.h265"));
  return { ...whole, details, lines: [...lines, ...pictures.map((track) => t("camera.try.substream", { facts: factsOf(track) }))] };
}

/**
 * The words of a camera that is being tried are those of one that is pulled.
 * @param {string} [cause]
 */
function troubleOf(cause) {
  return cameraTrouble({ state: "backingOff", ...(cause ? { cause } : {}) }) ?? t("trouble.silent");
}

/** @param {import("./types").ProbedTrack} track */
function isH265({ kind, codec }) { return kind === "video" && /^(h265|hevc)$/i.test(codec); }

/**
 * @param {number} value
 * @param {number} digits
 */
function number(value, digits) { return value.toLocaleString(locale, { maximumFractionDigits: digits }); }

/** @param {number} bitsPerSecond */
function rateOf(bitsPerSecond) {
  return bitsPerSecond >= 1e6 ? `${number(bitsPerSecond / 1e6, 1)} Mbit/s` : `${number(bitsPerSecond / 1e3, 0)} kbit/s`;
}

/** @param {number} perSecond */
function framesOf(perSecond) {
  // A camera may take less than one picture per second.
  return counted("camera.try.frames", perSecond < 10 ? Math.round(perSecond * 10) / 10 : Math.round(perSecond));
}

/** @param {import("./types").ProbedTrack} track */
function factsOf({ codec, width, height, framesPerSecond, bitsPerSecond }) {
  const size = width && height ? `${width} × ${height}` : null;
  return [codec, size, framesOf(framesPerSecond), rateOf(bitsPerSecond)].filter(Boolean).join(", ");
}

/** @param {import("./types").ProbedTrack} track */
function trackLine(track) {
  if (track.kind !== "video") return t("camera.try.sound", { codec: track.codec, rate: rateOf(track.bitsPerSecond) });
  return t("camera.try.picture", { facts: factsOf(track) });
}

/**
 * What a field of the form is called, by the key of the camera's settings that the gateway does not accept.
 * @param {string} key
 */
export function fieldName(key) { return known(`camera.field.${key.split(".")[0]}`) ?? key; }
