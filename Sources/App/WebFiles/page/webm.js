import { PageError } from "./api.js";
import { box, boxes } from "./mp4-boxes.js";

/**
 * Turns recorded VP8 into WebM, without a browser. Recordings are fragmented MP4 (ISO/IEC 14496-12), and browsers play VP8
 * only in WebM (RFC 9559). The pictures themselves are copied. Times are rounded to milliseconds, WebM's usual unit.
 */

const millisecond = 1000000;
// A block's time is relative to its cluster's, in 16 bits with a sign.
const longestCluster = 30000;

/**
 * What a track's header says.
 * @typedef {object} Header
 * @property {number} timescale ticks in a second
 * @property {number} width
 * @property {number} height
 * @property {number} duration of a sample that does not state its own, in ticks
 * @property {number} size of a sample that does not state its own, in bytes
 */

/**
 * The type in which a browser may play what it does not play as MP4; undefined where there is none.
 * @param {string} type
 */
export function webmType(type) {
  return /^video\/mp4; codecs="vp08[."]/u.test(type) ? 'video/webm; codecs="vp8"' : undefined;
}

// MP4

/**
 * Runs a reader of MP4. Nothing outside of the bytes can be read.
 * @template Result
 * @param {() => Result} read
 * @returns {Result}
 */
function reading(read) {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new PageError("UNREADABLE", "A part of the recording is damaged.");
  }
}

/**
 * Reads the header of a track.
 * @param {ArrayBuffer} bytes an initialization segment with one track
 * @returns {Header}
 */
export function headerOf(bytes) {
  return reading(() => {
    const view = new DataView(bytes);
    const whole = { content: 0, to: bytes.byteLength };
    const media = box(view, ["moov", "trak", "mdia"], whole);
    const { content: times } = box(view, ["mdhd"], media);
    const { content: entries } = box(view, ["minf", "stbl", "stsd"], media);
    const { content: defaults } = box(view, ["moov", "mvex", "trex"], whole);
    return {
      timescale: view.getUint32(times + (view.getUint8(times) === 1 ? 20 : 12)),
      // The list's version, flags and count, and a visual entry's fields before its size.
      width: view.getUint16(entries + 8 + 32),
      height: view.getUint16(entries + 8 + 34),
      duration: view.getUint32(defaults + 12),
      size: view.getUint32(defaults + 16),
    };
  });
}

/**
 * The samples of a fragment, each with its time in ticks and its place in the bytes.
 * @param {DataView} view
 * @param {{ from: number, content: number, to: number }} moof
 * @param {Header} header
 */
function* samplesOf(view, moof, header) {
  const fragment = box(view, ["traf"], moof);
  const { content: own } = box(view, ["tfhd"], fragment);
  const flags = view.getUint32(own) & 0xFFFFFF;
  let place = own + 8;
  let base = moof.from;
  if (flags & 0x01) { base = Number(view.getBigUint64(place)); place += 8; }
  if (flags & 0x02) place += 4;
  const duration = flags & 0x08 ? view.getUint32(place) : header.duration;
  if (flags & 0x08) place += 4;
  const size = flags & 0x10 ? view.getUint32(place) : header.size;
  const { content: decode } = box(view, ["tfdt"], fragment);
  let time = view.getUint8(decode) === 1 ? Number(view.getBigUint64(decode + 4)) : view.getUint32(decode + 4);
  let data = base;
  for (const run of boxes(view, fragment.content, fragment.to)) {
    if (run.type !== "trun") continue;
    const fields = view.getUint32(run.content) & 0xFFFFFF;
    const count = view.getUint32(run.content + 4);
    let at = run.content + 8;
    if (fields & 0x01) { data = base + view.getInt32(at); at += 4; }
    if (fields & 0x04) at += 4;
    const each = [0x100, 0x200, 0x400, 0x800].filter((flag) => fields & flag).length * 4;
    if (at + each * count > run.to) throw new RangeError("trun does not fit");
    for (let index = 0; index < count; index += 1, at += each) {
      const lasts = fields & 0x100 ? view.getUint32(at) : duration;
      const length = fields & 0x200 ? view.getUint32(at + (fields & 0x100 ? 4 : 0)) : size;
      if (data < 0 || data + length > view.byteLength) throw new RangeError("a sample is outside of the segment");
      yield { time, data, length };
      time += lasts;
      data += length;
    }
  }
}

