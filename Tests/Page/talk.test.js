import assert from "node:assert/strict";
import { afterEach, test } from "node:test";

import { microphoneFault, noMicrophoneHere, Talk } from "../../Sources/App/WebFiles/page/talk.js";

const before = { fetch: globalThis.fetch, navigator: Object.getOwnPropertyDescriptor(globalThis, "navigator") };
afterEach(() => {
  globalThis.fetch = before.fetch;
  if (before.navigator) Object.defineProperty(globalThis, "navigator", before.navigator);
  else delete globalThis.navigator;
});

/** A talk of a live view that does what it would, without a browser. `opens` is what getUserMedia does. */
function talking({ opens, answer = () => new Response("{}") } = {}) {
  const track = new EventTarget();
  track.stop = () => { track.isStopped = true; };
  const microphone = { getTracks: () => [track], getAudioTracks: () => [track] };
  const commands = [];
  const live = {
    device: { id: "door" }, session: "session", generation: 1, gateway: {}, sent: null, onChange: () => {},
    audio: { sender: { replaceTrack: async (given) => { live.sent = given; } } },
  };
  const talk = new Talk(live);
  Object.defineProperty(globalThis, "navigator",
    { value: { mediaDevices: { getUserMedia: opens ?? (async () => microphone) } }, configurable: true });
  globalThis.fetch = async (path, { body }) => {
    commands.push(path.split("/").at(-1));
    assert.deepEqual(JSON.parse(body), { mediaSessionId: "session" });
    return answer(live);
  };
  return { talk, live, track, microphone, commands };
}

test("a page without encryption says where the microphone works", () => {
  assert.match(noMicrophoneHere("192.0.2.1", 8443).message, /Open https:\/\/192\.0\.2\.1:8443\/ instead\.$/);
  assert.match(noMicrophoneHere("192.0.2.1").message, /Switch on HTTPS in the gateway’s config\.$/);
});

test("a microphone that does not open is explained", () => {
  const say = (name) => microphoneFault(new DOMException("in the browser's words", name));
  assert.match(say("NotAllowedError").message, /^The microphone is not allowed for this page\./);
  assert.equal(say("NotFoundError").message, "This device has no microphone.");
  assert.match(say("NotReadableError").message, /Another program may be using it\.$/);
  assert.equal(say("NotReadableError").details, "in the browser's words");
  assert.equal(say("NotAllowedError").status, "NO_MICROPHONE");
});

test("the microphone is sent once the camera accepts it, and closed at the end", async () => {
  const { talk, live, track, commands } = talking();
  await talk.start();
  assert.equal(talk.isTalking, true);
  assert.equal(live.sent, track);
  await talk.stop();
  assert.deepEqual(commands, ["startTalkback", "stopTalkback"]);
  assert.equal(talk.isTalking, false);
  assert.equal(live.sent, null);
  assert.equal(track.isStopped, true);
  // A second stop has nothing to end.
  await talk.stop();
  assert.equal(commands.length, 2);
});

test("a camera that refuses the talk closes the microphone", async () => {
  const refusal = () => new Response('{"error":{"status":"UNAVAILABLE","message":"no speaker"}}', { status: 503 });
  const { talk, live, track, commands } = talking({ answer: refusal });
  await assert.rejects(talk.start(), { status: "UNAVAILABLE" });
  assert.deepEqual(commands, ["startTalkback"]);
  assert.equal(track.isStopped, true);
  assert.equal(live.sent, null);
  assert.deepEqual([talk.isTalking, talk.isOpening], [false, false]);
});

test("somebody else can talk after the browser has refused to send the microphone", async () => {
  const { talk, live, track, commands } = talking();
  const { sender } = live.audio;
  sender.replaceTrack = async (given) => {
    if (given) throw new DOMException("the connection is closed", "InvalidStateError");
  };
  await assert.rejects(talk.start(), { name: "InvalidStateError" });
  assert.deepEqual(commands, ["startTalkback", "stopTalkback"]);
  assert.equal(track.isStopped, true);
  assert.deepEqual([talk.isTalking, talk.isOpening], [false, false]);
});

