import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { HomeReader } from "../../Sources/App/WebFiles/page/home-reader.js";
import { Rights } from "../../Sources/App/WebFiles/page/rights.js";

const before = globalThis.fetch;
/** What the gateway answers, by the path; a function may answer later. */
let answers = {};
/** What was shown, in order. */
let log = [];
let parts;
let reader;
const own = (principal) => ({ principal, grants: [{ scopes: ["read"] }], devices: [] });
const yard = { id: "yard", name: "Yard", source: {}, endpoints: [] };

beforeEach(() => {
  answers = {
    "/v1/devices": { devices: [yard] }, "/v1/access": own("owner"), "/v1/structures": { structures: [] }, "/v1/rooms": { rooms: [] },
    "/v1/devices/yard/events?limit=10": { events: [{ event: "Person", deviceID: "yard" }] },
  };
  log = [];
  globalThis.fetch = async (path) => {
    const answer = answers[path];
    const told = typeof answer === "function" ? await answer() : answer;
    return told instanceof Response ? told : new Response(JSON.stringify(told));
  };
  const tiles = new Map();
  parts = {
    rights: new Rights(),
    home: {
      tiles, resumed: new Map(), refresh: () => {},
      load: async (read) => {
        const { devices } = await read();
        log.push(`devices ${devices.map(({ id }) => id)}, resuming ${[...parts.home.resumed.keys()]}`);
        for (const device of devices) tiles.set(device.id, { reported: device });
      },
      event: (name) => log.push(name),
    },
    configuration: { look: async () => { log.push("settings"); }, lookSoon: () => log.push("settings soon"), isBehind: false },
    access: { look: async () => { log.push("tokens"); }, isBehind: false },
    visitors: { show: () => log.push("visitor") },
    shown: () => log.push("shown"),
  };
  reader = new HomeReader(parts);
});
afterEach(() => { globalThis.fetch = before; });

const settled = async () => { for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate); };

/** An answer that comes when it is let go. */
function held(answer) {
  const one = {};
  const released = new Promise((resolve) => { one.release = () => resolve(answer); });
  one.answer = () => released;
  return one;
}

test("the home is read and shown, and then what is around it", async () => {
  await reader.load();
  await settled();
  assert.deepEqual(log, ["devices yard, resuming ", "shown", "settings", "tokens", "Person"]);
});

test("what one person has watched does not start for the next, and goes on for the same", async () => {
  await reader.load();
  parts.home.resumed.set("yard", new Map());
  reader.forget();
  await reader.load();
  parts.home.resumed.set("yard", new Map());
  reader.forget();
  answers["/v1/access"] = own("guest");
  await reader.load();
  assert.deepEqual(log.filter((one) => one.startsWith("devices")).map((one) => one.split("resuming ")[1]), ["", "yard", ""]);
});

test("a home that comes after a sign-out is not shown, and gives nobody rights", async () => {
  const late = held(own("owner"));
  answers["/v1/access"] = late.answer;
  const load = reader.load();
  reader.forget();
  late.release();
  await assert.rejects(load, ({ status }) => status === "ABORTED");
  await settled();
  assert.deepEqual([log, parts.rights.principal, parts.rights.grants], [[], "", []]);
});

test("a history that comes after a sign-out is not shown to the next person", async () => {
  const late = held(answers["/v1/devices/yard/events?limit=10"]);
  answers["/v1/devices/yard/events?limit=10"] = late.answer;
  await reader.load();
  await settled();
  reader.forget();
  late.release();
  await settled();
  assert.ok(!log.includes("Person"));
});

test("a home that could not be read is read again until it could, and then not any more", async () => {
  await reader.load();
  await settled();
  answers["/v1/rooms"] = () => new Response("", { status: 503 });
  log = [];
  await assert.rejects(reader.load());
  reader.again();
  await settled();
  assert.deepEqual(log, []);
  answers["/v1/rooms"] = { rooms: [] };
  reader.again();
  await settled();
  assert.deepEqual(log, ["devices yard, resuming ", "shown", "settings", "tokens", "Person"]);
  reader.again();
  await settled();
  assert.equal(log.length, 5);
});

test("after a sign-out, a home that could not be read is not read again", async () => {
  answers["/v1/rooms"] = () => new Response("", { status: 503 });
  await assert.rejects(reader.load());
  reader.forget();
  const late = reader.load();
  reader.forget();
  await assert.rejects(late);
  answers["/v1/rooms"] = { rooms: [] };
  reader.again();
  await settled();
  assert.deepEqual(log, []);
});

test("one look that fails does not keep the others away", async () => {
  const fail = async () => { throw new Error("no answer"); };
  answers["/v1/devices"].devices = ["hall", "yard"].map((id) => ({ ...yard, id }));
  answers["/v1/devices/hall/events?limit=10"] = () => new Response("", { status: 503 });
  for (const failing of [["configuration"], ["access"], ["configuration", "access"]]) {
    for (const name of failing) parts[name].look = fail;
    log = [];
    await reader.load();
    await settled();
    assert.equal(log.at(-1), "Person", failing.join());
  }
});

test("a look that has failed is repeated alone", async () => {
  await reader.load();
  await settled();
  log = [];
  parts.configuration.isBehind = true;
  reader.again();
  parts.configuration.isBehind = false;
  parts.access.isBehind = true;
  reader.again();
  await settled();
  assert.deepEqual(log, ["settings soon", "tokens"]);
});

test("a camera of which the token may know only the name is asked for each time", async () => {
  answers["/v1/access"].devices = [{ id: "gate", name: "Gate", isCamera: true }];
  await reader.load();
  await settled();
  log = [];
  reader.again();
  await settled();
  assert.equal(log[0], "devices yard,gate, resuming ");
});
