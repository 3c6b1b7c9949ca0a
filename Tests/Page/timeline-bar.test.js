import assert from "node:assert/strict";
import { test } from "node:test";

import { TimelineBar } from "../../Sources/App/WebFiles/page/timeline-bar.js";

class Node {
  constructor() {
    this.attributes = new Map();
    this.style = {};
    this.clientWidth = 400;
  }

  append() {}
  replaceChildren() {}
  addEventListener() {}
  setAttribute(name, value) { this.attributes.set(name, value); }
}

const hour = 3600000;
const day = { from: 0, until: 24 * hour };

function bar(t) {
  const before = globalThis.document;
  globalThis.document = { createElement: () => new Node() };
  t.after(() => { globalThis.document = before; });
  return new TimelineBar(day, { scrubbed: () => {}, chosen: () => {} });
}

test("a timeline has a value before it shows a time", (t) => {
  const { attributes } = bar(t).node;
  assert.equal(attributes.get("role"), "slider");
  assert.equal(attributes.get("aria-valuenow"), "0");
  assert.equal(attributes.get("aria-valuemax"), "1000");
  assert.ok(attributes.get("aria-valuetext"));
});

test("a timeline says the time that it shows", (t) => {
  const shown = bar(t);
  const first = shown.node.attributes.get("aria-valuetext");
  shown.show(12 * hour);
  assert.equal(shown.node.attributes.get("aria-valuenow"), "500");
  assert.notEqual(shown.node.attributes.get("aria-valuetext"), first);
});
