import assert from "node:assert/strict";
import { test } from "node:test";

import { fragmentOf, shownAt, withoutToken } from "../../Sources/App/WebFiles/page/address.js";

test("an address names the list, the wall, or a camera, and leads back to itself", () => {
  assert.deepEqual(shownAt(""), { kind: "home" });
  assert.deepEqual(shownAt("#wall"), { kind: "wall", only: [] });
  assert.deepEqual(shownAt("#wall/yard,front%20door"), { kind: "wall", only: ["yard", "front door"] });
  assert.deepEqual(shownAt("#camera/front-door"), { kind: "camera", id: "front-door" });
  for (const fragment of ["", "#wall", "#wall/yard,front%20door", "#camera/a%2Fb"]) {
    assert.equal(fragmentOf(shownAt(fragment)), fragment);
  }
});

test("an address that asks for nothing that there is shows the list", () => {
  for (const fragment of ["#", "#camera", "#camera/", "#walls", "#token=abc", "#%"]) {
    assert.deepEqual(shownAt(fragment), { kind: "home" }, fragment);
  }
  // Somebody typed this.
  assert.deepEqual(shownAt("#camera/50%"), { kind: "camera", id: "50%" });
});

test("the token leaves the address, and what it asks for stays", () => {
  assert.equal(withoutToken("#token=secret"), "");
  assert.equal(withoutToken("#wall&token=secret"), "#wall");
  assert.equal(withoutToken("#token=secret&camera/yard"), "#camera/yard");
  assert.deepEqual(shownAt("#token=secret&wall/yard"), { kind: "wall", only: ["yard"] });
});
