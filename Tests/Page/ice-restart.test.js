import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { answerAfterRestart, IceRestart } from "../../Sources/App/WebFiles/page/ice-restart.js";
import { Trickle } from "../../Sources/App/WebFiles/page/trickle.js";

const before = globalThis.fetch;
/** The requests so far, and what the gateway answers. */
let requests = [];
let respond = () => new Response(gatewayFragment);
beforeEach(() => {
  requests = [];
  respond = () => new Response(gatewayFragment);
  globalThis.fetch = async (path, { method, body }) => {
    requests.push({ path, method, body });
    return respond();
  };
});
afterEach(() => { globalThis.fetch = before; });

const lines = (...all) => all.map((line) => `${line}\r\n`).join("");
const old = "candidate:1 1 udp 2122260223 203.0.113.5 8189 typ host";
const relayed = "candidate:2 1 udp 16777215 203.0.113.66 52000 typ relay raddr 203.0.113.5 rport 8189";
const answer = lines("v=0", "a=group:BUNDLE 0 1",
  "m=audio 9 UDP/TLS/RTP/SAVPF 111", "a=ice-ufrag:gate1", "a=ice-pwd:gate1-password", `a=${old}`, "a=mid:0",
  "m=video 9 UDP/TLS/RTP/SAVPF 96", "a=ice-ufrag:gate1", "a=ice-pwd:gate1-password", "a=mid:1");
const gatewayFragment = lines("a=ice-ufrag:gate2", "a=ice-pwd:gate2-password", "m=audio 9 UDP/TLS/RTP/SAVPF 0", "a=mid:0",
  `a=${old}`, `a=${relayed}`, "a=end-of-candidates");
const restarted = lines("v=0", "a=group:BUNDLE 0 1",
  "m=audio 9 UDP/TLS/RTP/SAVPF 111", "a=ice-ufrag:gate2", `a=${old}`, `a=${relayed}`, "a=ice-pwd:gate2-password", "a=mid:0",
  "m=video 9 UDP/TLS/RTP/SAVPF 96", "a=ice-ufrag:gate2", "a=ice-pwd:gate2-password", "a=mid:1");
const offer = lines("v=0", "m=audio 9 UDP/TLS/RTP/SAVPF 111", "a=ice-ufrag:new", "a=ice-pwd:new-password", "a=mid:0");

/** A view that plays, and what was asked of its connection. */
function playing() {
  const asked = [];
  const sent = [];
  const pc = {
    signalingState: "stable", connectionState: "disconnected",
    restartIce: () => asked.push("restartIce"), createOffer: async () => ({ type: "offer", sdp: offer }),
    setLocalDescription: async ({ sdp }) => {
      // The browser would check its new addresses with the gateway's old credentials.
      assert.ok(requests.length > 0, "before the gateway has answered");
      assert.equal(sdp, offer);
      asked.push("local");
    },
    setRemoteDescription: async ({ sdp }) => { asked.push(sdp); },
  };
  const makeTrickle = () => new Trickle(async (session, fragment) => { sent.push(fragment); },
    { isLost: () => false, pause: async () => {} });
  const live = {
    pc, session: "s1", generation: 1, answer, device: { id: "yard" }, trickle: makeTrickle(), makeTrickle,
    timers: {}, after: (pause, name, action) => { live.timers[name] = action; },
    liveSince: 1, silence: { waitForPicture: () => asked.push("waitForPicture") },
    readGatewaySteps: async () => { asked.push("readGatewaySteps"); },
    restart: () => {
      asked.push("restart");
      live.generation += 1;
    },
  };
  return { live, pc, asked, sent, made: new IceRestart(live) };
}

test("the answer gets the gateway's credentials and addresses", () => {
  assert.equal(answerAfterRestart(answer, gatewayFragment), restarted);
  assert.equal(answerAfterRestart(answer, ""), "");
});

test("a restart that the gateway asks for keeps the connection", async () => {
  const { live, asked, sent, made } = playing();
  const { trickle } = live;
  await made.take(true);
  assert.deepEqual(asked, ["restartIce", "local", restarted, "readGatewaySteps"]);
  assert.deepEqual(requests.map(({ method, path }) => `${method} ${path}`), ["PATCH /whep/yard/s1"]);
  assert.ok(requests[0].body.includes("a=ice-ufrag:new\r\n"));
  assert.equal(live.answer, restarted);
  // What the browser finds from now on belongs to the new credentials.
  assert.ok(trickle.isClosed);
  live.trickle.add({ candidate: old });
  await new Promise((resolve) => { setImmediate(resolve); });
  assert.equal(sent.length, 1);
  assert.ok(sent[0].includes("a=ice-ufrag:new\r\n") && sent[0].includes(old));
});

test("a restart is made once, and only if it is wanted and there is a connection that can", async () => {
  const { live, pc, asked, made } = playing();
  await made.take(false);
  pc.signalingState = "have-local-offer";
  await made.take(true);
  pc.signalingState = "stable";
  live.session = null;
  await made.take(true);
  assert.deepEqual(asked, []);
  live.session = "s1";
  await Promise.all([made.take(true), made.take(true)]);
  assert.equal(requests.length, 1);
  // The next one may be wanted.
  await made.take(true);
  assert.equal(requests.length, 2);
});

test("a view that is still connecting gets its time again", async () => {
  const { live, asked, made } = playing();
  live.liveSince = null;
  await made.take(true);
  assert.deepEqual(asked, ["restartIce", "local", restarted, "waitForPicture", "readGatewaySteps"]);
});

test("a restart that does not work leads to another connection", async () => {
  const responses = [
    () => new Response("{}", { status: 404 }), () => new Response(""), () => { throw new TypeError("network"); },
  ];
  for (const response of responses) {
    const { asked, made } = playing();
    respond = response;
    await made.take(true);
    assert.deepEqual(asked, ["restartIce", "restart"]);
  }
});

test("a path that is not found in time leads to another connection", async () => {
  const { live, pc, asked, made } = playing();
  await made.take(true);
  pc.connectionState = "connected";
  live.timers.lost();
  assert.ok(!asked.includes("restart"));
  pc.connectionState = "disconnected";
  live.timers.lost();
  assert.ok(asked.includes("restart"));
});

test("a connection that has ended meanwhile is left alone", async () => {
  const { live, asked, made } = playing();
  respond = () => {
    live.generation += 1;
    return new Response(gatewayFragment);
  };
  await made.take(true);
  assert.deepEqual(asked, ["restartIce"]);
  assert.equal(live.timers.lost, undefined);
});
