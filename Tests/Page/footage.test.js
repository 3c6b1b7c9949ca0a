import assert from "node:assert/strict";
import { test } from "node:test";

import {
  hasOnlyUnplayablePictures, nextPiece, piecesOf, skipTarget, typeOf,
} from "../../Sources/App/WebFiles/page/footage.js";

const video = { name: "main", kind: "video", codec: "avc1.64001F", timescale: 90000, initialization: "r/main/init" };
const audio = { name: "sound", kind: "audio", codec: "opus", timescale: 48000, initialization: "r/sound/init" };
const segment = (track, number, seconds, length = 2, isComplete = true) => ({
  track: track.name, decodeTime: seconds * track.timescale, durationSeconds: length, isComplete,
  media: `r/${track.name}/${number}`,
});
const part = (segments) => ({
  recording: "r", start: new Date(100000).toISOString(), end: new Date(110000).toISOString(),
  originMilliseconds: 100000, isRunning: false, tracks: [video, audio], segments,
});
const all = (type) => type;

test("a track's media type names its codec", () => {
  assert.equal(typeOf(video), 'video/mp4; codecs="avc1.64001F"');
});

test("segments are put on the time of the day", () => {
  const pieces = piecesOf([part([segment(video, 2, 2), segment(audio, 1, 0.5), segment(video, 1, 0)])], all);
  assert.deepEqual(pieces.map(({ key, from, until }) => [key, from, until]), [
    ["r/main/1", 100000, 102000], ["r/sound/1", 100500, 102500], ["r/main/2", 102000, 104000]]);
});

test("what is not complete, outside of the range, or cannot be played is left out", () => {
  const segments = [segment(video, 1, 0, 2, false), segment(video, 2, 20), segment(audio, 1, 0)];
  assert.deepEqual(piecesOf([part(segments)], all).map(({ key }) => key), ["r/sound/1"]);
  assert.deepEqual(piecesOf([part(segments)], (type) => (type.startsWith("video") ? type : undefined)), []);
});

test("pictures are unplayable once there are some, and their format is not played", () => {
  const none = () => undefined;
  // A recording that has just begun has sound before its first segment of pictures is complete.
  const begun = part([segment(audio, 1, 0), segment(video, 1, 0, 2, false)]);
  const there = part([segment(audio, 1, 0), segment(video, 1, 0)]);
  assert.equal(hasOnlyUnplayablePictures([begun], none), false);
  assert.equal(hasOnlyUnplayablePictures([], none), false);
  assert.equal(hasOnlyUnplayablePictures([there], none), true);
  assert.equal(hasOnlyUnplayablePictures([begun, there], all), false);
});

test("the next segment is the first that is missing, pictures before sound", () => {
  const pieces = piecesOf([part([segment(audio, 1, 0), segment(video, 1, 0.01), segment(video, 2, 2)])], all);
  const next = (there, position, ahead = 30000) => nextPiece(pieces, new Set(there), position, ahead)?.key;
  assert.equal(next([], 100000), "r/main/1");
  assert.equal(next(["r/main/1"], 100000), "r/sound/1");
  assert.equal(next(["r/main/1", "r/sound/1"], 100000), "r/main/2");
  assert.equal(next(["r/main/1", "r/sound/1"], 100000, 1000), undefined);
  assert.equal(next([], 103000), "r/main/2");
  assert.equal(next([], 105000), undefined);
});

test("a time without footage is skipped, and what is there is not", () => {
  const ranges = [{ start: 0, end: 10 }, { start: 60, end: 70 }];
  assert.equal(skipTarget(ranges, 5), undefined);
  assert.equal(skipTarget(ranges, 9.9), 60.01);
  assert.equal(skipTarget(ranges, 30), 60.01);
  assert.equal(skipTarget(ranges, 70), undefined);
});
