import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { learnTime } from "../../Sources/App/WebFiles/page/gateway-clock.js";

// The chime listens for a first touch from its beginning.
globalThis.addEventListener = () => {};
const { Visitors } = await import("../../Sources/App/WebFiles/page/visitors.js");
delete globalThis.addEventListener;

const names = ["document", "HTMLElement", "AudioContext"];
/** @type {Map<string, PropertyDescriptor | undefined>} */
let before = new Map();
class Node {
  constructor() { this.children = []; }
  append(...nodes) {
    this.children.push(...nodes);
    for (const node of nodes) if (node instanceof Node) node.parent = this;
  }
  replaceChildren(...nodes) { this.children = nodes; }
  remove() { if (this.parent) this.parent.children = this.parent.children.filter((one) => one !== this); }
  addEventListener() {}
  get content() { return { cloneNode: () => new Node() }; }
}
const banners = new Node();
let visitors;
const now = Date.parse("2026-06-01T09:00:00Z");

beforeEach(() => {
  before = new Map(names.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]));
  const set = (name, value) => Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  set("HTMLElement", Node);
  set("document", { getElementById: () => banners, createElement: () => new Node() });
  // Nobody hears it.
  set("AudioContext", class {
    async resume() { throw new Error("NotAllowedError"); }
  });
  mock.timers.enable({ apis: ["Date", "setTimeout"], now });
  learnTime(new Headers({ date: new Date(now).toUTCString() }));
  banners.children = [];
  visitors = new Visitors({ tiles: new Map() }, {});
});
afterEach(() => {
  mock.timers.reset();
  for (const [name, value] of before) {
    if (value) Object.defineProperty(globalThis, name, value);
    else delete globalThis[name];
  }
});

/**
 * Whether a press is shown.
 * @param {number} seconds since it was
 */
function rings(seconds) {
  banners.children = [];
  visitors.show({ deviceID: "door", timestamp: new Date(now - seconds * 1000).toISOString() });
  return banners.children.length > 0;
}

test("presses that a stream brings late, after the visitors have gone, do not ring, and the one who waits does, once", () => {
  assert.deepEqual([86_400, 3600, 46, 20, 20, 0].map(rings), [false, false, false, true, false, true]);
});

test("on a tablet whose clock is wrong, who rings now rings, and who has gone does not", () => {
  for (const wrong of [-7_200_000, 7_200_000]) {
    mock.timers.setTime(now + wrong);
    learnTime(new Headers({ date: new Date(now).toUTCString() }));
    visitors.presses.latest.clear();
    assert.deepEqual([60, 3].map(rings), [false, true]);
  }
});

test("after a sign-out, nobody reads at which door somebody is", () => {
  assert.equal(rings(0), true);
  visitors.forget();
  assert.deepEqual(banners.children, []);
});

test("whoever signs in next hears that somebody still waits at the door", () => {
  assert.deepEqual([rings(5), rings(5)], [true, false]);
  visitors.forget();
  assert.deepEqual([rings(5), rings(5)], [true, false]);
});

test("who waits at one door is not forgotten because somebody rings at another, and each door is named once", () => {
  const press = (deviceID, seconds) => visitors.show({ deviceID, timestamp: new Date(now - seconds * 1000).toISOString() });
  press("front", 9);
  press("back", 6);
  assert.equal(banners.children.length, 2);
  const [, back] = banners.children;
  press("front", 0);
  assert.deepEqual([banners.children.length, banners.children[0]], [2, back]);
  mock.timers.tick(45_000);
  assert.deepEqual(banners.children, []);
});
