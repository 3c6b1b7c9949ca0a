import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { APIError, PageError } from "../../Sources/App/WebFiles/page/api.js";
import { LiveFallback } from "../../Sources/App/WebFiles/page/live-fallback.js";

const abilities = { hasWebRTC: true, hasMediaSource: true, receives: () => true, plays: () => true };
const names = ["document"];
let before = [];
/** What the browser says of the page. */
let page = {};
beforeEach(() => {
  before = names.map((name) => [name, globalThis[name]]);
  page = { visibilityState: "visible", pictureInPictureElement: null, createElement: () => ({ append: () => {} }) };
  globalThis.document = page;
});
afterEach(() => Object.assign(globalThis, Object.fromEntries(before)));

/** The fallback of a view of a camera, and what it asked of the view. */
function fallback({ codecs = ["H264"], sound = ["OPUS"], canTalk = false, wanted = "hd", can = abilities } = {}) {
  const asked = [];
  const tracks = [["video", codecs], ["audio", sound]].flatMap(([kind, all]) => all.map((codec) => ({ kind, codec })));
  const live = {
    device: { canTalk, source: { state: "flowing", tracks } }, quality: { wanted }, liveSince: null,
    video: { muted: true, volume: 1 }, talk: { isTalking: false, isOpening: false }, generation: 1,
    rest: () => asked.push("rest"), wake: () => asked.push("wake"), restart: () => asked.push("restart"),
    failed: (error) => asked.push(error.status),
  };
  return { made: new LiveFallback(live, can), live, asked };
}

test("a view takes one path after the other, and shows pictures in its image", () => {
  const { made } = fallback();
  assert.equal(made.choose(), "webrtc");
  assert.equal(made.takes(new PageError("NO_PATH", "")), true);
  assert.equal(made.choose(), "websocket");
  assert.equal(made.isImage, false);
  assert.equal(made.takes(new PageError("UNSUPPORTED", "")), true);
  assert.equal(made.choose(), "pictures");
  assert.deepEqual([made.isImage, made.image.hidden], [true, false]);
});

test("a camera that is off is not a reason for another path", () => {
  const { made } = fallback();
  assert.equal(made.takes(new APIError("FAILED_PRECONDITION", "yard is switched off")), false);
  assert.equal(made.choose(), "webrtc");
});

test("a WebSocket that fails once may have met a gateway that started again", () => {
  const { made } = fallback({ can: { ...abilities, hasWebRTC: false } });
  made.choose();
  assert.equal(made.takes(new PageError("NO_SOCKET", "")), true);
  assert.equal(made.choose(), "websocket");
  assert.equal(made.takes(new PageError("NO_SOCKET", "")), true);
  assert.equal(made.choose(), "pictures");
});

test("a decoder that fails after it has played is not a reason for pictures", () => {
  const { made, live } = fallback({ can: { ...abilities, hasWebRTC: false } });
  made.choose();
  live.liveSince = performance.now() - 20_000;
  assert.equal(made.takes(new PageError("UNREADABLE", "")), false);
  live.liveSince = performance.now();
  assert.equal(made.takes(new PageError("UNREADABLE", "")), true);
});

test("the codec is that of the stream which is wanted", () => {
  const can = { ...abilities, receives: (codec) => codec !== "H265" };
  const codecs = ["H265", "H264"];
  assert.equal(fallback({ codecs, can }).made.choose(), "websocket");
  assert.equal(fallback({ codecs, can, canTalk: true }).made.choose(), "webrtc");
  assert.equal(fallback({ codecs, can, wanted: "sd" }).made.choose(), "webrtc");
});

test("who may not read a camera learns from the answer that it is transcoded", () => {
  const { made } = fallback({ codecs: [] });
  assert.equal(made.choose(), "webrtc");
  assert.equal(made.hear(["audio: PCMU is transcoded to opus"]), false);
  assert.equal(made.hear(["video: H265 is transcoded to VP8"]), true);
  assert.equal(made.choose(), "websocket");
});

test("a hidden page rests, unless its stream is heard or floats", () => {
  const { made, live, asked } = fallback({ can: { ...abilities, hasWebRTC: false } });
  made.choose();
  made.tick();
  made.feed = { close: () => asked.push("close") };
  page.visibilityState = "hidden";
  // Somebody may look away for a moment.
  made.tick();
  assert.deepEqual(asked, []);
  made.seenAt -= 5000;
  live.video.muted = false;
  made.tick();
  live.video.muted = true;
  page.pictureInPictureElement = live.video;
  made.tick();
  assert.deepEqual(asked, []);
  page.pictureInPictureElement = null;
  made.tick();
  made.tick();
  assert.deepEqual([asked.splice(0), made.isOpen], [["close", "rest"], false]);
  page.visibilityState = "visible";
  made.tick();
  assert.deepEqual(asked, ["wake"]);
});

test("a view by WebRTC is given a minute on a hidden page, unless it is heard, floats or somebody talks", () => {
  const { made, live, asked } = fallback();
  made.choose();
  made.tick();
  page.visibilityState = "hidden";
  made.seenAt -= 55_000;
  made.tick();
  assert.deepEqual(asked, []);
  made.seenAt -= 10_000;
  for (const [part, key, value] of [[live.video, "muted", false], [live.talk, "isTalking", true], [live.talk, "isOpening", true],
    [page, "pictureInPictureElement", live.video]]) {
    const usual = part[key];
    part[key] = value;
    made.tick();
    assert.deepEqual(asked, [], key);
    part[key] = usual;
  }
  made.tick();
  made.tick();
  assert.deepEqual(asked.splice(0), ["rest"]);
  page.visibilityState = "visible";
  made.tick();
  assert.deepEqual(asked, ["wake"]);
});

test("a sound that cannot be heard does not keep a view going", () => {
  for (const [given, video] of [[{ sound: [] }, { muted: false }], [{}, { muted: false, volume: 0 }]]) {
    const { made, live, asked } = fallback(given);
    Object.assign(live.video, video);
    made.choose();
    made.see();
    page.visibilityState = "hidden";
    made.seenAt -= 65_000;
    made.tick();
    assert.deepEqual(asked, ["rest"]);
    page.visibilityState = "visible";
  }
  // Who may not read a camera does not know its tracks.
  const { made, live, asked } = fallback({ codecs: [], sound: [] });
  live.video.muted = false;
  made.choose();
  page.visibilityState = "hidden";
  made.tick();
  assert.deepEqual(asked, []);
});

test("pictures make room for a better path that may work again, and a stream that works stays", () => {
  const { made, asked } = fallback();
  made.choose();
  made.takes(new PageError("NO_PATH", ""));
  made.choose();
  made.feed = { close: () => {} };
  made.paths.blocked.get("webrtc").until = 0;
  made.tick();
  assert.deepEqual(asked, []);
  made.path = "pictures";
  made.tick();
  assert.deepEqual(asked, ["restart"]);
});
