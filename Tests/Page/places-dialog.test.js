import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { closeDialogs } from "../../Sources/App/WebFiles/page/dialog.js";
import { Home } from "../../Sources/App/WebFiles/page/home.js";
import { Expectations } from "../../Sources/App/WebFiles/page/optimism.js";
import { openPlaces } from "../../Sources/App/WebFiles/page/places-dialog.js";
import { replace, replaceDocument, restore } from "./elements.js";

let body;
let home;
const room = (id, name) => ({ id, name, structureID: "s1" });
let requests = [];
let isRefused = false;
const settle = async () => { for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate); };

beforeEach(() => {
  ({ body } = replaceDocument());
  [requests, isRefused] = [[], false];
  replace("fetch", async (path, { method, body: text }) => {
    requests.push([method, path, JSON.parse(text)]);
    if (isRefused) return Response.json({ error: { status: "INVALID_ARGUMENT", message: "no" } }, { status: 400 });
    return Response.json({ id: "r9" });
  });
  home = new Home({ kinds: [], expectations: new Expectations(), rights: { may: () => true }, more: () => {} }, { show: () => {}, hide: () => {} }, () => []);
  home.structures.set("s1", { id: "s1", name: "Home", timeZone: "Europe/Berlin" });
  for (const [id, name] of [["r1", "Hall"], ["r2", "Study"]]) home.rooms.set(id, room(id, name));
  openPlaces(home, "s1", { may: () => true });
});
afterEach(restore);

const field = (label) => body.querySelectorAll("input").find((one) => one.getAttribute("aria-label") === label
  || one.parentNode.textContent.startsWith(label));
async function submit(one) {
  let form = one;
  while (form.name !== "form") form = form.parentNode;
  form.listeners.get("submit")({ preventDefault() {} });
  await settle();
}
async function enter(label, text) {
  const one = field(label);
  one.value = text;
  await submit(one);
}

test("what somebody enters elsewhere in the dialog of rooms stays when something else is saved", async () => {
  const address = field("Address");
  address.value = "1 Main Street";
  const study = field("Name of Study");
  study.value = "Libr";
  await enter("New room", "Kitchen");
  await enter("Name of Hall", "Entrance");
  await enter("Name of this home", "Lake house");
  for (const [one, text] of [[address, "1 Main Street"], [study, "Libr"]]) {
    assert.deepEqual([one.value, one.isConnected], [text, true]);
  }
  assert.deepEqual([...home.rooms.values()].map(({ name }) => name), ["Entrance", "Study", "Kitchen"]);
  assert.match(body.textContent, /^Lake house/);
  assert.ok(field("Name of Kitchen") && field("Name of Entrance") && !field("Name of Hall"));
});

test("a field for something new is empty when that is made, and keeps what is refused", async () => {
  isRefused = true;
  await enter("New room", "Kitchen");
  assert.equal(field("New room").value, "Kitchen");
  isRefused = false;
  await submit(field("New room"));
  assert.equal(field("New room").value, "");
});

test("a new name of a home does not take back where it is", async () => {
  const address = field("Address");
  address.value = "1 Main Street";
  await submit(address);
  await enter("Name of this home", "Lake house");
  const { name, address: kept } = home.structures.get("s1");
  assert.deepEqual([name, kept], ["Lake house", "1 Main Street"]);
});

test("what is made, named or removed after a sign-out is not in the home of the next person", async () => {
  for (const begin of [() => enter("New room", "Kitchen"), () => enter("Name of Hall", "Entrance"), () => enter("Name of the new home", "Lake house")]) {
    const done = begin();
    closeDialogs();
    home.structures.clear();
    home.rooms.clear();
    await done;
    assert.deepEqual([home.structures.size, home.rooms.size], [0, 0]);
    home.structures.set("s1", { id: "s1", name: "Home", timeZone: "Europe/Berlin" });
    home.rooms.set("r1", room("r1", "Hall"));
    openPlaces(home, "s1", { may: () => true });
  }
});

const dialog = () => body.querySelectorAll(".places-dialog")[0];
const names = () => dialog().querySelectorAll("input").map((one) => one.getAttribute("aria-label")).filter((one) => one?.startsWith("Name of "));

test("the open dialog shows rooms that others add, rename and remove", () => {
  home.place(home.rooms, "r3", room("r3", "Attic"));
  home.place(home.rooms, "r1", room("r1", "Wintergarden"));
  home.place(home.rooms, "r2", null);
  assert.deepEqual(names(), ["Name of this home", "Name of Attic", "Name of Wintergarden", "Name of the new home"]);
  assert.equal(field("Name of Wintergarden").value, "Wintergarden");
});

test("a room that others rename keeps what somebody is entering for it, and the focus", async () => {
  const study = field("Name of Study");
  study.value = "Libr";
  study.focus();
  home.place(home.rooms, "r2", room("r2", "Attic"));
  assert.deepEqual([names()[1], study.value, document.activeElement === study], ["Name of Attic", "Libr", true]);
  study.value = "Library";
  await submit(study);
  assert.deepEqual([requests, home.rooms.get("r2")], [[["PATCH", "/v1/rooms/r2", { name: "Library" }]], room("r2", "Library")]);
});

test("the open dialog shows how others change a home, except where somebody has entered something else", () => {
  field("Address").value = "1 Main Street";
  home.place(home.structures, "s1", { id: "s1", name: "Lake house", timeZone: "Europe/Oslo", address: "Elsewhere", latitude: 59.9 });
  assert.deepEqual(["Name of this home", "Time zone", "Degrees north", "Address"].map((label) => field(label).value),
    ["Lake house", "Europe/Oslo", "59.9", "1 Main Street"]);
  assert.match(dialog().textContent, /^Lake house/);
  assert.equal(dialog().querySelectorAll("button").at(-1).title, "Remove Lake house");
});

test("the open dialog also shows changes from the time without a connection", async () => {
  await home.load(async () => ({ structures: [{ id: "s1", name: "Home", timeZone: "Europe/Berlin" }], rooms: [room("r2", "Study"), room("r4", "Sauna")], devices: [] }));
  assert.deepEqual(names().slice(1, -1), ["Name of Sauna", "Name of Study"]);
});

test("the dialog of a home that others remove closes", () => {
  home.place(home.structures, "s1", null);
  assert.deepEqual([dialog(), home.followers.size], [undefined, 0]);
});
