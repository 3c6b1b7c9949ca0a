import assert from "node:assert/strict";
import { afterEach, beforeEach, test } from "node:test";

import { openEditor } from "../../Sources/App/WebFiles/page/automation-editor.js";
import { comparisonFields } from "../../Sources/App/WebFiles/page/condition-rows.js";
import { missingFields } from "../../Sources/App/WebFiles/page/missing-fields.js";
import { valueField } from "../../Sources/App/WebFiles/page/value-fields.js";
import { replace, replaceDocument, restore } from "./elements.js";

// A field that somebody has cleared has no value: not the one from before, and not 0.

let body;
let requests = [];
const settle = async () => { for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate); };
const at = (parameters) => ({ type: "eventStarter", id: "n1", entity: { structure: "s1" }, trait: "Time", event: "Scheduled", parameters });
const automation = (nodes) => ({
  id: "a1", name: "Night light", isActive: true, validationIssues: [], etag: "1", ownerID: "anna", automationGraph: { version: 1, nodes },
});
const context = {
  home: { structures: new Map(), tiles: new Map() }, structureID: "s1", isOfOthers: () => false, nameOf: () => "Lamp",
  known: () => undefined, listen: () => () => {}, keep: () => {}, forget: () => {},
};

beforeEach(() => {
  ({ body } = replaceDocument());
  requests = [];
  replace("fetch", async (path, { method, body: text }) => {
    if (method !== "GET") requests.push([`${method} ${path.split("?")[0]}`, JSON.parse(text)]);
    return Response.json(path.endsWith("/candidates") ? { candidates: [] } : { runs: [] });
  });
});
afterEach(restore);

/** @param {object[]} nodes of the graph */
async function edit(nodes) {
  openEditor(context, automation(nodes));
  await settle();
}
function type(name, value) {
  const [field] = body.querySelectorAll(name);
  field.value = value;
  field.listeners.get("input")({});
  return field;
}
async function save() {
  body.querySelectorAll("form")[0].listeners.get("submit")({ preventDefault() {} });
  await settle();
}
const fault = () => body.querySelectorAll(".error").filter(({ hidden }) => !hidden).map((one) => one.textContent).join();
const marked = (field) => field.getAttribute("aria-invalid") === "true";

test("an automation with a time and a duration that were cleared is not saved, and the fields are named", async () => {
  await edit([at({ clockTime: { hours: 8, minutes: 0 } }), { type: "delay", for: 300 }]);
  const time = type("clock", "");
  const duration = type("for", "");
  assert.deepEqual([time, duration].map(marked), [true, true]);
  await save();
  assert.deepEqual([requests, fault()], [[], "A value is missing: Time (Starter 1), For (Step 1)."]);
  assert.equal(document.activeElement, time);
  type("clock", "07:30");
  type("for", "5");
  assert.deepEqual([time, duration].map(marked), [false, false]);
  await save();
  assert.deepEqual(requests[0][1].automationGraph.nodes.map((node) => node.for ?? node.parameters.clockTime), [{ hours: 7, minutes: 30 }, 300]);
});

test("a field that was cleared stays empty when its list is drawn again", async () => {
  await edit([at({ solarTime: { type: "sunset", offset: -1800 } }), { type: "delay", for: 300 }]);
  type("offset", "");
  type("for", "");
  for (const words of ["Add a starter", "Add a step"]) body.querySelectorAll("button").find((one) => one.textContent === words).listeners.get("click")();
  assert.deepEqual(["offset", "for"].map((name) => body.querySelectorAll(name)[0].value), ["", ""]);
  assert.equal(body.querySelectorAll("side")[0].value, "before");
  await save();
  assert.match(fault(), /^A value is missing: .*Starter 1.*, For \(Step 1\)/);
});

test("a draft with a cleared field is not tried, and closing it loses something", async () => {
  await edit([{ type: "manualStarter" }, { type: "delay", for: 300 }]);
  type("for", "");
  body.querySelectorAll("button").find((one) => one.textContent.startsWith("Try it")).listeners.get("click")();
  await settle();
  assert.deepEqual([requests, fault()], [[], "A value is missing: For (Step 1)."]);
  body.querySelectorAll("button").find((one) => one.textContent === "Cancel").listeners.get("click")();
  assert.equal(body.querySelectorAll(".ask").length, 1);
});

test("an automation is renamed even if its graph lacks something", async () => {
  await edit([{ type: "manualStarter" }, { type: "delay", for: null }]);
  type("name", "Evening");
  await save();
  assert.deepEqual(requests, [["PATCH /v1/automations/a1", { name: "Evening", description: "" }]]);
});

test("a number that something needs may not be cleared, and one that is optional is left out", () => {
  const field = { name: "level", type: "unsigned" };
  const values = [];
  const made = (isOptional) => valueField({ name: "level", trait: "LevelControl", field, value: 7, isOptional, changed: (value) => values.push(value) });
  for (const isOptional of [false, true]) {
    const node = made(isOptional);
    const [control] = node.querySelectorAll("level");
    control.value = "";
    control.listeners.get("input")({});
    assert.deepEqual([marked(control), missingFields([node]).length], isOptional ? [false, 0] : [true, 1]);
  }
  assert.deepEqual(values, [undefined, undefined]);
});

test("a text may be compared with an empty one", () => {
  const comparison = { field: "title", operator: "equals", values: ["News"] };
  const nodes = comparisonFields(comparison, "Media", { name: "title", type: "string" }, () => {});
  const [control] = nodes[1].querySelectorAll("value-0");
  control.value = "";
  control.listeners.get("input")({});
  assert.deepEqual([comparison.values, missingFields(nodes).length], [[""], 0]);
});
