import assert from "node:assert/strict";
import { test } from "node:test";

import { durationWords, expressionWords, nodeWords, runWords, scheduleWords, stateWords, valueText, whenWords,
} from "../../Sources/App/WebFiles/page/automation-words.js";
import { Candidates, entityKey, entityOf, shapeOf, unitOf } from "../../Sources/App/WebFiles/page/candidates.js";

const automation = { isActive: true, isValid: true, isRunning: false, isPaused: false, isUnderstood: true, validationIssues: [] };
const nameOf = ({ device, structure }) => device ?? structure;

test("the state of an automation is said, the most important first", () => {
  const said = (changes) => stateWords({ ...automation, ...changes });
  assert.deepEqual(said({}), { text: "On", level: "good" });
  assert.equal(said({ isActive: false }).text, "Off");
  assert.equal(said({ isRunning: true }).text, "Running");
  assert.match(said({ isPaused: true, isRunning: true }).text, /^Paused/);
  assert.equal(said({ isValid: false, validationIssues: [{ severity: "error" }, { severity: "error" }] }).text, "On, but 2 parts need attention");
  assert.match(said({ isUnderstood: false }).text, /later version/);
});

test("a run is said by its end", () => {
  assert.equal(runWords({ end: "conditionFalse" }), "A condition was not met");
  assert.equal(runWords({ end: "failed", text: "The lamp is offline" }), "The lamp is offline");
  assert.equal(runWords({}), "Running");
});

test("a moment of today is its time, and another one has its day", () => {
  const now = new Date(2026, 10, 23, 12, 0, 0);
  assert.match(whenWords(new Date(2026, 10, 23, 9, 5, 7).toISOString(), now.getTime()), /^0?9:05:07/);
  assert.match(whenWords(new Date(2026, 10, 22, 9, 5).getTime(), now.getTime()), /^Yesterday, /);
  assert.match(whenWords(new Date(2025, 10, 22, 9, 5).getTime(), now.getTime()), /2025/);
});

test("durations are said in the largest units", () => {
  assert.deepEqual([0, 1, 90, 3600, 86400, 5400, 0.25].map(durationWords),
    ["0 seconds", "1 second", "1 minute 30 seconds", "1 hour", "1 day", "1 hour 30 minutes", "0.25 seconds"]);
});

test("schedules and values are said as people say them", () => {
  assert.equal(scheduleWords({ clockTime: { hours: 8, minutes: 5 }, daysOfWeek: ["monday", "friday"] }), "At 08:05, on Monday, Friday");
  assert.equal(scheduleWords({ solarTime: { type: "sunset", offset: -1800 } }), "At 30 minutes before sunset");
  assert.equal(scheduleWords({ cronExpression: "0 8 * * *" }), "By the rule 0 8 * * *");
  assert.equal(valueText("TemperatureMeasurement", "measuredValue", 2150), "21.5 °C");
  assert.equal(valueText("AreaPresenceState", "presenceState", "presenceStateVacant"), "vacant");
  assert.equal(valueText("OnOff", "onOff", true), "on");
});

test("each kind of node has its line, also one that is not known", () => {
  const entity = { device: "Lamp" };
  assert.equal(nodeWords({ type: "action", entity, trait: "OnOff", command: "off" }, nameOf), "Turn off: Lamp");
  assert.equal(nodeWords({ type: "action", entity, trait: "OnOff", update: { onTime: 5 } }, nameOf), "Set on time 5: Lamp");
  assert.equal(nodeWords({ type: "suppress", for: 60 }, nameOf), "Then do not start again for 1 minute");
  assert.match(nodeWords({ type: "dance" }, nameOf), /does not know/);
  assert.match(nodeWords(null, nameOf), /does not know/);
});

test("expressions are said with the names of what they read", () => {
  const nodeOf = (id) => id === "r1" ? { trait: "TemperatureMeasurement", entity: { device: "Attic" } } : undefined;
  const field = { field: "measuredValue", of: { reference: "r1" } };
  const cold = { lessThan: [field, { constant: 500 }] };
  assert.equal(expressionWords(cold, nodeOf, nameOf), "Temperature of Attic is below 5 °C");
  assert.equal(expressionWords({ not: [{ or: [cold, { equals: [field, { constant: null }] }] }] }, nodeOf, nameOf),
    "not (Temperature of Attic is below 5 °C, or Temperature of Attic is not known)");
  assert.match(expressionWords({ divide: [] }, nodeOf, nameOf), /does not know/);
  assert.equal(expressionWords(null, nodeOf, nameOf), "?");
});

test("candidates are found by entity and role", () => {
  const entity = { device: "d1" };
  const list = [
    { kind: "attributes", entity, roles: ["starter", "stateReader"], deviceTypes: ["L"], trait: "OnOff",
      fields: [{ name: "onOff", type: "bool" }], unsupportedReasons: [] },
    { kind: "command", entity, roles: ["action"], deviceTypes: ["L"], trait: "OnOff", command: "on", fields: [], unsupportedReasons: [] },
    { kind: "event", entity: { structure: "s1" }, roles: ["starter"], deviceTypes: [], trait: "Time", event: "Scheduled", fields: [],
      unsupportedReasons: [{ type: "missingStructureAddressSetup" }] },
  ];
  const candidates = new Candidates(list);
  assert.deepEqual(candidates.entities("starter"), [entity, { structure: "s1" }]);
  assert.deepEqual(candidates.entities("action"), [entity]);
  assert.deepEqual(candidates.choices(entity, "starter").map(({ key, words }) => [key, words]), [["attributes OnOff onOff L", "On or off"]]);
  assert.deepEqual(candidates.choices(entity, "action").map(({ words }) => words), ["Turn on"]);
  assert.equal(candidates.choices({ structure: "s1" }, "starter")[0].isMissing, "the home has no coordinates");
  assert.deepEqual(candidates.choices({ device: "gone" }, "action"), []);
  assert.equal(candidates.find({ entity, trait: "OnOff" }, "command", "on"), list[1]);
  assert.deepEqual(entityOf(entityKey({ device: "a b" })), { device: "a b" });
});

test("the control of a field depends on what it takes", () => {
  assert.equal(shapeOf({ name: "a", type: "bool" }).kind, "boolean");
  const level = shapeOf({ name: "a", type: "uint8", constraint: { minimum: 1, maximum: 254 } });
  assert.deepEqual([level.kind, level.minimum, level.maximum, level.isWhole], ["number", 1, 254, true]);
  assert.deepEqual(shapeOf({ name: "a", type: "enum", constraint: { values: ["x", "y"] } }).options, ["x", "y"]);
  assert.equal(shapeOf({ name: "a", type: "double" }).isWhole, false);
  assert.equal(shapeOf({ name: "a", type: "string" }).kind, "text");
  assert.equal(shapeOf({ name: "a", type: "list<TimeOfDay>" }).kind, "other");
  assert.deepEqual(unitOf("Thermostat", "occupiedHeatingSetpoint"), { factor: 100, unit: "°C" });
});
