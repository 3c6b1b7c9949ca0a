import assert from "node:assert/strict";
import { test } from "node:test";

import { deviceOf, Events } from "../../Sources/App/WebFiles/page/events.js";

test("events reach those who asked for them, in the order in which they asked", () => {
  const events = new Events();
  const heard = [];
  events.onAny((name) => heard.push(`any ${name}`));
  events.on(["device", "deviceAdded"], (data, name) => heard.push(`show ${name} ${data.id}`));
  events.on(["deviceAdded"], () => heard.push("added"));
  events.dispatch("deviceAdded", { id: "yard" });
  events.dispatch("device", { id: "hall" });
  events.dispatch("something new", {});
  assert.deepEqual(heard, ["any deviceAdded", "show deviceAdded yard", "added", "any device", "show device hall",
    "any something new"]);
});

test("a handler that throws keeps no other from the event, and is reported", () => {
  const reported = [];
  globalThis.reportError = (error) => reported.push(error.message);
  try {
    const events = new Events();
    const heard = [];
    events.onAny(() => { throw new Error("broken wing"); });
    events.on(["device"], (data) => heard.push(data));
    events.dispatch("device", 1);
    events.dispatch("device", 2);
    assert.deepEqual(heard, [1, 2]);
  } finally {
    delete globalThis.reportError;
  }
  assert.deepEqual(reported, ["broken wing", "broken wing"]);
});

test("an event names its device itself, or its session does", () => {
  assert.equal(deviceOf({ deviceID: "yard", event: "Motion" }), "yard");
  assert.equal(deviceOf({ change: "ended", session: { deviceID: "hall" } }), "hall");
  for (const data of [{ reason: "too slow" }, { session: {} }, {}, null, undefined]) assert.equal(deviceOf(data), null);
});
