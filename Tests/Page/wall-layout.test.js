import assert from "node:assert/strict";
import { test } from "node:test";

import { gridFor, shouldPlay } from "../../Sources/App/WebFiles/page/wall-layout.js";

const room = (width, height) => ({ width, height, caption: 36, gap: 4, aspect: 16 / 9 });

test("the pictures of a wall are as large as the screen allows", () => {
  const columns = (count, width, height) => gridFor(count, room(width, height)).columns;
  assert.deepEqual([1, 2, 4, 6, 9, 16].map((count) => columns(count, 1920, 1080)), [1, 2, 2, 3, 3, 4]);
  // An upright screen stacks them.
  assert.deepEqual([1, 2, 4, 9].map((count) => columns(count, 1080, 1920)), [1, 1, 1, 2]);
  assert.deepEqual([2, 9].map((count) => columns(count, 390, 790)), [1, 2]);
});

test("a wall scrolls only when its pictures would be too small to see anything", () => {
  assert.equal(gridFor(9, room(390, 790)).rowHeight, null);
  const many = gridFor(40, room(390, 790));
  assert.equal(many.columns, 2);
  assert.equal(many.rowHeight, Math.round(193 * 9 / 16 + 36));
  assert.equal(gridFor(40, room(1920, 1080)).rowHeight, null);
  // A screen that is narrower than the narrowest picture has one in a row.
  assert.equal(gridFor(5, room(120, 200)).columns, 1);
});

test("a wall without cameras, or without room, has a grid all the same", () => {
  assert.equal(gridFor(0, room(1000, 700)).columns, 1);
  assert.equal(gridFor(3, room(0, 0)).columns, 1);
});

test("a camera of the wall plays while somebody can see or hear it, and is not woken up", () => {
  const seen = {
    isPlaying: false, isSeen: true, isPageVisible: true, isHeard: false, source: { state: "flowing", tracks: [] },
  };
  assert.equal(shouldPlay(seen), true);
  // There is nothing to see yet.
  const source = (state, more) => ({ ...seen, source: { state, tracks: [], ...more } });
  for (const state of ["idle", "connecting", "backingOff", "stopped"]) assert.equal(shouldPlay(source(state)), false);
  // A battery is spared, even while somebody else watches. What rests to save work is woken up.
  for (const state of ["idle", "flowing"]) {
    assert.equal(shouldPlay(source(state, { isOnDemand: true, isOnBattery: true })), false);
    assert.equal(shouldPlay(source(state, { isOnDemand: true })), true);
  }
  assert.equal(shouldPlay(source("backingOff", { isOnDemand: true })), false);
  // A token that may only watch does not learn what its camera does.
  assert.equal(shouldPlay(source("unknown")), true);
  // A view that plays outlives a camera that starts again.
  assert.equal(shouldPlay({ ...source("connecting"), isPlaying: true }), true);
  for (const hidden of [{ isSeen: false }, { isPageVisible: false }]) {
    assert.equal(shouldPlay({ ...seen, ...hidden, isPlaying: true }), false);
    assert.equal(shouldPlay({ ...seen, ...hidden, isPlaying: true, isHeard: true }), true);
  }
});
