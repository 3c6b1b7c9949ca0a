import assert from "node:assert/strict";
import { test } from "node:test";

import { chase, fasterRate, removable } from "../../Sources/App/WebFiles/page/live-edge.js";

const range = (start, end) => ({ start, end });

test("a player begins at the live edge, wherever the stream's times begin", () => {
  assert.deepEqual(chase([range(5000, 5002)], 0, 1), { seek: 5001.7, rate: 1 });
  assert.deepEqual(chase([range(5000, 5000.1)], 0, 1), { seek: 5000, rate: 1 });
  // The last stream had later times.
  assert.deepEqual(chase([range(10, 12)], 5000, 1), { seek: 11.7, rate: 1 });
  assert.deepEqual(chase([], 7, 1), { seek: undefined, rate: 1 });
});

test("a gap is left out, and so is what came while the page was hidden", () => {
  assert.deepEqual(chase([range(0, 10), range(14, 15)], 9.9, 1), { seek: 14.7, rate: 1 });
  assert.deepEqual(chase([range(0, 90)], 10, 1), { seek: 89.7, rate: 1 });
});

test("a player that is a little late catches up until little is left", () => {
  assert.equal(chase([range(0, 10.9)], 10, 1).rate, 1);
  assert.equal(chase([range(0, 11.1)], 10, 1).rate, fasterRate);
  assert.equal(chase([range(0, 10.5)], 10, fasterRate).rate, fasterRate);
  assert.equal(chase([range(0, 10.29)], 10, fasterRate).rate, 1);
  for (const end of [10, 10.5, 11.1, 11.5]) assert.equal(chase([range(0, end)], 10, 1).seek, undefined);
});

test("what was shown is removed up to a key frame, and not beyond the last ten seconds", () => {
  assert.equal(removable([range(0, 40)], 39, [0, 4, 8, 12, 16, 20, 24, 28, 32, 36]), 28);
  assert.equal(removable([range(26, 40)], 39, [24, 28, 32, 36]), undefined);
  assert.equal(removable([range(0, 40)], 39, null), 29);
  assert.equal(removable([], 39, [0]), undefined);
});

test("without a key frame since, nothing is removed: the browser would take along what is to be shown", () => {
  assert.equal(removable([range(0, 300)], 299, [0]), undefined);
  assert.equal(removable([range(0, 300)], 299, [0, 295]), undefined);
  assert.equal(removable([range(0, 300)], 299, []), undefined);
});

test("a view of a day keeps less than half a minute", () => {
  let [start, most] = [0, 0];
  let keys = [];
  for (let end = 0; end < 86400; end += 0.5) {
    if (end % 4 === 0) keys.push(end);
    const until = removable([range(start, end)], end - 0.3, keys);
    if (until !== undefined) {
      start = until;
      keys = keys.filter((key) => key >= until);
    }
    most = Math.max(most, end - start);
  }
  assert.ok(most < 20, String(most));
  assert.ok(keys.length < 6);
});
