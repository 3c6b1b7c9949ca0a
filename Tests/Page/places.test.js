import assert from "node:assert/strict";
import { test } from "node:test";

import { matches, places } from "../../Sources/App/WebFiles/page/places.js";
import { ownerWords } from "../../Sources/App/WebFiles/page/automation-words.js";
import { Rights } from "../../Sources/App/WebFiles/page/rights.js";

const device = (name, structureID, roomID) => ({ id: name, name, structureID, roomID });
const read = (list) => list.map(({ kind, name, devices }) => [kind, name, devices.map(({ name: one }) => one)]);

test("devices stand in their rooms, rooms in their structure, all by name", () => {
  const structures = [{ id: "s1", name: "Home" }, { id: "s2", name: "Cabin" }];
  const rooms = [{ id: "r1", name: "Kitchen", structureID: "s1" }, { id: "r2", name: "attic", structureID: "s1" }];
  const devices = [device("Lamp 10", "s1", "r1"), device("Lamp 2", "s1", "r1"), device("Bell", "s1", null),
    device("Stove", "s2")];
  assert.deepEqual(read(places(structures, rooms, devices)), [
    ["structure", "Home", ["Bell"]], ["room", "attic", []], ["room", "Kitchen", ["Lamp 2", "Lamp 10"]],
    ["structure", "Cabin", ["Stove"]],
  ]);
});

test("a device whose structure or room is not shown is not lost", () => {
  const devices = [device("Lamp", "s9", "r9"), device("Fan", "s1", "r9")];
  assert.deepEqual(read(places([{ id: "s1", name: "Home" }], [], devices)),
    [["structure", "Home", ["Fan"]], ["elsewhere", "Devices", ["Lamp"]]]);
  assert.deepEqual(places([], [], []), []);
});

test("devices are found by words of their name, room and kind", () => {
  assert.ok(matches("kit lamp", "Lamp 2", "Kitchen", "Light"));
  assert.ok(matches("LIGHT", "Lamp 2", "Kitchen", "Light"));
  assert.ok(!matches("lamp 3", "Lamp 2", "Kitchen"));
});

test("rights hold where they were granted", () => {
  const rights = new Rights();
  assert.ok(!rights.may("read", { id: "d1", structureID: "s1" }));
  rights.learn({ principal: "t1", grants: [{ scopes: ["read"], structureID: "s1" }, { scopes: ["read", "control"], deviceID: "d2" }] });
  assert.ok(rights.may("read", { id: "d1", structureID: "s1" }));
  assert.ok(!rights.may("control", { id: "d1", structureID: "s1" }));
  assert.ok(rights.may("control", { id: "d2", structureID: "s2" }));
  assert.ok(!rights.may("read", { id: "d3", structureID: "s2" }));
  assert.ok(!rights.may("admin", {}));
  rights.learn({ principal: "t1", grants: [{ scopes: ["admin"] }] });
  assert.ok(rights.may("admin", {}) && rights.may("admin", { structureID: "s2" }));
});

test("what somebody else has made belongs to others", () => {
  const rights = new Rights();
  rights.learn({ principal: "t1", grants: [{ scopes: ["admin"] }] });
  assert.ok(rights.isOfOthers({ owner: "t2" }) && !rights.isOfOthers({ owner: "t1" }));
  assert.equal(ownerWords({ owner: "t2" }), "Belongs to t2.");
});

test("a panel that needs a scope is for those who have it", () => {
  const rights = new Rights();
  const kind = rights.needing("control", { name: "switch", fits: ({ type }) => type === "lamp", make: () => ({}) });
  rights.learn({ principal: "t1", grants: [{ scopes: ["control"], deviceID: "d1" }] });
  assert.deepEqual([["d1", "lamp"], ["d1", "fan"], ["d2", "lamp"]].map(([id, type]) => kind.fits({ id, type })),
    [true, false, false]);
});
