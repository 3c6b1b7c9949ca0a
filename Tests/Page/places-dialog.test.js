import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { closeDialogs } from "../../Sources/App/WebFiles/page/dialog.js";
import { openPlaces } from "../../Sources/App/WebFiles/page/places-dialog.js";
import { replace, replaceDocument, restore } from "./elements.js";

let body;
let home;
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
  const room = (id, name) => [id, { id, name, structureID: "s1" }];
  home = {
    structures: new Map([["s1", { id: "s1", name: "Home", timeZone: "Europe/Berlin" }]]),
    rooms: new Map([room("r1", "Hall"), room("r2", "Study")]),
    place: (known, id, one) => (one ? known.set(id, one) : known.delete(id)),
  };
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
    home.rooms.set("r1", { id: "r1", name: "Hall", structureID: "s1" });
    openPlaces(home, "s1", { may: () => true });
  }
});
