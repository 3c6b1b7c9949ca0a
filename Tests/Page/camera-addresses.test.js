import assert from "node:assert/strict";
import { test } from "node:test";

import { addressesOf } from "../../Sources/App/WebFiles/page/camera-addresses.js";

const urls = (options) => addressesOf("front door", { origin: "https://gate.example:8443", ...options })
  .map(({ url }) => url);

test("a camera has the addresses that its gateway serves", () => {
  assert.deepEqual(urls({}), [
    "https://gate.example:8443/#camera/front%20door", "https://gate.example:8443/whep/front%20door",
    "https://gate.example:8443/v1/devices/front%20door/snapshot.jpg",
  ]);
  assert.ok(urls({ rtspPort: 554 }).includes("rtsp://gate.example/front%20door"));
  assert.ok(urls({ rtspPort: 18554 }).includes("rtsp://gate.example:18554/front%20door"));
  assert.ok(urls({ hasRecordings: true }).some((url) => url.endsWith("recordings.m3u8")));
  const inBrackets = addressesOf("yard", { origin: "https://[2001:db8::1]:8443", rtspPort: 8554 }).map(({ url }) => url);
  assert.ok(inBrackets.includes("rtsp://[2001:db8::1]:8554/yard"));
});
