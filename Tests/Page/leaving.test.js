import assert from "node:assert/strict";
import { test } from "node:test";

import { Leaving } from "../../Sources/App/WebFiles/page/leaving.js";

/** @param {number} count */
function cells(count) {
  const closed = [];
  return { closed, parts: Array.from({ length: count }, (_, number) => ({ close: () => closed.push(number) })) };
}

test("what a view leaves ends a moment later, one after the other", ({ mock }) => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const { closed, parts } = cells(3);
  const leaving = new Leaving();
  leaving.take(parts);
  assert.deepEqual(closed, []);
  mock.timers.tick(250);
  assert.deepEqual(closed, [0]);
  mock.timers.tick(30);
  assert.deepEqual(closed, [0, 1]);
  // Another view is left meanwhile.
  const more = cells(1);
  leaving.take(more.parts);
  mock.timers.tick(30);
  mock.timers.tick(30);
  assert.deepEqual([closed, more.closed], [[0, 1, 2], [0]]);
  mock.timers.tick(1000);
  assert.equal(closed.length, 3);
});

test("everything ends at once when the user signs out", ({ mock }) => {
  mock.timers.enable({ apis: ["setTimeout"] });
  const { closed, parts } = cells(2);
  const leaving = new Leaving();
  leaving.take(parts);
  leaving.finish();
  assert.deepEqual(closed, [0, 1]);
  mock.timers.tick(1000);
  assert.equal(closed.length, 2);
  leaving.take([]);
});
