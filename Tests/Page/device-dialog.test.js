import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { openDevice } from "../../Sources/App/WebFiles/page/device-dialog.js";
import { leaveDialogs } from "../../Sources/App/WebFiles/page/dialog.js";
import { Home } from "../../Sources/App/WebFiles/page/home.js";
import { Expectations } from "../../Sources/App/WebFiles/page/optimism.js";
import { replace, replaceDocument, restore, TestElement } from "./elements.js";

let body;
let home;
let requests = [];
const room = (id, name, structureID = "s1") => ({ id, name, structureID });
const lamp = { id: "d1", name: "Lamp", structureID: "s1", roomID: "r1", type: "OnOffLightDevice", endpoints: [] };
const settle = async () => { for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate); };

beforeEach(() => {
  ({ body } = replaceDocument());
  requests = [];
  replace("Option", class extends TestElement {
    constructor(text, value) {
      super("option");
      Object.assign(this, { own: text, value });
    }
  });
  replace("fetch", async (path, { method, body: text }) => {
    requests.push([method, path, JSON.parse(text)]);
    return Response.json({});
  });
  const rights = { may: () => true };
  home = new Home({ kinds: [], expectations: new Expectations(), rights, more: () => {} }, { show: () => {}, hide: () => {} }, () => []);
  home.structures.set("s1", { id: "s1", name: "Home" });
  for (const [id, name] of [["r1", "Hall"], ["r2", "Study"]]) home.rooms.set(id, room(id, name));
  home.show(lamp);
});
afterEach(async () => {
  // Tiles are put in order a moment after a change.
  await settle();
  restore();
});

function open(rights = { may: () => true }) { openDevice(home, home.tiles.get("d1"), rights, {}, () => {}); }
const dialog = () => body.querySelectorAll(".device-dialog")[0];
const name = () => dialog().querySelector("input");
const list = () => dialog().querySelector("select");
const lines = () => list().querySelectorAll("option").map(({ textContent }) => textContent);
async function save() {
  dialog().querySelector("form").listeners.get("submit")({ preventDefault() {} });
  await settle();
}

test("the open dialog of a device lists the rooms and homes that others add, rename and remove", () => {
  open();
  home.place(home.rooms, "r3", room("r3", "Attic"));
  home.place(home.rooms, "r2", room("r2", "Library"));
  assert.deepEqual([lines(), list().value], [["No room", "Attic", "Hall", "Library"], "s1 r1"]);
  home.place(home.rooms, "r3", null);
  home.place(home.structures, "s2", { id: "s2", name: "Lake house" });
  assert.deepEqual(lines(), ["No room", "Hall", "Library", "No room"]);
  assert.deepEqual(list().childNodes.map(({ label }) => label), ["Home", "Lake house"]);
});

test("a list of rooms in which nothing has changed keeps its lines, because a phone may have it open", () => {
  open();
  const [line] = list().querySelectorAll("option");
  home.show({ ...lamp, name: "Big lamp" });
  assert.equal(list().querySelectorAll("option")[0], line);
});

test("the open dialog of a device shows its new name and room, and saving then changes nothing", async () => {
  open();
  home.show({ ...lamp, name: "Big lamp", roomID: "r2" });
  assert.deepEqual([dialog().querySelector("h2").textContent, dialog().getAttribute("aria-label"), name().value, list().value],
    ["Big lamp", "Big lamp", "Big lamp", "s1 r2"]);
  assert.equal(leaveDialogs(), true);
  open();
  await save();
  assert.deepEqual(requests, []);
});

test("what somebody has entered for a device stays when others change it, and is what is saved", async () => {
  open();
  name().value = "Reading lamp";
  list().value = "s1 r2";
  home.show({ ...lamp, name: "Big lamp" });
  home.place(home.rooms, "r3", room("r3", "Attic"));
  assert.deepEqual([name().value, list().value, leaveDialogs()], ["Reading lamp", "s1 r2", false]);
  await save();
  assert.deepEqual(requests, [["PATCH", "/v1/devices/d1", { name: "Reading lamp", roomID: "r2" }]]);
});

test("a device whose chosen room others remove stays where it is", async () => {
  open();
  name().value = "Reading lamp";
  list().value = "s1 r2";
  home.place(home.rooms, "r2", null);
  assert.equal(list().value, "s1 r1");
  await save();
  assert.deepEqual(requests, [["PATCH", "/v1/devices/d1", { name: "Reading lamp" }]]);
});

test("a device in a room that the token does not show keeps it when its name is saved", async () => {
  for (const hide of [() => home.rooms.clear(), () => home.structures.clear()]) {
    requests = [];
    hide();
    open();
    name().value = "Reading lamp";
    await save();
    assert.deepEqual(requests, [["PATCH", "/v1/devices/d1", { name: "Reading lamp" }]]);
  }
});

test("the open dialog of a device also shows changes from the time without a connection", async () => {
  open();
  await home.load(async () => ({ structures: [{ id: "s1", name: "Home" }], rooms: [room("r4", "Sauna")], devices: [{ ...lamp, roomID: "r4" }] }));
  assert.deepEqual([lines(), list().value], [["No room", "Sauna"], "s1 r4"]);
});

test("the dialog of a device that others remove closes, and follows nothing any more", () => {
  open();
  home.remove("d1");
  assert.deepEqual([dialog(), home.followers.size], [undefined, 0]);
});
