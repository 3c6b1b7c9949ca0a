import assert from "node:assert/strict";
import { test } from "node:test";

import { APIError, PageError } from "../../Sources/App/WebFiles/page/api.js";
import { LivePaths, statusOfPath, transcodedCodec } from "../../Sources/App/WebFiles/page/live-paths.js";
import { fallbackWord, pathWord } from "../../Sources/App/WebFiles/page/live-words.js";

/** A browser without H.265 in its WebRTC, which plays it as a file. */
const browser = {
  hasWebRTC: true, hasMediaSource: true, receives: (codec) => ["H264", "VP8"].includes(codec), plays: () => true,
};
const view = (codec = "H264", more = {}) => ({ codec, isTranscoded: false, canTalk: false, ...more });

test("WebRTC is the first choice, then Media Source Extensions, then pictures", () => {
  assert.equal(new LivePaths(browser).choose(view(), 0), "webrtc");
  assert.equal(new LivePaths({ ...browser, hasWebRTC: false }).choose(view(), 0), "websocket");
  assert.equal(new LivePaths({ ...browser, hasWebRTC: false, hasMediaSource: false }).choose(view(), 0), "pictures");
});

test("what only the file has is not transcoded for WebRTC, unless somebody may talk", () => {
  const paths = new LivePaths(browser);
  assert.equal(paths.choose(view("H265"), 0), "websocket");
  assert.equal(paths.choose(view("H265", { canTalk: true }), 0), "webrtc");
  // With B-frames, WebRTC has to be given another codec, and the file has not.
  assert.equal(paths.choose(view("H264", { isTranscoded: true }), 0), "websocket");
  // Nobody plays these as a file.
  for (const codec of ["JPEG", "VP8", "", "toString"]) assert.equal(paths.choose(view(codec, { isTranscoded: true }), 0), "webrtc", codec);
  assert.equal(new LivePaths({ ...browser, plays: () => false }).choose(view("H265"), 0), "webrtc");
  assert.equal(new LivePaths({ ...browser, hasMediaSource: false }).choose(view("H265"), 0), "webrtc");
});

test("each end that this browser or its network is to blame for leads to the next path", () => {
  for (const status of ["NO_WEBRTC", "NO_PATH", "NO_CODEC", "NO_DECODER", "BROKEN"]) {
    const paths = new LivePaths(browser);
    assert.equal(paths.refuse("webrtc", status, "H264", 0), true, status);
    assert.equal(paths.choose(view(), 1), "websocket", status);
  }
  for (const status of ["UNSUPPORTED", "UNREADABLE", "NO_SOCKET", "BROKEN"]) {
    const paths = new LivePaths({ ...browser, hasWebRTC: false });
    assert.equal(paths.refuse("websocket", status, "H264", 0), true, status);
    assert.equal(paths.choose(view(), 1), "pictures", status);
  }
});

test("what the camera or the gateway refuses is refused on every path", () => {
  const paths = new LivePaths(browser);
  for (const status of ["FAILED_PRECONDITION", "UNAVAILABLE", "UNREACHABLE", "UNAUTHENTICATED", "NOT_FOUND", ""]) {
    for (const path of ["webrtc", "websocket", "pictures"]) assert.equal(paths.refuse(path, status, "H264", 0), false, `${path} ${status}`);
  }
  assert.equal(paths.choose(view(), 1), "webrtc");
});

test("a file that the browser does not play after all is transcoded for WebRTC", () => {
  const paths = new LivePaths(browser);
  paths.refuse("websocket", "UNSUPPORTED", "H265", 0);
  assert.equal(paths.choose(view("H265"), 1), "webrtc");
});

test("a blocked network is tried again after ten minutes, a codec when the camera sends another one", () => {
  const paths = new LivePaths(browser);
  paths.refuse("webrtc", "NO_PATH", "H264", 0);
  assert.equal(paths.choose(view(), 599_999), "websocket");
  assert.equal(paths.choose(view(), 600_000), "webrtc");
  paths.refuse("webrtc", "NO_CODEC", "H264", 0);
  assert.equal(paths.choose(view(), 1e12), "websocket");
  assert.equal(paths.choose(view("VP8"), 1), "webrtc");
});

test("an error has a status by which the next path is chosen", () => {
  const refusal = "no common video codec: hall sends H265/90000, the viewer plays VP8; set transcodeVideo: true";
  assert.equal(statusOfPath(new APIError("FAILED_PRECONDITION", refusal)), "NO_CODEC");
  assert.equal(statusOfPath(new APIError("FAILED_PRECONDITION", "hall is switched off")), "FAILED_PRECONDITION");
  assert.equal(statusOfPath(new PageError("NO_PATH", "")), "NO_PATH");
  // A browser whose WebRTC is there and does not work.
  assert.equal(statusOfPath(new TypeError("RTCPeerConnection is not a constructor")), "BROKEN");
});

test("the gateway says which codec it transcodes", () => {
  assert.equal(transcodedCodec(["audio: PCMU is transcoded to opus", "video: H265 is transcoded to VP8"]), "H265");
  assert.equal(transcodedCodec(["video: H264 with B-frames is transcoded to VP8"]), "H264");
  assert.equal(transcodedCodec(["audio: PCMU is transcoded to opus", "video: something else"]), undefined);
});

test("a path is named, and a short place names only what is not usual", () => {
  assert.deepEqual(["websocket", "pictures", "direct", null].map(pathWord), ["over a WebSocket", "single pictures", "direct", ""]);
  assert.deepEqual(["websocket", "pictures", "direct", null].map(fallbackWord), ["over a WebSocket", "single pictures", "", ""]);
});
