import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { drawn, hasCome, PictureWatch } from "../../Sources/App/WebFiles/page/picture-watch.js";

const names = ["document", "innerHeight", "innerWidth"];
let before = [];
beforeEach(() => {
  before = names.map((name) => [name, globalThis[name]]);
  Object.assign(globalThis, { document: { visibilityState: "visible" }, innerHeight: 800, innerWidth: 400 });
});
afterEach(() => Object.assign(globalThis, Object.fromEntries(before)));

/** A video that shows a picture when it is told to. */
class Video {
  callbacks = [];
  rectangle = { top: 0, bottom: 100, left: 0, right: 100 };

  requestVideoFrameCallback(callback) { return this.callbacks.push(callback); }

  cancelVideoFrameCallback(number) { this.callbacks[number - 1] = () => {}; }

  getBoundingClientRect() { return this.rectangle; }

  show() { for (const callback of this.callbacks.splice(0)) callback(); }
}

/** A watch on a video, with the counts that the connection reports, and what the watch reported. */
function watching(video = new Video()) {
  const state = { frames: 0, packets: 0, beats: 0, looks: 0 };
  const watch = new PictureWatch(video, {
    statistics: async () => new Map([
      ["picture", { type: "inbound-rtp", kind: "video", framesDecoded: state.frames, packetsReceived: state.packets }],
      ["sound", { type: "inbound-rtp", kind: "audio", packetsReceived: state.packets }],
    ]),
    beat: () => { state.beats += 1; },
    looked: () => { state.looks += 1; },
  });
  watch.start();
  watch.prepare();
  return { state, video, watch };
}

test("statistics that never come are those of one connection", async () => {
  const { state, watch } = watching();
  document.visibilityState = "hidden";
  const { statistics } = watch.view;
  watch.view.statistics = () => new Promise(() => {});
  watch.tick(true);
  watch.end();
  watch.prepare();
  watch.view.statistics = statistics;
  watch.tick(true);
  await new Promise((resolve) => { setImmediate(resolve); });
  assert.equal(state.looks, 1);
});

test("pictures count in sight, packets on a hidden page, and packets of sound without a picture", () => {
  const view = { isFirst: false, hasPicture: true, isInView: true };
  const counts = (frames, packets) => ({ frames, packets });
  assert.equal(hasCome(counts(5, 50), counts(6, 60), view), true);
  assert.equal(hasCome(counts(5, 50), counts(5, 60), view), false);
  assert.equal(hasCome(counts(5, 50), counts(5, 60), { ...view, isInView: false }), true);
  assert.equal(hasCome(counts(5, 50), counts(6, 50), { ...view, isInView: false }), false);
  assert.equal(hasCome(counts(0, 50), counts(0, 60), { ...view, hasPicture: false }), true);
  assert.equal(hasCome(counts(0, 50), counts(0, 50), { ...view, hasPicture: false }), false);
  // There is nothing to compare with.
  assert.equal(hasCome(null, counts(6, 60), view), false);
  // The first picture has to be decoded in any case.
  assert.equal(hasCome(null, counts(0, 60), { ...view, isFirst: true, isInView: false }), false);
  assert.equal(hasCome(null, counts(1, 60), { ...view, isFirst: true }), true);
  assert.equal(hasCome(null, counts(0, 1), { ...view, isFirst: true, hasPicture: false }), true);
});

test("each picture that is shown is a beat, until the connection is over", () => {
  const { state, video, watch } = watching();
  watch.begin(true);
  video.show();
  video.show();
  assert.equal(state.beats, 2);
  const [late] = video.callbacks;
  watch.end();
  late();
  video.show();
  assert.equal(state.beats, 2);
});

test("a view out of sight is counted by its connection's statistics", async () => {
  const { state, video, watch } = watching();
  watch.begin(true);
  video.rectangle = { top: 900, bottom: 1000, left: 0, right: 100 };
  state.frames = 3;
  await watch.look(watch.isInView);
  assert.equal(state.beats, 1);
  state.packets = 10;
  await watch.look(watch.isInView);
  assert.equal(state.beats, 2);
  await watch.look(watch.isInView);
  assert.equal(state.beats, 2);
  assert.equal(state.looks, 3);
});

test("sound without a picture is counted, since no picture calls back", async () => {
  const { state, video, watch } = watching();
  watch.begin(false);
  assert.equal(video.callbacks.length, 0);
  assert.equal(watch.canCallBack, false);
  state.packets = 1;
  await watch.look(true);
  await watch.look(true);
  assert.equal(state.beats, 1);
});

test("a browser without callbacks is counted by statistics", () => {
  const { watch } = watching({ getBoundingClientRect: () => ({ top: 0, bottom: 1, left: 0, right: 1 }) });
  watch.begin(true);
  assert.equal(watch.canCallBack, false);
  watch.end();
});

test("a count that comes late for an older connection is dropped", async () => {
  const { state, watch } = watching();
  watch.begin(false);
  state.packets = 9;
  const late = watch.look(true);
  watch.end();
  await late;
  assert.equal(state.beats, 0);
  assert.equal(state.looks, 0);
});

test("a view that comes back into sight says nothing before it has counted", async () => {
  const { state, video, watch } = watching();
  watch.begin(true);
  watch.tick(true);
  assert.equal(watch.isUnknown, false);
  video.rectangle = { top: -200, bottom: -100, left: 0, right: 100 };
  watch.tick(true);
  assert.equal(watch.isUnknown, false);
  video.rectangle = { top: 0, bottom: 100, left: 0, right: 100 };
  state.frames = 1;
  const counted = new Promise((resolve) => { watch.view.looked = () => resolve(null); });
  watch.tick(true);
  assert.equal(watch.isUnknown, true);
  await counted;
  assert.equal(watch.isUnknown, false);
});

test("nothing is known of a page that is hidden", () => {
  const { watch } = watching();
  document.visibilityState = "hidden";
  assert.equal(watch.isUnknown, true);
  assert.equal(watch.isInView, false);
});

test("a view is in sight if any part of it is", () => {
  const { video, watch } = watching();
  const cases = [[[0, 100, 0, 100], true], [[-99, 1, 0, 100], true], [[799, 900, 0, 100], true],
    [[-100, 0, 0, 100], false], [[800, 900, 0, 100], false], [[0, 100, -100, 0], false], [[0, 100, 400, 500], false]];
  for (const [[top, bottom, left, right], expected] of cases) {
    video.rectangle = { top, bottom, left, right };
    assert.equal(watch.isInView, expected, JSON.stringify(video.rectangle));
  }
});

test("a picture is drawn when the browser says so, or when it takes too long", async (context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  const video = new Video();
  let count = 0;
  const wait = async () => { await drawn(video); count += 1; };
  const first = wait();
  await Promise.resolve();
  assert.equal(count, 0);
  video.show();
  await first;
  assert.equal(count, 1);
  // A page that nobody sees draws nothing.
  const second = wait();
  context.mock.timers.tick(99);
  await Promise.resolve();
  assert.equal(count, 1);
  context.mock.timers.tick(1);
  await second;
  assert.equal(count, 2);
  // A browser that does not say when makes nobody wait.
  await drawn({});
});
