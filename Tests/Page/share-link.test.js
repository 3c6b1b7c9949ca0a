import assert from "node:assert/strict";
import test from "node:test";
import { cameraOfPath, fieldValue, isShareOf, secondsUntil, shareLink, tokenOfFragment } from "../../Sources/App/WebFiles/page/share-link.js";

test("a link has the token in its fragment, and the page finds both again", () => {
  const link = new URL(shareLink("https://home.example:8443", "front door/1", "gatehouse_a+b"));
  assert.equal(link.search, "");
  assert.equal(cameraOfPath(link.pathname), "front door/1");
  assert.equal(tokenOfFragment(link.hash), "gatehouse_a+b");
  assert.equal(tokenOfFragment(""), "");
  assert.equal(tokenOfFragment("#other=1"), "");
});

test("a path that is not encoded well is taken as it is", () => {
  assert.equal(cameraOfPath("/camera/%zz"), "%zz");
  assert.equal(cameraOfPath("/"), "");
});

test("the field for the end shows local time, and the seconds count from now", () => {
  const moment = new Date("2026-12-24T18:00:00Z");
  const value = fieldValue(moment);
  assert.match(value, /^2026-12-2\dT\d\d:\d\d$/);
  assert.equal(secondsUntil(value, moment.getTime() - 60000), 60);
  assert.equal(secondsUntil(value, moment.getTime()), 0);
  assert.equal(secondsUntil("", moment.getTime()), 0);
});

test("a share is a token that permits watching this camera and nothing else", () => {
  const view = { scopes: ["view"], deviceID: "door" };
  assert.ok(isShareOf({ grants: [view] }, "door"));
  assert.ok(isShareOf({ grants: [view, { scopes: ["view"], deviceID: "yard" }] }, "door"));
  assert.ok(!isShareOf({ grants: [view] }, "yard"));
  assert.ok(!isShareOf({ grants: [view, { scopes: ["read"], deviceID: "door" }] }, "door"));
  assert.ok(!isShareOf({ grants: [{ scopes: ["view"] }] }, "door"));
});
