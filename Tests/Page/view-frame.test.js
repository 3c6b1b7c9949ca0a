import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { canChangeVolume } from "../../Sources/App/WebFiles/page/kept-sound.js";
import { ViewFrame, fullScreen, hasFullScreen } from "../../Sources/App/WebFiles/page/view-frame.js";

// Stand-ins for browsers: no iPhone takes part in the tests.

class Node {
  constructor() {
    const classes = new Set();
    this.classList = { toggle: (name, isOn) => (isOn ? classes.add(name) : classes.delete(name)), contains: (name) => classes.has(name) };
    this.content = { cloneNode: () => new Node() };
  }
  append() {}
  addEventListener() {}
}

const before = globalThis.document;
let document;
/** @type {string[]} */
let asked;
beforeEach(() => {
  asked = [];
  document = {
    createElement: () => new Node(), fullscreenEnabled: true, fullscreenElement: null,
    documentElement: { requestFullscreen: async () => { asked.push("enter"); } }, exitFullscreen: () => { asked.push("leave"); },
  };
  globalThis.document = document;
});
afterEach(() => { globalThis.document = before; });

const makeFrame = () => new ViewFrame("one-camera", "Back", () => {});

test("full screen is the whole page, with every control", () => {
  const frame = makeFrame();
  frame.fullScreen();
  document.fullscreenElement = document.documentElement;
  frame.fullScreen();
  assert.deepEqual(asked, ["enter", "leave"]);
  assert.deepEqual([frame.fillsWindow, frame.node.classList.contains("full-window")], [false, false]);
});

test("on an iPhone, full screen is the window with the picture and its controls", () => {
  for (const lack of [
    { fullscreenEnabled: false }, { fullscreenEnabled: undefined }, { fullscreenEnabled: true, documentElement: {} },
  ]) {
    Object.assign(document, lack);
    assert.equal(hasFullScreen(), false);
    const frame = makeFrame();
    frame.fullScreen();
    assert.deepEqual([frame.fillsWindow, frame.node.classList.contains("full-window")], [true, true]);
    frame.fullScreen();
    assert.deepEqual([frame.fillsWindow, frame.node.classList.contains("full-window")], [false, false]);
    // A view without such a window does nothing.
    fullScreen();
  }
  assert.deepEqual(asked, []);
});

test("the button for full screen is pressed while something is full, and not on an iPhone that names nothing", () => {
  const frame = makeFrame();
  assert.equal(frame.isFull, false);
  document.fullscreenElement = document.documentElement;
  assert.equal(frame.isFull, true);
  Object.assign(document, { fullscreenEnabled: undefined, fullscreenElement: undefined });
  assert.equal(frame.isFull, false);
  frame.fullScreen();
  assert.equal(frame.isFull, true);
});

test("a volume that an iPhone does not let pages set is recognized, and one that can be set stays as it is", () => {
  assert.equal(canChangeVolume({ get volume() { return 1; }, set volume(_) {} }), false);
  const video = { volume: 0.3 };
  assert.equal(canChangeVolume(video), true);
  assert.equal(video.volume, 0.3);
});
