import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { LiveSession } from "../../Sources/App/WebFiles/page/live-session.js";

const names = ["document", "fetch", "window", "navigator", "RTCPeerConnection"];
/** @type {Map<string, PropertyDescriptor | undefined>} */
let before = new Map();
let browser = {};
let now = 0;
/** The requests so far, and what the gateway answers to the one that restarts ICE, and says of the session. */
let requests = [];
let restarted = async () => new Response(gatewayFragment);
let session = () => new Response(JSON.stringify({ steps: [] }));

const lines = (...all) => all.map((line) => `${line}\r\n`).join("");
const gatewayFragment = lines("a=ice-ufrag:gate2", "a=ice-pwd:gate2-password");
const answer = lines("v=0", "m=video 9 UDP/TLS/RTP/SAVPF 96", "a=ice-ufrag:gate1", "a=ice-pwd:gate1-password", "a=mid:0");
const offer = lines("v=0", "m=video 9 UDP/TLS/RTP/SAVPF 96", "a=ice-ufrag:new", "a=ice-pwd:new-password", "a=mid:0");

beforeEach(() => {
  before = new Map(names.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]));
  const set = (name, value) => Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  browser = { onLine: true };
  requests = [];
  restarted = async () => new Response(gatewayFragment);
  session = () => new Response(JSON.stringify({ steps: [] }));
  set("document", { visibilityState: "visible", createElement: () => ({ append: () => {} }) });
  set("window", { RTCPeerConnection: true });
  set("navigator", browser);
  // It is only looked for.
  set("RTCPeerConnection", () => {});
  set("fetch", async (path, { method }) => {
    const last = path.split("/").at(-1);
    if (method === "GET") return session();
    requests.push(`${method} ${last}`);
    return method === "PATCH" ? restarted() : new Response("{}");
  });
  mock.timers.enable({ apis: ["setTimeout"] });
  now = 1_000_000;
  mock.method(performance, "now", () => now);
});
afterEach(() => {
  mock.timers.reset();
  mock.restoreAll();
  for (const [name, value] of before) {
    if (value) Object.defineProperty(globalThis, name, value);
    else delete globalThis[name];
  }
});

/** Lets what waits for answers go on. */
async function settle() {
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => { setImmediate(resolve); });
}

/** @param {number} milliseconds */
async function pass(milliseconds) {
  for (let left = milliseconds; left > 0; left -= 100) {
    now += 100;
    mock.timers.tick(100);
    await settle();
  }
}

/** A view that plays by WebRTC and talks, and what became of it. */
function playing() {
  const source = { state: "flowing", tracks: [{ kind: "video", codec: "H264" }] };
  const live = new LiveSession({ id: "yard", canTalk: true, source }, { muted: true }, {}, { isUp: true }, () => {});
  const pc = {
    signalingState: "stable", connectionState: "connected", iceConnectionState: "connected",
    restartIce: () => {}, close: () => {}, getStats: async () => new Map([["picture", arrived]]),
    createOffer: async () => ({ type: "offer", sdp: offer }),
    setLocalDescription: async () => {}, setRemoteDescription: async () => {},
  };
  const arrived = { type: "inbound-rtp", kind: "video", packetsReceived: 100 };
  const became = { connections: 0, interruptions: 0, status: "" };
  live.connect = async () => { became.connections += 1; };
  live.talk.interrupted = () => { became.interruptions += 1; };
  live.talk.drop = () => {};
  Object.assign(live, { state: "live", liveSince: 1, hasShown: true, session: "s1", answer, pc });
  live.step("path found");
  const become = (state) => {
    pc.connectionState = pc.iceConnectionState = state;
    live.pathLoss.connectionChanged(pc, live.generation);
  };
  return { live, pc, arrived, became, become };
}

/**
 * Lets time pass with the page's ticks.
 * @param {LiveSession} live
 * @param {number} milliseconds
 */
async function watch(live, milliseconds) {
  for (let left = milliseconds; left > 0; left -= 200) {
    await live.pathLoss.tick();
    await pass(200);
  }
}

/** The picture stops, as the view notices it, or moves again. */
function stall(live, isStalled) { live.verdict = { ...live.verdict, isStalled, isLive: !isStalled }; }

const inPlace = "PATCH s1";

