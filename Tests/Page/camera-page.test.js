import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { replace, replaceDocument, restore, TestElement } from "./elements.js";

/** @type {Record<string, () => void>} */
let listeners = {};
/** How often the browser was asked to keep the screen on. */
let asked = 0;
const settle = async () => { for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate); };

beforeEach(() => {
  replaceDocument();
  listeners = {};
  asked = 0;
  replace("HTMLVideoElement", TestElement);
  replace("addEventListener", (name, listener) => { listeners[name] = listener; });
  replace("location", { pathname: "/camera/yard", hash: "#token=t", reload: () => {} });
  replace("window", {});
  replace("navigator", { onLine: true, languages: ["en"], wakeLock: { request: async () => {
    asked += 1;
    throw new Error("NotAllowedError");
  } } });
  replace("fetch", async () => new Response(JSON.stringify({ version: "1", principal: "guest", grants: [], devices: [] })));
  mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
});
afterEach(() => {
  mock.timers.reset();
  restore();
});

test("a screen that the browser has refused to keep on is asked for again with a touch, and from time to time", async () => {
  await import("../../Sources/App/WebFiles/page/camera-page.js");
  await settle();
  assert.equal(asked, 1);
  listeners.pointerup();
  await settle();
  assert.equal(asked, 2);
  mock.timers.tick(5000);
  await settle();
  assert.equal(asked, 3);
});
