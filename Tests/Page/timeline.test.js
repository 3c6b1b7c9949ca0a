import assert from "node:assert/strict";
import { test } from "node:test";

import {
  dateOf, daySpan, downloadSpan, following, joinedSpans, lengthText, marks, nextRecorded, placeOf, recordingAt,
  recordingWords, ticks, timeAt, zoomed,
} from "../../Sources/App/WebFiles/page/timeline.js";

const recording = (from, until, trigger = {}) => ({
  id: `${from}`, deviceID: "door", start: new Date(from).toISOString(), end: new Date(until).toISOString(),
  durationSeconds: (until - from) / 1000, isRunning: false,
  trigger: { kind: "motion", reason: "", events: [], at: new Date(from).toISOString(), ...trigger },
});
const hour = 3600000;
const day = { from: 0, until: 24 * hour };

test("a day begins at midnight where the viewer is", () => {
  const span = daySpan("2026-11-22");
  assert.equal(dateOf(span.from), "2026-11-22");
  assert.equal(dateOf(span.until - 1), "2026-11-22");
  assert.equal(dateOf(span.until), "2026-11-23");
});

test("recordings that follow each other are drawn as one", () => {
  const recordings = [recording(5000, 9000), recording(1000, 3000), recording(3400, 4000), recording(1500, 2000)];
  assert.deepEqual(joinedSpans(recordings, 500), [{ from: 1000, until: 4000 }, { from: 5000, until: 9000 }]);
  assert.equal(joinedSpans([], 500).length, 0);
});

test("a time has a place, and a place a time", () => {
  const view = { from: 1000, until: 3000 };
  assert.equal(placeOf(1500, view), 0.25);
  assert.equal(timeAt(0.25, view), 1500);
  assert.deepEqual([timeAt(-1, view), timeAt(7, view)], [1000, 3000]);
});

test("zooming keeps the time at its place, and stays inside the day", () => {
  const closer = zoomed(day, 0.5, 6 * hour, day);
  assert.equal(closer.until - closer.from, 12 * hour);
  assert.equal(placeOf(6 * hour, closer), 0.25);
  assert.deepEqual(zoomed(closer, 10, 6 * hour, day), day);
  assert.equal(zoomed(closer, 1e-9, 6 * hour, day).until - zoomed(closer, 1e-9, 6 * hour, day).from, 120000);
  assert.equal(zoomed(day, 0.5, 0, day).from, 0);
});

test("the view follows what is played", () => {
  const view = { from: 0, until: hour };
  assert.equal(following(view, hour / 2, day), view);
  assert.equal(placeOf(2 * hour, following(view, 2 * hour, day)), 0.5);
  assert.equal(following(view, 24 * hour, day).until, day.until);
});

test("labels are at round times, and there are not too many", () => {
  for (const length of [2, 7, 30, 60, 240, 1440]) {
    const times = ticks({ from: 0, until: length * 60000 }, 6);
    assert.ok(times.length >= 2 && times.length <= 7, `${length}: ${times.length}`);
    assert.ok(times.every((time) => new Date(time).getSeconds() === 0));
  }
});

test("of several recordings of a time, the shortest is meant", () => {
  const [long, short] = [recording(0, 10000), recording(2000, 4000)];
  assert.equal(recordingAt([long, short], 3000), short);
  assert.equal(recordingAt([long, short], 5000), long);
  assert.equal(recordingAt([long, short], 10000), undefined);
});

test("playing goes on at the next recorded time", () => {
  const spans = [{ from: 1000, until: 2000 }, { from: 5000, until: 6000 }];
  assert.deepEqual([0, 1500, 2000, 5500, 6000].map((time) => nextRecorded(spans, time)),
    [1000, 1500, 5000, 5500, undefined]);
});

test("a recording says why it was made", () => {
  assert.equal(recordingWords(recording(0, 1, { reason: "press of the button" })), "press of the button");
  assert.equal(recordingWords(recording(0, 1, { kind: "continuous" })), "Continuous");
  assert.equal(recordingWords({ ...recording(0, 1), isRunning: true }), "Motion, still recording");
});

test("events have marks, and continuous recordings have none", () => {
  const recordings = [recording(0, 1), recording(5, 6, { kind: "continuous" }),
    recording(7, 8, { kind: "continuous", events: ["9"] })];
  assert.deepEqual(marks(recordings).map(({ time }) => time), [0, 7]);
});

test("a download offers the whole event, or ten minutes of a long recording", () => {
  assert.deepEqual(downloadSpan(recording(0, 30000), 5000), { from: 0, until: 30000 });
  assert.deepEqual(downloadSpan(recording(0, hour), hour / 2), { from: hour / 2 - 300000, until: hour / 2 + 300000 });
  assert.deepEqual(downloadSpan(recording(0, hour), 60000), { from: 0, until: 360000 });
});

test("lengths are for people", () => {
  assert.deepEqual([0.4, 59, 61, 3600, 7325].map(lengthText), ["0 s", "59 s", "1 min 1 s", "1 h 0 min", "2 h 2 min"]);
});
