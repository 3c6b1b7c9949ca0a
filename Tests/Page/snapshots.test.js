import assert from "node:assert/strict";
import { test } from "node:test";

import { nextViewer } from "../../Sources/App/WebFiles/page/snapshots.js";

test("the viewer that has waited longest gets the next picture", () => {
  const due = new Map([["yard", 900], ["hall", 300], ["gate", 300], ["shed", 1001]]);
  assert.equal(nextViewer(due, 1000, () => true), "hall");
  assert.equal(nextViewer(due, 1000, (one) => one !== "hall"), "gate");
  assert.equal(nextViewer(due, 1000, (one) => one === "shed"), null);
  assert.equal(nextViewer(due, 1001, (one) => one === "shed"), "shed");
  assert.equal(nextViewer(new Map(), 1000, () => true), null);
});
