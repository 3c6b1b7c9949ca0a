import assert from "node:assert/strict";
import { test } from "node:test";

import { headerOf, webmHeader, webmMedia, webmType } from "../../Sources/App/WebFiles/page/webm.js";

const u16 = (value) => [value >> 8 & 0xFF, value & 0xFF];
const u32 = (value) => [...u16(value >>> 16), ...u16(value & 0xFFFF)];
const u64 = (value) => [...u32(Math.floor(value / 2 ** 32)), ...u32(value % 2 ** 32)];
const zeros = (count) => new Array(count).fill(0);
const box = (type, ...content) => {
  const bytes = content.flat();
  return [...u32(bytes.length + 8), ...Buffer.from(type), ...bytes];
};
const buffer = (bytes) => Uint8Array.from(bytes).buffer;

const entry = box("vp08", zeros(24), u16(640), u16(360), zeros(50));
const initialization = buffer([
  ...box("ftyp", Buffer.from("cmfc"), u32(0)),
  ...box("moov",
    box("mvhd", zeros(100)),
    box("trak",
      box("tkhd", zeros(84)),
      box("mdia",
        box("mdhd", u32(0), zeros(8), u32(90000), zeros(8)),
        box("minf", box("stbl", box("stsd", u32(0), u32(1), entry))))),
    box("mvex", box("trex", u32(0), u32(1), u32(1), u32(3000), u32(5), u32(0)))),
]);
const header = { timescale: 90000, width: 640, height: 360, duration: 3000, size: 5 };

const key = (fill) => [0x10, fill, fill, fill, fill];
const delta = (fill) => [0x11, fill, fill, fill, fill];

/** A fragment whose samples state what `fields` says; its data follow it. */
function fragment(time, pictures, { states = true } = {}) {
  const samples = pictures.flatMap((picture) => (states ? [...u32(6000), ...u32(picture.length)] : []));
  const moof = (offset) => box("moof", box("mfhd", zeros(8)), box("traf",
    box("tfhd", u32(0x020000), u32(1)),
    box("tfdt", u32(0x01000000), u64(time)),
    box("trun", u32(states ? 0x301 : 0x001), u32(pictures.length), u32(offset), samples)));
  return [...box("styp", Buffer.from("msdh")), ...moof(moof(0).length + 8), ...box("mdat", pictures.flat())];
}

/** The elements of WebM, as lists of identifier and content. Only what has content of its own is opened. */
function elements(bytes) {
  const found = [];
  let place = 0;
  while (place < bytes.length) {
    const width = Math.clz32(bytes[place]) - 23;
    const id = Buffer.from(bytes.subarray(place, place + width)).toString("hex");
    const size = bytes.subarray(place + width, place + width + 8);
    assert.equal(size[0], 1);
    const isOpen = size.slice(1).every((byte) => byte === 0xFF);
    const length = isOpen ? bytes.length : Number(Buffer.from(size).readBigUInt64BE() & (2n ** 56n - 1n));
    const start = place + width + 8;
    const content = bytes.subarray(start, start + length);
    found.push([id, ["18538067", "1654ae6b", "ae", "e0", "1f43b675"].includes(id) ? elements(content) : content]);
    place = start + length;
  }
  return found;
}
const number = (bytes) => Number(Buffer.from(bytes).readBigUInt64BE());
const inside = (list, id) => list.find(([one]) => one === id)?.[1];

test("only VP8 is played as another type", () => {
  assert.equal(webmType('video/mp4; codecs="vp08.00.10.08"'), 'video/webm; codecs="vp8"');
  assert.equal(webmType('video/mp4; codecs="hvc1.1.6.L60.90"'), undefined);
  assert.equal(webmType('audio/mp4; codecs="opus"'), undefined);
});

test("the header keeps the size of the picture", () => {
  assert.deepEqual(headerOf(initialization), header);
  const [ebml, segment] = elements(webmHeader(header));
  assert.equal(ebml[0], "1a45dfa3");
  const track = inside(inside(segment[1], "1654ae6b"), "ae");
  assert.equal(Buffer.from(inside(track, "86")).toString(), "V_VP8");
  assert.deepEqual(["b0", "ba"].map((id) => number(inside(inside(track, "e0"), id))), [640, 360]);
});

for (const states of [true, false]) {
  test(`pictures keep their bytes and times${states ? "" : ", also with the defaults of the header"}`, () => {
    const step = states ? 6000 : 3000;
    const pictures = [delta(1), key(2), delta(3), delta(4)];
    const bytes = buffer([
      ...fragment(900000, pictures.slice(0, 2), { states }),
      ...fragment(900000 + 2 * step, pictures.slice(2), { states })]);
    const clusters = elements(webmMedia(bytes, header)).map(([id, content]) => {
      assert.equal(id, "1f43b675");
      const start = number(inside(content, "e7"));
      return content.filter(([one]) => one === "a3").map(([, block]) => (
        { at: start + Buffer.from(block).readInt16BE(1), isKey: block[3] === 0x80, picture: [...block.subarray(4)] }));
    });
    // A key frame begins a cluster.
    assert.deepEqual(clusters.map((blocks) => blocks.length), [1, 3]);
    assert.deepEqual(clusters.flat(), pictures.map((picture, index) => (
      { at: Math.round((900000 + index * step) / 90), isKey: index === 1, picture })));
  });
}

test("a damaged segment is reported, wherever it ends and whatever was changed in it", () => {
  const whole = fragment(0, [key(1), delta(2)]);
  for (let length = 0; length < whole.length; length += 1) {
    try {
      webmMedia(buffer(whole.slice(0, length)), header);
    } catch (error) {
      assert.equal(error.status, "UNREADABLE");
    }
  }
  for (let place = 0; place < whole.length; place += 1) {
    for (const value of [0, 1, 0x7F, 0xFF]) {
      const damaged = whole.with(place, value);
      try {
        webmMedia(buffer(damaged), header);
      } catch (error) {
        assert.equal(error.status, "UNREADABLE", `${place} ${value} ${error}`);
      }
    }
  }
  assert.throws(() => headerOf(buffer([...box("moov", box("trak"))])), { status: "UNREADABLE" });
});
