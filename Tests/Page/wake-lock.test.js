import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { WakeLock } from "../../Sources/App/WebFiles/page/wake-lock.js";

const names = ["document", "navigator"];
/** @type {Map<string, PropertyDescriptor | undefined>} */
let before = new Map();
/** The locks that the browser has given. */
let given = [];
/** Whether it gives any. */
let isPermitted = true;
const set = (name, value) => Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
beforeEach(() => {
  before = new Map(names.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]));
  given = [];
  isPermitted = true;
  set("document", { visibilityState: "visible" });
  set("navigator", { wakeLock: { request: async () => {
    if (!isPermitted) throw new Error("NotAllowedError");
    const lock = { released: false, release: async () => { lock.released = true; } };
    given.push(lock);
    return lock;
  } } });
});
afterEach(() => {
  for (const [name, value] of before) {
    if (value) Object.defineProperty(globalThis, name, value);
    else delete globalThis[name];
  }
});

const held = () => given.filter(({ released }) => !released).length;

test("the screen stays on while something is watched and the page is seen", async () => {
  const lock = new WakeLock();
  await lock.keep(true);
  await lock.keep(true);
  assert.equal(given.length, 1);
  document.visibilityState = "hidden";
  await lock.keep(true);
  assert.equal(held(), 0);
  document.visibilityState = "visible";
  await lock.keep(true);
  assert.equal(held(), 1);
  // The browser has ended it by itself.
  given[1].released = true;
  await lock.keep(true);
  assert.equal(held(), 1);
  await lock.keep(false);
  assert.equal(held(), 0);
});

test("a lock that comes when nobody wants it any more is given back", async () => {
  const lock = new WakeLock();
  const asked = lock.keep(true);
  lock.keep(true);
  lock.keep(false);
  await asked;
  assert.deepEqual([given.length, held()], [1, 0]);
});

test("without a lock the page goes on", async () => {
  isPermitted = false;
  await new WakeLock().keep(true);
  set("navigator", {});
  await new WakeLock().keep(true);
  assert.equal(given.length, 0);
});
