import assert from "node:assert/strict";
import { test } from "node:test";

import { addressesOf } from "../../Sources/App/WebFiles/page/camera-addresses.js";
import { sourceWith } from "../../Sources/App/WebFiles/page/camera-source.js";
import { outcomeOf, trial } from "../../Sources/App/WebFiles/page/camera-trial.js";

test("user and password come into the address, whatever characters they have", () => {
  assert.equal(sourceWith(" rtsp://192.0.2.20:554/stream1 ", "viewer", "secret"), "rtsp://viewer:secret@192.0.2.20:554/stream1");
  const address = sourceWith("rtsp://192.0.2.20/a@b?c=d", "ü", "p@ss:w/o?r#d!%$'");
  assert.ok(address.endsWith("@192.0.2.20/a@b?c=d"));
  const { username, password, host } = new URL(address.replace("rtsp:", "http:"));
  assert.deepEqual([username, password, host].map(decodeURIComponent), ["ü", "p@ss:w/o?r#d!%$'", "192.0.2.20"]);
  // Braces and dollars mean something in a config.
  assert.doesNotMatch(sourceWith("rtsp://host/", "a", "${NAME}"), /[${}]/);
});

test("the fields count, and not what an example has in its address", () => {
  assert.equal(sourceWith("rtsps://user:pass@cam.example/1", "me", "mine"), "rtsps://me:mine@cam.example/1");
  assert.equal(sourceWith("rtsp://user:pass@cam.example/1", "", ""), "rtsp://user:pass@cam.example/1");
  assert.equal(sourceWith("onvif://cam.example", "me", ""), "onvif://me@cam.example");
});

test("an address alone is asked by ONVIF, and a word is not an address", () => {
  assert.equal(sourceWith("192.0.2.20", "", ""), "onvif://192.0.2.20");
  assert.equal(sourceWith("cam.local:8000", "a", "b"), "onvif://a:b@cam.local:8000");
  assert.equal(sourceWith("[2001:db8::5]", "", ""), "onvif://[2001:db8::5]");
  for (const word of ["whip", "builtin:doorbell", "exec:something", "", "not an address"]) assert.equal(sourceWith(word, "", ""), word);
});

test("a camera that was added works, waits, or says why it does not", () => {
  const source = (state, reason) => ({ state, reason, tracks: [{ kind: "video", codec: "H264" }, { kind: "audio", codec: "opus" }] });
  assert.deepEqual(outcomeOf(source("flowing")), { isGood: true, message: "The camera works: it sends H264 · opus.", details: null });
  assert.equal(outcomeOf(source("connecting")), null);
  assert.equal(outcomeOf(undefined), null);
  const refused = outcomeOf(source("givenUp", "the camera refused the password"));
  assert.equal(refused.message, "It does not work yet: the camera does not accept the user name or password.");
  assert.equal(refused.details, "the camera refused the password");
});

test("a trial ends with the first outcome, and when nothing comes", async () => {
  const states = ["idle", "connecting", "flowing", "stalled"];
  let pauses = 0;
  const pause = async () => { pauses += 1; };
  const { isGood } = await trial(() => ({ state: states[pauses], tracks: [] }), pause);
  assert.deepEqual([isGood, pauses], [true, 2]);
  pauses = 0;
  const { message } = await trial(() => undefined, pause);
  assert.equal(message, "The camera has not answered yet. The gateway goes on trying.");
  assert.equal(pauses, 25);
});

test("a camera's addresses are those of the gateway that the page came from", () => {
  const urls = addressesOf("front door", "https://[2001:db8::1]:8443", true).map(({ url }) => url);
  assert.deepEqual(urls, [
    "https://[2001:db8::1]:8443/#camera/front%20door", "https://[2001:db8::1]:8443/whep/front%20door",
    "rtsp://[2001:db8::1]:8554/front%20door", "https://[2001:db8::1]:8443/v1/devices/front%20door/snapshot.jpg",
    "https://[2001:db8::1]:8443/v1/devices/front%20door/recordings.m3u8",
  ]);
  assert.equal(addressesOf("yard", "http://127.0.0.1:1", false).length, 4);
});
