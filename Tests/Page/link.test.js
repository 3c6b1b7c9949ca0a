import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { replace, replaceDocument, restore } from "./elements.js";

const storageKey = "gatehouse.token";

let stored = new Map();
/** @type {Map<string, ((event: object) => void)[]>} */
let listeners = new Map();
let named = new Map();
let reloads = 0;
/** The addresses that the page sends the browser to. */
let assigned = [];
let answer = async () => new Response("{}");
let copies = 0;

const settle = async () => { for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate); };
const said = async () => new Response(JSON.stringify({
  name: "The App", principal: "anna", grants: [], devices: [], structures: [{ id: "s", name: "Home", rooms: [] }],
}));

beforeEach(() => {
  ({ named } = replaceDocument());
  stored = new Map([[storageKey, "anna's"]]);
  listeners = new Map();
  [reloads, assigned, answer] = [0, [], said];
  replace("addEventListener", (name, listener) => { listeners.set(name, [...listeners.get(name) ?? [], listener]); });
  // A gateway that is away keeps the page while the browser tries to load it again.
  replace("location", {
    pathname: "/oauth/authorize", hash: "", search: "?client_id=app", reload: () => { reloads += 1; },
    assign: (address) => { assigned.push(address); },
  });
  replace("localStorage", { getItem: (key) => stored.get(key) ?? null, removeItem: (key) => stored.delete(key) });
  replace("sessionStorage", { getItem: () => null, removeItem: () => {} });
  replace("navigator", { onLine: true, languages: ["en"] });
  replace("fetch", (path, options) => answer(path, options));
});
afterEach(restore);

/** Opens the page, of which each test has a copy. */
async function open() {
  copies += 1;
  // As the document says it.
  for (const id of ["consent", "sign-in", "link-error"]) document.getElementById(id).hidden = true;
  await import(`../../Sources/App/WebFiles/page/link.js?${copies}`);
  await settle();
}

/** Somebody signs out in another tab. */
function signOut() {
  stored.delete(storageKey);
  for (const listener of listeners.get("storage")) listener({ key: storageKey });
}

test("nobody answers for a person who has signed out, even while the gateway is away", async () => {
  await open();
  assert.equal(named.get("consent").hidden, false);
  signOut();
  assert.deepEqual([named.get("consent").hidden, reloads], [true, 1]);
});

test("what the gateway answers after the sign-out does not ask the question again", async () => {
  let respond = () => {};
  const late = new Promise((resolve) => { respond = resolve; });
  answer = async () => {
    await late;
    return said();
  };
  await open();
  signOut();
  respond();
  await settle();
  assert.deepEqual([named.get("consent").hidden, reloads], [true, 1]);
});

test("an error that comes after the sign-out says nothing of the person before", async () => {
  let refuse = () => {};
  const error = { status: "UNAUTHENTICATED", message: "no" };
  answer = () => new Promise((resolve) => {
    refuse = () => resolve(Response.json({ error }, { status: 401 }));
  });
  await open();
  signOut();
  stored.set(storageKey, "ben's");
  refuse();
  await settle();
  assert.deepEqual(["sign-in", "link-error"].map((id) => named.get(id).hidden), [true, true]);
  assert.equal(stored.get(storageKey), "ben's");
});

/** Opens the page. Answers the decisions that the gateway gets. */
async function openForDecisions() {
  await open();
  const decisions = [];
  answer = async (path, { body }) => {
    decisions.push({ path, ...JSON.parse(body) });
    return Response.json({ location: "https://app.example/done" });
  };
  return decisions;
}

const press = {
  allow: () => named.get("consent").listeners.get("submit")({ preventDefault() {} }),
  deny: () => named.get("consent-deny").listeners.get("click")({}),
};

test("a second press sends no second decision, not even the other one", async () => {
  const decisions = await openForDecisions();
  press.allow();
  press.allow();
  press.deny();
  await settle();
  press.allow();
  await settle();
  assert.equal(decisions.length, 1);
  assert.ok(decisions[0].grants.length > 0);
  assert.deepEqual(assigned, ["https://app.example/done"]);
});

test("somebody may decide again after an error, and when they come back to the question", async () => {
  const decisions = await openForDecisions();
  const works = answer;
  answer = async () => { throw new TypeError("no network"); };
  press.allow();
  await settle();
  assert.equal(named.get("link-error").hidden, false);
  answer = works;
  press.allow();
  await settle();
  for (const listener of listeners.get("pageshow")) listener({ persisted: true });
  press.deny();
  await settle();
  assert.deepEqual(decisions.map(({ grants }) => grants?.length), [decisions[0].grants.length, undefined]);
});
