import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { AccessCard } from "../../Sources/App/WebFiles/page/access.js";
import { openAutomation } from "../../Sources/App/WebFiles/page/automation-details.js";
import { openAutomations } from "../../Sources/App/WebFiles/page/automation-list.js";
import { FileCameras } from "../../Sources/App/WebFiles/page/file-cameras.js";
import { openHistory } from "../../Sources/App/WebFiles/page/history-view.js";
import { HomeReader } from "../../Sources/App/WebFiles/page/home-reader.js";
import { Home } from "../../Sources/App/WebFiles/page/home.js";
import { Expectations } from "../../Sources/App/WebFiles/page/optimism.js";
import { openRecordings } from "../../Sources/App/WebFiles/page/recordings.js";
import { Rights } from "../../Sources/App/WebFiles/page/rights.js";
import { openShare } from "../../Sources/App/WebFiles/page/share-dialog.js";
import { replace, replaceDocument, restore } from "./elements.js";

// Answers may come in another order than the requests. The list shows what the latest request has brought.

/** The requests that are not answered yet. */
let waiting = [];
/** The paths whose answers the test gives by hand. */
let held = () => false;
/** What every other path answers. */
let others = {};

beforeEach(() => {
  replaceDocument();
  replace("HTMLDetailsElement", HTMLElement);
  [waiting, others] = [[], {}];
  held = () => false;
  replace("fetch", (path, { signal }) => {
    if (path.endsWith("/automations/events")) return new Promise((_, reject) => { signal.addEventListener("abort", () => reject(new Error("left"))); });
    if (!held(path)) return Promise.resolve(Response.json(others));
    return new Promise((resolve, reject) => { waiting.push({ path, answer: (data) => resolve(Response.json(data)), fail: () => reject(new Error("lost")) }); });
  });
});
afterEach(() => {
  mock.restoreAll();
  restore();
});

const settle = async () => { for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate); };

/**
 * Answers two requests in the wrong order.
 * @param {any} older
 * @param {any} newer
 */
async function cross(older, newer) {
  assert.equal(waiting.length, 2);
  const [first, second] = waiting.splice(0);
  second.answer(newer);
  await settle();
  first.answer(older);
  await settle();
}

const token = (id) => ({ id, name: id, grants: [{ scopes: ["view"], deviceID: "yard" }], createdBy: "owner" });

test("the tokens are those of the latest request", async () => {
  const card = new AccessCard();
  others = { structures: [], devices: [] };
  held = (path) => path === "/v1/tokens";
  const loads = [card.load(), card.load()];
  await settle();
  await cross({ tokens: [token("Revoked"), token("Phone")] }, { tokens: [token("Phone")] });
  await Promise.all(loads);
  assert.doesNotMatch(card.list.textContent, /Revoked/);
});

test("the links to a camera are those of the latest request", async () => {
  held = (path) => path === "/v1/tokens";
  const dialog = openShare({ id: "yard", name: "Yard" }, {});
  await settle();
  dialog.load();
  await cross({ tokens: [token("Grandma"), token("Phone")] }, { tokens: [token("Phone")] });
  assert.doesNotMatch(dialog.list.textContent, /Grandma/);
});

test("the cameras of the config file are those of the latest request", async () => {
  const files = new FileCameras({ cameras: [], removed: [] });
  held = () => true;
  files.refresh();
  files.refresh();
  const camera = (name) => ({ id: name, name, source: "rtsp://192.0.2.1", origin: "file" });
  await cross({ cameras: [camera("Before")], removed: [] }, { cameras: [camera("After")], removed: [] });
  assert.deepEqual([/Before/, /After/].map((words) => words.test(files.cameras.textContent)), [false, true]);
});

test("the home and the rights are those of the latest request", async () => {
  const rights = new Rights();
  const home = new Home({ kinds: [], expectations: new Expectations(), rights, more: () => {} }, { show: () => {}, hide: () => {} }, () => []);
  const around = { look: async () => {}, lookSoon: () => {}, isBehind: false };
  const reader = new HomeReader({ home, rights, configuration: around, access: around, visitors: { show: () => {} }, shown: () => {} });
  others = { structures: [], rooms: [] };
  held = (path) => path === "/v1/devices" || path === "/v1/access";
  const loads = [reader.load(), reader.load()];
  await settle();
  const lamp = (name) => ({ devices: [{ id: "lamp", name, type: "L", connectivityState: "online", endpoints: [] }] });
  const own = (scope) => ({ principal: "owner", grants: [{ scopes: [scope] }], devices: [] });
  const [olderDevices, olderAccess, newerDevices, newerAccess] = waiting;
  assert.deepEqual([olderDevices.path, olderAccess.path], ["/v1/devices", "/v1/access"]);
  newerDevices.answer(lamp("Big lamp"));
  newerAccess.answer(own("admin"));
  await settle();
  olderDevices.answer(lamp("Lamp"));
  olderAccess.answer(own("read"));
  await Promise.all(loads);
  assert.deepEqual([home.tiles.get("lamp").reported.name, rights.grants[0].scopes, reader.isBehind], ["Big lamp", ["admin"], false]);
});

