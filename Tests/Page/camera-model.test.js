import assert from "node:assert/strict";
import { test } from "node:test";

import { fieldsOf, partsOf, patchOf, sourceOf, substreamOf } from "../../Sources/App/WebFiles/page/camera-model.js";

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
  for (const word of ["publisher", "whip"]) assert.deepEqual(partsOf(word), { address: word, user: "", password: "" });
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
  assert.deepEqual(patched({ substream: "none", framesPerSecond: "", eventURL: "" }, full), { substream: null, framesPerSecond: null, onvif: null });
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

/** The fields of the smaller stream. */
const smaller = ({ substream, substreamAddress, substreamUser, substreamPassword }) =>
  [substream, substreamAddress, substreamUser, substreamPassword];

test("a smaller stream is none, the camera's own or an address", () => {
  assert.deepEqual(smaller(fieldsOf(camera)), ["none", "", "", ""]);
  const onvif = { ...camera, source: "onvif://viewer:***@192.0.2.20" };
  assert.deepEqual(smaller(fieldsOf(onvif)), ["onvif", "", "", ""]);
  assert.deepEqual(smaller(fieldsOf({ ...onvif, substream: "none" })), ["none", "", "", ""]);
  // The default is not written down.
  assert.deepEqual(patched({ substream: "none" }, onvif), { substream: "none" });
  assert.deepEqual(patched({ substream: "onvif" }, { ...onvif, substream: "none" }), { substream: null });
  assert.deepEqual(patched({ password: "new" }, { ...onvif, substream: "onvif" }), { source: "onvif://viewer:new@192.0.2.20" });
  // Another source has none of its own.
  assert.deepEqual(patched({ address: "rtsp://192.0.2.20/1" }, { ...onvif, substream: "onvif" }),
    { source: "rtsp://viewer:***@192.0.2.20/1", substream: null });
  assert.deepEqual(patched({ substream: "address", substreamAddress: " " }), {});
});

test("a smaller stream at the camera's host has the camera's login", () => {
  assert.deepEqual(patched({ substream: "address", substreamAddress: "rtsp://192.0.2.20/2" }), { substream: "rtsp://viewer:***@192.0.2.20/2" });
  assert.deepEqual(patched({ substream: "address", substreamAddress: "rtsp://192.0.2.20:554/2", password: "p@ss" }),
    { source: "rtsp://viewer:p%40ss@192.0.2.20/stream1", substream: "rtsp://viewer:p%40ss@192.0.2.20:554/2" });
  // It is not for another host, and does not replace what is typed.
  assert.deepEqual(patched({ substream: "address", substreamAddress: "rtsp://192.0.2.21/2" }), { substream: "rtsp://192.0.2.21/2" });
  for (const fields of [{ substreamAddress: "rtsp://me:mine@192.0.2.20/2" },
    { substreamAddress: "rtsp://192.0.2.20/2", substreamUser: "me", substreamPassword: "mine" }]) {
    assert.deepEqual(patched({ substream: "address", ...fields }), { substream: "rtsp://me:mine@192.0.2.20/2" });
  }
  // A password alone is another one of the camera's user.
  const fields = { substreamAddress: "rtsp://192.0.2.20/2", substreamPassword: "other" };
  assert.deepEqual(patched({ substream: "address", ...fields }), { substream: "rtsp://viewer:other@192.0.2.20/2" });
});

test("the login of a smaller stream is not shown, and stays as it is until it is changed", () => {
  const shared = { ...camera, substream: "rtsp://viewer:***@192.0.2.20/2" };
  assert.deepEqual(smaller(fieldsOf(shared)), ["address", "rtsp://192.0.2.20/2", "", ""]);
  const own = { ...camera, substream: "rtsp://small:***@192.0.2.20/2" };
  assert.deepEqual(smaller(fieldsOf(own)), ["address", "rtsp://192.0.2.20/2", "small", ""]);
  for (const before of [shared, own]) {
    assert.deepEqual(patched({}, before), {});
    assert.equal(substreamOf(fieldsOf(before), before), before.substream);
  }
  // A new password of the camera is for both where both have one login.
  assert.deepEqual(patched({ password: "new" }, shared),
    { source: "rtsp://viewer:new@192.0.2.20/stream1", substream: "rtsp://viewer:new@192.0.2.20/2" });
  assert.deepEqual(patched({ password: "new" }, own), { source: "rtsp://viewer:new@192.0.2.20/stream1" });
  assert.deepEqual(patched({ substreamAddress: "rtsp://192.0.2.20/3" }, own), { substream: "rtsp://small:***@192.0.2.20/3" });
});
