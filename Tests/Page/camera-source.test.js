import assert from "node:assert/strict";
import { test } from "node:test";

import { hostOf, movedWith, sourceWith, takesLogin } from "../../Sources/App/WebFiles/page/camera-source.js";

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
  for (const word of ["publisher", "whip", "builtin:doorbell", "exec:something", "", "not an address"]) assert.equal(sourceWith(word, "", ""), word);
});

test("an address that has no place for a login gets none", () => {
  for (const address of ["rtmp://192.0.2.1/live/gate?user=a", "RTMPS://192.0.2.1/live", "udp://239.0.0.1:1234", "tcp://192.0.2.1:9",
    "v4l2:/dev/video0", "publisher", "whip", "builtin:doorbell"]) {
    assert.equal(takesLogin(address), false, address);
    assert.equal(sourceWith(address, "me", "mine"), address);
  }
  for (const address of ["rtsp://192.0.2.1/", "onvif://192.0.2.1", "192.0.2.1", "hls+http://192.0.2.1/", "whippet.example", "publisher.example", ""]) {
    assert.equal(takesLogin(address), true, address);
  }
});

test("an address at the camera's host moves with the camera", () => {
  assert.equal(movedWith("rtsp://192.0.2.20:8554/2?a@b", "rtsp://192.0.2.20/1", "rtsp://192.0.2.30/1"), "rtsp://192.0.2.30:8554/2?a@b");
  assert.equal(movedWith("rtsp://a:b@cam.local/2", "onvif://CAM.local:8000", "[2001:db8::5]"), "rtsp://a:b@[2001:db8::5]/2");
  for (const [address, before, now] of [["rtsp://192.0.2.21/2", "rtsp://192.0.2.20/1", "rtsp://192.0.2.30/1"],
    ["rtsp://192.0.2.20/2", "rtsp://192.0.2.20/1", ""], ["", "rtsp://192.0.2.20/1", "rtsp://192.0.2.30/1"],
    ["rtsp://192.0.2.20/2", "whip", "rtsp://192.0.2.30/1"]]) assert.equal(movedWith(address, before, now), address);
  assert.deepEqual(["rtsp://u:p@Host:1/x", "192.0.2.1:80", "rtsp://[2001:db8::5]:1/", "whip"].map(hostOf),
    ["host", "192.0.2.1", "[2001:db8::5]", ""]);
});
