import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { openAutomation } from "../../Sources/App/WebFiles/page/automation-details.js";
import { openAutomations } from "../../Sources/App/WebFiles/page/automation-list.js";
import { replace, replaceDocument, restore } from "./elements.js";

// The list is read again after a time without a connection, in which no event has reported anything.

let automations = [];
let list;
let details;
const settle = async () => { for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate); };
const automation = (more) => ({
  id: "a1", name: "Night light", isActive: true, isValid: true, validationIssues: [], automationGraph: { version: 1, nodes: [] }, ...more,
});
const run = (more) => ({ id: "r1", startedAt: "2026-06-01T09:00:00Z", ...more });

beforeEach(async () => {
  replaceDocument();
  replace("fetch", async (path, { signal }) => {
    if (path.endsWith("/events")) return new Promise((_, reject) => { signal.addEventListener("abort", () => reject(new Error("left"))); });
    return Response.json(path.includes("/runs") ? { runs: [] } : { automations });
  });
  automations = [automation({ isRunning: true, lastRun: run() })];
  const structures = new Map([["s1", { id: "s1", name: "Home" }]]);
  list = openAutomations({ structures, tiles: new Map() }, { may: () => true, isOfOthers: () => false });
  list.place.value = "s1";
  list.watch();
  await settle();
  details = openAutomation(list.context(), "a1");
  await settle();
});
afterEach(() => {
  list.node.close();
  restore();
});

async function readAgain() {
  await list.load("s1");
  await settle();
}

test("an open automation shows what has become of it meanwhile", async () => {
  automations = [automation({ name: "Hall light", isActive: false, lastRun: run({ id: "r2", end: "failed" }) })];
  await readAgain();
  assert.deepEqual([details.heading.textContent, details.state.textContent], ["Hall light", "Off"]);
  assert.match(details.runs.textContent, /Something failed/);
});

test("an automation that was deleted meanwhile is not shown any more", async () => {
  automations = [];
  await readAgain();
  assert.deepEqual([details.node.open, list.list.children.length], [false, 0]);
});
