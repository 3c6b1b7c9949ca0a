import { box, boxes } from "./mp4-boxes.js";

/**
 * The track with the pictures of a stream.
 * @typedef {object} PictureTrack
 * @property {number} id
 * @property {number} timescale ticks in a second
 */

/**
 * Finds the track with the pictures.
 * @param {ArrayBuffer} header `ftyp` and `moov` (ISO/IEC 14496-12, section 8.2)
 * @returns {PictureTrack | null} null in a stream of sound alone
 * @throws {RangeError} if the header is damaged
 */
export function pictureTrack(header) {
  const view = new DataView(header);
  const movie = box(view, ["moov"], { content: 0, to: header.byteLength });
  for (const track of boxes(view, movie.content, movie.to)) {
    if (track.type !== "trak") continue;
    const { content: handler } = box(view, ["mdia", "hdlr"], track);
    // "vide"
    if (view.getUint32(handler + 8) !== 0x76696465) continue;
    const { content: own } = box(view, ["tkhd"], track);
    const { content: times } = box(view, ["mdia", "mdhd"], track);
    return {
      id: view.getUint32(own + (view.getUint8(own) === 1 ? 20 : 12)),
      timescale: view.getUint32(times + (view.getUint8(times) === 1 ? 20 : 12)),
    };
  }
  return null;
}

/**
 * Where the key frame is that a fragment begins with.
 * @param {ArrayBuffer} fragment `moof` and `mdat`, as the gateway writes them: each sample states its flags
 * @param {PictureTrack} track
 * @returns {number | undefined} its decode time in seconds; undefined if the fragment begins with no key frame
 * @throws {RangeError} if the fragment is damaged
 */
export function keyFrameTime(fragment, { id, timescale }) {
  const view = new DataView(fragment);
  const movie = box(view, ["moof"], { content: 0, to: fragment.byteLength });
  for (const part of boxes(view, movie.content, movie.to)) {
    if (part.type !== "traf" || view.getUint32(box(view, ["tfhd"], part).content + 4) !== id) continue;
    const { content: decode } = box(view, ["tfdt"], part);
    const time = view.getUint8(decode) === 1 ? Number(view.getBigUint64(decode + 4)) : view.getUint32(decode + 4);
    const { content: run } = box(view, ["trun"], part);
    // Section 8.8.8.1: the fields before the first sample, and those of the sample before its flags.
    const fields = view.getUint32(run) & 0xFFFFFF;
    if (!(fields & 0x400) || view.getUint32(run + 4) === 0) return undefined;
    const place = run + 8 + [0x01, 0x04, 0x100, 0x200].filter((flag) => fields & flag).length * 4;
    // Section 8.8.3.1: sample_is_non_sync_sample
    return view.getUint32(place) & 0x10000 ? undefined : time / timescale;
  }
  return undefined;
}
