import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { replace, replaceDocument, restore } from "./elements.js";

class File {
  getAttribute() { return null; }
}

/** @type {Map<string, (event: object) => void>} */
let listeners = new Map();
let reloads = 0;
let copies = 0;
const settle = async () => { for (let turn = 0; turn < 5; turn += 1) await new Promise(setImmediate); };

beforeEach(async () => {
  replaceDocument();
  listeners = new Map();
  reloads = 0;
  replace("addEventListener", (name, listener) => listeners.set(name, listener));
  for (const kind of ["HTMLScriptElement", "HTMLLinkElement"]) replace(kind, File);
  replace("location", { reload: () => { reloads += 1; } });
  replace("fetch", async () => new Response("ok"));
  mock.timers.enable({ apis: ["setTimeout"] });
});
afterEach(() => {
  mock.timers.reset();
  restore();
});

/** Runs the script with a store. */
async function run(store) {
  Object.defineProperty(globalThis, "sessionStorage", { get: store, configurable: true });
  copies += 1;
  await import(`../../Sources/App/WebFiles/page/loading.js?${copies}`);
}

/** Runs the script with a store, while one of the page's files does not arrive. */
async function lose(store) {
  await run(store);
  listeners.get("error")({ target: new File() });
}

async function pass(milliseconds) {
  mock.timers.tick(milliseconds);
  await settle();
}

test("a page whose file did not arrive is loaded again, each time after a longer delay", async () => {
  const items = new Map([["gatehouse.loading", "2000"]]);
  replace("sessionStorage", {});
  await lose(() => ({ getItem: (key) => items.get(key) ?? null, setItem: (key, value) => items.set(key, value) }));
  await pass(1999);
  assert.equal(reloads, 0);
  await pass(1);
  assert.deepEqual([reloads, items.get("gatehouse.loading")], [1, "4000"]);
});

test("a browser that stores nothing loads the page again, too", async () => {
  replace("sessionStorage", {});
  await lose(() => { throw new DOMException("blocked", "SecurityError"); });
  await pass(500);
  assert.equal(reloads, 1);
});

test("a page that has arrived forgets the delay, if the browser stores anything", async () => {
  const items = new Map([["gatehouse.loading", "2000"]]);
  replace("sessionStorage", {});
  await run(() => ({ removeItem: (key) => items.delete(key) }));
  listeners.get("load")({});
  assert.equal(items.size, 0);
  await run(() => { throw new DOMException("blocked", "SecurityError"); });
  assert.doesNotThrow(() => listeners.get("load")({}));
});
