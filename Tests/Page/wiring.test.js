import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { Connection } from "../../Sources/App/WebFiles/page/connection.js";
import { openHistory } from "../../Sources/App/WebFiles/page/history-view.js";
import { authorization, keepToken } from "../../Sources/App/WebFiles/page/token.js";
import { Wiring } from "../../Sources/App/WebFiles/page/wiring.js";
import { replace, replaceDocument, restore } from "./elements.js";

class Store {
  items = new Map();
  getItem(key) { return this.items.get(key) ?? null; }
  setItem(key, value) { this.items.set(key, value); }
  removeItem(key) { this.items.delete(key); }
}

/** What the page did, in order. */
let log = [];
/** The requests to the gateway, each with its token. */
let requests = [];
/** What the gateway answers to a request; undefined: everything is well. */
let answer;
let named;
let dialogs = [];
let view;
let wiring;

beforeEach(() => {
  ({ named } = replaceDocument());
  log = [];
  requests = [];
  answer = () => undefined;
  view = null;
  dialogs = [{ open: true, close: () => log.push("dialog closes") }];
  document.querySelectorAll = (name) => (name === "dialog" ? dialogs : []);
  for (const name of ["localStorage", "sessionStorage"]) replace(name, new Store());
  replace("location", { hash: "", pathname: "/", search: "" });
  replace("fetch", async (path, { method, headers, signal }) => {
    const told = await answer(path);
    if (told) return told;
    // The stream is silent until it is given up.
    if (path === "/v1/events") await new Promise((_, reject) => { signal.addEventListener("abort", reject); });
    requests.push(`${method} ${path} ${headers.authorization.replace("Bearer ", "")}`);
    return new Response(JSON.stringify({ name: "Gatehouse", version: "1" }));
  });
  const part = (name, ...verbs) => Object.fromEntries(verbs.map((verb) => [verb, () => log.push(`${name} ${verb}`)]));
  wiring = new Wiring({
    home: part("home", "check", "forget", "resume", "suspend", "tick"),
    views: { ...part("views", "check", "close", "open", "replaced", "tick"), get view() { return view; } },
    reader: { ...part("reader", "again", "forget"), load: async () => { log.push(`reader load ${authorization().replace("Bearer ", "")}`); } },
    configuration: part("configuration", "forget"), visitors: part("visitors", "forget"), access: part("access", "hide"),
    rights: { principal: "owner" }, events: { dispatch: (name) => log.push(name) }, hideButtons: () => log.push("buttons hide"),
  }, (handlers) => new Connection({}, { isUp: false }, { show: () => {}, hide: () => {} }, handlers));
});
afterEach(() => {
  wiring.connection.stop();
  mock.timers.reset();
  restore();
});

const settled = async () => { for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate); };
const everythingForgotten = ["views close", "dialog closes", "reader forget", "home forget", "configuration forget", "visitors forget",
  "buttons hide", "access hide"];

async function signIn(token) {
  keepToken(token);
  wiring.begin();
  await settled();
  log = [];
  requests = [];
}

test("a page without a token asks for one, and one with a token shows the home", async () => {
  wiring.begin();
  assert.equal(named.get("sign-in").hidden, false);
  log = [];
  keepToken("ana");
  wiring.begin();
  await settled();
  assert.deepEqual(log, ["reader load ana", "views open", "home resume"]);
  assert.equal(named.get("sign-in").hidden, true);
});

test("the form does not keep what was entered before", async () => {
  wiring.begin();
  named.get("sign-in-name").value = "ana";
  named.get("token").value = "secret";
  await signIn("ana");
  await wiring.signOut();
  assert.deepEqual(["sign-in-name", "token"].map((id) => named.get(id).value), ["", ""]);
  assert.equal(named.get("sign-in").hidden, false);
});

test("what was watched in the list goes on only if the list is shown", async () => {
  view = {};
  await signIn("ana");
  wiring.opened();
  assert.deepEqual(log, ["views open"]);
});

test("an open history shows what happened while the page had no connection", async () => {
  await signIn("ana");
  let items = [];
  answer = (path) => {
    if (!path.startsWith("/v1/history")) return undefined;
    return Response.json(path.startsWith("/v1/history/filters") ? { kinds: [] } : { items });
  };
  const history = openHistory({ tiles: new Map() }, "");
  await settled();
  assert.equal(history.rows.size, 0);
  items = [{ id: "e-1", kind: "Person", deviceID: "yard", timestamp: "2026-06-01T09:00:00Z" }];
  wiring.found();
  await settled();
  assert.deepEqual([...history.rows.keys()], ["e-1"]);
  history.node.close();
});

