import assert from "node:assert/strict";
import { test } from "node:test";

import { actionOf, shortcuts, wallActions } from "../../Sources/App/WebFiles/page/shortcuts.js";

test("each key does one thing", () => {
  const keys = shortcuts.flatMap((one) => one.keys);
  assert.equal(new Set(keys).size, keys.length);
  for (const { action, keys: [key], shown, words } of shortcuts) {
    assert.equal(actionOf({ key }), action);
    assert.ok(shown && words);
  }
});

test("capital letters count, and combinations belong to the browser", () => {
  assert.equal(actionOf({ key: "F" }), "full");
  for (const modifier of ["ctrlKey", "altKey", "metaKey", "defaultPrevented"]) {
    assert.equal(actionOf({ key: "f", [modifier]: true }), null);
  }
  assert.equal(actionOf({ key: "x" }), null);
});

test("a key that is held goes on only with what has degrees", () => {
  for (const key of ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "+", "-"]) {
    assert.ok(actionOf({ key, repeat: true }), key);
  }
  for (const key of ["t", "m", "s", "q", "p", "f", "0", "?", "Escape"]) {
    assert.equal(actionOf({ key, repeat: true }), null, key);
  }
});

test("a wall leaves the keys that scroll to the browser", () => {
  assert.deepEqual([...wallActions], ["full", "back", "help"]);
  for (const key of ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "PageDown", " "]) {
    assert.ok(!wallActions.has(actionOf({ key })), key);
  }
});

test("a field keeps its keys, except the one that leaves", () => {
  assert.equal(actionOf({ key: "ArrowUp" }, "INPUT"), null);
  assert.equal(actionOf({ key: "s" }, "SELECT"), null);
  assert.equal(actionOf({ key: "Escape" }, "INPUT"), "back");
  assert.equal(actionOf({ key: "s" }, "BUTTON"), "save");
});
