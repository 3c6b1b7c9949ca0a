import assert from "node:assert/strict";
import { test } from "node:test";

import { grantsFor, grantWords } from "../../Sources/App/WebFiles/page/grant-fields.js";

test("scopes hold in the chosen places, or in the whole home", () => {
  assert.deepEqual(grantsFor(["read"], []), [{ scopes: ["read"] }]);
  assert.deepEqual(grantsFor(["read", "media"], [{ deviceID: "d1" }, { structureID: "s1" }]), [
    { scopes: ["read", "media"], deviceID: "d1" }, { scopes: ["read", "media"], structureID: "s1" },
  ]);
});

test("grants read as a sentence", () => {
  const names = new Map([["d1", "Front door"]]);
  const nameOf = (id) => names.get(id) ?? "something that is gone";
  assert.equal(grantWords([{ scopes: ["admin"] }, { scopes: ["read", "media"], deviceID: "d1" }], nameOf),
    "admin everywhere; read, media for Front door");
  assert.equal(grantWords([{ scopes: ["read"], structureID: "s9" }], nameOf), "read for something that is gone");
});
