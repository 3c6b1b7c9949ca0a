import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import { keepSound, keptSound } from "../../Sources/App/WebFiles/page/kept-sound.js";
import { liveWord, pathWord, streamWord } from "../../Sources/App/WebFiles/page/live-words.js";
import { pictureName } from "../../Sources/App/WebFiles/page/picture-file.js";
import { Quality } from "../../Sources/App/WebFiles/page/quality.js";

const before = { fetch: globalThis.fetch, localStorage: Object.getOwnPropertyDescriptor(globalThis, "localStorage") };
afterEach(() => {
  globalThis.fetch = before.fetch;
  if (before.localStorage) Object.defineProperty(globalThis, "localStorage", before.localStorage);
  else delete globalThis.localStorage;
});

/** @param {Map<string, string>} items */
function store(items) {
  const localStorage = { getItem: (key) => items.get(key) ?? null, setItem: (key, value) => items.set(key, value) };
  Object.defineProperty(globalThis, "localStorage", { value: localStorage, configurable: true, writable: true });
}

test("a saved picture says what it shows and when, in a name that every system accepts", () => {
  assert.equal(pictureName("Front door", new Date(2026, 10, 4, 7, 5, 9)), "Front door 2026-11-04 07.05.09.jpg");
  assert.equal(pictureName("../Größe: \"A/B\"", new Date(2026, 0, 31, 23, 59, 0)), "..Größe AB 2026-01-31 23.59.00.jpg");
  assert.match(pictureName("???", new Date()), /^Camera /);
});

test("the next camera is as loud as the last one", () => {
  store(new Map());
  assert.deepEqual(keptSound(), { volume: 1, isMuted: false });
  keepSound({ volume: 0.3, isMuted: true });
  assert.deepEqual(keptSound(), { volume: 0.3, isMuted: true });
});

test("a sound that cannot be is forgotten", () => {
  for (const text of ["{", "null", '{"volume":7}', '{"volume":"loud","isMuted":1}']) {
    store(new Map([["gatehouse.sound", text]]));
    assert.deepEqual(keptSound(), { volume: 1, isMuted: false }, text);
  }
});

test("a browser that stores nothing plays with the sound that somebody chooses", () => {
  const localStorage = { get: () => { throw new DOMException("blocked", "SecurityError"); }, configurable: true };
  Object.defineProperty(globalThis, "localStorage", localStorage);
  assert.doesNotThrow(() => keepSound({ volume: 0.3, isMuted: true }));
  assert.deepEqual(keptSound(), { volume: 1, isMuted: false });
});

test("a view starts in the quality that was chosen, and changes it while it runs", async () => {
  const sent = [];
  globalThis.fetch = async (path, { body }) => {
    sent.push([path.split("/").at(-1), JSON.parse(body)]);
    return new Response("{}");
  };
  const restarts = [];
  const live = { device: { id: "yard" }, session: null, fallback: { isOpen: false }, restart: () => restarts.push(quality.wanted) };
  const quality = new Quality(live);
  assert.deepEqual(quality.parameters, {});
  await quality.change("sd");
  assert.deepEqual(sent, []);
  assert.deepEqual(quality.parameters, { qualityHint: "sd" });
  live.fallback.isOpen = true;
  await quality.change("hd");
  // A stream that is no WebRTC session begins again with it.
  assert.deepEqual([sent, restarts], [[], ["hd"]]);
  live.fallback.isOpen = false;
  live.session = "one";
  await quality.change("hd");
  assert.deepEqual(sent, [["changeLiveViewQuality", { mediaSessionId: "one", qualityHint: "hd" }]]);
});

test("the state of a view is a word", () => {
  const view = { state: "live", hasShown: true, hasPicture: true, verdict: { isLive: true, isStalled: false } };
  assert.equal(liveWord(view), "Live");
  assert.equal(liveWord({ ...view, verdict: { isLive: false, isStalled: true } }), "No picture");
  assert.equal(liveWord({ ...view, hasPicture: false, verdict: { isLive: false, isStalled: true } }), "No sound");
  const waits = { ...view, verdict: { isLive: false, isStalled: false } };
  assert.equal(liveWord({ ...waits, state: "reconnecting", hasShown: false }), "Waiting");
  assert.equal(liveWord({ ...waits, state: "reconnecting" }), "Reconnecting");
  assert.equal(liveWord({ ...waits, state: "stopped" }), "");
});

test("a live view says how its picture comes", () => {
  const words = ["direct", "reflexive", "relayed", "tcp"].map(pathWord);
  assert.deepEqual(words, ["direct", "through a router", "through a TURN server", "over TCP"]);
  assert.deepEqual([pathWord(null), pathWord("pigeon")], ["", ""]);
});

test("a live view says why its picture is a small one", () => {
  assert.equal(streamWord({ name: "sub", reason: "path" }, { estimatedBitrate: 1_250_000 }), "smaller stream: the connection carries 1.3 Mbit/s");
  assert.equal(streamWord({ name: "sub", reason: "path" }, { estimatedBitrate: 0 }), "smaller stream: the connection is slow");
  assert.equal(streamWord({ name: "sub", reason: "hint" }, { estimatedBitrate: 1_250_000 }), "smaller stream");
  assert.equal(streamWord({ name: "sub", reason: "only" }, { estimatedBitrate: 1_250_000 }), "");
  assert.equal(streamWord({ name: "main", reason: "largest" }, { estimatedBitrate: 1_250_000 }), "");
  assert.equal(streamWord({ name: "main", reason: "largest" }), "");
  assert.equal(streamWord(undefined, { estimatedBitrate: 0, isLimited: true }), "");
});

test("a live view says when its only stream does not fit", () => {
  for (const stream of [{ name: "main", reason: "only" }, { name: "sub", reason: "only" }, { name: "main", reason: "largest" }]) {
    assert.equal(streamWord(stream, { estimatedBitrate: 850_000, isLimited: true }), "the connection carries only 0.9 Mbit/s");
    assert.equal(streamWord(stream, { estimatedBitrate: 0, isLimited: true }), "the connection is too slow for the picture");
    assert.equal(streamWord(stream, { estimatedBitrate: 850_000, isLimited: false }), "");
  }
  // That it is smaller says so already.
  assert.equal(streamWord({ name: "sub", reason: "path" }, { estimatedBitrate: 0, isLimited: true }), "smaller stream: the connection is slow");
});
