import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { replace, restore } from "./elements.js";

/** @type {Record<string, () => void>} */
let listeners = {};
/** The one that the page has made. */
let context = null;
let isPermitted = false;
/** Ends the wait for a permission. */
let permit = () => {};
let sounds = 0;
let chime;

class Context {
  constructor() {
    context = this;
    this.state = "suspended";
    this.currentTime = 0;
  }
  async resume() {
    if (!isPermitted) await new Promise((resolve) => { permit = resolve; });
    this.state = "running";
  }
  createOscillator() {
    return { frequency: {}, connect: (next) => next, stop: () => {}, start: () => { sounds += 1; } };
  }
  createGain() {
    const change = () => {};
    return { gain: { setValueAtTime: change, linearRampToValueAtTime: change, exponentialRampToValueAtTime: change }, connect: () => {} };
  }
}

let loads = 0;
beforeEach(async () => {
  listeners = {};
  context = null;
  isPermitted = false;
  sounds = 0;
  replace("AudioContext", Context);
  replace("addEventListener", (name, listener) => { listeners[name] = listener; });
  mock.timers.enable({ apis: ["setTimeout"] });
  // The page is loaded once for each test.
  loads += 1;
  ({ chime } = await import(`../../Sources/App/WebFiles/page/chime.js?${loads}`));
});
afterEach(() => {
  mock.timers.reset();
  restore();
});

const settle = async () => { for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate); };

for (const name of ["pointerdown", "pointerup", "keydown"]) {
  test(`a page rings after ${name}`, async () => {
    isPermitted = true;
    listeners[name]();
    await settle();
    assert.equal(context.state, "running");
    await chime();
    assert.equal(sounds, 2);
  });
}

test("a page that nobody has touched since it was loaded rings where the browser lets it", async () => {
  isPermitted = true;
  await chime();
  assert.equal(sounds, 2);
});

test("a page that a call has interrupted rings again", async () => {
  isPermitted = true;
  listeners.pointerdown();
  await settle();
  context.state = "interrupted";
  await chime();
  assert.equal(sounds, 2);
});

test("a browser that permits it within two seconds rings, and later it does not", async () => {
  for (const [wait, expected] of [[1900, 2], [2100, 0]]) {
    sounds = 0;
    if (context) context.state = "suspended";
    const rung = chime();
    await settle();
    mock.timers.tick(wait);
    await settle();
    permit();
    await rung;
    await settle();
    assert.equal(sounds, expected, String(wait));
  }
});