// WebM

/** @typedef {Uint8Array | number[]} Bytes */

/**
 * @param {Bytes[]} parts
 * @returns {Uint8Array}
 */
function joined(parts) {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let place = 0;
  for (const part of parts) {
    bytes.set(part, place);
    place += part.length;
  }
  return bytes;
}

/**
 * An element. Its length is written in eight bytes, which every length fits.
 * @param {number[]} id
 * @param {...Bytes} content
 */
function element(id, ...content) {
  const length = content.reduce((sum, part) => sum + part.length, 0);
  const size = new Uint8Array(8);
  new DataView(size.buffer).setBigUint64(0, BigInt(length) | 1n << 56n);
  return joined([id, size, ...content]);
}

/** @param {number} value */
function unsigned(value) {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, BigInt(value));
  return bytes;
}

/** @param {string} value */
function text(value) { return new TextEncoder().encode(value); }

/**
 * The header of a WebM stream with one track of VP8.
 * @param {Header} header
 */
export function webmHeader({ width, height }) {
  return joined([
    element([0x1A, 0x45, 0xDF, 0xA3],
      element([0x42, 0x86], unsigned(1)), element([0x42, 0xF7], unsigned(1)), element([0x42, 0xF2], unsigned(4)),
      element([0x42, 0xF3], unsigned(8)), element([0x42, 0x82], text("webm")),
      element([0x42, 0x87], unsigned(4)), element([0x42, 0x85], unsigned(2))),
    // The segment, whose length is not known.
    [0x18, 0x53, 0x80, 0x67, 0x01, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
    element([0x15, 0x49, 0xA9, 0x66],
      element([0x2A, 0xD7, 0xB1], unsigned(millisecond)),
      element([0x4D, 0x80], text("Gatehouse")), element([0x57, 0x41], text("Gatehouse"))),
    element([0x16, 0x54, 0xAE, 0x6B], element([0xAE],
      element([0xD7], unsigned(1)), element([0x73, 0xC5], unsigned(1)), element([0x83], unsigned(1)),
      element([0x9C], unsigned(0)), element([0x86], text("V_VP8")),
      element([0xE0], element([0xB0], unsigned(width)), element([0xBA], unsigned(height))))),
  ]);
}

/**
 * The pictures of a segment as clusters, at the times that they have in the segment.
 * @param {ArrayBuffer} bytes a media segment
 * @param {Header} header
 */
export function webmMedia(bytes, header) {
  return reading(() => {
    const view = new DataView(bytes);
    /** @type {{ start: number, blocks: Bytes[] }[]} */
    const clusters = [];
    for (const moof of boxes(view, 0, bytes.byteLength)) {
      if (moof.type !== "moof") continue;
      for (const { time, data, length } of samplesOf(view, moof, header)) {
        const at = Math.round(time * 1000 / header.timescale);
        const picture = new Uint8Array(bytes, data, length);
        // RFC 6386, section 9.1: the first bit of a key frame is 0.
        const isKey = length > 0 && ((picture[0] ?? 1) & 1) === 0;
        let cluster = clusters.at(-1);
        if (!cluster || isKey || at - cluster.start > longestCluster) {
          cluster = { start: at, blocks: [] };
          clusters.push(cluster);
        }
        const relative = at - cluster.start;
        cluster.blocks.push(
          element([0xA3], [0x81, relative >> 8 & 0xFF, relative & 0xFF, isKey ? 0x80 : 0], picture));
      }
    }
    return joined(clusters.map(({ start, blocks }) => (
      element([0x1F, 0x43, 0xB6, 0x75], element([0xE7], unsigned(start)), ...blocks))));
  });
}
