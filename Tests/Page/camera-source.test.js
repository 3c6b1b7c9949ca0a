import assert from "node:assert/strict";
import { test } from "node:test";

import { sourceWith } from "../../Sources/App/WebFiles/page/camera-source.js";

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

test("addresses of streams and of devices stay as they are", () => {
  assert.equal(sourceWith("hls+http://192.0.2.1/live", "me", "mine"), "hls+http://me:mine@192.0.2.1/live");
  for (const address of ["rtmp://192.0.2.1/live/gate?user=a", "udp://239.0.0.1:1234", "v4l2:/dev/video0?rate=15"]) {
    assert.equal(sourceWith(address, "", ""), address);
  }
});

test("an address alone is asked by ONVIF, and a word is not an address", () => {
  assert.equal(sourceWith("192.0.2.20", "", ""), "onvif://192.0.2.20");
  assert.equal(sourceWith("cam.local:8000", "a", "b"), "onvif://a:b@cam.local:8000");
  assert.equal(sourceWith("[2001:db8::5]", "", ""), "onvif://[2001:db8::5]");
  for (const word of ["whip", "builtin:doorbell", "exec:something", "", "not an address"]) assert.equal(sourceWith(word, "", ""), word);
});
