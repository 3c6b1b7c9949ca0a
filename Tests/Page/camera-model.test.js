import assert from "node:assert/strict";
import { test } from "node:test";

import { fieldsOf, partsOf, patchOf, sourceOf } from "../../Sources/App/WebFiles/page/camera-model.js";

const camera = {
  id: "yard", name: "Yard", type: "camera", source: "rtsp://viewer:***@192.0.2.20/stream1", transport: "auto", keepAlive: "auto",
  pull: "always", battery: false, pullWhileOff: false, talkback: "auto", transcodeVideo: "auto", webhook: false, origin: "api",
};
/** What is sent when these fields are changed. */
const patched = (change, before = camera) => patchOf(before, { ...fieldsOf(before), ...change });

test("an address is taken apart, and its password is not shown", () => {
  assert.deepEqual(partsOf("rtsp://viewer:p%40ss@192.0.2.20:554/a@b?c=d"),
    { address: "rtsp://192.0.2.20:554/a@b?c=d", user: "viewer", password: "p@ss" });
  assert.deepEqual(partsOf("onvif://192.0.2.20"), { address: "onvif://192.0.2.20", user: "", password: "" });
  assert.deepEqual(partsOf("whip"), { address: "whip", user: "", password: "" });
  assert.deepEqual(partsOf("rtsp://%zz@host/"), { address: "rtsp://host/", user: "%zz", password: "" });
  const { address, user, password } = fieldsOf(camera);
  assert.deepEqual([address, user, password], ["rtsp://192.0.2.20/stream1", "viewer", ""]);
});

test("a password that is not typed again is the stored one, as long as its user stays", () => {
  assert.equal(sourceOf({ address: "rtsp://192.0.2.20/stream2", user: "viewer", password: "" }, camera.source),
    "rtsp://viewer:***@192.0.2.20/stream2");
  assert.equal(sourceOf({ address: "rtsp://192.0.2.20/stream2", user: "admin", password: "" }, camera.source),
    "rtsp://admin@192.0.2.20/stream2");
  assert.equal(sourceOf({ address: "rtsp://192.0.2.20/stream2", user: "viewer", password: "n*w" }, camera.source),
    "rtsp://viewer:n%2Aw@192.0.2.20/stream2");
});

test("only what has changed is sent", () => {
  assert.deepEqual(patched({}), {});
  assert.deepEqual(patched({ transport: "udp", webhook: true }), { transport: "udp", webhook: true });
  assert.deepEqual(patched({ address: "rtsp://192.0.2.21/stream1" }), { source: "rtsp://viewer:***@192.0.2.21/stream1" });
  assert.deepEqual(patched({ password: "new" }), { source: "rtsp://viewer:new@192.0.2.20/stream1" });
});

test("what is emptied goes back to its default", () => {
  const full = { ...camera, substream: "rtsp://192.0.2.20/2", framesPerSecond: 5, onvif: { url: "http://192.0.2.20/", username: "u", password: "***" },
    information: { vendorName: "M", vendorID: 12 } };
  assert.deepEqual(patched({}, full), {});
  assert.deepEqual(patched({ substream: " ", framesPerSecond: "", eventURL: "" }, full), { substream: null, framesPerSecond: null, onvif: null });
  assert.deepEqual(patched({ information: { ...fieldsOf(full).information, vendorName: "", productName: "N" } }, full),
    { information: { vendorName: null, productName: "N" } });
  assert.deepEqual(patched({ framesPerSecond: "0.5" }, full), { framesPerSecond: 0.5 });
});

test("the events of a camera keep their password unless another is typed", () => {
  const full = { ...camera, onvif: { url: "http://192.0.2.20/", username: "u", password: "***" } };
  assert.deepEqual(patched({ eventUser: "v" }, full), { onvif: { username: "v" } });
  assert.deepEqual(patched({ eventPassword: "w" }, full), { onvif: { password: "w" } });
  assert.deepEqual(patched({ eventURL: "http://192.0.2.20/", eventUser: "u", eventPassword: "p" }),
    { onvif: { url: "http://192.0.2.20/", username: "u", password: "p" } });
});

test("a battery and the way of connecting are sent where one does not follow from the other", () => {
  assert.deepEqual(patched({ pull: "on-demand", battery: true }), { pull: "on-demand", battery: true });
  assert.deepEqual(patched({ pull: "on-demand" }), { pull: "on-demand", battery: false });
  assert.deepEqual(patched({ battery: true }), { battery: true });
});