test("a path that is back within a second needs nothing", async () => {
  const { became, become } = playing();
  become("disconnected");
  await pass(900);
  become("connected");
  await pass(10_000);
  assert.deepEqual([requests, became.connections], [[], 0]);
});

test("a path that stays lost for a second is found again in the same session, and the talk goes on", async () => {
  const { live, became, become } = playing();
  become("disconnected");
  await pass(900);
  assert.deepEqual(requests, []);
  await pass(100);
  assert.deepEqual(requests, [inPlace]);
  become("connected");
  await pass(20_000);
  assert.deepEqual([requests, became.connections, became.interruptions, live.session], [[inPlace], 0, 0, "s1"]);
});

test("a path on which nothing comes is lost before the browser says so", async () => {
  const { live, became } = playing();
  live.weigh = () => {};
  stall(live, true);
  await watch(live, 2000);
  assert.deepEqual(requests, []);
  await watch(live, 400);
  assert.deepEqual(requests, [inPlace]);
  stall(live, false);
  await watch(live, 20_000);
  assert.deepEqual([requests, became.connections, became.interruptions], [[inPlace], 0, 0]);
});

test("statistics that never come do not keep the next connection from its own", async () => {
  const { live, pc } = playing();
  live.weigh = () => {};
  stall(live, true);
  const { getStats } = pc;
  pc.getStats = () => new Promise(() => {});
  live.pathLoss.tick();
  live.restart();
  await pass(500);
  requests = [];
  Object.assign(live, { state: "live", liveSince: 1, session: "s1", answer, pc: { ...pc, getStats } });
  stall(live, true);
  await watch(live, 2400);
  assert.deepEqual(requests, [inPlace]);
});

test("a camera that stops is not a path that is lost", async () => {
  const { live, arrived } = playing();
  live.weigh = () => {};
  stall(live, true);
  // Its sound, reports or the answers to checks still come.
  for (let second = 0; second < 10; second += 1) {
    await watch(live, 1000);
    arrived.packetsReceived += 1;
  }
  assert.deepEqual(requests, []);
  // The gateway knows that it has stopped.
  live.device.source.state = "stalled";
  await watch(live, 10_000);
  assert.deepEqual(requests, []);
});

test("a silent camera costs one restart in a stall, and the session stays if something comes then", async () => {
  const { live, arrived, became } = playing();
  live.weigh = () => {};
  stall(live, true);
  await watch(live, 2400);
  assert.deepEqual(requests, [inPlace]);
  await watch(live, 2400);
  arrived.packetsReceived += 1;
  await watch(live, 20_000);
  assert.deepEqual([requests, became.connections], [[inPlace], 0]);
});

test("a path on which nothing comes after the restart either leads to another session, whatever the browser says", async () => {
  const { live, became } = playing();
  live.weigh = () => {};
  stall(live, true);
  await watch(live, 2400);
  assert.deepEqual(requests, [inPlace]);
  await watch(live, 7400);
  assert.deepEqual([requests, became.connections], [[inPlace], 0]);
  await watch(live, 800);
  assert.deepEqual([requests, became.connections], [[inPlace, "POST stopLiveView"], 1]);
});

test("a count that falls after the restart of ICE is not an arrival", async () => {
  const { live, arrived, became } = playing();
  live.weigh = () => {};
  stall(live, true);
  await watch(live, 2400);
  // The browser leaves out what came by the old paths.
  arrived.packetsReceived = 5;
  await watch(live, 8400);
  assert.deepEqual([requests, became.connections], [[inPlace, "POST stopLiveView"], 1]);
});

test("what comes counts too when the gateway says meanwhile that the camera is silent", async () => {
  const { live, arrived, became } = playing();
  live.weigh = () => {};
  stall(live, true);
  await watch(live, 2400);
  live.device.source.state = "stalled";
  await watch(live, 1000);
  arrived.packetsReceived += 1;
  await watch(live, 20_000);
  assert.deepEqual([requests, became.connections], [[inPlace], 0]);
});

test("what the browser says later shortens the time for a path that was taken for lost", async () => {
  const { live, became, become } = playing();
  live.weigh = () => {};
  stall(live, true);
  await watch(live, 2400);
  become("disconnected");
  await watch(live, 4800);
  assert.deepEqual([requests, became.connections], [[inPlace], 0]);
  await watch(live, 600);
  assert.deepEqual([requests, became.connections], [[inPlace, "POST stopLiveView"], 1]);
});

