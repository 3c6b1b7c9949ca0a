import assert from "node:assert/strict";
import { test } from "node:test";

import { keyFrameTime, pictureTrack } from "../../Sources/App/WebFiles/page/live-fragments.js";

const number = (value, bytes = 4) => Array.from({ length: bytes }, (_, index) => Number(BigInt(value) >> BigInt(8 * (bytes - 1 - index)) & 0xFFn));
const text = (value) => [...value].map((letter) => letter.codePointAt(0));
const box = (type, ...content) => {
  const all = content.flat(Infinity);
  return [...number(all.length + 8), ...text(type), ...all];
};
const bytes = (...content) => new Uint8Array(content.flat(Infinity)).buffer;

/** A track as the gateway writes its header. */
const track = (id, handler, timescale) => box("trak",
  box("tkhd", number(3), number(0, 8), number(id), number(0, 68)),
  box("mdia", box("mdhd", number(0), number(0, 8), number(timescale), number(0, 8)),
    box("hdlr", number(0), number(0), text(handler), number(0, 13))));
const header = (...tracks) => bytes(box("ftyp", text("iso6"), number(0)), box("moov", box("mvhd", number(0, 100)), ...tracks));

/** One track's part of a fragment, as the gateway writes it. */
const part = (id, time, flags) => box("traf",
  box("tfhd", number(0x20000), number(id)), box("tfdt", number(0x1000000), number(time, 8)),
  box("trun", number(0x1000F01), number(1), number(99), number(3000), number(500), number(flags), number(0)));
const fragment = (...parts) => bytes(box("prft", number(0, 20)), box("moof", box("mfhd", number(0), number(1)), ...parts), box("mdat", text("...")));
const [isKey, isOther] = [0x02000000, 0x01010000];

test("the track with the pictures is found among others", () => {
  const [pictures, sound] = [track(1, "vide", 90000), track(2, "soun", 48000)];
  assert.deepEqual(pictureTrack(header(pictures, sound)), { id: 1, timescale: 90000 });
  assert.deepEqual(pictureTrack(header(sound, track(7, "vide", 1000))), { id: 7, timescale: 1000 });
  assert.equal(pictureTrack(header(sound)), null);
});

test("a key frame is found with its time, and sound does not count as one", () => {
  const pictures = { id: 1, timescale: 90000 };
  assert.equal(keyFrameTime(fragment(part(1, 450_000, isKey)), pictures), 5);
  assert.equal(keyFrameTime(fragment(part(2, 1, isKey), part(1, 900_000, isKey)), pictures), 10);
  assert.equal(keyFrameTime(fragment(part(1, 450_000, isOther), part(2, 1, isKey)), pictures), undefined);
  assert.equal(keyFrameTime(fragment(part(2, 1, isKey)), pictures), undefined);
  // A camera that has run for weeks.
  assert.equal(keyFrameTime(fragment(part(1, 90_000 * 3_000_000, isKey)), pictures), 3_000_000);
});

test("damaged bytes are a RangeError, wherever they are cut", () => {
  const whole = fragment(part(1, 450_000, isKey));
  for (let length = 0; length < whole.byteLength - 20; length += 1) {
    assert.throws(() => keyFrameTime(whole.slice(0, length), { id: 1, timescale: 90000 }), RangeError, String(length));
  }
  assert.throws(() => pictureTrack(new ArrayBuffer(0)), RangeError);
  assert.throws(() => pictureTrack(fragment()), RangeError);
});
