import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { Preview } from "../../Sources/App/WebFiles/page/preview.js";

/** What was drawn into the canvases, in order. */
let drawn = [];

class Node {
  constructor(name) { Object.assign(this, { name, hidden: false, isConnected: false, width: 0, height: 0, naturalWidth: 0 }); }
  append() {}
  addEventListener() {}
  getContext() { return { drawImage: (picture) => drawn.push(picture) }; }
}

const before = globalThis.document;
beforeEach(() => {
  drawn = [];
  globalThis.document = { createElement: (name) => new Node(name) };
});
afterEach(() => { globalThis.document = before; });

const hasMetadata = 1;
const hasCurrentData = 2;
const video = (readyState) => ({ readyState, videoWidth: 640, videoHeight: 360 });

test("the last picture of a video is kept in its own shape", () => {
  const preview = new Preview(() => {});
  const playing = video(hasCurrentData);
  assert.equal(preview.keep(playing), true);
  assert.deepEqual(drawn, [playing]);
  assert.deepEqual([preview.poster.width, preview.poster.height, preview.hasPoster], [480, 270, true]);
});

test("a video that jumps or begins again does not replace the picture that was kept", () => {
  const preview = new Preview(() => {});
  assert.equal(preview.keep(video(hasMetadata)), false);
  assert.equal(preview.hasPoster, false);
  preview.keep(video(hasCurrentData));
  assert.equal(preview.keep(video(hasMetadata)), false);
  assert.equal(preview.keep({ readyState: 0, videoWidth: 0, videoHeight: 0 }), false);
  assert.deepEqual([drawn.length, preview.hasPoster], [1, true]);
});

test("a preview copies the last picture of another one, or its snapshot", () => {
  const other = new Preview(() => {});
  const preview = new Preview(() => {});
  preview.copy(other);
  assert.equal(preview.hasPoster, false);
  other.url = "blob:1";
  Object.assign(other.snapshot, { naturalWidth: 320, naturalHeight: 180 });
  preview.copy(other);
  other.keep(video(hasCurrentData));
  preview.copy(other);
  assert.deepEqual([drawn[0], drawn.at(-1)], [other.snapshot, other.poster]);
  assert.equal(preview.hasPoster, true);
});