test("a sign-out forgets everything at once, whether or not the gateway answers, and then ends the token there", async () => {
  await signIn("ana");
  let release = () => {};
  replace("navigator", { onLine: true, serviceWorker: { getRegistration: () => new Promise((resolve) => { release = resolve; }) } });
  localStorage.setItem("gatehouse.push", JSON.stringify({ id: "p1" }));
  mock.timers.enable({ apis: ["setTimeout"] });
  wiring.signOut();
  assert.deepEqual(log, everythingForgotten);
  assert.deepEqual([authorization(), localStorage.items.size, named.get("sign-in").hidden, named.get("home").hidden], ["Bearer ", 0, false, true]);
  await settled();
  assert.deepEqual(requests, ["DELETE /v1/push-subscriptions/p1 ana"]);
  // The browser does not say whether its notifications have ended.
  mock.timers.tick(5000);
  await settled();
  assert.deepEqual(requests, ["DELETE /v1/push-subscriptions/p1 ana", "POST /v1/sign-out ana"]);
  release();
});

test("a page that is left during a sign-out ends the token at the gateway before it goes", async () => {
  await signIn("ana");
  replace("navigator", { onLine: true, serviceWorker: { getRegistration: () => new Promise(() => {}) } });
  mock.timers.enable({ apis: ["setTimeout"] });
  wiring.signOut();
  wiring.left();
  await settled();
  assert.deepEqual(requests, ["POST /v1/sign-out ana"]);
  mock.timers.tick(5000);
  await settled();
  assert.deepEqual(requests, ["POST /v1/sign-out ana"]);
});

test("a sign-out forgets the token, whatever a part of the page does", async () => {
  await signIn("ana");
  wiring.parts.views.close = () => { throw new Error("a defect"); };
  await assert.rejects(wiring.signOut());
  assert.equal(authorization(), "Bearer ");
});

test("a sign-out ends the token at the gateway as soon as the notifications have ended", async () => {
  await signIn("ana");
  await wiring.signOut();
  assert.deepEqual(requests, ["POST /v1/sign-out ana"]);
});

test("views are given back with the token of who has watched", async () => {
  await signIn("ana");
  const tokens = [];
  wiring.parts.views.close = () => tokens.push(authorization());
  await wiring.signOut();
  assert.deepEqual(tokens, ["Bearer ana"]);
});

test("another tab's sign-in forgets everything before anything is read for the next person", async () => {
  await signIn("ana");
  localStorage.setItem("gatehouse.token", "ben");
  wiring.tokenChanged();
  assert.deepEqual(log, everythingForgotten);
  assert.equal(named.get("home").hidden, true);
  await settled();
  assert.deepEqual(log.slice(everythingForgotten.length), ["reader load ben", "views open", "home resume"]);
});

test("another tab's sign-out forgets everything", async () => {
  await signIn("ana");
  localStorage.removeItem("gatehouse.token");
  wiring.tokenChanged();
  await settled();
  assert.deepEqual([log, requests, named.get("sign-in").hidden], [everythingForgotten, [], false]);
});

test("a token that is refused ends the page, and says why, once", async () => {
  await signIn("ana");
  wiring.refused();
  assert.deepEqual(log, everythingForgotten);
  assert.match(named.get("sign-in-error").textContent, /token/);
  wiring.refused();
  assert.equal(log.length, everythingForgotten.length);
});

test("a page that is left ends what is going on, and goes on when it returns", async () => {
  await signIn("ana");
  wiring.left();
  assert.deepEqual(log, ["views close", "home suspend"]);
  wiring.returned();
  await settled();
  assert.deepEqual(log.slice(2), ["reader load ana", "views open", "home resume"]);
  wiring.connection.signOut();
  log = [];
  wiring.returned();
  await settled();
  assert.deepEqual(log, []);
});

test("what could not be read is read again while somebody is signed in and looks", async () => {
  wiring.lookAgain();
  await signIn("ana");
  wiring.lookAgain();
  document.visibilityState = "hidden";
  wiring.lookAgain();
  assert.deepEqual(log, ["reader again"]);
});

test("a gateway that is reached again is read, and everything that runs is checked", async () => {
  await signIn("ana");
  answer = (path) => (path === "/v1/events" ? new Response(new ReadableStream({ start(controller) {
    controller.enqueue(new TextEncoder().encode('id: 1\nevent: device\ndata: {"id":"yard"}\n\n'));
  } })) : undefined);
  wiring.connection.open();
  await settled();
  assert.deepEqual(log.slice(3), ["home check", "views check", "reader load ana", "home tick", "views tick", "device"]);
});
