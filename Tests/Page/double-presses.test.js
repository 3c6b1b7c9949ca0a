import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { AccessCard } from "../../Sources/App/WebFiles/page/access.js";
import { openDevice } from "../../Sources/App/WebFiles/page/device-dialog.js";
import { FileCameras } from "../../Sources/App/WebFiles/page/file-cameras.js";
import { oneAtATime } from "../../Sources/App/WebFiles/page/one-at-a-time.js";
import { openShare } from "../../Sources/App/WebFiles/page/share-dialog.js";
import { replace, replaceDocument, restore } from "./elements.js";

// While the gateway is slow, somebody presses again.

let body;
let requests = [];
let answer = () => {};
const settle = async () => { for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate); };
const submit = (form) => form.listeners.get("submit")({ preventDefault() {} });

beforeEach(() => {
  ({ body } = replaceDocument());
  replace("HTMLDetailsElement", HTMLElement);
  requests = [];
  const answered = new Promise((resolve) => { answer = resolve; });
  replace("fetch", async (path, { method }) => {
    if (method !== "GET") {
      requests.push(`${method} ${path}`);
      await answered;
    }
    return Response.json({ tokens: [], structures: [], devices: [], name: "Phone", token: "gatehouse_secret", isEligible: true,
      recordings: { count: 0, byteCount: 0 }, automations: [] });
  });
});
afterEach(restore);

test("a double press makes one token, and another press another one", async () => {
  const card = new AccessCard();
  await card.load();
  card.edit(null);
  submit(card.form);
  submit(card.form);
  assert.deepEqual(requests, ["POST /v1/tokens"]);
  answer();
  await settle();
  submit(card.form);
  assert.equal(requests.length, 2);
});

test("a request of somebody who has signed out does not hold up the next person", async () => {
  const card = new AccessCard();
  card.edit(null);
  submit(card.form);
  card.hide();
  submit(card.form);
  assert.deepEqual(requests, ["POST /v1/tokens", "POST /v1/tokens"]);
});

test("a form that somebody opens meanwhile for another token stays as it is", async () => {
  const card = new AccessCard();
  card.edit(null);
  submit(card.form);
  card.edit({ id: "t1", name: "Grandma", grants: [{ scopes: ["view"] }], createdBy: "owner" });
  card.days.value = "7";
  answer();
  await settle();
  assert.deepEqual([card.name.value, card.days.value, card.made.hidden], ["Grandma", "7", false]);
});

test("a double press brings a camera of the config file back once", async () => {
  const files = new FileCameras({ cameras: [], removed: [{ id: "attic", name: "Attic" }] });
  const [button] = files.removed.querySelectorAll("button");
  button.listeners.get("click")();
  button.listeners.get("click")();
  assert.equal(requests.length, 1);
});

test("a double press makes one link, whose secret is shown", async () => {
  openShare({ id: "yard", name: "Yard" }, {});
  await settle();
  const [form] = body.querySelectorAll("form");
  submit(form);
  submit(form);
  await settle();
  assert.deepEqual(requests, ["POST /v1/tokens"]);
});

test("a double press removes a device once", async () => {
  const tile = { reported: { id: "d1", name: "Lamp", type: "L", endpoints: [] }, dismiss: (run) => run() };
  openDevice({ structures: new Map(), rooms: new Map(), followPlaces: () => () => {} }, tile, { may: () => true }, {}, () => {});
  const press = (words) => body.querySelectorAll("button").find((one) => one.textContent.startsWith(words)).listeners.get("click")();
  press("Remove");
  await settle();
  press("Remove Lamp");
  press("Remove Lamp");
  assert.deepEqual(requests, ["DELETE /v1/devices/d1?recordings=keep"]);
});

test("a request that fails lets the next one run", async () => {
  let runs = 0;
  const run = oneAtATime(async () => {
    runs += 1;
    throw new Error("no");
  });
  await assert.rejects(run());
  await assert.rejects(run());
  assert.equal(runs, 2);
});
