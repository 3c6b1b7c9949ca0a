import { cameraTrouble } from "./liveness.js";
import { known, locale, t } from "./text.js";

/**
 * What came of trying a camera that is not added yet.
 * @typedef {{ isGood: boolean, message: string, lines: string[], details: string | null }} Outcome
 */

/**
 * @param {import("./types").ProbedCamera} probed
 * @returns {Outcome}
 */
export function outcomeOf({ reached, failure, tracks, speaker, viewers, notes }) {
  const details = [...(failure ? [failure] : []), ...(reached ? viewers : []), ...notes].join("\n") || null;
  if (!reached) {
    // The words of a camera that is being tried are those of one that is pulled.
    const trouble = cameraTrouble({ state: "backingOff", ...(failure ? { reason: failure } : {}) });
    return { isGood: false, message: t("camera.try.failed", { trouble: trouble ?? t("trouble.silent") }), lines: [], details };
  }
  const hasSound = tracks.some(({ kind }) => kind === "audio");
  const lines = [
    ...tracks.map(trackLine),
    ...(hasSound ? [] : [t("camera.try.noSound")]),
    speaker.length > 0 ? t("camera.try.speaker") : t("camera.try.noSpeaker"),
    ...(tracks.some(({ hasBFrames }) => hasBFrames) ? [t("camera.try.bFrames")] : []),
    ...(tracks.some(({ kind, codec }) => kind === "video" && /^(h265|hevc)$/i.test(codec)) ? [t("camera.try.h265")] : []),
  ];
  return { isGood: true, message: t("camera.try.works"), lines, details };
}

/**
 * @param {number} value
 * @param {number} digits
 */
function number(value, digits) { return value.toLocaleString(locale, { maximumFractionDigits: digits }); }

/** @param {import("./types").ProbedTrack} track */
function trackLine({ kind, codec, width, height, framesPerSecond, bitsPerSecond }) {
  const rate = bitsPerSecond >= 1e6 ? `${number(bitsPerSecond / 1e6, 1)} Mbit/s` : `${number(bitsPerSecond / 1e3, 0)} kbit/s`;
  if (kind !== "video") return t("camera.try.sound", { codec, rate });
  const size = width && height ? `${width} × ${height}` : null;
  return t("camera.try.picture", {
    facts: [codec, size, t("camera.try.frames", { count: number(framesPerSecond, 0) }), rate].filter(Boolean).join(", "),
  });
}

/**
 * What a field of the form is called, by the key of the camera's settings that the gateway does not accept.
 * @param {string} key
 */
export function fieldName(key) { return known(`camera.field.${key.split(".")[0]}`) ?? key; }
