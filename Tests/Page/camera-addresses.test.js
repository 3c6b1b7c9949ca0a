import assert from "node:assert/strict";
import { test } from "node:test";

import { addressesOf } from "../../Sources/App/WebFiles/page/camera-addresses.js";

const urls = (options) => addressesOf("front door", { origin: "https://gate.example:8443", ...options })
  .flatMap(({ url }) => url ?? []);

test("a camera has the addresses that its gateway serves", () => {
  assert.deepEqual(urls({}), [
    "https://gate.example:8443/#camera/front%20door", "https://gate.example:8443/whep/front%20door",
    ...["live.m3u8", "live.mp4", "live.mjpeg", "snapshot.jpg"].map((file) => `https://gate.example:8443/v1/devices/front%20door/${file}`),
  ]);
  assert.ok(urls({ rtspPort: 554 }).includes("rtsp://gate.example/front%20door"));
  assert.ok(urls({ rtspPort: 18554 }).includes("rtsp://gate.example:18554/front%20door"));
  assert.ok(urls({ hasRecordings: true }).some((url) => url.endsWith("recordings.m3u8")));
  const inBrackets = addressesOf("yard", { origin: "https://[2001:db8::1]:8443", rtspPort: 8554 }).map(({ url }) => url);
  assert.ok(inBrackets.includes("rtsp://[2001:db8::1]:8554/yard"));
});

test("an RTSP server that is off or closed is said to be", () => {
  const rtspOf = (options) => addressesOf("yard", { origin: "https://gate.example", ...options }).find(({ label }) => /RTSP/.test(label));
  assert.deepEqual(rtspOf({}).url, undefined);
  assert.match(rtspOf({}).note, /RTSP is off/);
  const closed = rtspOf({ rtspPort: 8554, rtspIsOpen: false });
  // There it works on the machine of the gateway alone.
  assert.equal(closed.url, "rtsp://127.0.0.1:8554/yard");
  assert.match(closed.note, /rtsp\.host/);
  const open = rtspOf({ rtspPort: 8554, rtspIsOpen: true });
  assert.equal(open.url, "rtsp://gate.example:8554/yard");
  assert.doesNotMatch(open.note, /rtsp\.host/);
});

test("a token for a program is in the addresses that take it, so that they can be pasted", () => {
  const addresses = addressesOf("yard", { origin: "https://gate.example", rtspPort: 8554, hasRecordings: true, token: "gatehouse_a+b" });
  const [page, ...others] = addresses.flatMap(({ url }) => url ?? []);
  assert.equal(page, "https://gate.example/camera/yard#token=gatehouse_a%2Bb");
  assert.deepEqual(others.filter((url) => !url.endsWith("?token=gatehouse_a%2Bb")),
    ["https://gate.example/v1/devices/yard/recordings.m3u8"]);
  assert.ok(others.includes("rtsp://gate.example:8554/yard?token=gatehouse_a%2Bb"));
  // A frame shows the page of the camera, and its note names the key of the config that permits it.
  const frame = addresses.find(({ html }) => html);
  assert.ok(frame.html.startsWith(`<iframe src="${page}" title="yard" allow="autoplay; fullscreen; picture-in-picture" `));
  assert.match(frame.note, /http\.frameAncestors/);
  // The recordings are not what the camera shows now.
  assert.match(addresses.at(-1).note, /Bearer/);
  assert.ok(addresses.slice(0, -1).every(({ note }) => !/Bearer/.test(note)));
});
