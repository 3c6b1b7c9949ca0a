import assert from "node:assert/strict";
import { test } from "node:test";

import { isWaiting, Presses } from "../../Sources/App/WebFiles/page/presses.js";

const at = (second, deviceID = "door") => ({ deviceID, timestamp: `2026-06-01T09:00:0${second}Z` });

test("a press rings once, however often it is read, and an older one does not ring after it", () => {
  const presses = new Presses();
  assert.deepEqual([at(5), at(5), at(4), at(6), at(5, "gate"), at(6)].map((press) => presses.isNew(press)),
    [true, false, false, true, true, false]);
});

test("a visitor waits for three quarters of a minute", () => {
  const rang = Date.parse(at(0).timestamp);
  assert.equal(isWaiting(at(0), rang), true);
  assert.equal(isWaiting(at(0), rang + 44999), true);
  assert.equal(isWaiting(at(0), rang + 45000), false);
});
