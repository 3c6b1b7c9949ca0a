import assert from "node:assert/strict";
import { test } from "node:test";

import { starterKind } from "../../Sources/App/WebFiles/page/starter-rows.js";
import { askedFields, firstValue } from "../../Sources/App/WebFiles/page/value-fields.js";

test("fields that would need JSON are asked for only if they have to be", () => {
  const fields = [{ name: "level", type: "unsigned" }, { name: "zones", type: "list" }, { name: "shape", type: "record", isRequired: true }];
  const names = (values) => askedFields(fields, values).map(({ name }) => name);
  assert.deepEqual(names({}), ["level", "shape"]);
  assert.deepEqual(names({ zones: [1] }), ["level", "zones", "shape"]);
  // What the candidates do not describe is shown too, and not lost.
  assert.deepEqual(names({ mystery: true }), ["level", "shape", "mystery"]);
});

test("a field begins with a value that it takes", () => {
  assert.equal(firstValue({ name: "a", type: "boolean" }), true);
  assert.equal(firstValue({ name: "a", type: "unsigned", constraint: { type: "unsignedRange", minimum: 3, maximum: 9 } }), 3);
  assert.equal(firstValue({ name: "a", type: "signed", constraint: { type: "signedRange", minimum: -9, maximum: 9 } }), 0);
  assert.equal(firstValue({ name: "a", type: "enum", constraint: { type: "enum", values: ["stateUnspecified", "good"] } }), "good");
  assert.equal(firstValue(undefined), "");
});

test("a starter is shown as what a person chose", () => {
  const presence = { kind: "attribute", entity: { structure: "s1" }, trait: "AreaPresenceState", seconds: null,
    comparison: { field: "presenceState", operator: "equals", values: ["presenceStateVacant"] } };
  assert.equal(starterKind(presence), "presence");
  assert.equal(starterKind({ ...presence, seconds: 60 }), "device");
  assert.equal(starterKind({ ...presence, comparison: null }), "device");
  assert.equal(starterKind({ kind: "event", entity: { structure: "s1" }, trait: "Time", event: "Scheduled", parameters: {} }), "time");
  assert.equal(starterKind({ kind: "manual" }), "manual");
});
