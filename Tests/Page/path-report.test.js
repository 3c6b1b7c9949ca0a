import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { PathReport, pathRows } from "../../Sources/App/WebFiles/page/path-report.js";

const before = Object.getOwnPropertyDescriptor(globalThis, "document");
let page = {};
/** How often a text was written. */
let writes = 0;
let now = 0;

class Node {
  constructor() {
    this.parts = [];
    this.text = "";
  }
  append(...parts) {
    this.parts.push(...parts);
    for (const part of parts) if (typeof part === "string") this.text = part;
  }
  get textContent() { return this.text; }
  set textContent(text) {
    writes += 1;
    this.text = text;
  }
  closest() { return this.details ?? null; }
}

beforeEach(() => {
  page = { visibilityState: "visible", createElement: () => new Node() };
  Object.defineProperty(globalThis, "document", { value: page, configurable: true, writable: true });
  writes = 0;
  now = 1_000_000;
  mock.method(performance, "now", () => now);
});
afterEach(() => {
  mock.restoreAll();
  if (before) Object.defineProperty(globalThis, "document", before);
  else delete globalThis.document;
});

const told = (stream, statistics) => ({ stream, statistics });
const values = (view) => pathRows(view).map(([, value]) => value);

test("a report says how the picture comes, what the connection carries, and which stream it is and why", () => {
  const path = pathRows({
    path: "relayed", told: told({ name: "sub", reason: "path" }, { estimatedBitrate: 1_240_000, isLimited: false }),
  });
  assert.deepEqual(path, [
    ["Path", "through a TURN server"], ["The connection carries", "at least 1.2 Mbit/s"], ["Stream", "smaller stream"],
    ["Why this stream", "The connection does not carry the main stream."],
  ]);
  assert.deepEqual(values({ path: "tcp", told: told({ name: "main", reason: "largest" }, { estimatedBitrate: 8e6, isLimited: false }) }),
    ["over TCP", "at least 8.0 Mbit/s", "main stream", "It is the camera’s largest stream that this browser can get."]);
  assert.equal(values({ path: "direct", told: told({ name: "sub", reason: "hint" }) })[3], "Somebody asked for a small picture here.");
});

test("a report says that a connection is too narrow for the only stream", () => {
  assert.deepEqual(values({ path: "direct", told: told({ name: "main", reason: "only" }, { estimatedBitrate: 700_000, isLimited: true }) }),
    ["direct", "0.7 Mbit/s", "main stream", "This browser can get no other stream of the camera. "
      + "The connection carries less than this stream, so some pictures are left out."]);
});

test("what is not known has words, and a report keeps its rows", () => {
  assert.deepEqual(values({ path: null, told: null }), Array.from({ length: 4 }, () => "not known"));
  assert.deepEqual(values({ path: "websocket", told: null }), ["over a WebSocket", "not known", "not known", "not known"]);
  // Of a newer gateway.
  const strange = told({ name: "third", reason: "mood" }, { estimatedBitrate: 0, isLimited: true });
  assert.deepEqual(values({ path: "pigeon", told: strange }).slice(0, 3),
    ["not known", "not known", "not known"]);
});

test("only what has changed is written, so nobody who reads or selects it is disturbed", () => {
  const made = new PathReport();
  assert.equal(made.node.parts.length, 8);
  made.render({ path: "direct", told: told({ name: "main", reason: "only" }, { estimatedBitrate: 1e6, isLimited: false }) });
  assert.equal(writes, 4);
  made.render({ path: "direct", told: told({ name: "main", reason: "only" }, { estimatedBitrate: 2e6, isLimited: false }) });
  assert.equal(writes, 5);
  assert.equal(made.node.parts.length, 8);
});

/** How often the gateway is asked in ten seconds. */
function asked(made, live) {
  let count = 0;
  const view = { session: "s1", liveSince: 1, readGatewaySteps: () => { count += 1; }, ...live };
  for (let second = 0; second < 10; second += 1) {
    made.tick(view);
    now += 1000;
  }
  return count;
}

test("the gateway is asked while somebody reads the report", () => {
  const made = new PathReport();
  made.node.details = { open: true };
  assert.equal(asked(made), 5);
  made.node.details.open = false;
  assert.equal(asked(made), 0);
  made.node.details.open = true;
  page.visibilityState = "hidden";
  assert.equal(asked(made), 0);
  page.visibilityState = "visible";
  assert.equal(asked(made, { session: null }), 0);
  assert.equal(asked(made, { liveSince: null }), 0);
});

test("a view whose line says something about the connection asks rarely while its details are closed", () => {
  const made = new PathReport(5000);
  made.node.details = { open: false };
  assert.equal(asked(made), 2);
});
