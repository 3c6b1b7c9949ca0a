import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { whenNetworkChanges } from "../../Sources/App/WebFiles/page/network-change.js";

const names = ["navigator", "addEventListener"];
/** @type {Map<string, PropertyDescriptor | undefined>} */
let before = new Map();
let page = new EventTarget();
let changes = 0;
beforeEach(() => {
  before = new Map(names.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]));
  page = new EventTarget();
  changes = 0;
});
afterEach(() => {
  for (const [name, value] of before) {
    if (value) Object.defineProperty(globalThis, name, value);
    else delete globalThis[name];
  }
});

/** @param {object} navigator what the browser knows of its network */
function begin(navigator) {
  const set = (name, value) => Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  set("navigator", navigator);
  set("addEventListener", page.addEventListener.bind(page));
  whenNetworkChanges(() => { changes += 1; });
}

/** @param {string} [type] */
const connectionOf = (type) => Object.assign(new EventTarget(), { type, downlink: 10 });

test("a browser that is in a network again has perhaps another one", () => {
  begin({});
  page.dispatchEvent(new Event("offline"));
  assert.equal(changes, 0);
  page.dispatchEvent(new Event("online"));
  assert.equal(changes, 1);
});

test("another kind of network is another network, and another speed is not", () => {
  const connection = connectionOf("wifi");
  begin({ connection });
  connection.downlink = 1;
  connection.dispatchEvent(new Event("change"));
  assert.equal(changes, 0);
  connection.type = "cellular";
  connection.dispatchEvent(new Event("change"));
  assert.equal(changes, 1);
  connection.dispatchEvent(new Event("change"));
  assert.equal(changes, 1);
});

test("a device that leaves one network is waited for until it is in another", () => {
  const connection = connectionOf("wifi");
  begin({ connection });
  connection.type = "none";
  connection.dispatchEvent(new Event("change"));
  assert.equal(changes, 0);
  connection.type = "cellular";
  connection.dispatchEvent(new Event("change"));
  assert.equal(changes, 1);
});

test("a browser that does not know the kind of its network reports no change of its speed", () => {
  const connection = connectionOf();
  begin({ connection });
  connection.dispatchEvent(new Event("change"));
  assert.equal(changes, 0);
});
