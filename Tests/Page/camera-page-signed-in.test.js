import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { replace, replaceDocument, restore, TestElement } from "./elements.js";

const storageKey = "gatehouse.token";

/** What this browser stores, which all tabs share. */
let stored = new Map();
/** @type {Map<string, ((event: object) => void)[]>} */
let listeners = new Map();
/** @type {Map<string, TestElement>} */
let named = new Map();
let reloads = 0;
let requests = [];
/** Answers a request of the page. */
let answer = async () => new Response("{}");
let copies = 0;

const settle = async () => { for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate); };
const said = async () => new Response(JSON.stringify({
  version: "1", principal: "anna", grants: [], devices: [{ id: "d1", key: "yard", name: "Yard" }],
}));
const gone = async () => { throw new TypeError("no network"); };

beforeEach(() => {
  ({ named } = replaceDocument());
  stored = new Map([[storageKey, "anna's"]]);
  listeners = new Map();
  [reloads, requests, answer] = [0, [], said];
  replace("HTMLVideoElement", TestElement);
  replace("addEventListener", (name, listener) => { listeners.set(name, [...listeners.get(name) ?? [], listener]); });
  replace("location", { pathname: "/camera/yard", hash: "", search: "", reload: () => { reloads += 1; } });
  replace("localStorage", { getItem: (key) => stored.get(key) ?? null });
  replace("sessionStorage", { getItem: () => null });
  replace("window", {});
  replace("navigator", { onLine: true, languages: ["en"] });
  replace("fetch", (path, options) => {
    requests.push(`${options.headers.authorization} ${path}`);
    return answer(path, options);
  });
  mock.timers.enable({ apis: ["setTimeout", "setInterval"] });
});
afterEach(() => {
  mock.timers.reset();
  restore();
});

/** Opens the page, of which each test has a copy. */
async function open() {
  copies += 1;
  await import(`../../Sources/App/WebFiles/page/camera-page.js?${copies}`);
  await settle();
}

/** Somebody signs in or out in another tab. */
async function signIn(token) {
  if (token === null) stored.delete(storageKey);
  else stored.set(storageKey, token);
  for (const listener of listeners.get("storage")) listener({ key: storageKey });
  await settle();
}

async function pass(milliseconds) {
  mock.timers.tick(milliseconds);
  await settle();
}

const shown = (id) => (named.get(id)?.hidden ? "" : named.get(id)?.textContent ?? "");
const signedOut = /has no token/;

test("a sign-out in another tab ends the camera's page, and loads nothing while the gateway is away", async () => {
  await open();
  assert.equal(shown("name"), "Yard");
  answer = gone;
  await signIn(null);
  assert.match(shown("trouble"), signedOut);
  assert.deepEqual([shown("state"), named.get("save").hidden, named.get("retry").hidden], ["", true, true]);
  requests = [];
  await pass(60_000);
  assert.deepEqual([reloads, requests], [0, []]);
  // Whoever has signed in has reached the gateway.
  await signIn("ben's");
  assert.equal(reloads, 1);
});

test("a sign-out while the gateway is away ends the attempts to reach it", async () => {
  answer = gone;
  await open();
  assert.notEqual(shown("trouble"), "");
  await signIn(null);
  answer = said;
  requests = [];
  await pass(10_000);
  assert.match(shown("trouble"), signedOut);
  assert.deepEqual([reloads, requests], [0, []]);
});

test("a page that is being loaded again for the next person reads nothing more", async () => {
  answer = gone;
  await open();
  await signIn(null);
  await signIn("ben's");
  answer = said;
  requests = [];
  await pass(10_000);
  assert.deepEqual([reloads, requests, shown("name")], [1, [], ""]);
});

test("a name that comes after the sign-out is not shown", async () => {
  let respond = () => {};
  const late = new Promise((resolve) => { respond = resolve; });
  const home = { version: "1", principal: "anna", grants: [{ scopes: ["read", "view"] }], devices: [] };
  answer = async (path) => {
    if (path !== "/v1/devices") return Response.json(home);
    await late;
    return Response.json({ devices: [{ id: "d1", key: "yard", name: "Yard" }] });
  };
  await open();
  assert.equal(shown("name"), "yard");
  await signIn(null);
  respond();
  await settle();
  assert.equal(shown("name"), "yard");
});

test("what the gateway answers after the sign-out is not shown", async () => {
  let respond = () => {};
  const late = new Promise((resolve) => { respond = resolve; });
  answer = async () => {
    await late;
    return said();
  };
  await open();
  await signIn(null);
  requests = [];
  respond();
  await settle();
  await pass(1000);
  assert.match(shown("trouble"), signedOut);
  assert.deepEqual([shown("name"), requests], ["", []]);
});

test("an error that comes after the sign-out is not shown either", async () => {
  let fail = () => {};
  answer = () => new Promise((_, reject) => { fail = () => reject(new TypeError("no network")); });
  await open();
  await signIn(null);
  fail();
  await settle();
  assert.match(shown("trouble"), signedOut);
});

/** Opens the page in a browser whose connections never come about. Returns the servers that each was made with. */
async function openConnecting() {
  const made = [];
  replace("window", { RTCPeerConnection: true });
  replace("MediaStream", class extends EventTarget {});
  replace("RTCPeerConnection", class extends EventTarget {
    constructor({ iceServers }) {
      super();
      made.push(iceServers);
    }
    addTransceiver() { return {}; }
    setLocalDescription() { return new Promise(() => {}); }
    close() {}
  });
  Object.assign(document.getElementById("video"), { volume: 1, getBoundingClientRect: () => ({ top: 0, bottom: 1 }) });
  await open();
  return made;
}
/** @param {object} more */
function say(more) {
  answer = async () => Response.json({ version: "1", principal: "anna", grants: [], devices: [{ id: "d1", key: "yard", name: "Yard" }], ...more });
}

test("the next connection of the page of one camera uses the servers that the gateway names by then", async () => {
  say({ iceServers: [{ urls: ["turn:192.0.2.1"] }] });
  const made = await openConnecting();
  // The gateway starts again with other settings.
  say({ iceServers: [{ urls: ["turn:192.0.2.2"] }] });
  await pass(5000);
  for (const [name, event] of [["pagehide", {}], ["pageshow", { persisted: true }]]) for (const listener of listeners.get(name)) listener(event);
  await settle();
  assert.deepEqual([made, reloads], [[[{ urls: ["turn:192.0.2.1"] }], [{ urls: ["turn:192.0.2.2"] }]], 0]);
});

test("a newer gateway brings a newer page of one camera once nobody listens any more", async () => {
  say({});
  await openConnecting();
  named.get("video").muted = false;
  say({ version: "2" });
  await pass(5000);
  assert.equal(reloads, 0);
  named.get("video").muted = true;
  await pass(5000);
  assert.equal(reloads, 1);
});
