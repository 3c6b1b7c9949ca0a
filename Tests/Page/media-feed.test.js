import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { APIError } from "../../Sources/App/WebFiles/page/api.js";
import { MediaFeed, socketAddress, withoutSound } from "../../Sources/App/WebFiles/page/media-feed.js";

test("a WebSocket is as encrypted as its page", () => {
  assert.equal(socketAddress("/v1/devices/a/live.mp4?stream=main", "http://192.0.2.1:8080/#wall"),
    "ws://192.0.2.1:8080/v1/devices/a/live.mp4?stream=main");
  assert.equal(socketAddress("/v1/x", "https://home.example/camera/yard#token=secret"), "wss://home.example/v1/x");
});

test("a type is left with its pictures", () => {
  assert.equal(withoutSound('video/mp4; codecs="avc1.64001F, mp4a.40.2"'), 'video/mp4; codecs="avc1.64001F"');
  assert.equal(withoutSound('video/mp4; codecs="hvc1.1.6.L93.B0,opus"'), 'video/mp4; codecs="hvc1.1.6.L93.B0"');
  for (const type of ['video/mp4; codecs="avc1.64001F"', 'audio/mp4; codecs="opus"', "video/mp4", ""]) assert.equal(withoutSound(type), null, type);
});

/** The connections that were made. @type {any[]} */
let sockets = [];
class Socket extends EventTarget {
  isOpen = true;

  constructor(address, protocols) {
    super();
    Object.assign(this, { address, protocols });
    sockets.push(this);
  }

  close() { this.isOpen = false; }

  say(data) { this.dispatchEvent(Object.assign(new Event("message"), { data })); }

  end(code, reason = "") { this.dispatchEvent(Object.assign(new Event("close"), { code, reason })); }
}

class Source extends EventTarget { static isTypeSupported = () => true; }

const before = { WebSocket: globalThis.WebSocket, fetch: globalThis.fetch, location: globalThis.location, MediaSource: globalThis.MediaSource,
  createObjectURL: URL.createObjectURL, revokeObjectURL: URL.revokeObjectURL };
/** The addresses that are not given back. */
let open = 0;
beforeEach(() => {
  sockets = [];
  open = 0;
  Object.assign(globalThis, { WebSocket: Socket, MediaSource: Source, location: { href: "http://gateway.example/" } });
  URL.createObjectURL = () => `blob:${open += 1}`;
  URL.revokeObjectURL = () => { open -= 1; };
});
afterEach(() => {
  const { createObjectURL, revokeObjectURL, ...rest } = before;
  Object.assign(globalThis, rest);
  Object.assign(URL, { createObjectURL, revokeObjectURL });
});

const began = (mediaType) => JSON.stringify({ type: "began", mediaType });
const both = 'video/mp4; codecs="avc1.64001F, opus"';

/** A feed, and what its view was told. */
function feeding(plays = () => true) {
  const told = [];
  const video = Object.assign(new EventTarget(), { removeAttribute: () => {}, load: () => {}, playbackRate: 1 });
  const feed = new MediaFeed("/v1/devices/a/live.mp4?stream=main", video, plays,
    { began: (hasPicture) => told.push(["began", hasPicture]), ended: (error) => told.push(["ended", error]) });
  return { feed, told, socket: sockets[0] };
}

const settled = () => new Promise((resolve) => { setImmediate(resolve); });

test("a stream of the gateway that ends is not an error, and nothing stays open", () => {
  const { told, socket } = feeding();
  assert.deepEqual(socket.protocols.slice(0, 1), ["gatehouse"]);
  socket.say(began(both));
  assert.equal(open, 1);
  socket.end(1001);
  assert.deepEqual([told, open, socket.isOpen], [[["ended", null]], 0, false]);
});

test("a camera that is switched off ends the stream with the gateway's words", () => {
  const { told, socket } = feeding();
  socket.say(began(both));
  socket.end(1008, "yard is switched off");
  assert.equal(told.length, 1);
  assert.deepEqual([told[0][1].status, told[0][1].message], ["FAILED_PRECONDITION", "yard is switched off"]);
});

test("a feed knows when something came last", () => {
  let now = 1000;
  mock.method(performance, "now", () => now);
  const { feed, socket } = feeding();
  assert.equal(feed.heardAt, 1000);
  now = 2000;
  socket.say(began(both));
  assert.equal(feed.heardAt, 2000);
  now = 3000;
  socket.say(new ArrayBuffer(3));
  assert.equal(feed.heardAt, 3000);
  mock.restoreAll();
});

test("each description of the stream is played from its begin", () => {
  const { feed, socket } = feeding();
  socket.say(began(both));
  const first = feed.sink;
  socket.say(began('video/mp4; codecs="avc1.640028"'));
  assert.deepEqual([first.isClosed, feed.sink.isClosed, open], [true, false, 1]);
  feed.close();
});

test("pictures without sound are better than none", () => {
  const { feed, told, socket } = feeding((type) => !type.includes("opus"));
  socket.say(began(both));
  assert.equal(sockets.length, 2);
  assert.equal(sockets[1].address, "ws://gateway.example/v1/devices/a/live.mp4?stream=main&sound=false");
  // The end of the first connection does not end the feed.
  socket.end(1005);
  sockets[1].say(began('video/mp4; codecs="avc1.64001F"'));
  assert.deepEqual([told, open, socket.isOpen], [[], 1, false]);
  feed.close();
});

test("a stream that the browser does not play is named", () => {
  const { told, socket } = feeding(() => false);
  socket.say(began(both));
  assert.deepEqual(told.map(([name, { status, details }]) => [name, status, details]), [["ended", "UNSUPPORTED", both]]);
});

test("a damaged header ends the feed", () => {
  const { told, socket } = feeding();
  socket.say(began(both));
  socket.say(new ArrayBuffer(3));
  assert.deepEqual([told.map(([name, { status }]) => [name, status]), open], [[["ended", "UNREADABLE"]], 0]);
});

test("a WebSocket that was refused is explained by the answer to a request", async () => {
  const refusal = { error: { status: "FAILED_PRECONDITION", message: "yard is switched off" } };
  globalThis.fetch = async () => new Response(JSON.stringify(refusal), { status: 409 });
  const { told, socket } = feeding();
  socket.end(1006);
  await settled();
  assert.ok(told[0][1] instanceof APIError);
  assert.equal(told[0][1].message, "yard is switched off");
});

test("a WebSocket that fails where requests succeed is the browser's or a proxy's fault", async () => {
  let isAborted = false;
  globalThis.fetch = async (_, { signal }) => {
    signal.addEventListener("abort", () => { isAborted = true; });
    return new Response("a stream without an end");
  };
  const { told, socket } = feeding();
  socket.end(1006);
  await settled();
  assert.deepEqual([told[0][1].status, isAborted], ["NO_SOCKET", true]);
});

test("a feed that was closed says nothing more", async () => {
  globalThis.fetch = async () => { throw new TypeError("no network"); };
  const { feed, told, socket } = feeding();
  socket.say(began(both));
  feed.close();
  socket.say(new ArrayBuffer(3));
  socket.say(began(both));
  socket.end(1006);
  await settled();
  assert.deepEqual([told, open, socket.isOpen], [[], 0, false]);
});
