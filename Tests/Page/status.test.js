import assert from "node:assert/strict";
import { test } from "node:test";

import {
  ageText, dotClass, happeningLine, happens, settingsLine, statusLine,
} from "../../Sources/App/WebFiles/page/status.js";

const device = (state, reason, ...codecs) => (
  { source: { state, reason, tracks: codecs.map((codec) => ({ codec })) } }
);

test("a camera that sends is online, with its codecs", () => {
  assert.equal(statusLine(device("flowing")), "Online");
  assert.equal(statusLine(device("flowing", undefined, "H264", "OPUS")), "Online · H264 · OPUS");
});

test("a camera that does not send says how far it is, and what is wrong", () => {
  const cases = [
    ["idle", "Not started"], ["resolving", "Looking up the camera"], ["connecting", "Connecting to the camera"],
    ["authenticating", "Signing in to the camera"], ["describing", "Asking what it sends"], ["settingUp", "Setting up"],
    ["stalled", "No pictures: the camera has stopped sending"], ["backingOff", "Offline: the camera is not reachable"],
    ["givenUp", "Given up for now: the camera is not reachable"], ["stopped", "Offline"], ["news", "news"],
    ["unknown", ""],
  ];
  for (const [state, expected] of cases) assert.equal(statusLine(device(state)), expected);
});

test("a camera on demand that rests is not offline", () => {
  const resting = (state) => ({ source: { ...device(state).source, isOnDemand: true } });
  for (const state of ["idle", "stopped"]) {
    assert.equal(statusLine(resting(state)), "On demand: starts when somebody watches");
  }
  assert.equal(statusLine(resting("connecting")), "Connecting to the camera");
  assert.equal(statusLine(resting("flowing")), "Online");
});

test("the dot is green, red, or in between", () => {
  assert.deepEqual(["online", "offline", "unknown", "partiallyOnline"].map(dotClass),
    ["online", "offline", "waiting", "partial"]);
});

test("what a camera detects now comes before what happened last", () => {
  const last = { name: "DoorbellPressed", time: new Date(2026, 5, 1, 9, 5) };
  const now = new Date(2026, 5, 1, 20, 0);
  assert.equal(happeningLine(["person", "vehicle"], last, now), "Now: Person · Vehicle");
  assert.equal(happeningLine(["somethingNew"], null, now), "Now: SomethingNew");
  assert.match(happeningLine([], last, now), /^Last: Rang, .*0?9.05/);
  assert.equal(happeningLine([], null, now), "");
});

test("what happened on another day has its day", () => {
  const last = { name: "Motion", time: new Date(2026, 4, 31, 9, 5) };
  const text = happeningLine([], last, new Date(2026, 5, 1, 9, 0));
  assert.match(text, /^Last: Motion, .*31/);
  assert.doesNotMatch(happeningLine([], last, new Date(2026, 4, 31, 23, 59)), /31/);
});

test("events of cameras are distinguished from the others", () => {
  const happened = ["DoorbellPressed", "Motion", "Person", "Face", "Vehicle", "Animal", "Package", "Sound"];
  assert.ok(happened.every(happens));
  const others = ["device", "deviceAdded", "session", "missed", "toString", ""];
  assert.ok(!others.some(happens));
});

test("ages", () => {
  assert.deepEqual([0, 59, 60, 3599, 3600, 90000].map(ageText),
    ["0 s ago", "59 s ago", "1 min ago", "59 min ago", "1 h ago", "25 h ago"]);
});

test("only unusual settings are shown", () => {
  const usual = { pull: "always", transport: "auto", origin: "api" };
  assert.equal(settingsLine(usual), "");
  assert.equal(settingsLine({ ...usual, pull: "on-demand" }), "connected while somebody watches");
  assert.equal(settingsLine({ ...usual, pull: "on-demand", battery: true }),
    "runs on a battery · connected while somebody watches");
  assert.equal(settingsLine({ ...usual, transport: "tcp", origin: "file" }), "over tcp · set in the config file");
  assert.equal(settingsLine({ ...usual, origin: "overridden" }), "differs from the config file");
  assert.equal(settingsLine({ ...usual, origin: "builtin" }), "");
});
