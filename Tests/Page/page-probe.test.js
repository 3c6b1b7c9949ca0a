import assert from "node:assert/strict";
import { test } from "node:test";

// It defines a global, because a browser runs it before the page's own scripts.
await import("../Peers/peers/page-probe.js");

const { band, checksumOf, stampIn, withoutPlayoutDelay } = globalThis.pageProbe;

// 2025-11-27 12:00:00.123456 UTC in microseconds, in two halves.
const time = [410770, 1083945536];
const captured = 1764244800123.456;
// By zlib.
const checksum = 0xde6d841c;

/** The pixels of a band: light, dark, the bits, dark, light in each row, from the seventh square on. */
function drawn(words, { light = 208, dark = 36 } = {}) {
  const pixels = new Uint8ClampedArray(4 * band.width * band.height).fill(128);
  const side = band.height / 2;
  for (const [row, halves] of words.entries()) {
    const bits = halves.map((word) => word.toString(2).padStart(32, "0")).join("");
    for (const [column, bit] of [..."10" + bits + "01"].entries()) {
      for (let at = 0; at < side * side; at += 1) {
        const x = (6 + column) * side + at % side;
        const y = row * side + Math.floor(at / side);
        pixels.fill(bit === "1" ? light : dark, 4 * (y * band.width + x), 4 * (y * band.width + x) + 3);
      }
    }
  }
  return pixels;
}

test("the checksum of a stamp is that of the gateway", () => {
  assert.equal(checksumOf([1234, ...time]), checksum);
});

test("the number of a picture and its time are read from its band", () => {
  assert.deepEqual(stampIn(drawn([time, [1234, checksum]])), { number: 1234, captured });
  // As it comes out of a browser: compressed, and in other colours.
  assert.deepEqual(stampIn(drawn([time, [1234, checksum]], { light: 170, dark: 90 })), { number: 1234, captured });
});

test("a number above 2^31 is not negative", () => {
  const number = 0xfedcba98;
  assert.equal(stampIn(drawn([time, [number, checksumOf([number, ...time])]])).number, number);
});

test("a damaged stamp and a picture without one are not read", () => {
  assert.equal(stampIn(drawn([time, [1235, checksum]])), null);
  assert.equal(stampIn(drawn([[410770, 1083945537], [1234, checksum]])), null);
  assert.equal(stampIn(drawn([])), null);
});

test("an offer loses the playout delay and nothing else", () => {
  const lines = [
    "a=extmap:4 http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01",
    "a=extmap:5 http://www.webrtc.org/experiments/rtp-hdrext/playout-delay",
    "a=extmap:6/recvonly http://www.webrtc.org/experiments/rtp-hdrext/playout-delay",
    "a=extmap:7 http://www.webrtc.org/experiments/rtp-hdrext/video-content-type",
  ].map((line) => line + "\r\n");
  assert.equal(withoutPlayoutDelay(lines.join("")), lines[0] + lines[3]);
});
