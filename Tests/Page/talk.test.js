import assert from "node:assert/strict";
import { test } from "node:test";

import { microphoneFault, noMicrophoneHere } from "../../Sources/App/WebFiles/page/talk.js";

test("a page without encryption says where the microphone works", () => {
  assert.match(noMicrophoneHere("192.0.2.1", 8443).message, /Open https:\/\/192\.0\.2\.1:8443\/ instead\.$/);
  assert.match(noMicrophoneHere("192.0.2.1").message, /Switch HTTPS on in the gateway’s config\.$/);
});

test("a microphone that does not open is explained", () => {
  const say = (name) => microphoneFault(new DOMException("in the browser's words", name));
  assert.match(say("NotAllowedError").message, /^The microphone is not allowed for this page\./);
  assert.equal(say("NotFoundError").message, "This device has no microphone.");
  assert.match(say("NotReadableError").message, /Another program may be using it\.$/);
  assert.equal(say("NotReadableError").details, "in the browser's words");
  assert.equal(say("NotAllowedError").status, "NO_MICROPHONE");
});
