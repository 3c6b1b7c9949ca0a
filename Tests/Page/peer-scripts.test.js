import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { createContext, runInContext } from "node:vm";

// What the tests of real browsers (Tests/Peers) run in pages has to say what it waits for, since nobody else can.

/**
 * Runs one of the scripts in a page of its own, and returns the page.
 * @param {string} name
 * @param {object} page what the page has
 */
function run(name, page) {
  const context = createContext({ performance, setTimeout: (...given) => setTimeout(...given), clearTimeout: (...given) => clearTimeout(...given), ...page });
  context.window = context;
  runInContext(readFileSync(new URL(`../Peers/peers/${name}`, import.meta.url), "utf8"), context);
  return context;
}

/**
 * A viewer whose browser reports these statistics.
 * @param {[string, object][]} entries
 */
function viewerOf(entries) {
  const { GatehouseViewer } = run("player.js", {});
  const viewer = new GatehouseViewer("token", 0.001);
  viewer.pc = {
    iceConnectionState: "checking", connectionState: "connecting", iceGatheringState: "complete", getStats: async () => new Map(entries),
  };
  viewer.video = { readyState: 0 };
  return viewer;
}

test("a view that brings no picture says how far its connection has come", async () => {
  const viewer = viewerOf([
    ["pair", { type: "candidate-pair", localCandidateId: "own", remoteCandidateId: "other", state: "in-progress" }],
    ["own", { type: "local-candidate", protocol: "tcp", address: "10.0.0.10", port: 9 }],
    ["other", { type: "remote-candidate", protocol: "tcp", address: "203.0.113.14", port: 443 }],
  ]);
  viewer.firstFrame = new Promise(() => {});
  const expected = new RegExp("^no picture within 0.001 s: ICE checking, connection connecting, .* 0 pictures decoded, .*"
    + "tcp 10.0.0.10:9 to tcp 203.0.113.14:443 in-progress");
  await assert.rejects(viewer.watch(0, 0), ({ message }) => expected.test(message));
});

test("a view whose picture is decoded and shown says when", async () => {
  const viewer = viewerOf([["video", { type: "inbound-rtp", kind: "video", framesDecoded: 1 }]]);
  viewer.patience = 60;
  viewer.firstFrame = Promise.resolve();
  const { answered, decoded, shown } = await viewer.watch(0, 7);
  assert.equal(answered, 7);
  assert.ok(decoded <= shown);
});

/** A wall with one camera, and the listeners of its page. */
function wall() {
  const listeners = [];
  const cell = { querySelector: (part) => ({ textContent: part === ".cell-name" ? "Yard" : "", click: () => {} }) };
  const page = run("large-view.js", {
    EventTarget: class {
      addEventListener(_, listener) { listeners.push(listener); }
      removeEventListener() {}
    },
    WebSocket: Object,
    document: { createElement: () => ({}), querySelector: () => null, querySelectorAll: () => [cell] },
    fetch: async () => {},
  });
  return { spies: page.spies, listeners };
}

test("a page that does not notice that a camera was opened is not waited for without end", async (t) => {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const opened = wall().spies.open("Yard");
  t.mock.timers.tick(60_000);
  await assert.rejects(opened, ({ message }) => message === "not within 60 s: the page notices that Yard was opened");
});

test("a page that notices that a camera was opened says what it shows", async () => {
  const { spies, listeners } = wall();
  const opened = spies.open("Yard");
  listeners[0]();
  assert.equal((await opened).isOpen, false);
});
