import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { APIError } from "../../Sources/App/WebFiles/page/api.js";
import { cameraToTry, trialFinding, tryView } from "../../Sources/App/WebFiles/page/view-trial.js";

const names = ["fetch", "RTCPeerConnection"];
/** @type {Map<string, PropertyDescriptor | undefined>} */
let before = new Map();
let now = 0;
/** The requests so far, and the connection that was made. */
let requests = [];
let connection = null;
/** What the gateway answers to the offer, and the path in its description. */
let answer = () => new Response(JSON.stringify({ mediaSessionId: "s1", answerSdp: "v=0\r\n" }));
let path = "direct";
let isSilentAboutSessions = false;

class Connection extends EventTarget {
  constructor(configuration) {
    super();
    Object.assign(this, { configuration, connectionState: "new", packets: 0, isClosed: false, kinds: [] });
    connection = this;
  }
  addTransceiver(kind, { direction }) { this.kinds.push(`${kind} ${direction}`); }
  async setLocalDescription() { this.localDescription = { sdp: "v=0\r\n" }; }
  async setRemoteDescription() {}
  async getStats() { return new Map([["picture", { type: "inbound-rtp", kind: "video", packetsReceived: this.packets }]]); }
  close() { this.isClosed = true; }
}

beforeEach(() => {
  before = new Map(names.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]));
  const set = (name, value) => Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  requests = [];
  connection = null;
  path = "direct";
  isSilentAboutSessions = false;
  answer = () => new Response(JSON.stringify({ mediaSessionId: "s1", answerSdp: "v=0\r\n" }));
  set("RTCPeerConnection", Connection);
  set("fetch", async (address, { method }) => {
    const last = address.split("/").at(-1);
    requests.push(`${method} ${last}`);
    if (last === "startLiveView") return answer();
    if (method === "GET" && isSilentAboutSessions) return new Response("{}", { status: 404 });
    return new Response(JSON.stringify(method === "GET" ? { path, steps: [] } : {}));
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

async function pass(milliseconds) {
  for (let left = milliseconds; left > 0; left -= 100) {
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => { setImmediate(resolve); });
    now += 100;
    mock.timers.tick(100);
  }
  for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => { setImmediate(resolve); });
}

test("a trial ends as soon as something has come, and says how", async () => {
  const servers = [{ urls: "turn:203.0.113.1" }];
  const trial = tryView("yard", servers, new AbortController().signal);
  await pass(300);
  assert.deepEqual([connection.configuration.iceServers, connection.kinds], [servers, ["audio recvonly", "video recvonly"]]);
  connection.connectionState = "connected";
  await pass(300);
  assert.deepEqual(requests, ["POST startLiveView"]);
  path = "relayed";
  connection.packets = 1;
  await pass(200);
  assert.deepEqual(requests, ["POST startLiveView", "GET s1", "POST stopLiveView"]);
  const { result, path: came, seconds } = await trial;
  assert.deepEqual([result, came, connection.isClosed], ["came", "relayed", true]);
  assert.ok(seconds > 0.4 && seconds < 1, String(seconds));
});

test("a trial on which something came has worked, also when the gateway does not say by which path", async () => {
  isSilentAboutSessions = true;
  const trial = tryView("yard", [], new AbortController().signal);
  await pass(300);
  connection.packets = 1;
  await pass(200);
  const { result, path: came } = await trial;
  assert.deepEqual([result, came, requests.at(-1)], ["came", undefined, "POST stopLiveView"]);
});

test("a trial without a path ends after ten seconds, or when the browser gives up", async () => {
  const patient = tryView("yard", [], new AbortController().signal);
  await pass(10_200);
  assert.equal((await patient).result, "noPath");
  assert.deepEqual([requests.at(-1), connection.isClosed], ["POST stopLiveView", true]);
  const failed = tryView("yard", [], new AbortController().signal);
  await pass(200);
  connection.connectionState = "failed";
  await pass(200);
  assert.equal((await failed).result, "noPath");
});

test("a path on which nothing comes is not a missing path", async () => {
  const trial = tryView("yard", [], new AbortController().signal);
  await pass(100);
  connection.connectionState = "connected";
  await pass(10_200);
  assert.equal((await trial).result, "nothingCame");
});

test("a trial that nobody waits for ends at once", async () => {
  const closing = new AbortController();
  const trial = tryView("yard", [], closing.signal);
  await pass(300);
  closing.abort();
  await pass(200);
  await trial;
  assert.deepEqual([requests.at(-1), connection.isClosed], ["POST stopLiveView", true]);
});

test("what the gateway refuses is said, and leaves nothing behind", async () => {
  answer = () => new Response(JSON.stringify({ error: { status: "RESOURCE_EXHAUSTED", message: "too many" } }), { status: 429 });
  const trial = tryView("yard", [], new AbortController().signal);
  await pass(200);
  const outcome = await trial;
  assert.deepEqual([outcome.result, outcome.error.status, connection.isClosed], ["refused", "RESOURCE_EXHAUSTED", true]);
  assert.deepEqual(requests, ["POST startLiveView"]);
});

test("the outcome says what to do", () => {
  const of = (outcome) => trialFinding({ seconds: 0.44, ...outcome }, "Yard");
  assert.deepEqual(of({ result: "came", path: "direct" }), {
    subject: "path", state: "good", advice: undefined,
    message: "Pictures from Yard reached this device after 0.4 s, directly and over UDP.",
  });
  assert.equal(of({ result: "came", path: "reflexive" }).state, "good");
  const states = ["relayed", "tcp", undefined].map((path_) => of({ result: "came", path: path_ }));
  assert.deepEqual(states.map(({ state }) => state), ["note", "warning", "good"]);
  assert.match(states[0].message, /through a TURN server/);
  assert.match(states[1].message, /over TCP. UDP does not get through/);
  assert.ok(states[0].advice && states[1].advice && !states[2].advice);
  const none = of({ result: "noPath", seconds: 10 });
  assert.equal(none.state, "failure");
  assert.match(none.message, /in 10\.0 s/);
  assert.match(none.advice, /forward the port .* or set up a TURN server/);
  assert.equal(of({ result: "nothingCame", seconds: 10 }).state, "warning");
  const refused = of({ result: "refused", error: new APIError("UNAVAILABLE", "no") });
  assert.deepEqual([refused.state, refused.message.startsWith("The view could not be tried. ")], ["failure", true]);
});

test("the camera in question is tried if it sends, and otherwise another one that does", () => {
  const camera = (id, state, traits = { WebRtcLiveView: {} }) =>
    ({ id, type: "Camera", source: { state, tracks: [] }, endpoints: [{ id: 1, types: ["Camera"], traits }] });
  const yard = camera("yard", "flowing");
  const barn = camera("barn", "flowing");
  assert.equal(cameraToTry(yard, [barn]), yard);
  assert.equal(cameraToTry(camera("yard", "backingOff"), [camera("lamp", "flowing", {}), barn]), barn);
  assert.equal(cameraToTry(undefined, [camera("yard", "idle")]), null);
});
