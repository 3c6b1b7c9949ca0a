import { APIError } from "./api.js";

/**
 * How the pictures of a camera come to this browser: decisions without a browser.
 *
 * @typedef {"webrtc" | "websocket" | "pictures"} LivePath WebRTC, fragmented MP4 over a WebSocket for Media Source
 *   Extensions, or JPEG pictures
 */

/**
 * What a browser can do.
 * @typedef {object} Abilities
 * @property {boolean} hasWebRTC
 * @property {boolean} hasMediaSource
 * @property {(codec: string) => boolean} receives whether its WebRTC plays a codec, by the codec's name in RTP
 * @property {(type: string) => boolean} plays whether its Media Source Extensions play a media type
 */

// Milliseconds before a path that was blocked is tried again. A network may have changed, or a proxy.
const blockedFor = 600000;

/**
 * The media type of each codec that browsers play as fragmented MP4, in a common profile.
 * @type {Record<string, string>}
 */
const mediaTypes = {
  H264: 'video/mp4; codecs="avc1.640028"', H265: 'video/mp4; codecs="hvc1.1.6.L120.B0"',
  VP9: 'video/mp4; codecs="vp09.00.40.08"', AV1: 'video/mp4; codecs="av01.0.08M.08"',
};

/**
 * What makes another path worth an attempt, by the path that it ends.
 * @type {Record<LivePath, string[]>}
 */
const ends = {
  webrtc: ["NO_WEBRTC", "NO_PATH", "NO_CODEC", "NO_DECODER", "BROKEN"],
  websocket: ["UNSUPPORTED", "UNREADABLE", "NO_SOCKET", "BROKEN"],
  // There is nothing after them.
  pictures: [],
};

/**
 * The status of an error, with names for what only a browser finds.
 * @param {unknown} error
 */
export function statusOfPath(error) {
  if (!(error instanceof APIError)) return "BROKEN";
  const isCodec = error.status === "FAILED_PRECONDITION"
    && /no common video codec|this viewer can play nothing/.test(error.message);
  return isCodec ? "NO_CODEC" : error.status;
}

/**
 * The codec of the camera's picture, if the gateway says that it transcodes it.
 * @param {string[]} notes of the answer to an offer
 */
export function transcodedCodec(notes) {
  return notes.map((note) => /^video: (\w+)(?: with B-frames)? is transcoded to /.exec(note)?.[1]).find(Boolean);
}

/** The paths that are left for one view. */
export class LivePaths {
  /** @param {Abilities} abilities */
  constructor(abilities) {
    this.abilities = abilities;
    /**
     * Until when a path is not taken, and for which codec of the camera.
     * @type {Map<LivePath, { until: number, codec: string }>}
     */
    this.blocked = new Map();
  }

  /**
   * Whether the browser plays what the camera sends as a file and not by WebRTC. The gateway would have to transcode it.
   * @param {string} codec
   * @param {boolean} isTranscoded what the gateway says of WebRTC
   */
  isForFile(codec, isTranscoded) {
    const type = Object.hasOwn(mediaTypes, codec) ? mediaTypes[codec] : undefined;
    const { hasMediaSource, plays, receives } = this.abilities;
    return type !== undefined && hasMediaSource && (isTranscoded || !receives(codec)) && plays(type);
  }

  /**
   * The best path that is left.
   * @param {object} view
   * @param {string} view.codec of the camera's picture; "" while it is not known
   * @param {boolean} view.isTranscoded whether the gateway has said that it transcodes it for WebRTC
   * @param {boolean} view.canTalk talking needs WebRTC, whatever the picture costs
   * @param {number} now
   * @returns {LivePath}
   */
  choose({ codec, isTranscoded, canTalk }, now) {
    const { hasWebRTC, hasMediaSource } = this.abilities;
    const isOpen = (/** @type {LivePath} */ path) => !this.isBlocked(path, codec, now);
    if (!canTalk && this.isForFile(codec, isTranscoded) && isOpen("websocket")) return "websocket";
    if (hasWebRTC && isOpen("webrtc")) return "webrtc";
    return hasMediaSource && isOpen("websocket") ? "websocket" : "pictures";
  }

  /**
   * @param {LivePath} path
   * @param {string} codec
   * @param {number} now
   */
  isBlocked(path, codec, now) {
    const block = this.blocked.get(path);
    return block !== undefined && block.codec === codec && now < block.until;
  }

  /**
   * Takes the end of an attempt.
   * @param {LivePath} path
   * @param {string} status by `statusOfPath`
   * @param {string} codec
   * @param {number} now
   * @returns {boolean} whether the path is not taken for some time, because of what this browser or its network cannot do
   */
  refuse(path, status, codec, now) {
    if (!ends[path].includes(status)) return false;
    // A codec that is not played stays so until the camera sends another one.
    const isFinal = ["NO_CODEC", "UNSUPPORTED"].includes(status);
    this.blocked.set(path, { codec, until: isFinal ? Infinity : now + blockedFor });
    return true;
  }
}