test("a path that is not found in five seconds leads to another session", async () => {
  const { became, become } = playing();
  become("disconnected");
  await pass(4900);
  assert.deepEqual([requests, became.connections], [[inPlace], 0]);
  await pass(400);
  assert.deepEqual([requests, became.connections, became.interruptions], [[inPlace, "POST stopLiveView"], 1, 1]);
});

test("a gateway that is gone, does not know the session or does not restart ICE leads to another session at once", async () => {
  const answers = [
    async () => { throw new TypeError("network"); }, async () => new Response("{}", { status: 404 }), async () => new Response(""),
  ];
  for (const one of answers) {
    const { live, became, become } = playing();
    restarted = one;
    become("disconnected");
    await pass(1300);
    assert.deepEqual([became.connections, live.session], [1, null]);
  }
});

test("a gateway that does not answer is given up after five seconds, and what it answers later does nothing", async () => {
  const { live, became, become } = playing();
  let respond = () => {};
  restarted = () => new Promise((resolve) => { respond = () => resolve(new Response(gatewayFragment)); });
  become("disconnected");
  await pass(5300);
  assert.deepEqual([became.connections, live.answer], [1, answer]);
  respond();
  await pass(10_000);
  assert.deepEqual([became.connections, live.answer, requests.filter((one) => one === inPlace).length], [1, answer, 1]);
});

test("a path that comes and goes asks the gateway once in five seconds", async () => {
  const { became, become } = playing();
  for (let second = 0; second < 30; second += 2) {
    become("disconnected");
    await pass(1500);
    become("connected");
    await pass(500);
  }
  const count = requests.filter((one) => one === inPlace).length;
  assert.ok(count >= 3 && count <= 6, String(count));
  assert.equal(became.connections, 0);
});

test("a second loss soon after the first one gets its restart as soon as it may", async () => {
  const { became, become } = playing();
  become("disconnected");
  await pass(1000);
  become("connected");
  await pass(1000);
  become("disconnected");
  await pass(3900);
  assert.equal(requests.length, 1);
  await pass(100);
  assert.deepEqual(requests, [inPlace, inPlace]);
  assert.equal(became.connections, 0);
});

test("a path that has failed is looked for at once, and not again until another session", async () => {
  const { became, become } = playing();
  become("failed");
  await settle();
  assert.deepEqual(requests, [inPlace]);
  become("failed");
  await pass(4900);
  assert.deepEqual([requests, became.connections], [[inPlace], 0]);
  await pass(400);
  assert.equal(became.connections, 1);
});

test("a path that fails soon after a restart leads to another session at once", async () => {
  const { became, become } = playing();
  become("disconnected");
  await pass(1000);
  become("connected");
  become("failed");
  await pass(300);
  assert.deepEqual([requests, became.connections], [[inPlace, "POST stopLiveView"], 1]);
});

test("a connection that has never found a path is not a loss", async () => {
  const { live, become } = playing();
  const faults = [];
  live.failed = (error) => faults.push(error.status);
  Object.assign(live, { steps: [], liveSince: null });
  become("failed");
  await pass(10_000);
  assert.deepEqual([faults, requests], [["NO_PATH"], []]);
});

test("a network that is lost while a view connects is not one without a path", async () => {
  const { live, pc, became, become } = playing();
  const connecting = () => Object.assign(live, { pc, steps: [], hasShown: false, liveSince: null, state: "connecting", begin: now });
  connecting();
  live.silence.start();
  session = () => { throw new TypeError("no network"); };
  become("failed");
  await pass(1000);
  assert.deepEqual([became.connections, live.state, live.status, live.fallback.choose()], [1, "reconnecting", "UNREACHABLE", "webrtc"]);
  // The network is back before the browser gives up.
  connecting();
  session = () => new Response("ok");
  browser.onLine = false;
  live.silence.tick();
  browser.onLine = true;
  live.silence.tick();
  become("failed");
  await pass(2000);
  assert.deepEqual([became.connections, live.state, live.fallback.choose()], [2, "reconnecting", "webrtc"]);
  // Nothing was lost.
  await pass(1000);
  connecting();
  become("failed");
  await settle();
  assert.equal(live.status, "NO_PATH");
  assert.notEqual(live.fallback.choose(), "webrtc");
});

