import assert from "node:assert/strict";
import { test } from "node:test";

import { identifier } from "../../Sources/App/WebFiles/page/identifier.js";

test("a name becomes an identifier that an address can hold", () => {
  const cases = [
    ["Yard", "yard"], ["Front door", "front-door"], ["  Café!  ", "cafe"], ["A__B", "a-b"], ["№ 5", "no-5"],
    ["門", "camera"], ["", "camera"], ["---", "camera"], ["x".repeat(80), "x".repeat(48)],
  ];
  for (const [name, expected] of cases) assert.equal(identifier(name, new Set()), expected, name);
});

test("a name that is taken gets the next number", () => {
  assert.equal(identifier("Yard", new Set(["yard"])), "yard-2");
  assert.equal(identifier("Yard", new Set(["yard", "yard-2", "yard-3"])), "yard-4");
  assert.equal(identifier("門", new Set(["camera"])), "camera-2");
});