test("a history that grows shows what the latest request has brought", async () => {
  others = { kinds: [], items: [] };
  const view = openHistory({ tiles: new Map() }, "");
  await settle();
  held = (path) => path.startsWith("/v1/history?");
  view.grow();
  view.grow();
  const item = (more) => ({ items: [{ id: "e1", kind: "Person", deviceID: "yard", timestamp: "2026-06-01T09:00:00Z", ...more }] });
  await cross(item({}), item({ recordingID: "r1" }));
  // An item with a recording can be played.
  assert.equal(view.list.querySelectorAll("button").length, 1);
  view.node.close();
});

const recording = (id, hour) => ({
  id, deviceID: "yard", start: `2026-06-01T${hour}:00:00Z`, end: `2026-06-01T${hour}:01:00Z`, durationSeconds: 60,
  trigger: { kind: "motion", at: `2026-06-01T${hour}:00:10Z` }, spans: [],
});

test("the recordings of a day are those of the latest request, and a day that was left reports no failure", async () => {
  others = { days: [], recordings: [], playlist: "/playlist" };
  const view = openRecordings("yard", "Yard", () => {});
  Object.assign(view.video, { pause: () => {}, load: () => {}, paused: true });
  await settle();
  held = (path) => path.includes("/recordings?");
  view.openDay("2026-06-01");
  view.openDay("2026-06-01");
  await cross({ recordings: [recording("deleted", "10"), recording("r2", "09")] }, { recordings: [recording("r2", "09")] });
  assert.deepEqual(view.recordings.map(({ id }) => id), ["r2"]);
  view.openDay("2026-06-02");
  view.openDay("2026-06-01");
  const [left, shown] = waiting.splice(0);
  shown.answer({ recordings: [recording("r2", "09")] });
  await settle();
  left.fail();
  await settle();
  assert.equal(view.message.hidden, true);
  view.node.close();
});

test("a run is drawn as the latest request says", async () => {
  others = { runs: [{ id: "r1", startedAt: "2026-06-01T09:00:00Z" }] };
  const automation = { id: "a1", name: "Night light", isActive: true, validationIssues: [], automationGraph: { version: 1, nodes: [] } };
  const details = openAutomation({ known: () => automation, listen: () => () => {}, isOfOthers: () => false, nameOf: () => "" }, "a1");
  await settle();
  held = () => true;
  details.drawInto("r1");
  details.drawInto("r1");
  const run = (...times) => ({ id: "r1", entries: times.map((at) => ({ at, strand: 0, path: "", kind: "read" })) });
  await cross(run("2026-06-01T09:00:00Z"), run("2026-06-01T09:00:00Z", "2026-06-01T09:00:05Z"));
  assert.equal(details.runs.querySelectorAll(".run-text")[0].children.length, 2);
});

test("the automations of another home replace those of the one before, which are not shown under its name", async () => {
  held = (path) => path.endsWith("/automations");
  const structures = new Map([["s1", { id: "s1", name: "Home" }], ["s2", { id: "s2", name: "Lake house" }]]);
  const list = openAutomations({ structures, tiles: new Map() }, { may: () => true, isOfOthers: () => false });
  const automation = (name) => ({ automations: [{ id: name, name, isActive: true, validationIssues: [], automationGraph: { version: 1, nodes: [] } }] });
  const choose = (id) => {
    list.place.value = id;
    list.watch();
  };
  choose("s1");
  await settle();
  waiting.pop().answer(automation("Home light"));
  await settle();
  assert.match(list.list.textContent, /Home light/);
  // Somebody switches it off, and goes on to another home before the answer.
  const [row] = list.rows.values();
  const { keep } = list.context();
  held = (path) => path.includes("/automations");
  row.toggle.node.listeners.get("click")();
  choose("s2");
  assert.deepEqual([list.list.textContent, list.message.hidden], ["", false]);
  await settle();
  waiting.pop().answer(automation("Boat light"));
  await settle();
  waiting.pop().answer({});
  await settle();
  keep(row.automation);
  await settle();
  assert.deepEqual([/Boat light/, /Home light/].map((words) => words.test(list.list.textContent)), [true, false]);
  list.node.close();
});
