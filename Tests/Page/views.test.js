import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { Views } from "../../Sources/App/WebFiles/page/views.js";

const names = ["document", "navigator", "location", "HTMLElement", "addEventListener"];
/** @type {Map<string, PropertyDescriptor | undefined>} */
let before = new Map();
let reloads = 0;
/** A dialog that is open. @type {object | null} */
let dialog = null;
/** @type {Record<string, () => void>} */
let listeners = {};
/** The locks of the screen that the browser was asked for. */
let locks = [];
let isPermitted = true;
beforeEach(() => {
  before = new Map(names.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]));
  const set = (name, value) => Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  reloads = 0;
  dialog = null;
  listeners = {};
  class Node {
    isConnected = true;
  }
  set("HTMLElement", Node);
  set("document", { getElementById: () => new Node(), querySelector: () => dialog, addEventListener: () => {}, visibilityState: "visible" });
  locks = [];
  isPermitted = true;
  set("navigator", { wakeLock: { request: async () => {
    const lock = { released: !isPermitted, release: async () => {} };
    locks.push(lock);
    if (!isPermitted) throw new Error("NotAllowedError");
    return lock;
  } } });
  set("location", { reload: () => { reloads += 1; } });
  set("addEventListener", (name, listener) => { listeners[name] = listener; });
});
afterEach(() => {
  for (const [name, value] of before) {
    if (value) Object.defineProperty(globalThis, name, value);
    else delete globalThis[name];
  }
});

const link = { isUp: true };

/** @param {object | null} view */
function shown(view) {
  link.isUp = true;
  const views = new Views({}, { page: { gateway: {}, link } });
  views.view = view && { tick: () => {}, isInUse: false, ...view };
  return views;
}

test("a display on a wall gets the page of a newer gateway, whichever view it shows", () => {
  const views = shown({});
  views.tick(true);
  assert.equal(reloads, 0);
  views.replaced();
  assert.equal(reloads, 1);
  views.tick(true);
  assert.equal(reloads, 1);
});

test("the list of devices is not loaded again under somebody's hands, but a view that is opened later", () => {
  const views = shown(null);
  views.replaced();
  assert.equal(reloads, 0);
  views.view = { tick: () => {}, isInUse: false };
  views.tick(false);
  assert.equal(reloads, 0);
  views.tick(true);
  assert.equal(reloads, 1);
});

test("a page is loaded again when nobody is in the middle of something any more", () => {
  const views = shown({ isInUse: true });
  views.replaced();
  views.view.isInUse = false;
  dialog = {};
  views.tick(true);
  dialog = null;
  listeners.pointerdown();
  views.tick(true);
  assert.equal(reloads, 0);
  views.touchedAt -= 11_000;
  views.tick(true);
  assert.equal(reloads, 1);
});

test("a page is not loaded again while the gateway is not reached, but when it is there again", () => {
  const views = shown({});
  link.isUp = false;
  views.replaced();
  views.tick(true);
  assert.equal(reloads, 0);
  link.isUp = true;
  views.tick(true);
  assert.equal(reloads, 1);
});

test("a lock that the browser has refused is asked for again with the next touch, and with the seconds", async () => {
  const views = shown({});
  isPermitted = false;
  views.keepAwake();
  await new Promise(setImmediate);
  assert.equal(locks.length, 1);
  for (const ask of [() => listeners.pointerup(), () => views.tick(true)]) {
    const asked = locks.length;
    ask();
    await new Promise(setImmediate);
    assert.equal(locks.length, asked + 1);
  }
  views.tick(false);
  assert.equal(locks.length, 3);
});

test("a lock that is held is not asked for again, and one that the browser has ended is", async () => {
  const views = shown({});
  for (const count of [1, 1]) {
    views.tick(true);
    listeners.pointerup();
    await new Promise(setImmediate);
    assert.equal(locks.length, count);
  }
  locks[0].released = true;
  views.tick(true);
  await new Promise(setImmediate);
  assert.equal(locks.length, 2);
});

test("the list of devices lets the screen go off", async () => {
  const views = shown(null);
  views.tick(true);
  listeners.pointerup();
  await new Promise(setImmediate);
  assert.equal(locks.length, 0);
});