test("a network that comes and goes while a view connects does not keep it from another path for ever", async () => {
  const { live, pc, became } = playing();
  /** A connection is made, the network goes and comes back, and no picture comes. */
  const cutOff = async () => {
    await pass(1000);
    Object.assign(live, { pc, session: "s1", steps: [], liveSince: null, state: "connecting", begin: now, attempt: 0 });
    live.fallback.choose();
    browser.onLine = false;
    live.silence.tick();
    browser.onLine = true;
    live.silence.tick();
    live.silence.waitForPicture(live.generation);
    // The first attempt follows at once.
    await pass(9000);
    return live.fallback.best();
  };
  live.silence.start();
  assert.deepEqual([await cutOff(), await cutOff(), await cutOff()], ["webrtc", "webrtc", "webrtc"]);
  // Something comes through, so the path is well.
  Object.assign(live, { state: "connecting", session: "s1" });
  live.beat();
  const paths = [];
  for (let turn = 0; turn < 4; turn += 1) paths.push(await cutOff());
  assert.deepEqual(paths, ["webrtc", "webrtc", "webrtc", "pictures"]);
  assert.equal(became.connections, 7);
});

test("a WebSocket that has been silent since the gateway was lost begins again with the gateway", async () => {
  const { live, became } = playing();
  const feed = { heardAt: now, close: () => {} };
  Object.assign(live, { session: null, pc: null });
  live.fallback.feed = feed;
  live.silence.start();
  const lose = async () => {
    live.link.isUp = false;
    live.silence.tick();
    await pass(500);
    live.link.isUp = true;
    live.silence.tick();
  };
  now += 1000;
  await lose();
  // It may be another network, in which the connection goes on.
  feed.heardAt = now;
  await live.check();
  await pass(1000);
  assert.equal(became.connections, 0);
  await lose();
  await live.check();
  await pass(1000);
  assert.deepEqual([became.connections, live.state, live.fallback.isOpen], [1, "reconnecting", false]);
});

test("pictures that are far apart do not begin again because the gateway was away between two of them", async () => {
  const { live, became } = playing();
  Object.assign(live, { session: null, pc: null });
  live.fallback.feed = { heardAt: now, close: () => {} };
  live.silence.start();
  now += 100;
  live.link.isUp = false;
  live.silence.tick();
  now += 400;
  live.link.isUp = true;
  live.silence.tick();
  await live.check();
  await pass(1000);
  assert.deepEqual([became.connections, live.state, live.fallback.isOpen], [0, "live", true]);
});

test("a gateway that is reached again is asked at once, and once", async () => {
  const { live, become } = playing();
  become("disconnected");
  await live.check();
  await settle();
  assert.deepEqual(requests, [inPlace]);
  await live.check();
  await pass(3000);
  assert.deepEqual(requests, [inPlace]);
});

test("a gateway that is reached again and has ended the session gives another one", async () => {
  const { live, became } = playing();
  session = () => new Response(JSON.stringify({ error: { status: "NOT_FOUND" } }), { status: 404 });
  await live.check();
  await pass(300);
  // There is nothing to give back.
  assert.deepEqual([became.connections, requests], [1, []]);
});

test("a gateway that is reached again gets what it wishes for", async () => {
  const { live } = playing();
  let isWished = true;
  session = () => {
    const said = { steps: [], wantsICERestart: isWished };
    isWished = false;
    return new Response(JSON.stringify(said));
  };
  await live.check();
  await settle();
  assert.deepEqual(requests, [inPlace]);
});

test("without a network nothing is asked, until the page has reached the gateway", async () => {
  const { live, became, become } = playing();
  browser.onLine = false;
  become("disconnected");
  await pass(3000);
  assert.deepEqual(requests, []);
  browser.onLine = true;
  await live.check();
  await settle();
  assert.deepEqual([requests, became.connections], [[inPlace], 0]);
});

test("a restart that the gateway has asked for is not joined by another one", async () => {
  const { live, became, become } = playing();
  restarted = () => new Promise(() => {});
  live.iceRestart.take(true);
  await settle();
  become("disconnected");
  await pass(4900);
  assert.deepEqual([requests, became.connections], [[inPlace], 0]);
});

test("what comes late for an older connection does nothing", async () => {
  const { live, pc } = playing();
  const { generation } = live;
  live.generation += 1;
  pc.connectionState = "disconnected";
  live.pathLoss.connectionChanged(pc, generation);
  await pass(10_000);
  assert.deepEqual(requests, []);
});
