import assert from "node:assert/strict";
import { test } from "node:test";

import { fieldName, outcomeOf, outcomeOfBoth } from "../../Sources/App/WebFiles/page/camera-probe.js";

const picture = { kind: "video", codec: "H264", width: 1920, height: 1080, hasBFrames: false, framesPerSecond: 24.9, bitsPerSecond: 4210000 };
const sound = { kind: "audio", codec: "PCMA", framesPerSecond: 50, bitsPerSecond: 64000 };
const reached = { reached: true, tracks: [picture, sound], speaker: ["PCMA/8000"], viewers: ["All is well."], notes: [] };

test("a camera that was tried says what it sends", () => {
  assert.deepEqual(outcomeOf(reached), {
    isGood: true, message: "The camera works.", details: "All is well.",
    lines: ["Picture: H264, 1920 × 1080, 25 pictures per second, 4.2 Mbit/s", "Sound: PCMA, 64 kbit/s", "A speaker to talk through"],
  });
  const silent = outcomeOf({ ...reached, tracks: [{ ...picture, width: undefined }], speaker: [] });
  assert.deepEqual(silent.lines, ["Picture: H264, 25 pictures per second, 4.2 Mbit/s", "No sound", "No speaker to talk through"]);
});

test("what browsers play badly is said before the camera is added", () => {
  const lines = (change) => outcomeOf({ ...reached, tracks: [{ ...picture, ...change }] }).lines.join(" ");
  assert.match(lines({ hasBFrames: true }), /B-frames/);
  assert.match(lines({ codec: "H265" }), /H\.265/);
  assert.doesNotMatch(lines({}), /B-frames|H\.265/);
});

test("a camera that does not work says why, with its own words under the details", () => {
  const failed = (failure, cause) => outcomeOf({ reached: false, failure, cause, tracks: [], speaker: [], viewers: ["Viewers see nothing."], notes: ["a note"] });
  const refused = failed("the camera refused the user name or password", "credentials");
  assert.deepEqual([refused.isGood, refused.message],
    [false, "It does not work yet: the camera does not accept the user name or password."]);
  assert.equal(refused.details, "the camera refused the user name or password\na note");
  assert.match(failed("no route to host", "noRoute").message, /the camera is not reachable/);
  assert.match(failed("the camera refused DESCRIBE with status 404", "wrongAddress").message, /no stream at this address/);
});

test("both streams of a camera are tried", () => {
  const large = { ...reached, tracks: [{ ...picture, codec: "H265" }, sound] };
  const small = { ...reached, tracks: [{ ...picture, width: 640, height: 360 }], viewers: ["It is small."] };
  assert.deepEqual(outcomeOfBoth(large, small), {
    isGood: true, message: "The camera works.", details: "All is well.\nIt is small.",
    lines: ["Picture: H265, 1920 × 1080, 25 pictures per second, 4.2 Mbit/s", "Sound: PCMA, 64 kbit/s", "A speaker to talk through",
      "Smaller stream: H264, 640 × 360, 25 pictures per second, 4.2 Mbit/s"],
  });
  // What some browsers cannot play in both is still said.
  assert.match(outcomeOfBoth(large, { ...small, tracks: [{ ...picture, codec: "H265" }] }).lines.join(" "), /Not every browser/);
  const failed = outcomeOfBoth(reached, { reached: false, failure: "no route to host", tracks: [], speaker: [], viewers: [], notes: [] });
  assert.deepEqual([failed.isGood, failed.message],
    [false, "The camera works, but its smaller stream does not yet: the camera is not reachable."]);
  assert.equal(failed.details, "All is well.\nno route to host");
  // A camera that is asked by ONVIF names it itself.
  const named = outcomeOf({ ...large, hasSubstream: true }).lines;
  assert.ok(named.includes("A smaller stream, too") && !named.join(" ").includes("Not every browser"), named);
  assert.ok(!outcomeOf({ ...reached, hasSubstream: false }).lines.includes("A smaller stream, too"));
});

test("a setting is named as the form names it", () => {
  assert.equal(fieldName("source"), "Address");
  assert.equal(fieldName("onvif.url"), "Address of its ONVIF service, for events");
  assert.equal(fieldName("moon"), "moon");
});
