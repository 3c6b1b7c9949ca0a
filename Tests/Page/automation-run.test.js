import assert from "node:assert/strict";
import { test } from "node:test";

import { pathOf, entryWords, outcomeOf } from "../../Sources/App/WebFiles/page/run-path.js";

const nameOf = ({ device, structure }) => ({ d1: "Lamp", d2: "Door" })[device] ?? structure ?? "?";
const at = (second) => `2026-11-23T10:00:${String(second).padStart(2, "0")}.000Z`;
const place = (index) => `automationGraph.nodes[${index}]`;
const on = { type: "action", entity: { device: "d1" }, trait: "OnOff", command: "on" };
const starter = { type: "attributeStarter", id: "n1", entity: { device: "d2" }, trait: "BooleanState" };
const isOpen = { equals: [{ field: "stateValue", of: { reference: "n1" } }, { constant: false }] };
const graph = { version: 1, nodes: [starter, { type: "condition", expression: isOpen }, on, { type: "delay", for: 60 },
  { ...on, command: "off" }] };
const began = { at: at(0), strand: 0, path: "", kind: "began", trigger: { kind: "attribute", path: place(0), text: "Door opened" } };
const states = (items) => items.map(({ status }) => status);

test("a run that goes on shows what it passed, and where it waits", () => {
  const { items, rest } = pathOf(graph, [began,
    { at: at(0), strand: 0, path: place(1), kind: "condition", holds: true, operands: { "n1.stateValue": false } },
    { at: at(1), strand: 0, path: place(2), kind: "sending", commandID: 0 },
    { at: at(2), strand: 0, path: place(2), kind: "sent", commandID: 0, outcome: "succeeded", milliseconds: 900 },
    { at: at(2), strand: 0, path: place(3), kind: "delay", until: at(62) }], nameOf);
  assert.deepEqual(states(items), ["passed", "passed", "passed", "passed", "skipped"]);
  assert.deepEqual(items[0].details, ["Door opened"]);
  assert.equal(items[1].words, "Only if: Closed or open of Door is open");
  assert.deepEqual(items[1].details, ["Holds", "n1.stateValue: no"]);
  assert.equal(items[2].words, "Turn on: Lamp");
  assert.deepEqual(items[2].details, ["Sent", "Done, after 0.9 seconds"]);
  assert.equal(items[2].at, at(1));
  assert.equal(items[3].words, "Wait 1 minute");
  assert.deepEqual(rest, []);
});

test("a run that ended says where and why", () => {
  const { items } = pathOf(graph, [began,
    { at: at(0), strand: 0, path: place(1), kind: "condition", holds: false, operands: {}, missing: "n1.stateValue" },
    { at: at(0), strand: 0, path: "", kind: "ended", end: "conditionFalse" }], nameOf);
  assert.deepEqual(states(items), ["passed", "ended", "skipped", "skipped", "skipped"]);
  assert.deepEqual(items[1].details, ["Not known: n1.stateValue"]);
});

test("the outcome of a command has one of several forms", () => {
  const sent = (entry) => pathOf({ version: 1, nodes: [on] }, [{ at: at(1), strand: 0, path: place(0), kind: "sent", ...entry }], nameOf).items[0];
  assert.equal(sent({ outcome: { failed: { code: "unavailable", message: "it is offline" } } }).status, "failed");
  assert.deepEqual(sent({ outcome: { failed: { code: "unavailable", message: "it is offline" } } }).details, ["Failed: it is offline"]);
  assert.deepEqual(sent({ outcome: "unknown" }).details, ["The outcome is unknown, because the gateway stopped in the meantime. The command is not repeated"]);
  assert.equal(sent({ outcome: { succeeded: {} } }).status, "passed");
  assert.deepEqual(outcomeOf({ outcome: { kind: "notAuthorised", message: "no" } }), { kind: "notAuthorised", message: "no" });
  // The gateway's own words come first.
  assert.equal(entryWords({ kind: "sent", outcome: "succeeded", text: "Lamp is on" }), "Lamp is on");
});

test("branches and choices are drawn with what was taken", () => {
  const nodes = [{ type: "select", nodes: [starter, { type: "manualStarter" }] },
    { type: "parallel", nodes: [on, { type: "sequential", nodes: [{ type: "delay", for: 5 }, on] }] },
    { type: "if", ifThen: { condition: isOpen, nodes: [on] }, elseThen: { nodes: [{ ...on, command: "off" }] } }];
  const { items } = pathOf({ version: 1, nodes }, [
    { ...began, trigger: { kind: "manual", path: "automationGraph.nodes[0].nodes[1]" } },
    { at: at(1), strand: 0, path: place(1), kind: "forked", strands: [1, 2] },
    { at: at(1), strand: 1, path: `${place(1)}.nodes[0]`, kind: "sent", outcome: "succeeded" },
    { at: at(1), strand: 2, path: `${place(1)}.nodes[1].nodes[0]`, kind: "delay", until: at(6) },
    { at: at(7), strand: 0, path: place(2), kind: "chose", flow: "elseThen" },
    { at: at(8), strand: 0, path: `${place(2)}.elseThen.nodes[0]`, kind: "sending" }], nameOf);
  assert.deepEqual(items[0].branches.map(({ items: own }) => states(own)), [["skipped"], ["passed"]]);
  assert.deepEqual(items[1].branches.map(({ label, items: own }) => [label, states(own)]),
    [["Branch 1", ["passed"]], ["Branch 2", ["passed", "skipped"]]]);
  assert.deepEqual(items[2].branches.map(({ label, items: own }) => [label, states(own)]),
    [["If Closed or open of Door is open", ["skipped"]], ["Else (taken)", ["waiting"]]]);
  assert.equal(items[2].status, "waiting");
});

test("what the graph no longer has is not lost", () => {
  const gone = { at: at(3), strand: 0, path: place(9), kind: "delay" };
  assert.deepEqual(pathOf(graph, [began, gone], nameOf).rest, [gone]);
  assert.deepEqual(pathOf({}, [], nameOf), { items: [], rest: [] });
});
