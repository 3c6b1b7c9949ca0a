import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { authorization, forgetToken, keepToken, takeToken, whenTokenChanges } from "../../Sources/App/WebFiles/page/token.js";

const names = ["localStorage", "sessionStorage", "location", "history", "addEventListener"];
const before = names.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)]);

class Store {
  items = new Map();
  getItem(key) { return this.items.get(key) ?? null; }
  setItem(key, value) { this.items.set(key, value); }
  removeItem(key) { this.items.delete(key); }
}

const set = (name, value) => Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
let listeners = {};

/** A new tab of the same browser. */
function openTab(hash = "") {
  set("sessionStorage", new Store());
  set("location", { hash, pathname: "/", search: "" });
  set("history", { replaceState: (_state, _title, path) => { location.replaced = path; } });
}

beforeEach(() => {
  set("localStorage", new Store());
  listeners = {};
  set("addEventListener", (name, handler) => { listeners[name] = handler; });
  openTab();
});
afterEach(() => {
  for (const [name, descriptor] of before) {
    if (descriptor) Object.defineProperty(globalThis, name, descriptor);
    else delete globalThis[name];
  }
});

test("somebody who signs in stays signed in when the tab is closed", () => {
  keepToken(" secret ");
  openTab();
  assert.equal(takeToken(), true);
  assert.equal(authorization(), "Bearer secret");
});

test("an address with a token signs its tab in, and the browser if nobody is", () => {
  openTab("#wall&token=first");
  assert.equal(takeToken(), true);
  assert.equal(location.replaced, "/#wall");
  openTab();
  takeToken();
  assert.equal(authorization(), "Bearer first");
  // Somebody else's link does not sign out the person who is signed in here.
  openTab("#token=second");
  takeToken();
  assert.equal(authorization(), "Bearer second");
  takeToken();
  assert.equal(authorization(), "Bearer second");
  openTab();
  takeToken();
  assert.equal(authorization(), "Bearer first");
});

test("a page may leave out the token of its address", () => {
  openTab("#token=foreign");
  assert.equal(takeToken({ ignoresAddress: true }), false);
  assert.equal(authorization(), "Bearer ");
  keepToken("own");
  openTab("#token=foreign");
  assert.equal(takeToken({ ignoresAddress: true }), true);
  assert.equal(authorization(), "Bearer own");
  openTab();
  takeToken();
  assert.equal(authorization(), "Bearer own");
});

test("signing out forgets the token everywhere, and a refusal only the one that was refused", () => {
  keepToken("first");
  openTab("#token=second");
  takeToken();
  forgetToken();
  assert.equal(authorization(), "Bearer ");
  openTab();
  assert.equal(takeToken(), true);
  forgetToken();
  openTab();
  assert.equal(takeToken(), false);
  keepToken("first");
  openTab("#token=second");
  takeToken();
  forgetToken({ everywhere: true });
  openTab();
  assert.equal(takeToken(), false);
});

test("other tabs follow a sign-in and a sign-out", () => {
  keepToken("first");
  let changes = 0;
  whenTokenChanges(() => { changes += 1; });
  listeners.storage({ key: "other", newValue: null });
  assert.equal(changes, 0);
  listeners.storage({ key: "gatehouse.token", newValue: null });
  assert.equal(changes, 1);
  openTab("#token=second");
  takeToken();
  // This tab has a token of its own.
  listeners.storage({ key: "gatehouse.token", newValue: null });
  assert.equal(changes, 1);
});

test("a page in the browser's back/forward cache hears of a sign-in and a sign-out when it returns", () => {
  keepToken("first");
  let changes = 0;
  whenTokenChanges(() => { changes += 1; });
  const back = (persisted) => {
    listeners.pageshow({ persisted });
    return changes;
  };
  assert.equal(back(true), 0);
  localStorage.setItem("gatehouse.token", "second");
  // A page that is loaded has the token of then.
  assert.equal(back(false), 0);
  assert.equal(back(true), 1);
  assert.equal(takeToken(), true);
  assert.equal(authorization(), "Bearer second");
  assert.equal(back(true), 1);
  localStorage.removeItem("gatehouse.token");
  assert.equal(back(true), 2);
  assert.equal(takeToken(), false);
  localStorage.setItem("gatehouse.token", "third");
  assert.equal(back(true), 3);
  sessionStorage.setItem("gatehouse.token", "own");
  takeToken();
  localStorage.removeItem("gatehouse.token");
  // This tab has a token of its own.
  assert.equal(back(true), 3);
});

test("a browser that stores nothing still opens the page", () => {
  const refuse = () => { throw new Error("denied"); };
  for (const name of ["localStorage", "sessionStorage"]) {
    Object.defineProperty(globalThis, name, { get: refuse, configurable: true });
  }
  keepToken("secret");
  assert.equal(authorization(), "Bearer secret");
  assert.equal(takeToken(), true);
  whenTokenChanges(() => assert.fail("it has the same token"));
  listeners.pageshow({ persisted: true });
});
