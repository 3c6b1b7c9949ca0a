import assert from "node:assert/strict";
import { test } from "node:test";

import { fragmentOf, Trickle } from "../../Sources/App/WebFiles/page/trickle.js";

/** What browsers offer, as far as it matters here. */
const offerOf = (user) => [
  "v=0", "o=- 1 2 IN IP4 127.0.0.1", "s=-", "t=0 0", "a=group:BUNDLE 0 1",
  "m=audio 9 UDP/TLS/RTP/SAVPF 111", "c=IN IP4 0.0.0.0", `a=ice-ufrag:${user}`, `a=ice-pwd:${user}-password`,
  "a=ice-options:trickle", "a=mid:0", "a=recvonly",
  "m=video 9 UDP/TLS/RTP/SAVPF 96", `a=ice-ufrag:${user}`, `a=ice-pwd:${user}-password`, "a=mid:1", "",
].join("\r\n");
const own = "candidate:1 1 udp 2122260223 0d9c5bc1-6d8f-4a7b-9d6f-0a5f6f0f8f11.local 50000 typ host generation 0";
const seen = "candidate:2 1 UDP 1686052607 203.0.113.10 40000 typ srflx raddr 0.0.0.0 rport 0";
const overTCP = "candidate:3 1 tcp 1518280447 192.0.2.7 9 typ host tcptype active";
const second = "candidate:4 2 udp 2122260222 192.0.2.7 50001 typ host";

const lost = new Error("no answer");

/** A connection and what it sends. `outcomes` are what becomes of its requests; each of them succeeds by itself. */
function connect(outcomes = []) {
  const sent = [];
  const pauses = [];
  const trickle = new Trickle(async (session, fragment, signal) => {
    sent.push({ session, fragment, signal });
    await outcomes.shift()?.();
  }, { isLost: (error) => error === lost, pause: async (milliseconds) => { pauses.push(milliseconds); } });
  const candidates = () => sent.map(({ fragment }) => fragment.match(/(?<=^a=)candidate:.*(?=\r$)/gm));
  return { trickle, sent, pauses, candidates };
}

/** Lets everything happen that waits for nothing. */
const settle = () => new Promise((resolve) => { setImmediate(resolve); });

/** A promise, and what fulfils it. */
function gate() {
  let open = () => {};
  const opened = new Promise((resolve) => { open = resolve; });
  return { opened, open };
}

test("a fragment names the credentials of the offer, its first section and the candidates", () => {
  assert.equal(fragmentOf(offerOf("one"), [own, seen], true), [
    "a=ice-ufrag:one", "a=ice-pwd:one-password", "m=audio 9 UDP/TLS/RTP/SAVPF 111", "a=mid:0",
    `a=${own}`, `a=${seen}`, "a=end-of-candidates", "",
  ].join("\r\n"));
  assert.ok(!fragmentOf(offerOf("one"), [own], false).includes("end-of-candidates"));
  for (const text of ["", "v=0\r\n", offerOf("one").replaceAll(/^a=mid.*$/gm, "a=x")]) assert.equal(fragmentOf(text, [own], false), "");
});

test("candidates wait for the answer, and then go together", async () => {
  const { trickle, sent, candidates } = connect();
  for (const candidate of [own, overTCP, second, seen]) trickle.add({ candidate });
  await settle();
  assert.deepEqual(sent, []);
  trickle.open("session", offerOf("one"));
  await settle();
  assert.deepEqual(candidates(), [[own, seen]]);
  assert.equal(sent[0].session, "session");
});

test("what is found during a request goes with the next one, and the end with the last", async () => {
  const first = gate();
  const { trickle, sent, candidates } = connect([() => first.opened]);
  trickle.open("session", offerOf("one"));
  trickle.add({ candidate: own });
  trickle.add({ candidate: seen });
  trickle.add({ candidate: "" });
  trickle.add(null);
  await settle();
  assert.deepEqual(candidates(), [[own]]);
  first.open();
  await settle();
  assert.deepEqual(candidates(), [[own], [seen]]);
  assert.deepEqual(sent.map(({ fragment }) => fragment.includes("end-of-candidates")), [false, true]);
});

test("the end alone is worth no request", async () => {
  const { trickle, sent } = connect();
  trickle.open("session", offerOf("one"));
  trickle.add(null);
  await settle();
  assert.deepEqual(sent, []);
});

test("a request that is lost is repeated, a few times", async () => {
  const fails = () => { throw lost; };
  const { trickle, sent, pauses, candidates } = connect([fails]);
  trickle.open("session", offerOf("one"));
  trickle.add({ candidate: own });
  trickle.add({ candidate: seen });
  await settle();
  assert.deepEqual(candidates(), [[own], [own, seen]]);
  assert.deepEqual(pauses, [1000]);
  assert.ok(sent.every(({ session }) => session === "session"));
  const hopeless = connect(Array.from({ length: 10 }, () => fails));
  hopeless.trickle.open("session", offerOf("one"));
  hopeless.trickle.add({ candidate: own });
  await settle();
  assert.equal(hopeless.sent.length, 4);
  assert.deepEqual(hopeless.pauses, [1000, 2000, 3000]);
});

test("what the gateway refuses is not sent again, and nothing after it", async () => {
  const { trickle, sent } = connect([() => { throw new Error("there is no such session"); }]);
  trickle.open("session", offerOf("one"));
  trickle.add({ candidate: own });
  await settle();
  trickle.add({ candidate: seen });
  await settle();
  assert.equal(sent.length, 1);
});

test("a connection that has ended sends nothing more", async () => {
  const first = gate();
  const { trickle, sent } = connect([() => first.opened]);
  trickle.open("session", offerOf("one"));
  trickle.add({ candidate: own });
  trickle.add({ candidate: seen });
  trickle.close();
  assert.ok(sent[0].signal.aborted);
  first.open();
  trickle.add({ candidate: seen });
  await settle();
  assert.equal(sent.length, 1);
  // One that ends before its answer comes never sends.
  const early = connect();
  early.trickle.add({ candidate: own });
  early.trickle.close();
  early.trickle.open("session", offerOf("one"));
  await settle();
  assert.deepEqual(early.sent, []);
});
