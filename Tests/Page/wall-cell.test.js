import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { WallCell } from "../../Sources/App/WebFiles/page/wall-cell.js";

const names = ["document", "navigator", "fetch"];
/** @type {Map<string, PropertyDescriptor | undefined>} */
let before = new Map();
/** What was drawn into a canvas, in order. */
let drawn = [];

class Node {
  constructor(name) {
    Object.assign(this, { name, hidden: false, isConnected: false, width: 0, height: 0, naturalWidth: 640, naturalHeight: 360 });
    if (name === "video") Object.assign(this, { readyState: 4, videoWidth: 640, videoHeight: 360, play: async () => {} });
    this.classList = { toggle: () => {} };
    this.content = { cloneNode: () => new Node("svg") };
  }
  append() {}
  after() {}
  addEventListener() {}
  getAttribute() { return null; }
  setAttribute() {}
  replaceChildren() {}
  getContext() { return { drawImage: (picture) => drawn.push(picture) }; }
}

beforeEach(() => {
  before = new Map(names.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]));
  const set = (name, value) => Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  drawn = [];
  set("document", { visibilityState: "visible", createElement: (name) => new Node(name) });
  set("navigator", { onLine: true });
  set("fetch", async () => new Response("{}", { status: 404 }));
});
afterEach(() => {
  for (const [name, value] of before) {
    if (value) Object.defineProperty(globalThis, name, value);
    else delete globalThis[name];
  }
});

/**
 * A cell whose view is connected, and has shown nothing yet.
 * @param {import("../../Sources/App/WebFiles/page/live-paths.js").LivePath} path how its pictures come to the browser
 * @param {string} word how media comes, in the word that people read
 */
function connected(path, word) {
  const source = { state: "flowing", tracks: [{ kind: "video", codec: "H264" }] };
  const parts = { page: { gateway: {}, link: { isUp: true } }, snapshots: { add: () => {}, remove: () => {} } };
  const cell = new WallCell({ id: "yard", name: "Yard", connectivityState: "online", cameraSource: source, traits: {} }, parts, () => {});
  const { live } = cell;
  live.fallback.path = path;
  // WebRTC has a session, and the other paths have a feed.
  if (path === "webrtc") live.session = "s1";
  else live.fallback.feed = { frames: 0, packets: 0 };
  Object.assign(live, { state: "connecting", path: word });
  return cell;
}

test("a cell that plays over WebRTC draws no first picture into a canvas, because it can lend its stream", () => {
  // The gateway says the word after the first picture, or before.
  for (const word of [null, "direct", "reflexive", "relayed", "tcp"]) {
    const cell = connected("webrtc", word);
    cell.live.watch.beat(true);
    cell.live.watch.beat(true);
    assert.notEqual(cell.live.liveSince, null, String(word));
    assert.deepEqual([drawn, cell.preview.hasPoster], [[], false], String(word));
  }
});

test("a cell whose picture cannot be lent draws its first one, once", () => {
  for (const path of ["websocket", "pictures"]) {
    drawn = [];
    const cell = connected(path, path);
    cell.live.watch.beat(true);
    cell.live.watch.beat(true);
    assert.deepEqual(drawn, [cell.live.picture], path);
  }
});

test("a cell whose first picture cannot be drawn, because the video jumps, draws a later one", () => {
  const cell = connected("websocket", "websocket");
  cell.isSeen = true;
  cell.live.tick = () => {};
  cell.video.readyState = 1;
  cell.live.watch.beat(true);
  cell.tick(false);
  assert.deepEqual([drawn, cell.preview.hasPoster], [[], false]);
  cell.video.readyState = 4;
  cell.tick(false);
  cell.tick(false);
  assert.deepEqual([drawn, cell.preview.hasPoster], [[cell.video], true]);
});

test("a cell that stalls draws what it shows, however it comes", () => {
  for (const [path, word, count] of [["webrtc", "direct", 1], ["websocket", "websocket", 2]]) {
    drawn = [];
    const cell = connected(path, word);
    const { live } = cell;
    live.watch.beat(true);
    live.watch.pulse.last -= 60_000;
    live.weigh();
    cell.render();
    assert.deepEqual(drawn, Array.from({ length: count }, () => live.picture), path);
  }
});
