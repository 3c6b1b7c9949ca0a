import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { LiveSession } from "../../Sources/App/WebFiles/page/live-session.js";

const names = ["document", "fetch", "window", "navigator", "RTCPeerConnection"];
/** @type {Map<string, PropertyDescriptor | undefined>} */
let before = new Map();
let page = {};
/** The commands that the gateway got. @type {string[]} */
let commands = [];
beforeEach(() => {
  before = new Map(names.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]));
  const set = (name, value) => Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  page = { visibilityState: "visible", pictureInPictureElement: null, createElement: () => ({ append: () => {} }) };
  commands = [];
  set("document", page);
  set("window", { RTCPeerConnection: true });
  set("navigator", { onLine: true, userActivation: { hasBeenActive: false } });
  // It is only looked for.
  set("RTCPeerConnection", () => {});
  set("fetch", async (path) => {
    commands.push(path.split("/").at(-1));
    return new Response("{}");
  });
});
afterEach(() => {
  for (const [name, value] of before) {
    if (value) Object.defineProperty(globalThis, name, value);
    else delete globalThis[name];
  }
});

/** A view that plays by WebRTC. */
function playing() {
  const video = { muted: true, volume: 1, clientWidth: 640, srcObject: {}, getBoundingClientRect: () => ({}) };
  const source = { state: "flowing", tracks: [{ kind: "video", codec: "H264" }, { kind: "audio", codec: "OPUS" }] };
  const live = new LiveSession({ id: "yard", canTalk: false, source }, video, {}, { isUp: true }, () => {});
  const connection = { isClosed: false, close: () => { connection.isClosed = true; }, getStats: async () => new Map() };
  live.fallback.choose = function choose() {
    this.isResting = false;
    this.path = "webrtc";
  };
  live.fallback.choose();
  Object.assign(live, { state: "live", liveSince: 1, hasShown: true, session: "s1", pc: connection });
  live.fallback.see();
  return { live, video, connection };
}

const settled = () => new Promise((resolve) => { setImmediate(resolve); });

test("a view on a page that has been hidden for a minute is given back, and begins again when the page is seen", async () => {
  const { live, video, connection } = playing();
  page.visibilityState = "hidden";
  live.fallback.seenAt -= 61_000;
  live.tick();
  await settled();
  assert.deepEqual(commands, ["stopLiveView"]);
  assert.deepEqual([connection.isClosed, video.srcObject, live.session, live.isActive], [true, null, null, true]);
  // Nothing of the view goes on meanwhile.
  live.nudge();
  live.tick();
  await live.check();
  assert.deepEqual([commands.length, live.timers.retry, live.timers.again], [1, undefined, undefined]);
  let begun = 0;
  live.connect = async () => { begun += 1; };
  page.visibilityState = "visible";
  live.fallback.tick();
  assert.equal(begun, 1);
});

test("a view that begins by itself on a page that nobody has seen for long rests at once", async () => {
  const { live } = playing();
  live.stop();
  page.visibilityState = "hidden";
  live.fallback.seenAt -= 61_000;
  commands = [];
  await live.start({ isByItself: true });
  assert.deepEqual([live.fallback.isResting, live.isActive, commands], [true, true, []]);
});

test("a page is not loaded again while somebody talks, or hears what the browser might refuse afterwards", () => {
  const { live, video } = playing();
  assert.equal(live.isInUse, false);
  live.talk.isTalking = true;
  assert.equal(live.isInUse, true);
  live.talk.isTalking = false;
  video.muted = false;
  // Its sound began without a touch, so it will again.
  assert.equal(live.isInUse, false);
  navigator.userActivation.hasBeenActive = true;
  assert.equal(live.isInUse, true);
  live.state = "stopped";
  assert.equal(live.isInUse, false);
});