test("somebody else can talk after the answer to this talk was lost", async () => {
  const proxy = () => new Response("<html>", { status: 502 });
  for (const answer of [() => { throw new TypeError("network"); }, proxy]) {
    const { talk, commands } = talking({ answer });
    await assert.rejects(talk.start());
    assert.deepEqual(commands, ["startTalkback", "stopTalkback"]);
    assert.deepEqual([talk.isTalking, talk.isOpening], [false, false]);
  }
});

test("a microphone that is pulled out while the camera is asked ends the talk", async () => {
  const { talk, live, track, commands } = talking({ answer: () => {
    track.readyState = "ended";
    return new Response("{}");
  } });
  await assert.rejects(talk.start(), { status: "NO_MICROPHONE", message: "The microphone was disconnected." });
  assert.deepEqual(commands, ["startTalkback", "stopTalkback"]);
  assert.equal(live.sent, null);
  assert.equal(talk.isTalking, false);
});

test("a talk that the gateway ends before the microphone is sent is over", async () => {
  const { talk, live, track } = talking();
  live.audio.sender.replaceTrack = async (given) => {
    live.sent = given;
    if (given) talk.changed({ state: "ended", reason: "a clip is played" });
  };
  // What is reported of a talk before this one does not count.
  await talk.start();
  assert.equal(talk.isTalking, true);
  await talk.stop();
  globalThis.fetch = async () => {
    talk.changed({ state: "opening" });
    return new Response("{}");
  };
  await talk.start();
  assert.equal(talk.isTalking, false);
  assert.equal(track.isStopped, true);
  assert.equal(talk.fault.details, "a clip is played");
});

test("a view that restarts while the browser asks for the microphone does not send it", async () => {
  const { talk, live, microphone, track, commands } = talking();
  navigator.mediaDevices.getUserMedia = async () => {
    live.generation += 1;
    return microphone;
  };
  await assert.rejects(talk.start(), { status: "RESTARTED" });
  assert.deepEqual(commands, []);
  assert.equal(track.isStopped, true);
});

test("a view that restarts while the camera is asked does not send the microphone", async () => {
  const restart = (live) => {
    live.generation += 1;
    return new Response("{}");
  };
  const { talk, live, track } = talking({ answer: restart });
  await assert.rejects(talk.start(), { status: "RESTARTED" });
  assert.equal(live.sent, null);
  assert.equal(track.isStopped, true);
});

test("a view that ends while the camera is asked closes the microphone at once", async () => {
  let respond = () => {};
  const { talk, live, track } = talking({ answer: () => new Promise((resolve) => { respond = () => resolve(new Response("{}")); }) });
  const start = talk.start();
  await new Promise((resolve) => { setImmediate(resolve); });
  live.generation += 1;
  talk.drop();
  assert.equal(track.isStopped, true);
  respond();
  await assert.rejects(start, { status: "RESTARTED" });
  assert.deepEqual([talk.microphone, talk.isTalking, talk.isOpening, live.sent], [null, false, false, null]);
});

test("a talk that the gateway ended closes the microphone and gives the reason", async () => {
  const { talk, track } = talking();
  await talk.start();
  for (const state of ["opening", "talking"]) talk.changed({ state });
  talk.changed();
  assert.equal(talk.isTalking, true);
  talk.changed({ state: "ended", reason: "a clip is played" });
  assert.equal(talk.isTalking, false);
  assert.equal(track.isStopped, true);
  assert.equal(talk.fault.details, "a clip is played");
});

test("a microphone that is pulled out ends the talk", async () => {
  const { talk, track } = talking();
  await talk.start();
  track.dispatchEvent(new Event("ended"));
  assert.equal(talk.isTalking, false);
  assert.equal(talk.fault.message, "The microphone was disconnected.");
});

test("a restart of the view is mentioned only to somebody who talks", async () => {
  const { talk } = talking();
  talk.interrupted();
  assert.equal(talk.fault, null);
  await talk.start();
  talk.interrupted();
  assert.match(talk.fault.message, /the view restarted/);
});
